//! Which operations reach a pair of types, and in which direction.
//!
//! A pair of named types is compared once, however many places lead to it. The places are edges;
//! each operation has a node for its request and one for its response.

use std::collections::HashMap;

use crate::kind::Direction;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub usize);

/// More pairs are not compared: two documents that are not trusted may have a product of them.
const MOST_PAIRS: usize = 100_000;

#[derive(Default)]
pub struct Graph {
    edges: Vec<Vec<(Node, Direction)>>,
    pairs: HashMap<(String, String), Node>,
    /// The pairs that are still to be compared.
    pending: Vec<(String, String, Node)>,
    roots: Vec<(String, Node, Direction)>,
}

/// Who reaches a node.
#[derive(Clone, Default)]
pub struct Reach {
    pub direction: Direction,
    pub operations: Vec<String>,
}

impl Graph {
    /// A node from which nothing is reached yet. It is for what no operation uses.
    pub fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        Node(self.edges.len() - 1)
    }

    /// A node for the request or the response of an operation.
    pub fn root(&mut self, operation: &str, direction: Direction) -> Node {
        let node = self.node();
        self.roots.push((operation.to_owned(), node, direction));
        node
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
        let edges = &mut self.edges[from.0];
        if !edges.contains(&(to, through)) {
            edges.push((to, through));
        }
        true
    }

    /// The next pair to compare.
    pub fn next(&mut self) -> Option<(String, String, Node)> {
        self.pending.pop()
    }

    /// Who reaches each node.
    pub fn reached(&self) -> Vec<Reach> {
        let mut reached = vec![Reach::default(); self.edges.len()];
        // The number of the last root that came here in each direction.
        let mut seen = vec![[usize::MAX; 2]; self.edges.len()];
        for (number, (operation, root, direction)) in self.roots.iter().enumerate() {
            let mut pending = vec![(*root, *direction)];
            while let Some((node, direction)) = pending.pop() {
                let came = &mut seen[node.0];
                let request = direction.request && came[0] != number;
                let response = direction.response && came[1] != number;
                if !request && !response {
                    continue;
                }
                if request {
                    came[0] = number;
                }
                if response {
                    came[1] = number;
                }
                let reach = &mut reached[node.0];
                reach.direction.request |= request;
                reach.direction.response |= response;
                if reach.operations.last() != Some(operation) {
                    reach.operations.push(operation.clone());
                }
                for (to, through) in &self.edges[node.0] {
                    pending.push((*to, direction.and(*through)));
                }
            }
        }
        reached
    }
}

impl Reach {
    /// Adds what another node is reached by.
    pub fn add(&mut self, other: &Self) {
        self.direction.request |= other.direction.request;
        self.direction.response |= other.direction.response;
        self.operations.extend(other.operations.iter().cloned());
        self.operations.sort();
        self.operations.dedup();
    }
}
