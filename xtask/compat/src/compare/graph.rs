//! Which operations reach a pair of types, and in which direction.
//!
//! A pair of named types is compared once, however many places lead to it. The places are edges;
//! each operation has a node for its request and one for its response.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::change::Reach;
use crate::kind::Direction;

/// The number of a node.
pub type Node = usize;

/// More pairs are not compared: two documents that are not trusted may have a product of them.
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
    /// A node from which nothing is reached yet. It is for what no operation uses.
    pub fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// A node for the request or the response of an operation.
    pub fn root(&mut self, operation: &str, direction: Direction) -> Node {
        let node = self.node();
        self.roots.push((operation.to_owned(), node, direction));
        node
    }

    /// A node below this one for what is written as XML.
    pub fn xml(&mut self, from: Node) -> Node {
        let node = self.node();
        self.edges[from].push((node, Direction::BOTH));
        self.xml.push(node);
        node
    }

    /// The nodes that something in XML reaches.
    pub fn reached_as_xml(&self) -> HashSet<Node> {
        let mut seen = HashSet::new();
        let mut pending = self.xml.clone();
        while let Some(node) = pending.pop() {
            if seen.insert(node) {
                pending.extend(self.edges[node].iter().map(|(to, _)| *to));
            }
        }
        seen
    }

    /// Says that this node leads to a pair of types. False if there are too many pairs.
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

    /// Who reaches these nodes. A root has one direction, so an edge lets it through or not.
    pub fn reached(&self, nodes: &BTreeSet<Node>) -> BTreeMap<Node, Reach> {
        let mut reached: BTreeMap<Node, Reach> = BTreeMap::new();
        for (operation, root, direction) in &self.roots {
            let mut seen = HashSet::from([*root]);
            let mut pending = vec![*root];
            while let Some(node) = pending.pop() {
                if nodes.contains(&node) {
                    reached.entry(node).or_default().add(*direction, [operation]);
                }
                for (to, through) in &self.edges[node] {
                    if through.and(*direction) == *direction && seen.insert(*to) {
                        pending.push(*to);
                    }
                }
            }
        }
        reached
    }
}
