//! What changed between two documents in one spelling.
//!
//! Each object is compared keyword by keyword. A keyword without a rule is unknown, unless it is
//! text or an extension: so nothing new passes in silence.
//!
//! ```text
//! operation   what an operation, a parameter and a body say
//!   → content   what a body has, by media type
//!   → response  what answers an operation has
//!   → schema    what a schema says of a value, keyword by keyword
//!     → object    the members of an object
//!     → cases     the parts of a list, and one schema in the place of a list
//!     → values    types, enumerations and bounds
//!     → matching  which parts of two lists belong together
//!   → graph     which operations reach a pair of types, in requests or responses
//! ```

mod cases;
mod content;
mod graph;
mod matching;
mod object;
mod operation;
mod response;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Document;
use crate::change::{Change, Reach, Told, texts};
use crate::kind::{Direction, Kind};
use crate::normalise::{AT, INTERNAL, Model, is_type, step, written};
use crate::place::{Place, words};
use graph::{Graph, Node};

/// Where the comparison is.
#[derive(Clone)]
struct Here {
    place: Place,
    node: Node,
    /// What the path from the node to here lets through.
    through: Direction,
    /// How many steps it has.
    depth: usize,
}

impl Here {
    fn at(old: &str, new: &str, node: Node) -> Self {
        let place = Place { old: old.to_owned(), new: new.to_owned() };
        Self { place, node, through: Direction::BOTH, depth: 0 }
    }

    fn below(&self, name: &str) -> Self {
        let place = Place { old: step(&self.place.old, name), new: step(&self.place.new, name) };
        Self { place, depth: self.depth + 1, ..*self }
    }

    /// Where these values are written, if they say so.
    fn of(&self, old: Option<&Value>, new: Option<&Value>) -> Self {
        let at = |value: Option<&Value>| Some(value?.get(AT)?.as_str()?.to_owned());
        let mut here = self.clone();
        here.place.old = at(old).unwrap_or(here.place.old);
        here.place.new = at(new).unwrap_or(here.place.new);
        here
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
    old: Option<Told>,
    new: Option<Told>,
}

/// Every change between two documents.
pub fn changes(old: &Document, new: &Document) -> Vec<Change> {
    let mut comparison =
        Comparison { old: &old.model, new: &new.model, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused();
    comparison.pairs();
    comparison.rest();
    comparison.finished(old, new)
}

impl Comparison<'_> {
    fn say(&mut self, here: &Here, kind: Kind, old: Option<Told>, new: Option<Told>) {
        self.found.push(Found { here: here.clone(), kind, old, new });
    }

    /// Says that a value changed, if it did. If only texts for people in it did, it is a text.
    fn value(&mut self, here: &Here, kind: Kind, old: Option<&Value>, new: Option<&Value>) {
        let [old_told, new_told] = [old, new].map(|value| value.map(Told::of));
        if old_told != new_told {
            self.say(here, kind, old_told, new_told);
        } else if old.map(written) != new.map(written) {
            let [old, new] = [old, new].map(|value| Some(Told::text(&written(value?).to_string())));
            self.say(here, Kind::Text, old, new);
        }
    }

    /// Says that a value changed inside which nobody looks, also behind its references.
    fn opaque(&mut self, here: &Here, kind: Kind, old: Option<&Value>, new: Option<&Value>) {
        let old_text = old.map(|value| self.old.prints.nameless(value));
        let new_text = new.map(|value| self.new.prints.nameless(value));
        if old_text == new_text {
            self.value(here, Kind::TypeName, old, new);
        } else {
            self.say(here, kind, old.map(Told::of), new.map(Told::of));
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
        let told = |one| {
            let told = Told::of(one);
            if is_required { told.and(", required") } else { told }
        };
        self.say(here, kind, old.map(told), new.map(told));
    }

    fn required(&mut self, here: &Here, was_required: bool, is_required: bool) {
        let kind = if is_required { Kind::Required } else { Kind::Optional };
        if was_required != is_required {
            let [old, new] = [was_required, is_required]
                .map(|required| Told::text(if required { "required" } else { "optional" }));
            self.say(here, kind, Some(old), Some(new));
        }
    }

    /// Compares the pairs of types to which something leads.
    fn pairs(&mut self) {
        while let Some((old_name, new_name, node)) = self.graph.next() {
            let old = &self.old.schemas[&old_name];
            let new = &self.new.schemas[&new_name];
            let here = Here::at(&old_name, &new_name, node);
            self.made_of(&here, old, new);
            self.schema(&here, old, new);
        }
    }

    /// The types that no operation reaches.
    fn unused(&mut self) {
        let names = self.old.schemas.keys().chain(self.new.schemas.keys());
        for name in names.filter(|name| is_type(name)).collect::<BTreeSet<_>>() {
            let node = self.graph.node();
            let here = Here::at(name, name, node);
            match (self.old.schemas.get(name), self.new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.lead(node, Direction::BOTH, name, name);
                }
                (Some(old), None) if !self.old.referenced.contains(name) => {
                    self.say(&here, Kind::UnusedTypeRemoved, Some(Told::of(old)), None);
                }
                (None, Some(new)) if !self.new.referenced.contains(name) => {
                    self.say(&here, Kind::UnusedTypeAdded, None, Some(Told::of(new)));
                }
                _ => {}
            }
        }
    }

    /// What is neither an operation nor a schema: texts for people, extensions and what is unknown.
    fn rest(&mut self) {
        let here = Here::at("#", "#", self.graph.node());
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
    fn finished(self, old_document: &Document, new_document: &Document) -> Vec<Change> {
        let nodes = self.found.iter().map(|found| found.here.node).collect();
        let reached = self.graph.reached(&nodes);
        let as_xml = self.graph.reached_as_xml();
        let mut all: BTreeMap<_, (Place, Reach)> = BTreeMap::new();
        let mut all_texts = BTreeSet::new();
        for Found { here, kind, old, new } in self.found {
            let place = here.place.within(old_document, new_document);
            let reach = reached.get(&here.node).cloned().unwrap_or_default();
            let direction = reach.direction.and(here.through);
            let is_used = !reach.operations.is_empty();
            let is_one_way = matches!(kind, Kind::OneWay | Kind::BothWays);
            if kind == Kind::Text {
                all_texts.insert((place, old, new));
            } else if kind == Kind::Xml && !as_xml.contains(&here.node)
                || is_one_way && is_used && direction == Direction::default()
            {
                // Nobody meets it there.
            } else {
                let told = if new.is_none() { &place.old } else { &place.new };
                let entry = all.entry((told.clone(), kind, old, new));
                let (_, all) = entry.or_insert_with(|| (place, Reach::default()));
                all.add(direction, &reach.operations);
            }
        }
        let changes = all
            .into_iter()
            .map(|((_, kind, old, new), (place, reach))| Change::new(kind, place, old, new, reach));
        let told = |change: Change| {
            let document = if change.new.is_none() { old_document } else { new_document };
            Change { words: words(&change.place, &document.json), ..change }
        };
        changes.chain(texts(&all_texts)).map(told).collect()
    }
}

type Member<'a> = (&'a str, Option<&'a Value>, Option<&'a Value>);

/// The members of two values, each with its values. What is no object has none.
fn members<'a>(old: Option<&'a Value>, new: Option<&'a Value>) -> Vec<Member<'a>> {
    let members = |value: Option<&'a Value>| value.and_then(Value::as_object).into_iter().flatten();
    let names = members(old).chain(members(new)).map(|(name, _)| name).collect::<BTreeSet<_>>();
    let of = |value: Option<&'a Value>, name: &str| value.and_then(|value| value.get(name));
    names.into_iter().map(|name| (name.as_str(), of(old, name), of(new, name))).collect()
}

/// The members of two objects whose names OpenAPI gives.
fn keywords<'a>(old: Option<&'a Value>, new: Option<&'a Value>) -> Vec<Member<'a>> {
    let mut all = members(old, new);
    all.retain(|(name, ..)| !INTERNAL.contains(name));
    all
}
