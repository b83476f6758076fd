//! Compares two documents in normal form.
//!
//! Every struct of the model is destructured without `..`, so a field that is not compared does not
//! compile. A change of an unknown keyword is reported, so no keyword changes unnoticed.
//!
//! ```text
//! operation   operations, parameters and bodies
//!   → response  the responses of an operation, and the media types of a body
//!   → schema    schemas, field by field
//!     → properties    the properties of an object
//!     → alternatives  oneOf, anyOf, allOf and discriminators
//!       → matching      pairs the subschemas of two lists
//!     → values        types, enumerations, limits, extensions and unknown keywords
//!   → graph     which operations use a pair of types, in requests or responses
//! ```

mod alternatives;
mod graph;
mod matching;
mod operation;
mod properties;
mod response;
mod schema;
mod values;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use crate::change::{Change, Place, Reach, shown};
use crate::json::unified;
use crate::kind::Kind;
use crate::model::{Annotations, Schema, is_any};
use crate::read::LONGEST_CHAIN;
use crate::{Class, Document};
use graph::{Graph, Spot};

struct Comparison<'a> {
    old: &'a Document,
    new: &'a Document,
    graph: Graph,
    found: Vec<Found>,
}

/// A change, before the operations that it affects are known.
struct Found {
    at: Spot,
    kind: Kind,
    change: String,
}

/// Returns every change between two documents, the most severe first. Documents that differ but
/// have no other change have one of text.
pub fn changes(old: &Document, new: &Document) -> Vec<Change> {
    let mut comparison = Comparison { old, new, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused_types();
    comparison.pairs();
    comparison.document_extras();
    let mut changes = comparison.finish();
    if changes.is_empty() && differ(old, new) {
        let change = "text or spelling".to_owned();
        changes.push(Change::new(Kind::Text, change, &Place::default(), Reach::default()));
    }
    changes
}

/// Whether two documents differ in more than `info.version`.
fn differ(old: &Document, new: &Document) -> bool {
    let [old, new] = [old, new].map(|document| {
        let mut json = unified(&document.json);
        if let Some(version) = json.pointer_mut("/info/version") {
            *version = Value::Null;
        }
        json
    });
    old != new
}

impl Comparison<'_> {
    fn report(&mut self, at: &Spot, kind: Kind, old: Option<&str>, new: Option<&str>) {
        self.found.push(Found { at: at.clone(), kind, change: shown(old, new) });
    }

    fn report_schemas(
        &mut self,
        at: &Spot,
        kind: Kind,
        old: Option<&Schema>,
        new: Option<&Schema>,
    ) {
        let [old, new] = [old, new].map(|schema| schema.map(brief));
        self.report(at, kind, old.as_deref(), new.as_deref());
    }

    /// Reports a parameter, header, body or property that only one of the documents has.
    fn in_one(&mut self, at: &Spot, is_required: bool, old: Option<String>, new: Option<String>) {
        let kind = match (&old, is_required) {
            (Some(_), true) => Kind::Removed,
            (Some(_), false) => Kind::OptionalRemoved,
            (None, true) => Kind::Required,
            (None, false) => Kind::Added,
        };
        let required = if is_required { ", required" } else { "" };
        let [old, new] = [old, new].map(|one| one.map(|one| one + required));
        self.report(at, kind, old.as_deref(), new.as_deref());
    }

    fn required(&mut self, at: &Spot, was_required: bool, is_required: bool) {
        if was_required != is_required {
            let kind = if is_required { Kind::Required } else { Kind::Optional };
            let [old, new] = [was_required, is_required]
                .map(|required| Some(if required { "required" } else { "optional" }));
            self.report(at, kind, old, new);
        }
    }

    /// Compares the queued pairs of types, and those that they queue.
    fn pairs(&mut self) {
        while let Some((pair, at)) = self.graph.next() {
            let old = self.old.model.schemas[&pair.old].clone();
            let new = self.new.model.schemas[&pair.new].clone();
            // A change of the name is reported where the type is used.
            let is_same_type = pair.old.is_component() && pair.old == pair.new;
            if is_same_type {
                self.composition(&at, &old, &new);
            }
            self.schema_of(&at, &old, &new, is_same_type);
        }
    }

    /// Queues the types that no operation uses, and reports those that only one document has.
    fn unused_types(&mut self) {
        let (old, new) = (&self.old.model, &self.new.model);
        let names = old.schemas.keys().chain(new.schemas.keys());
        for name in names.filter(|name| name.is_component()).collect::<BTreeSet<_>>() {
            let at = self.graph.node(Place::of(name.short()));
            match (old.schemas.get(name), new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.add_edge(&at, name, name);
                }
                (Some(old_type), None) if !old.referenced.contains(name) => {
                    self.report_schemas(&at, Kind::UnusedTypeRemoved, Some(old_type), None);
                }
                (None, Some(new_type)) if !new.referenced.contains(name) => {
                    self.report_schemas(&at, Kind::UnusedTypeAdded, None, Some(new_type));
                }
                _ => {}
            }
        }
    }

    /// Compares the extras of the document, of `components` and of `paths`.
    fn document_extras(&mut self) {
        let at = self.graph.node(Place::default());
        self.extras(&at, &self.old.model.extras, &self.new.model.extras);
    }

    /// Adds to each change the operations that it affects, and merges equal changes.
    fn finish(self) -> Vec<Change> {
        let mut reached: HashMap<_, Reach> = HashMap::new();
        let mut all: BTreeMap<_, Reach> = BTreeMap::new();
        for Found { at, kind, change } in self.found {
            let reach = reached.entry(at.node).or_insert_with(|| self.graph.reach(at.node));
            let direction = reach.direction & at.direction;
            let is_used = !reach.operations.is_empty();
            let is_side = matches!(kind, Kind::OneWay | Kind::BothWays);
            if is_side && is_used && direction.is_empty() {
                // The property is never sent in this direction.
                continue;
            }
            all.entry((at.place, kind, change)).or_default().add(direction, &reach.operations);
        }
        let mut merged: BTreeMap<Key, Change> = BTreeMap::new();
        for ((place, kind, change), reach) in all {
            let change = Change::new(kind, change, &place, reach);
            match merged.entry(Key::of(&change, place)) {
                Entry::Vacant(entry) => drop(entry.insert(change)),
                Entry::Occupied(entry) => {
                    let merged = entry.into_mut();
                    merged.places.extend(change.places);
                    merged.operations.extend(change.operations);
                }
            }
        }
        merged.into_values().collect()
    }
}

/// Changes with equal keys are one change. The key leaves out the names of operations, types and
/// statuses, and the whole place if a type was renamed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The most severe class comes first.
    class: Reverse<Class>,
    kind: Kind,
    change: String,
    path: String,
}

impl Key {
    fn of(change: &Change, place: Place) -> Self {
        let path = if change.kind == Kind::TypeName { String::new() } else { place.path };
        let Change { class, kind, change, .. } = change;
        Self { class: Reverse(*class), kind: *kind, change: change.clone(), path }
    }
}

impl Document {
    /// Follows a chain of references to a schema, and merges the annotations on the way. `None` if
    /// the chain has more than [`LONGEST_CHAIN`] references, because it may be a cycle.
    fn resolved(&self, schema: &Rc<Schema>) -> Option<Rc<Schema>> {
        let mut schema = schema.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(pointer) = schema.pointer() else {
                return Some(schema);
            };
            let inner = self.model.schemas.get(pointer)?;
            let annotations = schema.annotations.clone();
            schema = if annotations == Annotations::default() {
                inner.clone()
            } else {
                let mut merged = (**inner).clone();
                merged.annotations = annotations.over(&inner.annotations);
                Rc::new(merged)
            };
        }
        None
    }
}

/// Shows a schema: its name, or its type with its format, items, properties or values.
fn brief(schema: &Schema) -> String {
    let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    if let Some(pointer) = &schema.reference {
        return pointer.short().to_owned();
    }
    if let Some(alternatives) = &schema.alternatives {
        let list: Vec<_> = alternatives.list.iter().map(|one| brief(one)).collect();
        return format!("one of {}", list.join(", "));
    }
    let Some(type_) = &schema.type_ else {
        return if is_any(schema) { "{}" } else { "{…}" }.to_owned();
    };
    match (&**type_, &schema.items, &schema.enumeration, &schema.format) {
        ("object", ..) if !schema.properties.is_empty() => {
            let names: Vec<&str> = schema.properties.keys().map(|name| &**name).collect();
            format!("object {{{}}}", names.join(", "))
        }
        ("array", Some(items), ..) => format!("array of {}", brief(items)),
        (_, _, Some(values), _) => format!("{type_} {}", list(values)),
        (_, _, None, Some(format)) => format!("{type_} ({format})"),
        (_, _, None, None) => type_.to_string(),
    }
}
