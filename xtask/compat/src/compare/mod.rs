//! Finds what changed between two normalised documents.
//!
//! Objects are compared keyword by keyword. A keyword that has no rule, and is neither text nor an
//! extension, is reported as unknown, so no new keyword can change unnoticed.
//!
//! ```text
//! operation   operations, parameters and bodies
//!   → content   the media types of a body
//!     → encoding  how the members of a form are encoded
//!   → response  the responses of an operation
//!   → schema    schemas, keyword by keyword
//!     → members   the members of an object
//!     → cases     lists of parts, and one schema that becomes a list
//!     → values    types, enumerations and limits
//!     → matching  which parts of two lists belong together
//!   → cursor    a position in both documents
//!   → graph     which operations reach a pair of types, in requests or responses
//! ```

mod cases;
mod content;
mod cursor;
mod encoding;
mod graph;
mod matching;
mod members;
mod operation;
mod response;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Document;
use crate::change::{Change, Reach, Shown, combine_texts};
use crate::kind::{Direction, Kind};
use crate::normalise::{Model, written};
use crate::place::Place;
use crate::pointer::is_type;
use cursor::Cursor;
use graph::Graph;

struct Comparison<'a> {
    old: &'a Model,
    new: &'a Model,
    graph: Graph,
    found: Vec<Found>,
}

/// A change, before it is known which operations reach it.
struct Found {
    at: Cursor<'static>,
    kind: Kind,
    old: Option<Shown>,
    new: Option<Shown>,
}

/// Returns every change between two documents.
pub fn changes(old: &Document, new: &Document) -> Vec<Change> {
    let mut comparison =
        Comparison { old: &old.model, new: &new.model, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused();
    comparison.pairs();
    comparison.rest();
    comparison.finish(old, new)
}

impl Comparison<'_> {
    fn report(&mut self, at: &Cursor<'_>, kind: Kind, old: Option<Shown>, new: Option<Shown>) {
        self.found.push(Found { at: at.without_values(), kind, old, new });
    }

    fn report_text(&mut self, at: &Cursor<'_>, kind: Kind, old: Option<&str>, new: Option<&str>) {
        self.report(at, kind, old.map(Shown::text), new.map(Shown::text));
    }

    /// Reports a change of the value, if there is one. A change of nothing but texts for people
    /// inside the value is reported as a text.
    fn value(&mut self, at: &Cursor<'_>, kind: Kind) {
        let [old, new] = at.values().map(|value| value.map(Shown::of));
        // In brief, a merged schema is shown by its place, which may depend on the order of a list.
        if old.as_ref().map(|shown| &shown.full) != new.as_ref().map(|shown| &shown.full) {
            return self.report(at, kind, old, new);
        }
        let [old, new] = at.values().map(|value| Some(written(value?).to_string()));
        if old != new {
            self.report_text(at, Kind::Text, old.as_deref(), new.as_deref());
        }
    }

    /// Reports a change of a keyword that means the same everywhere, or that has no rule.
    fn other(&mut self, at: &Cursor<'_>, name: &str) {
        let kind = match name {
            "deprecated" => Kind::Deprecation,
            "description" | "example" | "examples" | "externalDocs" | "summary" | "title" => {
                Kind::Text
            }
            _ if name.starts_with("x-") => Kind::Extension,
            _ => Kind::Unknown,
        };
        self.value(at, kind);
    }

    /// Reports something that only one of the documents contains.
    fn in_one(&mut self, at: &Cursor<'_>, is_required: bool) {
        let kind = match (at.old, is_required) {
            (Some(_), true) => Kind::Removed,
            (Some(_), false) => Kind::OptionalRemoved,
            (None, true) => Kind::RequiredAdded,
            (None, false) => Kind::Added,
        };
        let shown = |value| {
            let shown = Shown::of(value);
            if is_required { shown.and(", required") } else { shown }
        };
        self.report(at, kind, at.old.map(shown), at.new.map(shown));
    }

    fn required(&mut self, at: &Cursor<'_>, was_required: bool, is_required: bool) {
        if was_required != is_required {
            let kind = if is_required { Kind::Required } else { Kind::Optional };
            let [old, new] = [was_required, is_required]
                .map(|required| Some(if required { "required" } else { "optional" }));
            self.report_text(at, kind, old, new);
        }
    }

    /// Compares the pairs of types that are still pending.
    fn pairs(&mut self) {
        while let Some((old_name, new_name, node)) = self.graph.next() {
            let (old, new) = (&self.old.schemas[&old_name], &self.new.schemas[&new_name]);
            let at = Cursor::new(&old_name, &new_name, node).at(Some(old), Some(new));
            self.composition(&at);
            self.schema(&at);
        }
    }

    /// Queues the types that no operation reaches, and reports those that only one document
    /// contains.
    fn unused(&mut self) {
        let names = self.old.schemas.keys().chain(self.new.schemas.keys());
        for name in names.filter(|name| is_type(name)).collect::<BTreeSet<_>>() {
            let at = Cursor::new(name, name, self.graph.node());
            match (self.old.schemas.get(name), self.new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.lead(at.node, Direction::BOTH, name, name);
                }
                (Some(old), None) if !self.old.referenced.contains(name) => {
                    self.report(&at, Kind::UnusedTypeRemoved, Some(Shown::of(old)), None);
                }
                (None, Some(new)) if !self.new.referenced.contains(name) => {
                    self.report(&at, Kind::UnusedTypeAdded, None, Some(Shown::of(new)));
                }
                _ => {}
            }
        }
    }

    /// Compares what belongs to no operation and no schema: texts, extensions, unknown keywords.
    fn rest(&mut self) {
        let root = Cursor::new("#", "#", self.graph.node());
        for (name, at) in root.at(Some(&self.old.rest), Some(&self.new.rest)).members() {
            match name {
                "info" | "tags" => self.value(&at, Kind::Text),
                // The operations contain everything else in them.
                "components" | "paths" => {
                    at.members().for_each(|(name, at)| self.other(&at, name));
                }
                _ => self.other(&at, name),
            }
        }
    }

    /// Adds to each change the operations that reach it. Equal changes of one place become one
    /// change, and so do all texts.
    fn finish(self, old_document: &Document, new_document: &Document) -> Vec<Change> {
        let nodes = self.found.iter().map(|found| found.at.node).collect();
        let reached = self.graph.reached(&nodes);
        let as_xml = self.graph.reached_as_xml();
        let mut all: BTreeMap<_, (Place, Reach)> = BTreeMap::new();
        let mut texts = BTreeSet::new();
        for Found { at, kind, old, new } in self.found {
            let place = at.place.within(old_document, new_document);
            let reach = reached.get(&at.node).cloned().unwrap_or_default();
            let direction = reach.direction.and(at.through);
            let is_used = !reach.operations.is_empty();
            let is_never_sent = match kind {
                Kind::Xml => !as_xml.contains(&at.node),
                Kind::OneWay | Kind::BothWays => is_used && direction == Direction::default(),
                _ => false,
            };
            if kind == Kind::Text {
                texts.insert((place, old, new));
            } else if !is_never_sent {
                let shown = if new.is_none() { &place.old } else { &place.new }.clone();
                let key = (shown, kind, old, new);
                let (_, all) = all.entry(key).or_insert_with(|| (place, Reach::default()));
                all.add(direction, &reach.operations);
            }
        }
        let changes = all
            .into_iter()
            .map(|((_, kind, old, new), (place, reach))| Change::new(kind, place, old, new, reach));
        changes.chain(combine_texts(&texts)).collect()
    }
}

/// Returns the texts in an array of strings.
fn strings(array: &Value) -> BTreeSet<&str> {
    crate::json::items(array).iter().filter_map(Value::as_str).collect()
}
