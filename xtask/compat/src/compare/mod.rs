//! Compares two documents in normal form.
//!
//! Every struct of the model is destructured without `..`, so a field that is not compared does not
//! compile. A change of an unknown keyword is reported, so no keyword changes unnoticed.
//!
//! ```text
//! operation   operations, parameters and bodies
//!   → content   the media types of a body
//!   → response  the responses of an operation
//!   → schema    schemas, field by field
//!     → properties    the properties of an object
//!     → alternatives  oneOf, anyOf, allOf and discriminators
//!       → matching      pairs the subschemas of two lists
//!     → values        types, enumerations and limits
//!   → extras    extensions and unknown keywords
//!   → graph     which operations use a pair of types, in requests or responses
//! ```

mod alternatives;
mod content;
mod extras;
mod graph;
mod matching;
mod operation;
mod properties;
mod response;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use crate::Document;
use crate::change::{Change, Reach, Shown};
use crate::json::{Place, nearest, unified};
use crate::kind::Kind;
use crate::model::{Annotations, Schema};
use crate::read::{LONGEST_CHAIN, written};
use crate::text::escaped;
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
    old: Option<Shown>,
    new: Option<Shown>,
}

/// Returns every change between two documents. Documents that differ but have no other change have
/// one of text.
pub fn changes(old: &Document, new: &Document) -> Vec<Change> {
    let mut comparison = Comparison { old, new, graph: Graph::default(), found: Vec::new() };
    comparison.operations();
    comparison.pairs();
    comparison.unused_types();
    comparison.pairs();
    comparison.document_extras();
    let mut changes = comparison.finish();
    if changes.is_empty() && differ(old, new) {
        changes.push(Change::new(Kind::Text, "#".to_owned(), None, None, Reach::default()));
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

    /// Reports a parameter, header, body or property that only one of the documents has.
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

    /// Compares the queued pairs of types, and those that they queue.
    fn pairs(&mut self) {
        while let Some((pair, node)) = self.graph.next() {
            let old = self.old.model.schemas[&pair.old].clone();
            let new = self.new.model.schemas[&pair.new].clone();
            let at = Spot::new(old.place(), new.place(), node);
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
            let place: Place = name.as_str().into();
            let at = Spot::new(place.clone(), place, self.graph.node());
            match (old.schemas.get(name), new.schemas.get(name)) {
                (Some(_), Some(_)) => {
                    self.graph.add_edge(&at, name, name);
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

    /// Compares the extras of the document, of `components` and of `paths`.
    fn document_extras(&mut self) {
        let node = self.graph.node();
        for (old, new) in self.old.model.extras.iter().zip(&self.new.model.extras) {
            let at = Spot::new(old.place.clone(), new.place.clone(), node);
            self.extras(&at, old, new);
        }
    }

    /// Adds to each change the operations that it affects, and merges equal changes of one place.
    fn finish(self) -> Vec<Change> {
        let mut reached: HashMap<_, Reach> = HashMap::new();
        let mut all: BTreeMap<_, Reach> = BTreeMap::new();
        for Found { at, kind, old, new } in self.found {
            let reach = reached.entry(at.node).or_insert_with(|| self.graph.reach(at.node));
            let direction = reach.direction & at.direction;
            let is_used = !reach.operations.is_empty();
            let is_side = matches!(kind, Kind::OneWay | Kind::BothWays);
            if is_side && is_used && direction.is_empty() {
                // The property is never sent in this direction.
                continue;
            }
            let place = match new {
                None => nearest(&self.old.json, &at.old),
                Some(_) => nearest(&self.new.json, &at.new),
            };
            let all = all.entry((place, kind, old, new)).or_default();
            all.add(direction, &reach.operations);
        }
        let changes = all.into_iter();
        let changes = changes
            .map(|((place, kind, old, new), reach)| Change::new(kind, place, old, new, reach));
        changes.collect()
    }
}

impl Document {
    /// Shows a schema: in full as the document has it, in brief as its name or its type.
    fn shown(&self, schema: &Schema) -> Shown {
        let full = match &schema.reference {
            Some(pointer) => format!("{{\"$ref\":{}}}", escaped(pointer.as_str())),
            None => written(&self.json, &schema.place()),
        };
        Shown { brief: brief(schema).unwrap_or_else(|| full.clone()), full }
    }

    /// Follows a chain of references to a schema, and merges the annotations on the way. `None` if
    /// the chain has more than [`LONGEST_CHAIN`] references, because it may be a cycle.
    fn resolved(&self, schema: &Rc<Schema>) -> Option<Rc<Schema>> {
        let mut schema = schema.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(pointer) = schema.pointer() else { return Some(schema) };
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

/// The name or the type of a schema, with its format, items, properties or values.
fn brief(schema: &Schema) -> Option<String> {
    if let Some(pointer) = &schema.reference {
        return Some(pointer.short().to_owned());
    }
    let short = |schema: &Schema| brief(schema).unwrap_or_else(|| "…".to_owned());
    let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    if let Some(alternatives) = &schema.alternatives {
        let list: Vec<_> = alternatives.list.iter().map(|one| short(&one.schema)).collect();
        return Some(format!("one of {}", list.join(", ")));
    }
    let type_ = schema.type_.as_deref()?;
    Some(match (type_, &schema.items, &schema.enumeration, &schema.format) {
        ("object", ..) if !schema.properties.is_empty() => {
            let names: Vec<&str> = schema.properties.keys().map(|name| &**name).collect();
            format!("object {{{}}}", names.join(", "))
        }
        ("array", Some(items), ..) => format!("array of {}", short(items)),
        (_, _, Some(values), _) => format!("{type_} {}", list(values)),
        (_, _, None, Some(format)) => format!("{type_} ({format})"),
        (_, _, None, None) => type_.to_owned(),
    })
}
