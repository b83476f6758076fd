//! Compares two schemas.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::graph::Spot;
use super::values::types;
use super::{Comparison, Found};
use crate::Document;
use crate::kind::Kind;
use crate::model::{Annotations, Nullable, Origins, Pointer, Schema, Text, is_any};

impl Comparison<'_> {
    /// Compares two schemas, and the names of their generated types.
    pub(super) fn schema(&mut self, at: &Spot, old: &Rc<Schema>, new: &Rc<Schema>) {
        self.schema_of(at, old, new, true);
    }

    /// Compares two schemas. `with_names` is whether the names of the generated types count.
    pub(super) fn schema_of(
        &mut self,
        at: &Spot,
        old: &Rc<Schema>,
        new: &Rc<Schema>,
        with_names: bool,
    ) {
        let first = self.found.len();
        if let (Some(old_name), Some(new_name)) = (old.pointer(), new.pointer()) {
            self.annotations(at, old, new);
            self.queue(at, old_name, new_name);
        } else if let (Some(resolved_old), Some(resolved_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.annotations(at, &resolved_old, &resolved_new);
            self.assertions(at, [old, new], &resolved_old, &resolved_new);
        } else {
            return self.report_schemas(at, Kind::NotCompared, Some(old), Some(new));
        }
        // These changes imply another generated type.
        let changes_type = |found: &Found| {
            matches!(found.kind, Kind::Type | Kind::TypeNarrowed | Kind::TypeWidened)
        };
        if with_names && !self.found[first..].iter().any(changes_type) {
            self.type_names(at, old, new);
        }
    }

    /// Compares the names of the generated types.
    fn type_names(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let (was, is) = (types_of(self.old, old), types_of(self.new, new));
        let has_changed = match (old.type_name(), new.type_name()) {
            (Some(old), new) => Some(old) != new && !is.contains(old),
            (None, Some(_)) => true,
            (None, None) => !was.is_subset(&is),
        };
        if has_changed {
            let [was, is] = [was, is].map(|names| {
                let names: Vec<&str> = names.iter().map(Pointer::short).collect();
                (!names.is_empty()).then(|| names.join(" and "))
            });
            self.report(at, Kind::TypeName, was.as_deref(), is.as_deref());
        } else if old.generated.title != new.generated.title {
            let at = at.below("title");
            let [was, is] = [old, new].map(|schema| schema.generated.title.as_deref());
            self.report(&at, Kind::TypeName, was, is);
        }
    }

    /// Queues two types to be compared, if they have not been queued before. The mapping of a
    /// discriminator may refer to a schema that is not in the document.
    pub(super) fn queue(&mut self, at: &Spot, old_name: &Pointer, new_name: &Pointer) {
        let is_known = self.old.model.schemas.contains_key(old_name)
            && self.new.model.schemas.contains_key(new_name);
        let is_queued = is_known && self.graph.add_edge(at, old_name, new_name);
        if !is_queued && (is_known || old_name != new_name) {
            self.report(at, Kind::NotCompared, None, None);
        }
    }

    /// Compares how a type is composed by `allOf`: generators make its parts types from which the
    /// type inherits, or which it contains.
    pub(super) fn composition(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let (was, is) = (&old.generated.origins, &new.generated.origins);
        if was.is_empty() && is.is_empty()
            || old.pointer().or(new.pointer()).is_some()
            || !types_of(self.old, old).is_subset(&types_of(self.new, new))
        {
            // A change of the name is reported where the type is used.
            return;
        }
        let name = |origins: &Origins| {
            if origins.is_empty() { "one schema" } else { "allOf" }
        };
        if name(was) != name(is) {
            return self.report(at, Kind::TypeName, Some(name(was)), Some(name(is)));
        }
        for name in old.properties.keys() {
            if let (Some(was), Some(is)) = (owner(was, name), owner(is, name))
                && was != is
            {
                let [was, is] = [was, is].map(|owner| format!("{name} of {owner}"));
                return self.report(at, Kind::TypeName, Some(&was), Some(&is));
            }
        }
    }

    /// Compares the annotations of two schemas, except `readOnly` and `writeOnly`.
    fn annotations(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let Annotations { nullable: _, default, is_read_only: _, is_write_only: _, codes, extras } =
            &old.annotations;
        self.nullable(at, old, new);
        let default_at = at.below("default");
        self.default(&default_at, default.as_ref(), new.annotations.default.as_ref());
        self.codes(at, codes, &new.annotations.codes);
        self.extras(at, extras, &new.annotations.extras);
        self.extras(at, &old.others, &new.others);
    }

    /// Compares the defaults.
    fn default(&mut self, at: &Spot, old: Option<&Text>, new: Option<&Text>) {
        match (old, new) {
            (Some(was), Some(is)) if was != is => {
                self.report(at, Kind::Default, Some(was), Some(is));
            }
            // Without a default, generated code has an empty list as well.
            (Some(one), None) | (None, Some(one)) if &**one == "[]" => {}
            _ => self.json(at, Kind::DefaultHint, old, new),
        }
    }

    /// Compares `nullable`. A schema without other keywords allows null in any case.
    fn nullable(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        if old.annotations.nullable == new.annotations.nullable || is_any(old) || is_any(new) {
            return;
        }
        let (was_listed, is_listed) = (old.enumeration.is_some(), new.enumeration.is_some());
        let [was, is] = [old, new].map(|schema| schema.annotations.nullable == Nullable::Yes);
        let kind = match (was, is) {
            // The change of `enum` is reported.
            (true, false) if is_listed && !was_listed => return,
            (false, true) if was_listed && !is_listed => return,
            (true, false) => Kind::NotNullable,
            (false, true) => Kind::Nullable,
            _ => Kind::NullHint,
        };
        let [was, is] = [old, new].map(|schema| match schema.annotations.nullable {
            Nullable::No => None,
            Nullable::Yes => Some("true"),
            Nullable::Unlisted => Some("not listed").filter(|_| kind == Kind::NullHint),
        });
        let at = at.below("nullable");
        self.report(&at, kind, was, is);
    }

    /// Compares the assertions of two schemas: the keywords that limit which values are valid.
    /// `written` has both schemas before their references were resolved.
    pub(super) fn assertions(
        &mut self,
        at: &Spot,
        written: [&Rc<Schema>; 2],
        old: &Rc<Schema>,
        new: &Rc<Schema>,
    ) {
        // Two recursive lists of alternatives could be compared forever.
        if at.depth > DEEPEST {
            return self.report(at, Kind::NotCompared, None, None);
        }
        if old.alternatives.is_some() != new.alternatives.is_some() {
            return self.schema_or_alternatives(at, written, old, new);
        }
        let Schema {
            reference: _,
            type_: _,
            format: _,
            properties: _,
            required: _,
            additional_properties: additional,
            items,
            enumeration,
            alternatives: _,
            discriminator: _,
            all_of,
            limits,
            others: _,
            annotations: _,
            generated: _,
        } = &**old;
        if let Some(kind) = types(old, new) {
            let [old_type, new_type] = [old, new].map(|schema| type_and_format(schema));
            self.report(&at.below("type"), kind, old_type.as_deref(), new_type.as_deref());
            if kind == Kind::Type || is_any(old) || is_any(new) {
                // A comparison of the other keywords would add nothing.
                return;
            }
        }
        self.properties(at, old, new);
        self.alternatives(at, old, new);
        self.discriminators(at, old, new);
        let [additional_at, items_at, enum_at, all_of_at] =
            [".*", "[]", "enum", "allOf"].map(|name| at.below(name));
        self.additional_properties(&additional_at, additional, &new.additional_properties);
        match (items, &new.items) {
            (Some(old), Some(new)) => self.schema(&items_at, old, new),
            (None, None) => {}
            (old, new) => {
                let kind = if new.is_none() { Kind::TypeWidened } else { Kind::TypeNarrowed };
                self.report_schemas(&items_at, kind, old.as_deref(), new.as_deref());
            }
        }
        self.enumeration(&enum_at, enumeration.as_ref(), new.enumeration.as_ref());
        let parts: [&[Rc<Schema>]; 2] = [all_of, &new.all_of];
        self.parts(&all_of_at, parts, Kind::LimitLoosened, Kind::LimitTightened);
        self.limits(at, limits, &new.limits);
    }
}

/// The limit of levels below a type or an operation. A document has at most 127 levels.
const DEEPEST: usize = 300;

/// The type to which a schema refers, or else the types in its `allOf`.
fn types_of(document: &Document, schema: &Schema) -> BTreeSet<Pointer> {
    if let Some(name) = schema.type_name() {
        return BTreeSet::from([name.clone()]);
    }
    let schema = schema
        .pointer()
        .and_then(|pointer| document.model.schemas.get(pointer))
        .map_or(schema, |schema| schema);
    schema.generated.origins.keys().flatten().cloned().collect()
}

/// The part of `allOf` from which a property comes.
fn owner<'a>(origins: &'a Origins, property: &str) -> Option<&'a str> {
    let (owner, _) = origins.iter().find(|(_, properties)| properties.contains(property))?;
    Some(owner.as_ref().map_or("the type itself", Pointer::short))
}

fn type_and_format(schema: &Schema) -> Option<String> {
    let format = schema.format.iter().map(|format| format!(" ({format})"));
    Some([schema.type_.as_deref()?.to_owned()].into_iter().chain(format).collect())
}
