//! A position in both documents.

use std::collections::BTreeSet;

use serde_json::Value;

use super::graph::Node;
use crate::json::entries;
use crate::kind::Direction;
use crate::normalise::{AT, INTERNAL};
use crate::place::Place;
use crate::pointer::step;

/// A position in both documents, and the value that each document has there.
#[derive(Clone)]
pub struct Cursor<'v> {
    pub place: Place,
    /// The older value; none if only the newer document has one.
    pub old: Option<&'v Value>,
    /// The newer value; none if only the older document has one.
    pub new: Option<&'v Value>,
    /// The pair of types, or the side of an operation, that the position belongs to.
    pub node: Node,
    /// The directions that the path from the node to this position lets through.
    pub through: Direction,
    /// The number of steps from the node to this position.
    pub depth: usize,
}

impl<'v> Cursor<'v> {
    /// A position without values.
    pub fn new(old: &str, new: &str, node: Node) -> Self {
        let place = Place { old: old.to_owned(), new: new.to_owned() };
        Self { place, old: None, new: None, node, through: Direction::BOTH, depth: 0 }
    }

    pub fn values(&self) -> [Option<&'v Value>; 2] {
        [self.old, self.new]
    }

    /// The same position without its values.
    pub fn without_values<'w>(&self) -> Cursor<'w> {
        self.with(None, None)
    }

    /// The same position with other values.
    pub fn with<'w>(&self, old: Option<&'w Value>, new: Option<&'w Value>) -> Cursor<'w> {
        let Self { ref place, node, through, depth, .. } = *self;
        Cursor { place: place.clone(), old, new, node, through, depth }
    }

    /// The position at which both values are written, as far as the normaliser noted it.
    pub fn located(mut self) -> Self {
        for (place, value) in [(&mut self.place.old, self.old), (&mut self.place.new, self.new)] {
            if let Some(at) = value.and_then(|value| value.get(AT)?.as_str()) {
                at.clone_into(place);
            }
        }
        self
    }

    /// The position at which these values are written.
    pub fn at<'w>(&self, old: Option<&'w Value>, new: Option<&'w Value>) -> Cursor<'w> {
        self.with(old, new).located()
    }

    /// The member of this name.
    pub fn below(&self, name: &str) -> Self {
        let place = Place { old: step(&self.place.old, name), new: step(&self.place.new, name) };
        let [old, new] = self.values().map(|value| value?.get(name));
        Self { place, old, new, depth: self.depth + 1, ..*self }
    }

    /// The same position, of which only this direction matters.
    pub fn only(&self, direction: Direction) -> Self {
        Self { through: self.through.and(direction), ..self.clone() }
    }

    /// Every member of the older or the newer value, by name.
    pub fn members(&self) -> impl Iterator<Item = (&'v str, Self)> {
        let names = self.values().into_iter().flatten().flat_map(entries);
        let names: BTreeSet<&str> = names.map(|(name, _)| name.as_str()).collect();
        names.into_iter().map(|name| (name, self.below(name)))
    }

    /// The members whose names OpenAPI defines.
    pub fn keywords(&self) -> impl Iterator<Item = (&'v str, Self)> {
        self.members().filter(|(name, _)| !INTERNAL.contains(name))
    }
}
