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
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::Document;
use crate::change::{Change, Pointers, Reach, Shown};
use crate::json::{Json, Place, nearest};
use crate::kind::{Direction, Kind};
use crate::model::{Schema, SchemaNotes};
use crate::read::{LONGEST_CHAIN, written};
use crate::text::escaped;
use graph::{Graph, Spot};

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
    comparison.texts();
    comparison.finish()
}

impl Comparison<'_> {
    fn report(&mut self, at: &Spot, kind: Kind, old: Option<Shown>, new: Option<Shown>) {
        self.found.push(Found { at: at.clone(), kind, old, new });
    }

    fn report_schemas(
        &mut self,
        at: &Spot,
        kind: Kind,
        old: Option<&Schema>,
        new: Option<&Schema>,
    ) {
        let (old, new) = (old.map(|one| self.old.shown(one)), new.map(|one| self.new.shown(one)));
        self.report(at, kind, old, new);
    }

    fn report_text(&mut self, at: &Spot, kind: Kind, old: Option<&str>, new: Option<&str>) {
        self.report(at, kind, old.map(Shown::text), new.map(Shown::text));
    }

    /// Reports something that only one of the documents contains.
    fn in_one(&mut self, at: &Spot, is_required: bool, old: Option<Shown>, new: Option<Shown>) {
        let kind = match (&old, is_required) {
            (Some(_), true) => Kind::Removed,
            (Some(_), false) => Kind::OptionalRemoved,
            (None, true) => Kind::RequiredAdded,
            (None, false) => Kind::Added,
        };
        let shown = |shown: Shown| if is_required { shown.and(", required") } else { shown };
        self.report(at, kind, old.map(shown), new.map(shown));
    }

    fn required(&mut self, at: &Spot, was_required: bool, is_required: bool) {
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
                self.composition(&at, &old, &new);
            }
            self.schema_of(&at, &old, &new, is_same_type);
        }
    }

    /// Queues the types that no operation reaches, and reports those that only one document
    /// contains.
    fn unused(&mut self) {
        let (old, new) = (&self.old.model, &self.new.model);
        let names = old.schemas.keys().chain(new.schemas.keys());
        for name in names.filter(|name| name.is_type()).collect::<BTreeSet<_>>() {
            let place: Place = name.as_str().into();
            let at = Spot::new(place.clone(), place, self.graph.node());
            match (old.schemas.get(name), new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.lead(at.node, Direction::BOTH, name, name);
                }
                (Some(old_type), None) if !old.referenced.contains(name) => {
                    self.report(&at, Kind::UnusedTypeRemoved, Some(self.old.shown(old_type)), None);
                }
                (None, Some(new_type)) if !new.referenced.contains(name) => {
                    self.report(&at, Kind::UnusedTypeAdded, None, Some(self.new.shown(new_type)));
                }
                _ => {}
            }
        }
    }

    /// Compares what belongs to no operation and no schema.
    fn rest(&mut self) {
        let node = self.graph.node();
        for (old, new) in self.old.model.rest.iter().zip(&self.new.model.rest) {
            self.notes(&Spot::new(old.place.0.clone(), new.place.0.clone(), node), old, new);
        }
    }

    /// Reports one change for all texts that differ at a place of both documents. A text that only
    /// moved is the same.
    fn texts(&mut self) {
        let [old, new] = [self.old, self.new].map(|document| &document.model.texts);
        let mut counts: HashMap<&str, i64> = HashMap::new();
        for (all, one) in [(new, 1), (old, -1)] {
            for text in all.values() {
                *counts.entry(text).or_default() += one;
            }
        }
        let mut first = None;
        let mut different = BTreeSet::new();
        for place in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (old.get(place), new.get(place));
            let is_new =
                was.is_some_and(|was| counts[&**was] < 0) || is.is_some_and(|is| counts[&**is] > 0);
            let parent = place.rsplit_once('/').map_or("#", |(parent, _)| parent);
            let is_there = |document: &Document| Json::find(&document.json, parent).is_some();
            if was != is && is_new && is_there(self.old) && is_there(self.new) {
                first.get_or_insert(place);
                // Many operations may share one text.
                different.insert((was, is));
            }
        }
        let Some(first) = first else { return };
        let node = self.graph.node();
        let at = Spot::new(first.as_str().into(), first.as_str().into(), node);
        let count = different.len();
        let shown = format!("{count} text{}", if count == 1 { "" } else { "s" });
        self.report_text(&at, Kind::Text, None, Some(&shown));
    }

    /// Adds to each change the operations that reach it. Equal changes of one place become one
    /// change.
    fn finish(self) -> Vec<Change> {
        let mut reached: HashMap<_, Reach> = HashMap::new();
        let mut all: BTreeMap<_, (Pointers, Reach)> = BTreeMap::new();
        for Found { at, kind, old, new } in self.found {
            let places = Pointers {
                old: nearest(&self.old.json, &at.old),
                new: nearest(&self.new.json, &at.new),
            };
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
        changes.collect()
    }
}

impl Document {
    /// Shows a schema as it is written, and in brief its name or its type.
    fn shown(&self, schema: &Schema) -> Shown {
        let full = match &schema.to {
            Some(pointer) => format!("{{\"$ref\":{}}}", escaped(pointer.as_str())),
            None => written(&self.json, &schema.place()),
        };
        Shown { brief: brief(schema).unwrap_or_else(|| full.clone()), full }
    }

    /// Follows a chain of references to a schema, and adds what each of them says beside it. None
    /// if the chain is a circle or has more than 100 links.
    fn resolved(&self, schema: &Rc<Schema>) -> Option<Rc<Schema>> {
        let mut schema = schema.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(pointer) = schema.pointer() else { return Some(schema) };
            let inner = self.model.schemas.get(pointer)?;
            let notes = schema.notes.clone();
            schema = if notes == SchemaNotes::default() || inner.is_no_schema() {
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

/// The name or the type of a schema.
fn brief(schema: &Schema) -> Option<String> {
    if let Some(pointer) = &schema.to {
        return Some(pointer.short().to_owned());
    }
    let short = |schema: &Schema| brief(schema).unwrap_or_else(|| "…".to_owned());
    let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    if let Some(cases) = &schema.cases {
        let cases: Vec<_> = cases.list.iter().map(|case| short(&case.schema)).collect();
        return Some(format!("one of {}", cases.join(", ")));
    }
    let kind = schema.kind.as_deref()?;
    Some(match (kind, &schema.items, &schema.values, &schema.format) {
        ("object", ..) if !schema.members.is_empty() => {
            let names: Vec<&str> = schema.members.keys().map(|name| &**name).collect();
            format!("object {{{}}}", names.join(", "))
        }
        ("array", Some(items), ..) => format!("array of {}", short(items)),
        (_, _, Some(values), _) => format!("{kind} {}", list(values)),
        (_, _, None, Some(format)) => format!("{kind} ({format})"),
        (_, _, None, None) => kind.to_owned(),
    })
}
