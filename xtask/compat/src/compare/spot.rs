//! A place in both documents.

use super::graph::Node;
use crate::json::{Place, step};
use crate::kind::Direction;

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
