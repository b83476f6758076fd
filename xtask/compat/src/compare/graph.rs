//! Finds which operations use a pair of types, and in which direction.
//!
//! A pair of types is compared once, however many references lead to it. The nodes of the graph are
//! the pairs of types, requests and responses. The edges are references.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::change::{Place, Reach};
use crate::kind::Direction;
use crate::model::Pointer;

/// The number of a node.
pub type Node = usize;

/// The limit of pairs to compare. Hostile documents could pair all of their types.
const MOST_PAIRS: usize = 100_000;

/// An older and a newer type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    pub old: Pointer,
    pub new: Pointer,
}

#[derive(Default)]
pub struct Graph {
    /// For each node, the nodes that refer to it, and in which directions the value is sent.
    incoming: Vec<HashMap<Node, Direction>>,
    pairs: BTreeMap<Pair, Node>,
    /// The pairs that were not compared yet.
    pending: Vec<(Pair, Spot)>,
    /// The operations, by the nodes of their requests and responses.
    roots: HashMap<Node, (String, Direction)>,
}

impl Graph {
    /// Adds a node without edges, and returns its spot. No operation uses it.
    pub fn node(&mut self, place: Place) -> Spot {
        self.incoming.push(HashMap::new());
        let node = self.incoming.len() - 1;
        Spot { place, node, direction: Direction::all(), depth: 0 }
    }

    /// Adds a node for the request or the response of an operation.
    pub fn root(&mut self, operation: &str, direction: Direction) -> Spot {
        let spot = self.node(Place::default());
        self.roots.insert(spot.node, (operation.to_owned(), direction));
        spot
    }

    /// Adds an edge from a reference to a pair of types. Returns false if there are too many pairs.
    pub fn add_edge(&mut self, from: &Spot, old: &Pointer, new: &Pointer) -> bool {
        let pair = Pair { old: old.clone(), new: new.clone() };
        let to = match self.pairs.get(&pair) {
            Some(&node) => node,
            None if self.pairs.len() == MOST_PAIRS => return false,
            None => {
                // An inline schema has no name.
                let is_named = new.is_component();
                let place = if is_named { Place::of(new.short()) } else { from.place.clone() };
                let spot = self.node(place);
                let node = spot.node;
                self.pending.push((pair.clone(), spot));
                self.pairs.insert(pair, node);
                node
            }
        };
        let direction = self.incoming[to].entry(from.node).or_default();
        *direction |= from.direction;
        true
    }

    /// The next pair to compare.
    pub fn next(&mut self) -> Option<(Pair, Spot)> {
        self.pending.pop()
    }

    /// The operations from which a node can be reached.
    pub fn reach(&self, node: Node) -> Reach {
        let mut reach = Reach::default();
        for direction in [Direction::REQUEST, Direction::RESPONSE] {
            let mut known = HashSet::new();
            let mut pending = vec![node];
            while let Some(node) = pending.pop() {
                if known.insert(node) {
                    let edges = self.incoming[node].iter();
                    let edges = edges.filter(|(_, edge)| edge.contains(direction));
                    pending.extend(edges.map(|(from, _)| *from));
                    let root = self.roots.get(&node);
                    if let Some((operation, _)) = root.filter(|(_, root)| *root == direction) {
                        reach.add(direction, [operation]);
                    }
                }
            }
        }
        reach
    }
}

/// A place, and the node to which it belongs.
#[derive(Clone)]
pub struct Spot {
    pub place: Place,
    /// The pair of types, the request or the response that contains the place.
    pub node: Node,
    /// In which directions the value is sent: `readOnly` excludes requests.
    pub direction: Direction,
    /// The number of levels between the node and this place.
    pub depth: usize,
}

impl Spot {
    /// The spot of a member.
    pub fn below(&self, step: &str) -> Self {
        Self { place: self.place.below(step), depth: self.depth + 1, ..*self }
    }

    /// The same spot, in only this direction.
    pub fn only(&self, direction: Direction) -> Self {
        Self { direction: self.direction & direction, ..self.clone() }
    }
}
