//! What changed between two schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::graph::Spot;
use super::values::types;
use super::{Comparison, Found};
use crate::Document;
use crate::change::Shown;
use crate::json::{Place, steps};
use crate::kind::Kind;
use crate::model::{Null, Pointer, Schema, SchemaNotes, Text, is_any};

impl Comparison<'_> {
    /// Compares two schemas where they are used.
    pub(super) fn schema(&mut self, at: &Spot, old: &Rc<Schema>, new: &Rc<Schema>) {
        self.schema_of(at, old, new, true);
    }

    /// Compares two schemas, with the names of their generated types or without.
    pub(super) fn schema_of(
        &mut self,
        at: &Spot,
        old: &Rc<Schema>,
        new: &Rc<Schema>,
        with_names: bool,
    ) {
        let at = at.at(Some(old.place()), Some(new.place()));
        let first = self.found.len();
        if let (Some(old_name), Some(new_name)) = (old.pointer(), new.pointer()) {
            self.schema_notes(&at, old, new);
            self.lead(&at, old_name, new_name);
        } else if let (Some(whole_old), Some(whole_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.schema_notes(&at, &whole_old, &whole_new);
            self.allowed(&at, [old, new], &whole_old, &whole_new);
        } else {
            return self.report_schemas(&at, Kind::NotCompared, Some(old), Some(new));
        }
        // These changes say already that the generated type is another one.
        let changes_type = |found: &Found| {
            use Kind::{ListAdded, ListRemoved, Type, TypeNarrowed, TypeWidened};
            matches!(found.kind, ListAdded | ListRemoved | Type | TypeNarrowed | TypeWidened)
        };
        if with_names && !self.found[first..].iter().any(changes_type) {
            self.type_names(&at, old, new);
        }
    }

    /// Compares the names of the generated types.
    fn type_names(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let (was, is) = (types_of(self.old, old), types_of(self.new, new));
        let is_other = match (old.type_name(), new.type_name()) {
            (Some(old), new) => Some(old) != new && !is.contains(old),
            (None, Some(_)) => true,
            (None, None) => !was.is_subset(&is),
        };
        if is_other {
            let [was, is] = [was, is].map(|names| {
                let names: Vec<&str> = names.iter().map(Pointer::short).collect();
                (!names.is_empty()).then(|| names.join(" and "))
            });
            self.report_text(at, Kind::TypeName, was.as_deref(), is.as_deref());
        } else if old.made.0.name != new.made.0.name {
            let at = at.below("title");
            let [was, is] = [&old.made.0.name, &new.made.0.name].map(|name| name.as_deref());
            self.report_text(&at, Kind::TypeName, was, is);
        }
    }

    /// Queues two types, unless they are compared already. A mapping may lead out of the document.
    pub(super) fn lead(&mut self, at: &Spot, old_name: &Pointer, new_name: &Pointer) {
        let is_known = self.old.model.schemas.contains_key(old_name)
            && self.new.model.schemas.contains_key(new_name);
        let is_led = is_known && self.graph.lead(at.node, at.through, old_name, new_name);
        if !is_led && (is_known || old_name != new_name) {
            self.report(at, Kind::NotCompared, None, None);
        }
    }

    /// Compares the types of which a named type is made: generators write the parts of `allOf` as
    /// types that it inherits or contains.
    pub(super) fn composition(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let (was, is) = (&old.made.0.of, &new.made.0.of);
        if was.is_empty() && is.is_empty()
            || old.pointer().or(new.pointer()).is_some()
            || !types_of(self.old, old).is_subset(&types_of(self.new, new))
        {
            // The type name is reported where it changes.
            return;
        }
        let name = |of: &BTreeSet<Pointer>| if of.is_empty() { "one schema" } else { "allOf" };
        if name(was) != name(is) {
            return self.report_text(at, Kind::TypeName, Some(name(was)), Some(name(is)));
        }
        let owner = |place: Place| steps(&place).nth(2).unwrap_or_default();
        for (name, member) in &old.members {
            let Some(new_member) = new.members.get(name) else { continue };
            let (was, is) = (owner(member.place()), owner(new_member.place()));
            if was != is {
                let [was, is] = [was, is].map(|owner| format!("{name} of {owner}"));
                return self.report_text(at, Kind::TypeName, Some(&was), Some(&is));
            }
        }
    }

    /// Compares what two schemas say beside the values that they allow.
    fn schema_notes(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let SchemaNotes { null: _, default, is_read_only: _, is_write_only: _, codes, rest } =
            &old.notes;
        self.null(at, old, new);
        let default_at = at.below("default");
        self.default(&default_at, at.is_sent, default.as_ref(), new.notes.default.as_ref());
        self.codes(at, codes, &new.notes.codes);
        let (mut was, mut is) = (rest.clone(), new.notes.rest.clone());
        if old.is_no_schema() || new.is_no_schema() {
            (was.unknown, is.unknown) = (BTreeMap::new(), BTreeMap::new());
        }
        self.notes(at, &was, &is);
    }

    /// Compares the defaults. A value that must be sent has none, but generated code may.
    fn default(&mut self, at: &Spot, is_sent: bool, old: Option<&Text>, new: Option<&Text>) {
        match (old, new) {
            (Some(was), Some(is)) if was != is && !is_sent => {
                self.report_text(at, Kind::Default, Some(was), Some(is));
            }
            // A list that is left out is empty in generated code.
            (Some(one), None) | (None, Some(one)) if &**one == "[]" => {}
            _ => self.json(at, Kind::DefaultHint, old, new),
        }
    }

    /// Compares whether two schemas allow null. One without limits does, whatever it says.
    fn null(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        if old.notes.null == new.notes.null || is_any(old) || is_any(new) {
            return;
        }
        let (was_listed, is_listed) = (old.values.is_some(), new.values.is_some());
        let kind = match (old.notes.null == Null::Yes, new.notes.null == Null::Yes) {
            // An `enum` that comes or goes says it, too.
            (true, false) if is_listed && !was_listed => return,
            (false, true) if was_listed && !is_listed => return,
            (true, false) => Kind::NotNullable,
            (false, true) => Kind::Nullable,
            _ => Kind::NullHint,
        };
        let [was, is] = [old, new].map(|schema| match schema.notes.null {
            Null::No => None,
            Null::Yes => Some("true"),
            Null::Unlisted => Some("not listed").filter(|_| kind == Kind::NullHint),
        });
        let at = at.below("nullable");
        self.report_text(&at, kind, was, is);
    }

    /// Compares the values that two schemas allow. `written` has both schemas as they are written;
    /// `old` and `new` are the schemas that they lead to.
    pub(super) fn allowed(
        &mut self,
        at: &Spot,
        written: [&Rc<Schema>; 2],
        old: &Rc<Schema>,
        new: &Rc<Schema>,
    ) {
        // Lists that refer to each other may have no end.
        if at.depth > DEEPEST {
            return self.report(at, Kind::NotCompared, None, None);
        }
        if old.is_no_schema() || new.is_no_schema() {
            if old != new {
                self.report_schemas(at, Kind::Unknown, Some(old), Some(new));
            }
            return;
        }
        if old.cases.is_some() != new.cases.is_some() {
            return self.case_or_list(at, written, old, new);
        }
        let Schema {
            to: _,
            kind: _,
            format: _,
            members: _,
            required: _,
            others,
            items,
            values,
            cases: _,
            tag: _,
            demands,
            not,
            limits,
            notes: _,
            made: _,
        } = &**old;
        if let Some(kind) = types(old, new) {
            let [old_type, new_type] = [old, new].map(|schema| type_and_format(schema));
            let type_at = at.below("type");
            self.report(&type_at, kind, old_type, new_type);
            if kind == Kind::Type || is_any(old) || is_any(new) {
                // Every other keyword differs, too.
                return;
            }
        }
        self.members(at, old, new);
        self.both_cases(at, old, new);
        let below = |name| at.below(name);
        let [others_at, items_at, values_at, demands_at, not_at] =
            ["additionalProperties", "items", "enum", "allOf", "not"].map(below);
        self.others(&others_at, others, &new.others);
        match (items, &new.items) {
            (Some(old), Some(new)) => self.schema(&items_at, old, new),
            (None, None) => {}
            (old, new) => {
                let kind = if new.is_none() { Kind::TypeWidened } else { Kind::TypeNarrowed };
                self.report_schemas(&items_at, kind, old.as_deref(), new.as_deref());
            }
        }
        self.values(&values_at, values.as_ref(), new.values.as_ref());
        self.demands(&demands_at, demands, &new.demands);
        self.not(&not_at, not.as_deref(), new.not.as_deref());
        self.limits(at, limits, &new.limits);
    }

    /// Compares two schemas that no value may fit. What is wider inside is narrower outside, so
    /// they are compared as a whole, with the types that they refer to.
    fn not(&mut self, at: &Spot, old: Option<&Schema>, new: Option<&Schema>) {
        let print = |document: &Document, schema| document.model.prints.of_schema(schema);
        let kind = match (old, new) {
            (None, None) => return,
            (None, _) => Kind::LimitTightened,
            (_, None) => Kind::LimitLoosened,
            (Some(was), Some(is)) if print(self.old, was) != print(self.new, is) => Kind::Limit,
            _ if old == new => return,
            _ => Kind::TypeName,
        };
        self.report_schemas(at, kind, old, new);
    }
}

/// The most steps that lead from a type or an operation to a schema. A document has 127 levels.
const DEEPEST: usize = 300;

/// The named types that a schema refers to, or is made of.
fn types_of(document: &Document, schema: &Schema) -> BTreeSet<Pointer> {
    if let Some(name) = schema.type_name() {
        return BTreeSet::from([name.clone()]);
    }
    let schema = schema
        .pointer()
        .and_then(|pointer| document.model.schemas.get(pointer))
        .map_or(schema, |schema| schema);
    let mut names = schema.made.0.of.clone();
    names.retain(|name| !name.as_str().is_empty());
    names
}

fn type_and_format(schema: &Schema) -> Option<Shown> {
    let kind = Shown::text(schema.kind.as_deref()?);
    Some(match &schema.format {
        Some(format) => kind.and(&format!(" ({format})")),
        None => kind,
    })
}
