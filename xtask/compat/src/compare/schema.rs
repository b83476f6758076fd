//! What changed between two schemas.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cases::cases;
use super::cursor::Cursor;
use super::values::types;
use super::{Comparison, Found, strings};
use crate::change::Shown;
use crate::json::text;
use crate::kind::Kind;
use crate::normalise::{AT, Model, NAME, PARTS, is_bound, is_note, is_unconstrained};
use crate::pointer::{is_type, short};

impl Comparison<'_> {
    /// Compares two schemas where they are used.
    pub(super) fn schema(&mut self, at: &Cursor<'_>) {
        let at = &at.clone().located();
        let (Some(old), Some(new)) = (at.old, at.new) else { return };
        let first = self.found.len();
        if let (Some(old_name), Some(new_name)) = (pointer(old), pointer(new)) {
            self.notes(at);
            self.lead(at, old_name, new_name);
        } else if let [Some(whole_old), Some(whole_new)] = self.resolved(at) {
            self.notes(&at.with(Some(&whole_old), Some(&whole_new)));
            self.limits(at, &whole_old, &whole_new);
        } else {
            let [old, new] = [old, new].map(|schema| Some(Shown::of(schema)));
            return self.report(at, Kind::NotCompared, old, new);
        }
        // These changes say already that the generated type is another one.
        let changes_type = |found: &Found| {
            use Kind::{ListAdded, ListRemoved, Type, TypeNarrowed, TypeWidened};
            matches!(found.kind, ListAdded | ListRemoved | Type | TypeNarrowed | TypeWidened)
        };
        // Another name of a type is reported where the type is used.
        let is_type_itself = at.depth == 0 && at.place.old != at.place.new;
        if !is_type_itself && !self.found[first..].iter().any(changes_type) {
            self.type_names(at, old, new);
        }
    }

    /// Compares the names of the generated types.
    fn type_names(&mut self, at: &Cursor<'_>, old: &Value, new: &Value) {
        let (was, is) = (types_of(self.old, old), types_of(self.new, new));
        let is_other = match (type_name(old), type_name(new)) {
            (Some(old), new) => Some(old) != new && !is.contains(old),
            (None, Some(_)) => true,
            (None, None) => !was.is_subset(&is),
        };
        if is_other {
            let [was, is] = [was, is].map(|names| {
                let names: Vec<&str> = names.into_iter().map(short).collect();
                (!names.is_empty()).then(|| names.join(" and "))
            });
            self.report_text(at, Kind::TypeName, was.as_deref(), is.as_deref());
        } else {
            let title = at.below("title").with(old.get(NAME), new.get(NAME));
            self.value(&title, Kind::TypeName);
        }
    }

    /// Queues two types, unless they are compared already. A mapping may lead out of the document.
    pub(super) fn lead(&mut self, at: &Cursor<'_>, old_name: &str, new_name: &str) {
        let is_known =
            self.old.schemas.contains_key(old_name) && self.new.schemas.contains_key(new_name);
        let is_led = is_known && self.graph.lead(at.node, at.through, old_name, new_name);
        if !is_led && (is_known || old_name != new_name) {
            self.report(at, Kind::NotCompared, None, None);
        }
    }

    /// Compares the types of which a named type is made: generators write the parts of `allOf` as
    /// types that it inherits or contains.
    pub(super) fn composition(&mut self, at: &Cursor<'_>) {
        let (Some(old), Some(new)) = (at.old, at.new) else { return };
        if at.place.old != at.place.new
            || pointer(old).or(pointer(new)).is_some()
            || !types_of(self.old, old).is_subset(&types_of(self.new, new))
        {
            // The type name is reported where it changes.
            return;
        }
        let name =
            |schema: &Value| if schema.get(PARTS).is_some() { "allOf" } else { "one schema" };
        let [was, is] = [old, new].map(name);
        if was != is {
            return self.report_text(at, Kind::TypeName, Some(was), Some(is));
        }
        let owner = |member: &Value| Some(member[AT].as_str()?.split('/').nth(3)?.to_owned());
        for (name, member) in at.below("properties").members() {
            if let [Some(was), Some(is)] = member.values().map(|member| owner(member?))
                && was != is
            {
                let [was, is] = [was, is].map(|owner| format!("{name} of {owner}"));
                return self.report_text(at, Kind::TypeName, Some(&was), Some(&is));
            }
        }
    }

    /// Compares what two schemas say beside the values that they allow.
    fn notes(&mut self, at: &Cursor<'_>) {
        for (name, note) in at.keywords().filter(|(name, _)| is_note(name)) {
            match (name, note.old, note.new) {
                ("nullable", ..) => self.nullable(at, &note),
                ("default", old, new) if old == new => {}
                ("default", Some(old), Some(new)) => {
                    // It is no schema: a member `description` of it is no text for people.
                    let [old, new] = [old, new].map(Value::to_string);
                    self.report_text(&note, Kind::Default, Some(&old), Some(&new));
                }
                // A list that is left out is empty in generated code.
                ("default", old, new) if old.or(new) == Some(&json!([])) => {}
                ("default", ..) => self.value(&note, Kind::DefaultHint),
                ("x-extensible-enum", ..) => self.codes(&note),
                // They are compared with the object that contains the member.
                ("readOnly" | "writeOnly", ..) => {}
                _ => self.other(&note, name),
            }
        }
    }

    /// Compares whether two schemas allow null. One without limits does, whatever it says.
    fn nullable(&mut self, schemas: &Cursor<'_>, at: &Cursor<'_>) {
        let [was_listed, is_listed] =
            schemas.values().map(|one| one.is_some_and(|schema| schema.get("enum").is_some()));
        let [was_null, is_null] = at.values().map(|value| value == Some(&json!(true)));
        if schemas.values().into_iter().flatten().any(is_any) {
            return;
        }
        let kind = match (was_null, is_null) {
            // An `enum` that comes or goes says it, too.
            (true, false) if is_listed && !was_listed => return,
            (false, true) if was_listed && !is_listed => return,
            (true, false) => Kind::NotNullable,
            (false, true) => Kind::Nullable,
            _ => return self.value(at, Kind::NullHint),
        };
        let [old, new] = at.values().map(|value| value.filter(|value| value.is_boolean()));
        self.value(&at.with(old, new), kind);
    }

    /// Compares the values that two schemas allow. The cursor has both schemas as they are written;
    /// `old` and `new` are the schemas that they lead to.
    pub(super) fn limits(&mut self, written: &Cursor<'_>, old: &Value, new: &Value) {
        let at = written.with(Some(old), Some(new));
        // Lists that refer to each other may have no end.
        if at.depth > DEEPEST {
            return self.report(&at, Kind::NotCompared, None, None);
        }
        if !old.is_object() || !new.is_object() {
            return self.value(&at, Kind::Unknown);
        }
        if cases(old).is_some() != cases(new).is_some() {
            return self.case_or_list(written, old, new);
        }
        if let Some(kind) = types(old, new) {
            let [old_type, new_type] = [old, new].map(type_and_format);
            self.report(&at.below("type"), kind, old_type, new_type);
            if kind == Kind::Type || is_any(old) || is_any(new) {
                // Every other keyword differs, too.
                return;
            }
        }
        self.members(&at, old, new);
        self.both_cases(&at, old, new);
        for (name, at) in at.keywords() {
            match name {
                "type" | "format" | "properties" | "required" | "oneOf" | "anyOf"
                | "discriminator" => {}
                _ if is_note(name) => {}
                "additionalProperties" => self.others(&at),
                "allOf" => self.parts(&at, None, (Kind::LimitLoosened, Kind::LimitTightened)),
                "enum" => self.values(&at),
                "items" => match (at.old, at.new) {
                    (Some(_), Some(_)) => self.schema(&at),
                    (_, None) => self.value(&at, Kind::TypeWidened),
                    _ => self.value(&at, Kind::TypeNarrowed),
                },
                "multipleOf" => self.multiple(&at),
                "not" if at.old.is_some() && at.new.is_some() => self.not(&at),
                "not" | "pattern" | "uniqueItems" => self.rule(&at),
                "xml" => self.value(&at, Kind::Xml),
                _ if is_bound(name) => self.bound(&at, name),
                _ => self.other(&at, name),
            }
        }
    }

    /// Compares two schemas that no value may fit. What is wider inside is narrower outside, so
    /// they are compared as a whole, with the types that they refer to.
    fn not(&mut self, at: &Cursor<'_>) {
        let [old, new] = at.values();
        let is_same = old.map(|schema| self.old.prints.nameless(schema))
            == new.map(|schema| self.new.prints.nameless(schema));
        if is_same {
            self.value(at, Kind::TypeName);
        } else {
            self.report(at, Kind::Limit, old.map(Shown::of), new.map(Shown::of));
        }
    }

    /// The schemas that the values of a cursor lead to.
    pub(super) fn resolved(&self, at: &Cursor<'_>) -> [Option<Value>; 2] {
        [
            at.old.and_then(|old| self.old.resolved(old)),
            at.new.and_then(|new| self.new.resolved(new)),
        ]
    }
}

/// The most steps that lead from a type or an operation to a schema. A document has 127 levels.
const DEEPEST: usize = 300;

/// The pointer that a schema consists of, if it is a reference.
pub fn pointer(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// The name of the type that a schema refers to.
fn type_name(schema: &Value) -> Option<&str> {
    pointer(schema).filter(|pointer| is_type(pointer))
}

/// The named types that a schema refers to, or is made of.
fn types_of<'a>(model: &'a Model, schema: &'a Value) -> BTreeSet<&'a str> {
    if let Some(name) = type_name(schema) {
        return BTreeSet::from([name]);
    }
    let schema = pointer(schema).and_then(|pointer| model.schemas.get(pointer)).unwrap_or(schema);
    let mut names = strings(&schema[PARTS]);
    names.remove("");
    names
}

/// Whether a schema allows every value.
fn is_any(schema: &Value) -> bool {
    schema.as_object().is_some_and(is_unconstrained)
}

fn type_and_format(schema: &Value) -> Option<Shown> {
    let kind = Shown::of(schema.get("type")?);
    match text(&schema["format"]) {
        "" => Some(kind),
        format => Some(kind.and(&format!(" ({format})"))),
    }
}
