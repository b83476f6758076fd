//! What changed between two schemas.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cases::cases;
use super::values::types;
use super::{Comparison, Found, Here, keywords, members};
use crate::change::{Told, short};
use crate::kind::Kind;
use crate::normalise::{AT, Model, NAME, PARTS, is_bound, is_note, is_type, says_nothing};

impl Comparison<'_> {
    /// Two schemas where they are used.
    pub(super) fn schema(&mut self, here: &Here, old: &Value, new: &Value) {
        let here = &here.of(Some(old), Some(new));
        let said = self.found.len();
        if let (Some(old_name), Some(new_name)) = (pointer(old), pointer(new)) {
            self.notes(here, old, new);
            self.lead(here, old_name, new_name);
        } else if let (Some(whole_old), Some(whole_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.notes(here, &whole_old, &whole_new);
            self.limits(here, (old, &whole_old), (new, &whole_new));
        } else {
            return self.say(here, Kind::NotCompared, Some(Told::of(old)), Some(Told::of(new)));
        }
        // The changes that say already that the generated type is another one.
        let is_other = |found: &Found| {
            use Kind::{ListAdded, ListRemoved, Type, TypeNarrowed, TypeWidened};
            matches!(found.kind, ListAdded | ListRemoved | Type | TypeNarrowed | TypeWidened)
        };
        // The name of a type is said where the type is used.
        let is_pair = here.depth == 0 && here.place.old != here.place.new;
        if is_pair || self.found[said..].iter().any(is_other) {
            return;
        }
        let (was, is) = (parts(self.old, old), parts(self.new, new));
        let [old_name, new_name] = [old, new].map(name);
        if old_name != new_name && old_name.is_some() && !is.contains(old_name.unwrap_or_default())
            || old_name.is_none() && (new_name.is_some() || !was.is_subset(&is))
        {
            let [was, is] = [was, is].map(|names| {
                let names: Vec<&str> = names.into_iter().map(short).collect();
                (!names.is_empty()).then(|| Told::text(&names.join(" and ")))
            });
            self.say(here, Kind::TypeName, was, is);
        } else if old.get(NAME) != new.get(NAME) {
            let here = here.below("title");
            self.value(&here, Kind::TypeName, old.get(NAME), new.get(NAME));
        }
    }

    /// Has two types compared, if they were not. A mapping may lead out of the document.
    pub(super) fn lead(&mut self, here: &Here, old_name: &str, new_name: &str) {
        let is_known =
            self.old.schemas.contains_key(old_name) && self.new.schemas.contains_key(new_name);
        let is_led = is_known && self.graph.lead(here.node, here.through, old_name, new_name);
        if !is_led && (is_known || old_name != new_name) {
            self.say(here, Kind::NotCompared, None, None);
        }
    }

    /// Whether a named type is made of other types now: generators write the parts of `allOf` as
    /// types that it inherits or contains.
    pub(super) fn made_of(&mut self, here: &Here, old: &Value, new: &Value) {
        if here.place.old != here.place.new
            || [old, new].into_iter().any(|schema| pointer(schema).is_some())
            || !parts(self.old, old).is_subset(&parts(self.new, new))
        {
            // That is said where the name changes.
            return;
        }
        let is_made = |schema: &Value| schema.get(PARTS).is_some();
        if is_made(old) != is_made(new) {
            let told =
                |schema| Some(Told::text(if is_made(schema) { "allOf" } else { "one schema" }));
            return self.say(here, Kind::TypeName, told(old), told(new));
        }
        let owner = |member: &Value| Some(member[AT].as_str()?.split('/').nth(3)?.to_owned());
        for (name, old, new) in members(old.get("properties"), new.get("properties")) {
            if let (Some(was), Some(is)) = (old.and_then(owner), new.and_then(owner))
                && was != is
            {
                let told = |owner: &str| Some(Told::text(&format!("{name} of {owner}")));
                return self.say(here, Kind::TypeName, told(&was), told(&is));
            }
        }
    }

    /// What a schema says beside the values that it allows.
    fn notes(&mut self, here: &Here, old_schema: &Value, new_schema: &Value) {
        // A schema that says nothing allows null, too.
        let allows_all = is_any(old_schema) || is_any(new_schema);
        for (name, old, new) in
            keywords(Some(old_schema), Some(new_schema)).into_iter().filter(|one| is_note(one.0))
        {
            let here = here.below(name);
            let is_listed = |schema: &Value| schema.get("enum").is_some();
            let is_null = |value: Option<&Value>| value == Some(&json!(true));
            match name {
                "nullable" if allows_all => {}
                "nullable" if is_null(old) == is_null(new) => {
                    self.value(&here, Kind::NullSaid, old, new);
                }
                // The list says that, too.
                "nullable" if !is_null(new) && is_listed(new_schema) && !is_listed(old_schema) => {}
                "nullable" if is_null(new) && is_listed(old_schema) && !is_listed(new_schema) => {}
                "nullable" => {
                    let kind = if is_null(new) { Kind::Nullable } else { Kind::NotNullable };
                    let [old, new] = [old, new].map(|one| one.filter(|one| one.is_boolean()));
                    self.value(&here, kind, old, new);
                }
                "default" if old == new => {}
                "default" if old.is_some() && new.is_some() => {
                    // It is no schema: a member `description` of it is no text for people.
                    let [old, new] = [old, new].map(|value| Some(Told::text(&value?.to_string())));
                    self.say(&here, Kind::Default, old, new);
                }
                // A list that is left out is empty in generated code.
                "default" if old.or(new) == Some(&json!([])) => {}
                "default" => self.value(&here, Kind::DefaultSaid, old, new),
                "x-extensible-enum" => self.codes(&here, old, new),
                // The object that has the member judges them.
                "readOnly" | "writeOnly" => {}
                _ => self.other(&here, name, old, new),
            }
        }
    }

    /// Which values two schemas allow. Each is given as it is written, and as what it leads to.
    pub(super) fn limits(
        &mut self,
        here: &Here,
        (written_old, old): (&Value, &Value),
        (written_new, new): (&Value, &Value),
    ) {
        // Lists that refer to each other may have no end.
        if here.depth > DEEPEST {
            self.say(here, Kind::NotCompared, None, None);
            return;
        }
        if !old.is_object() || !new.is_object() {
            self.value(here, Kind::Unknown, Some(old), Some(new));
            return;
        }
        if cases(old).is_some() != cases(new).is_some() {
            self.case_or_list(here, (written_old, old), (written_new, new));
            return;
        }
        if let Some(kind) = types(old, new) {
            let [old_type, new_type] = [old, new].map(type_and_format);
            self.say(&here.below("type"), kind, old_type, new_type);
            if kind == Kind::Type || is_any(old) || is_any(new) {
                // Every other keyword is another one, too.
                return;
            }
        }
        self.members(here, old, new);
        self.both_cases(here, old, new);
        for (name, old, new) in keywords(Some(old), Some(new)) {
            let here = here.below(name);
            match name {
                "type" | "format" | "properties" | "required" | "oneOf" | "anyOf"
                | "discriminator" => {}
                _ if is_note(name) => {}
                "additionalProperties" => self.others(&here, old, new),
                "allOf" => {
                    let [old, new] = [old, new].map(list);
                    self.list(&here, None, (Kind::LimitLoosened, Kind::LimitTightened), old, new);
                }
                "enum" => self.values(&here, old, new),
                "items" => self.items(&here, old, new),
                "multipleOf" => self.multiple(&here, old, new),
                // What is wider within is narrower without, so nobody looks inside.
                "not" if old.is_some() && new.is_some() => {
                    self.opaque(&here, Kind::Limit, old, new);
                }
                "not" | "pattern" | "uniqueItems" => self.rule(&here, old, new),
                "xml" => self.value(&here, Kind::Xml, old, new),
                _ if is_bound(name) => self.bound(&here, name, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }

    fn items(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.schema(here, old, new),
            (_, None) => self.value(here, Kind::TypeWidened, old, new),
            _ => self.value(here, Kind::TypeNarrowed, old, new),
        }
    }
}

/// So many steps lead from a type or an operation to a schema at most. A document has 127 levels.
const DEEPEST: usize = 300;

/// The pointer that a schema is, if it is a reference.
pub fn pointer(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// The name of the type that a schema is, if it is a reference to one.
fn name(schema: &Value) -> Option<&str> {
    pointer(schema).filter(|pointer| is_type(pointer))
}

/// The named types that a schema is, or is made of.
fn parts<'a>(model: &'a Model, schema: &'a Value) -> BTreeSet<&'a str> {
    if let Some(name) = name(schema) {
        return BTreeSet::from([name]);
    }
    let schema = pointer(schema).and_then(|pointer| model.schemas.get(pointer)).unwrap_or(schema);
    let parts = list(schema.get(PARTS)).iter().filter_map(Value::as_str);
    parts.filter(|name| !name.is_empty()).collect()
}

/// Whether a schema allows every value.
fn is_any(schema: &Value) -> bool {
    schema.as_object().is_some_and(says_nothing)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn type_and_format(schema: &Value) -> Option<Told> {
    let kind = Told::of(schema.get("type")?);
    let format = schema.get("format").and_then(Value::as_str);
    Some(format.iter().fold(kind, |kind, format| kind.and(&format!(" ({format})"))))
}
