//! Finds which operations reach a pair of types, and in which direction.
//!
//! A pair of types is compared once, however many places lead to it. The pairs are nodes and the
//! places are edges. Each operation has a node for its request and one for its response.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::change::Reach;
use crate::kind::Direction;

/// The number of a node.
pub type Node = usize;

/// The number of pairs that are compared. Two hostile documents could lead to every combination of
/// their types.
const MOST_PAIRS: usize = 100_000;

#[derive(Default)]
pub struct Graph {
    edges: Vec<Vec<(Node, Direction)>>,
    pairs: HashMap<(String, String), Node>,
    /// The pairs that are still to be compared.
    pending: Vec<(String, String, Node)>,
    roots: Vec<(String, Node, Direction)>,
    /// The nodes of what is written as XML.
    xml: Vec<Node>,
}

impl Graph {
    /// Adds a node without edges, for something that no operation uses.
    pub fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Adds a node for the request or the response of an operation.
    pub fn root(&mut self, operation: &str, direction: Direction) -> Node {
        let node = self.node();
        self.roots.push((operation.to_owned(), node, direction));
        node
    }

    /// Adds a node below this one, for something that is written as XML.
    pub fn xml(&mut self, from: Node) -> Node {
        let node = self.node();
        self.edges[from].push((node, Direction::BOTH));
        self.xml.push(node);
        node
    }

    /// The nodes that are reached from something in XML.
    pub fn reached_as_xml(&self) -> HashSet<Node> {
        self.reachable(self.xml.clone(), Direction::default())
    }

    /// Adds an edge from a node to a pair of types. Returns false if there are too many pairs.
    pub fn lead(&mut self, from: Node, through: Direction, old: &str, new: &str) -> bool {
        let pair = (old.to_owned(), new.to_owned());
        let to = match self.pairs.get(&pair) {
            Some(&node) => node,
            None if self.pairs.len() == MOST_PAIRS => return false,
            None => {
                let node = self.node();
                self.pending.push((pair.0.clone(), pair.1.clone(), node));
                self.pairs.insert(pair, node);
                node
            }
        };
        self.edges[from].push((to, through));
        true
    }

    /// The next pair to compare.
    pub fn next(&mut self) -> Option<(String, String, Node)> {
        self.pending.pop()
    }

    /// The operations that reach these nodes.
    pub fn reached(&self, nodes: &BTreeSet<Node>) -> BTreeMap<Node, Reach> {
        let mut reached: BTreeMap<Node, Reach> = BTreeMap::new();
        for (operation, root, direction) in &self.roots {
            for node in self.reachable(vec![*root], *direction) {
                if nodes.contains(&node) {
                    reached.entry(node).or_default().add(*direction, [operation]);
                }
            }
        }
        reached
    }

    /// The nodes that are reached by edges that let this direction through.
    fn reachable(&self, mut pending: Vec<Node>, direction: Direction) -> HashSet<Node> {
        let mut reachable = HashSet::new();
        while let Some(node) = pending.pop() {
            if reachable.insert(node) {
                let edges = self.edges[node].iter();
                let open = edges.filter(|(_, through)| through.and(direction) == direction);
                pending.extend(open.map(|(to, _)| *to));
            }
        }
        reachable
    }
}
