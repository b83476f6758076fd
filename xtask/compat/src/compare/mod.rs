//! What changed between two documents in one spelling.
//!
//! Each object is compared keyword by keyword. A keyword without a rule is unknown, unless it is
//! text or an extension: so nothing new passes in silence.
//!
//! ```text
//! operation   what an operation, a parameter and a body say
//!   → response  what answers an operation has
//!   → schema    what a schema says of a value, keyword by keyword
//!     → object    the members of an object
//!     → cases     the parts of a list, and one schema in the place of a list
//!     → values    types, enumerations and bounds
//!     → matching  which parts of two lists belong together
//!   → graph     which operations reach a pair of types, in requests or responses
//! ```

mod cases;
mod graph;
mod matching;
mod object;
mod operation;
mod response;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use graph::Reach;

use crate::Change;
use crate::kind::{Direction, Kind};
use crate::normalise::{Model, meaning, step};
use graph::{Graph, Node};
use schema::short;

/// Where the comparison is.
#[derive(Clone)]
struct Here {
    /// A JSON pointer, but for the parts of lists, which have names.
    place: String,
    node: Node,
    /// What the path from the node to here lets through.
    through: Direction,
    /// How many steps it has.
    depth: usize,
}

impl Here {
    fn at(place: &str, node: Node) -> Self {
        Self { place: place.to_owned(), node, through: Direction::BOTH, depth: 0 }
    }

    fn below(&self, name: &str) -> Self {
        Self { place: step(&self.place, name), depth: self.depth + 1, ..*self }
    }

    fn only(&self, direction: Direction) -> Self {
        Self { through: self.through.and(direction), ..self.clone() }
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
    here: Here,
    kind: Kind,
    old: Option<String>,
    new: Option<String>,
}

/// Every change between two documents.
pub fn changes(old: &Model, new: &Model) -> Vec<Change> {
    let mut comparison = Comparison { old, new, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused();
    comparison.pairs();
    comparison.rest();
    comparison.finished()
}

impl Comparison<'_> {
    fn say(&mut self, here: &Here, kind: Kind, old: Option<String>, new: Option<String>) {
        self.found.push(Found { here: here.clone(), kind, old, new });
    }

    /// Says that a value changed, if it did. If only texts for people in it did, it is a text.
    fn value(&mut self, here: &Here, kind: Kind, old: Option<&Value>, new: Option<&Value>) {
        let [old_text, new_text] = [old, new].map(|value| value.map(told));
        if old_text != new_text {
            self.say(here, kind, old_text, new_text);
        } else if old != new {
            self.say(here, Kind::Text, old.map(Value::to_string), new.map(Value::to_string));
        }
    }

    /// Says that a value changed inside which nobody looks, also behind its references.
    fn opaque(&mut self, here: &Here, kind: Kind, old: Option<&Value>, new: Option<&Value>) {
        let old_text = old.map(|value| self.old.prints.nameless(value));
        let new_text = new.map(|value| self.new.prints.nameless(value));
        if old_text == new_text {
            self.value(here, Kind::TypeName, old, new);
        } else {
            self.say(here, kind, old.map(told), new.map(told));
        }
    }

    /// A keyword that has the same meaning everywhere, or that this check does not know.
    fn other(&mut self, here: &Here, name: &str, old: Option<&Value>, new: Option<&Value>) {
        let kind = match name {
            "deprecated" => Kind::Deprecation,
            "description" | "example" | "examples" | "externalDocs" | "summary" | "title" => {
                Kind::Text
            }
            _ if name.starts_with("x-") => Kind::Extension,
            _ => Kind::Unknown,
        };
        self.value(here, kind, old, new);
    }

    /// Something that only one of the documents has.
    fn in_one(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>, is_required: bool) {
        let kind = match (old, is_required) {
            (Some(_), true) => Kind::Removed,
            (Some(_), false) => Kind::OptionalRemoved,
            (None, true) => Kind::RequiredAdded,
            (None, false) => Kind::Added,
        };
        let required = if is_required { ", required" } else { "" };
        let [old, new] = [old, new].map(|one| one.map(|one| told(one) + required));
        self.say(here, kind, old, new);
    }

    fn required(&mut self, here: &Here, was_required: bool, is_required: bool) {
        let kind = if is_required { Kind::Required } else { Kind::Optional };
        if was_required != is_required {
            let [old, new] = [was_required, is_required]
                .map(|required| if required { "required" } else { "optional" });
            self.say(here, kind, Some(old.to_owned()), Some(new.to_owned()));
        }
    }

    /// Compares the pairs of types to which something leads.
    fn pairs(&mut self) {
        while let Some((old_name, new_name, node)) = self.graph.next() {
            let old = &self.old.schemas[&old_name];
            let new = &self.new.schemas[&new_name];
            let mut place = old_name;
            if place != new_name {
                place = format!("{place} → {}", short(&new_name));
            }
            self.schema(&Here::at(&place, node), old, new);
        }
    }

    /// The types that no operation reaches.
    fn unused(&mut self) {
        for name in self.old.schemas.keys().chain(self.new.schemas.keys()).collect::<BTreeSet<_>>()
        {
            let node = self.graph.node();
            let here = Here::at(name, node);
            match (self.old.schemas.get(name), self.new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.lead(node, Direction::BOTH, name, name);
                }
                (Some(old), None) if !self.old.referenced.contains(name) => {
                    self.say(&here, Kind::UnusedTypeRemoved, Some(told(old)), None);
                }
                (None, Some(new)) if !self.new.referenced.contains(name) => {
                    self.say(&here, Kind::UnusedTypeAdded, None, Some(told(new)));
                }
                _ => {}
            }
        }
    }

    /// What is neither an operation nor a schema: texts for people, extensions and what is unknown.
    fn rest(&mut self) {
        let here = Here::at("#", self.graph.node());
        let (old, new) = (self.old, self.new);
        for (name, old, new) in members(Some(&old.rest), Some(&new.rest)) {
            let here = here.below(name);
            match name {
                "info" | "tags" => self.value(&here, Kind::Text, old, new),
                // Operations have all the others.
                "components" | "paths" => {
                    for (name, old, new) in members(old, new) {
                        self.other(&here.below(name), name, old, new);
                    }
                }
                _ => self.other(&here, name, old, new),
            }
        }
    }

    /// The changes with those who reach them: one for each place and kind, and one for all texts.
    fn finished(self) -> Vec<Change> {
        let nodes = self.found.iter().map(|found| found.here.node).collect();
        let reached = self.graph.reached(&nodes);
        let mut all: BTreeMap<_, Reach> = BTreeMap::new();
        let mut texts = BTreeSet::new();
        for found in self.found {
            if found.kind == Kind::Text {
                texts.insert((found.here.place, found.old, found.new));
                continue;
            }
            let Found { here, kind, old, new } = found;
            let unused = Reach { direction: Direction::BOTH, ..Reach::default() };
            let reach = reached.get(&here.node).unwrap_or(&unused);
            let direction = reach.direction.and(here.through);
            all.entry((here.place, kind, old, new)).or_default().add(direction, &reach.operations);
        }
        let changes = all
            .into_iter()
            .map(|((place, kind, old, new), reach)| Change::new(kind, place, old, new, reach));
        changes.chain(said(&texts)).collect()
    }
}

/// One change for all texts, at the first of them.
fn said(texts: &BTreeSet<(String, Option<String>, Option<String>)>) -> Option<Change> {
    let (place, _, _) = texts.first()?;
    // One text may stand at many operations.
    let different: BTreeSet<_> = texts.iter().map(|(_, old, new)| (old, new)).collect();
    let new = Some(match different.len() {
        1 => "1 text".to_owned(),
        count => format!("{count} texts"),
    });
    Some(Change::new(Kind::Text, place.clone(), None, new, Reach::default()))
}

type Member<'a> = (&'a str, Option<&'a Value>, Option<&'a Value>);

/// The members of two values, each with its values. What is no object has none.
fn members<'a>(old: Option<&'a Value>, new: Option<&'a Value>) -> Vec<Member<'a>> {
    let members = |value: Option<&'a Value>| value.and_then(Value::as_object).into_iter().flatten();
    let names = members(old).chain(members(new)).map(|(name, _)| name).collect::<BTreeSet<_>>();
    let of = |value: Option<&'a Value>, name: &str| value.and_then(|value| value.get(name));
    names.into_iter().map(|name| (name.as_str(), of(old, name), of(new, name))).collect()
}

/// The members that both values have.
fn both<'a>(
    old: Option<&'a Value>,
    new: Option<&'a Value>,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    let members = members(old, new).into_iter();
    members.filter_map(|(name, old, new)| Some((name, old?, new?)))
}

/// A value as a person reads it.
fn told(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => meaning(value).to_string(),
    }
}
