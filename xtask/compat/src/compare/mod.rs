//! Finds what changed between two documents in normal form.
//!
//! Every type is taken apart field by field, so a field without a rule does not compile. A change
//! of a keyword that has no rule is reported as unknown, so no new keyword can change unnoticed.
//!
//! ```text
//! operation   operations, parameters and bodies
//!   → content   the media types of a body
//!   → response  the responses of an operation
//!   → schema    schemas, field by field
//!     → members   the members of an object
//!     → cases     lists of parts, and one schema that becomes a list
//!       → matching  which parts of two lists belong together
//!     → values    types, enumerations and limits
//!   → notes     what anything may say beside its meaning
//!   → spot      a place in both documents
//!   → graph     which operations reach a pair of types, in requests or responses
//! ```

mod cases;
mod content;
mod graph;
mod matching;
mod members;
mod notes;
mod operation;
mod response;
mod schema;
mod spot;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::Document;
use crate::change::{Change, Pointers, Reach, Shown, combine_words};
use crate::kind::{Direction, Kind};
use crate::model::{Notes, Schema, SchemaNotes};
use crate::read::LONGEST_CHAIN;
use graph::Graph;
use spot::Spot;

struct Comparison<'a> {
    old: &'a Document,
    new: &'a Document,
    graph: Graph,
    found: Vec<Found>,
}

/// A change, before it is known which operations reach it.
struct Found {
    at: Spot,
    kind: Kind,
    old: Option<Shown>,
    new: Option<Shown>,
}

/// Returns every change between two documents.
pub fn changes(old: &Document, new: &Document) -> Vec<Change> {
    let mut comparison = Comparison { old, new, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused();
    comparison.pairs();
    comparison.rest();
    comparison.finish()
}

impl Comparison<'_> {
    fn report(&mut self, at: Spot, kind: Kind, old: Option<Shown>, new: Option<Shown>) {
        self.found.push(Found { at, kind, old, new });
    }

    fn report_text(&mut self, at: Spot, kind: Kind, old: Option<&str>, new: Option<&str>) {
        self.report(at, kind, old.map(Shown::text), new.map(Shown::text));
    }

    /// The spot of a member.
    fn below(&self, at: Spot, name: &str) -> Spot {
        let old = self.old.tree.below(at.old, name);
        let new = self.new.tree.below(at.new, name);
        Spot { old, new, depth: at.depth + 1, is_sent: false, ..at }
    }

    /// The spot of the whole documents.
    fn top(&mut self) -> Spot {
        let [old, new] = [self.old, self.new].map(|document| document.tree.root().place());
        Spot::new(old, new, self.graph.node())
    }

    /// Reports something that only one of the documents contains.
    fn in_one(&mut self, at: Spot, is_required: bool, old: Option<Shown>, new: Option<Shown>) {
        let kind = match (&old, is_required) {
            (Some(_), true) => Kind::Removed,
            (Some(_), false) => Kind::OptionalRemoved,
            (None, true) => Kind::RequiredAdded,
            (None, false) => Kind::Added,
        };
        let shown = |shown: Shown| if is_required { shown.and(", required") } else { shown };
        self.report(at, kind, old.map(shown), new.map(shown));
    }

    fn required(&mut self, at: Spot, was_required: bool, is_required: bool) {
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
            let old = self.old.model.schemas[&old_name].clone();
            let new = self.new.model.schemas[&new_name].clone();
            let at = Spot::new(old.place(), new.place(), node);
            // Other names are compared where the types are used.
            let is_same_type = old_name.is_type() && old_name == new_name;
            if is_same_type {
                self.composition(at, &old, &new);
            }
            self.schema_of(at, &old, &new, is_same_type);
        }
    }

    /// Queues the types that no operation reaches, and reports those that only one document
    /// contains.
    fn unused(&mut self) {
        let (old, new) = (&self.old.model, &self.new.model);
        let names = old.schemas.keys().chain(new.schemas.keys());
        for name in names.filter(|name| name.is_type()).collect::<BTreeSet<_>>() {
            let place = self.old.tree.place(name.as_str());
            let at = Spot::new(place, self.new.tree.place(name.as_str()), self.graph.node());
            match (old.schemas.get(name), new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.lead(at.node, Direction::BOTH, name, name);
                }
                (Some(old_type), None) if !old.referenced.contains(name) => {
                    self.report(at, Kind::UnusedTypeRemoved, Some(Shown::schema(old_type)), None);
                }
                (None, Some(new_type)) if !new.referenced.contains(name) => {
                    self.report(at, Kind::UnusedTypeAdded, None, Some(Shown::schema(new_type)));
                }
                _ => {}
            }
        }
    }

    /// Compares what belongs to no operation and no schema: texts, extensions, unknown keywords.
    fn rest(&mut self) {
        let top = self.top();
        let none = Notes::default();
        let (old, new) = (&self.old.model.rest, &self.new.model.rest);
        let names: BTreeSet<_> = old.iter().chain(new).map(|(name, _)| *name).collect();
        for name in names {
            let find = |all: &'_ [(&'static str, Notes)]| {
                all.iter().find(|(one, _)| *one == name).map(|(_, notes)| notes.clone())
            };
            let at = if name.is_empty() { top } else { self.below(top, name) };
            let [old, new] = [find(old), find(new)].map(|notes| notes.unwrap_or(none.clone()));
            self.notes(at, &old, &new);
        }
    }

    /// Adds to each change the operations that reach it. Equal changes of one place become one
    /// change, and so do all texts.
    fn finish(self) -> Vec<Change> {
        let mut reached: HashMap<_, Reach> = HashMap::new();
        let mut all: BTreeMap<_, (Pointers, Reach)> = BTreeMap::new();
        let mut words = BTreeSet::new();
        for Found { at, kind, old, new } in self.found {
            let places =
                Pointers { old: self.old.tree.pointer(at.old), new: self.new.tree.pointer(at.new) };
            if kind == Kind::Text {
                words.insert((places, old, new));
                continue;
            }
            let reach = reached.entry(at.node).or_insert_with(|| self.graph.reach(at.node));
            let direction = reach.direction.and(at.through);
            let is_used = !reach.operations.is_empty();
            let is_side = matches!(kind, Kind::OneWay | Kind::BothWays);
            if is_side && is_used && direction == Direction::default() {
                // Nobody sends it.
                continue;
            }
            let shown = if new.is_none() { &places.old } else { &places.new }.clone();
            let key = (shown, kind, old, new);
            let (_, all) = all.entry(key).or_insert_with(|| (places, Reach::default()));
            all.add(direction, &reach.operations);
        }
        let changes = all.into_iter().map(|((_, kind, old, new), (places, reach))| {
            Change::new(kind, places, old, new, reach)
        });
        changes.chain(combine_words(&words)).collect()
    }
}

impl Document {
    /// Follows a chain of references to a schema, and adds what each of them says beside it. None
    /// if the chain is a circle or has more than 100 links.
    fn resolved(&self, schema: &Rc<Schema>) -> Option<Rc<Schema>> {
        let mut schema = schema.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(pointer) = schema.pointer() else { return Some(schema) };
            let inner = self.model.schemas.get(pointer)?;
            let notes = schema.notes.clone();
            let is_plain = notes == SchemaNotes::default() && notes.rest.origin.words.is_empty();
            schema = if is_plain || inner.no_schema().is_some() {
                inner.clone()
            } else {
                let mut whole = (**inner).clone();
                whole.notes = notes.over(&inner.notes);
                Rc::new(whole)
            };
        }
        None
    }
}
