//! Finds which operations reach a pair of types, and in which direction.
//!
//! A pair of types is compared once, however many places lead to it. The pairs are nodes and the
//! places are edges. Each operation has a node for its request and one for its response.

use std::collections::{HashMap, HashSet};

use crate::change::Reach;
use crate::json::{Place, step};
use crate::kind::Direction;
use crate::model::Pointer;

/// The number of a node.
pub type Node = usize;

/// The number of pairs that are compared. Two hostile documents could lead to every combination of
/// their types.
const MOST_PAIRS: usize = 100_000;

/// An older and a newer type.
type Pair = (String, String);

#[derive(Default)]
pub struct Graph {
    /// The nodes that lead to each node, and the directions that they let through.
    origins: Vec<HashMap<Node, Direction>>,
    pairs: HashMap<Pair, Node>,
    /// The pairs that are still to be compared.
    pending: Vec<(Pointer, Pointer, Node)>,
    roots: HashMap<Node, (String, Direction)>,
}

impl Graph {
    /// Adds a node that nothing leads to, for something that no operation uses.
    pub fn node(&mut self) -> Node {
        self.origins.push(HashMap::new());
        self.origins.len() - 1
    }

    /// Adds a node for the request or the response of an operation.
    pub fn root(&mut self, operation: &str, direction: Direction) -> Node {
        let node = self.node();
        self.roots.insert(node, (operation.to_owned(), direction));
        node
    }

    /// Lets a node lead to a pair of types. Returns false if there are too many pairs.
    pub fn lead(&mut self, from: Node, through: Direction, old: &Pointer, new: &Pointer) -> bool {
        let pair = (old.as_str().to_owned(), new.as_str().to_owned());
        let to = match self.pairs.get(&pair) {
            Some(&node) => node,
            None if self.pairs.len() == MOST_PAIRS => return false,
            None => {
                let node = self.node();
                self.pending.push((old.clone(), new.clone(), node));
                self.pairs.insert(pair, node);
                node
            }
        };
        let known = self.origins[to].entry(from).or_default();
        *known = known.or(through);
        true
    }

    /// The next pair to compare.
    pub fn next(&mut self) -> Option<(Pointer, Pointer, Node)> {
        self.pending.pop()
    }

    /// The operations that reach a node.
    pub fn reach(&self, node: Node) -> Reach {
        let mut reach = Reach::default();
        for direction in [Direction::REQUEST, Direction::RESPONSE] {
            let mut known = HashSet::new();
            let mut pending = vec![node];
            while let Some(node) = pending.pop() {
                if known.insert(node) {
                    let open = self.origins[node].iter();
                    let open = open.filter(|(_, through)| through.and(direction) == direction);
                    pending.extend(open.map(|(from, _)| *from));
                    let root = self.roots.get(&node);
                    if let Some((operation, _)) = root.filter(|(_, sides)| *sides == direction) {
                        reach.add(direction, [operation]);
                    }
                }
            }
        }
        reach
    }
}

/// A place in both documents.
#[derive(Clone)]
pub struct Spot {
    pub old: Place,
    pub new: Place,
    /// The pair of types, or the side of an operation, that the place belongs to.
    pub node: Node,
    /// The directions that the path from the node to this place lets through.
    pub through: Direction,
    /// The number of steps from the node to this place.
    pub depth: usize,
    /// Whether the value must be sent, so that no default stands for it.
    pub is_sent: bool,
}

impl Spot {
    pub fn new(old: Place, new: Place, node: Node) -> Self {
        Self { old, new, node, through: Direction::BOTH, depth: 0, is_sent: false }
    }

    /// The spot of a member.
    pub fn below(&self, name: &str) -> Self {
        let [old, new] = [&self.old, &self.new].map(|place| step(place, name));
        Self { old, new, depth: self.depth + 1, is_sent: false, ..*self }
    }

    /// The spot at which both values are written.
    pub fn at(&self, old: Option<Place>, new: Option<Place>) -> Self {
        let (own_old, own_new) = (|| self.old.clone(), || self.new.clone());
        Self { old: old.unwrap_or_else(own_old), new: new.unwrap_or_else(own_new), ..*self }
    }

    /// The same spot, of which only this direction matters.
    pub fn only(&self, direction: Direction) -> Self {
        Self { through: self.through.and(direction), ..self.clone() }
    }

    /// The same spot, whose value must be sent or not.
    pub fn sent(&self, is_sent: bool) -> Self {
        Self { is_sent, ..self.clone() }
    }
}
