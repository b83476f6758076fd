//! What changed between two documents in one spelling.
//!
//! ```text
//! operation   the operations of both, and what only one of them has
//!   → schema    the limits of two schemas, one by one
//!     → values    types, enumerations and bounds
//!     → matching  which parts of two lists belong together
//!   → graph     which operations reach a pair of types, in requests or responses
//! ```

mod graph;
mod matching;
mod operation;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

pub use graph::{NAMED, Reach};

use crate::Class;
use crate::kind::{Direction, Kind};
use crate::model::Model;
use graph::{Graph, Node};

/// One change.
pub struct Difference {
    pub kind: Kind,
    pub place: String,
    pub old: Option<String>,
    pub new: Option<String>,
    pub reach: Reach,
}

/// Where the comparison is.
#[derive(Clone, Copy)]
struct Here<'a> {
    place: Place<'a>,
    node: Node,
    /// What the path from the node to here lets through.
    through: Direction,
}

/// A place below another one. It becomes a text only if something changed there.
#[derive(Clone, Copy)]
enum Place<'a> {
    At(&'a str),
    Below(&'a Place<'a>, &'a str),
}

impl Place<'_> {
    fn text(&self) -> String {
        match self {
            Self::At(place) => (*place).to_owned(),
            Self::Below(place, name) => {
                format!("{}/{}", place.text(), name.replace('~', "~0").replace('/', "~1"))
            }
        }
    }
}

impl<'a> Here<'a> {
    fn at(place: &'a str, node: Node) -> Self {
        Self { place: Place::At(place), node, through: Direction::BOTH }
    }

    fn below<'b>(&'b self, name: &'b str) -> Here<'b>
    where
        'a: 'b,
    {
        Here { place: Place::Below(&self.place, name), ..*self }
    }

    fn only(self, direction: Direction) -> Self {
        Self { through: self.through.and(direction), ..self }
    }
}

struct Comparison<'a> {
    old: &'a Model,
    new: &'a Model,
    graph: Graph,
    found: Vec<Found>,
}

/// A change, before it is known who reaches it.
struct Found {
    node: Node,
    through: Direction,
    kind: Kind,
    place: String,
    old: Option<String>,
    new: Option<String>,
}

/// Every change between two documents.
pub fn differences(old: &Model, new: &Model) -> Vec<Difference> {
    let mut comparison = Comparison { old, new, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused();
    comparison.pairs();
    comparison.texts();
    comparison.finished()
}

impl Comparison<'_> {
    fn say(&mut self, here: Here<'_>, kind: Kind, old: Option<String>, new: Option<String>) {
        let Here { place, node, through } = here;
        self.found.push(Found { node, through, kind, place: place.text(), old, new });
    }

    /// Says that a value changed, if it did.
    fn value(&mut self, here: Here<'_>, kind: Kind, old: Option<String>, new: Option<String>) {
        if old != new {
            self.say(here, kind, old, new);
        }
    }

    /// Compares the pairs of types to which something leads.
    fn pairs(&mut self) {
        while let Some((old_name, new_name, node)) = self.graph.next() {
            let old = &self.old.schemas[&old_name];
            let new = &self.new.schemas[&new_name];
            self.schema(Here::at(&old_name, node), old, new);
        }
    }

    /// What no operation reaches.
    fn unused(&mut self) {
        for name in self.old.schemas.keys().chain(self.new.schemas.keys()).collect::<BTreeSet<_>>()
        {
            let node = self.graph.unused();
            let here = Here::at(name, node);
            match (self.old.schemas.get(name), self.new.schemas.get(name)) {
                (Some(_), Some(_)) if !self.graph.has(name, name) => {
                    self.graph.lead(node, Direction::BOTH, name, name);
                }
                (Some(old), None) if !self.old.referenced.contains(name) => {
                    self.say(here, Kind::UnusedTypeRemoved, Some(told(old)), None);
                }
                (None, Some(new)) if !self.new.referenced.contains(name) => {
                    self.say(here, Kind::UnusedTypeAdded, None, Some(told(new)));
                }
                _ => {}
            }
        }
    }

    /// Texts for people and extensions, of objects that both documents have.
    fn texts(&mut self) {
        let node = self.graph.unused();
        let mut changed = Vec::new();
        for (place, old) in &self.old.texts {
            changed.extend(self.new.texts.get(place).filter(|new| *new != old).map(|_| place));
        }
        if let [first, ..] = changed[..] {
            let count = format!("{} texts", changed.len());
            self.say(Here::at(first, node), Kind::Text, None, Some(count));
        }
        for (place, old) in &self.old.extensions {
            let Some(new) = self.new.extensions.get(place) else { continue };
            for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
                let text =
                    |all: &BTreeMap<String, BTreeSet<String>>| Some(joined(all.get(name)?, " "));
                self.value(
                    Here::at(place, node).below(name),
                    Kind::Extension,
                    text(old),
                    text(new),
                );
            }
        }
    }

    /// The changes with those who reach them: one for each place and kind.
    fn finished(self) -> Vec<Difference> {
        let reached = self.graph.reached();
        let mut all: BTreeMap<_, Reach> = BTreeMap::new();
        for mut found in self.found {
            let by = &reached[found.node.0];
            let mut reach = by.clone();
            reach.direction = by.direction.and(found.through);
            if by.direction == Direction::default() {
                let breaks = found.kind.class(Direction::BOTH) >= Class::Source;
                if breaks && let Some(unused) = unused_type(self.old, self.new, &found) {
                    found = unused;
                }
            }
            let Found { kind, place, old, new, .. } = found;
            all.entry((place, kind, old, new)).or_default().add(&reach);
        }
        let differences = all.into_iter().map(|((place, kind, old, new), reach)| Difference {
            kind,
            place,
            old,
            new,
            reach,
        });
        differences.collect()
    }
}

/// One change for all that changed of a type that no operation uses.
fn unused_type(old: &Model, new: &Model, found: &Found) -> Option<Found> {
    let name: Vec<&str> = found.place.splitn(5, '/').take(4).collect();
    let place = name.join("/");
    let (old, new) = (old.schemas.get(&place)?, new.schemas.get(&place)?);
    let [old, new] = [told(old), told(new)].map(Some);
    let Found { node, through, .. } = *found;
    Some(Found { node, through, kind: Kind::UnusedType, place, old, new })
}

fn joined(texts: &BTreeSet<String>, between: &str) -> String {
    texts.iter().map(String::as_str).collect::<Vec<_>>().join(between)
}

/// A value as JSON.
fn told(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("a part of a document is JSON")
}
