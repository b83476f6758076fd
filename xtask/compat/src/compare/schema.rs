//! What changed between two schemas.

use serde_json::{Value, json};

use super::cases::cases;
use super::values::types;
use super::{Comparison, Found, Here, members, told};
use crate::kind::Kind;
use crate::normalise::{BOUNDS, is_note};

impl Comparison<'_> {
    /// Two schemas where they are used.
    pub(super) fn schema(&mut self, here: &Here, old: &Value, new: &Value) {
        if let (Some(old_name), Some(new_name)) = (pointer(old), pointer(new)) {
            self.notes(here, old, new);
            if old_name != new_name {
                // A type that has another name now has it at every place.
                let is_renamed = !self.new.schemas.contains_key(old_name);
                let place = if is_renamed { old_name } else { &here.place };
                let here = Here { place: place.to_owned(), ..here.clone() };
                self.type_name(&here, old, new);
            }
            self.lead(here, old_name, new_name);
            return;
        }
        let (Some(whole_old), Some(whole_new)) = (self.old.resolved(old), self.new.resolved(new))
        else {
            self.say(here, Kind::NotCompared, Some(told(old)), Some(told(new)));
            return;
        };
        let said = self.found.len();
        self.notes(here, &whole_old, &whole_new);
        self.limits(here, (old, &whole_old), (new, &whole_new));
        let is_other = |found: &Found| OTHER_TYPE.contains(&found.kind);
        if pointer(old) != pointer(new) && !self.found[said..].iter().any(is_other) {
            self.type_name(here, old, new);
        }
    }

    /// Has two types compared, if they were not.
    pub(super) fn lead(&mut self, here: &Here, old_name: &str, new_name: &str) {
        if !self.graph.lead(here.node, here.through, old_name, new_name) {
            self.say(here, Kind::NotCompared, None, None);
        }
    }

    fn type_name(&mut self, here: &Here, old: &Value, new: &Value) {
        let [old, new] = [old, new].map(|one| pointer(one).map(|name| short(name).to_owned()));
        self.say(here, Kind::TypeName, old, new);
    }

    /// What a schema says beside the values that it allows.
    fn notes(&mut self, here: &Here, old: &Value, new: &Value) {
        // A schema that says nothing allows null, too.
        let allows_all = says_nothing(old) || says_nothing(new);
        for (name, old, new) in
            members(Some(old), Some(new)).into_iter().filter(|one| is_note(one.0))
        {
            let here = here.below(name);
            match name {
                "nullable" if allows_all => {}
                "nullable" => {
                    let kind = if new.is_some() { Kind::Nullable } else { Kind::NotNullable };
                    self.value(&here, kind, old, new);
                }
                "default" if old == new => {}
                "default" if old.is_some() && new.is_some() => {
                    // It is no schema: a member `description` of it is no text for people.
                    let [old, new] = [old, new].map(|value| value.map(Value::to_string));
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
        // What stood beside an `allOf` is one of its parts: see `normalise::parts`.
        if old.get("allOf").is_some() || new.get("allOf").is_some() {
            let old = demands(written_old, old);
            let new = demands(written_new, new);
            let kinds = (Kind::DemandRemoved, Kind::DemandAdded);
            self.list(&here.below("allOf"), kinds, &old, &new);
            return;
        }
        if let Some(kind) = types(old, new) {
            let [old_type, new_type] = [old, new].map(type_and_format);
            self.say(&here.below("type"), kind, old_type, new_type);
            if kind == Kind::Type || says_nothing(old) || says_nothing(new) {
                // Every other keyword is another one, too.
                return;
            }
        }
        self.members(here, old, new);
        if let (Some((was, old)), Some((is, new))) = (cases(old), cases(new)) {
            if was != is {
                let [old, new] = [was, is].map(|name| Some(name.to_owned()));
                self.say(&here.below(is), Kind::Composition, old, new);
            }
            self.list(&here.below(is), (Kind::PartRemoved, Kind::PartAdded), old, new);
        }
        for (name, old, new) in members(Some(old), Some(new)) {
            let here = here.below(name);
            match name {
                "type" | "format" | "properties" | "required" | "oneOf" | "anyOf" => {}
                _ if is_note(name) => {}
                "additionalProperties" => self.others(&here, old, new),
                "discriminator" => self.value(&here, Kind::Discriminator, old, new),
                "enum" => self.values(&here, old, new),
                "items" => self.items(&here, old, new),
                "multipleOf" | "pattern" | "uniqueItems" => self.rule(&here, old, new),
                "not" => self.not(&here, old, new),
                _ if BOUNDS.contains(&name) => self.bound(&here, name, old, new),
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

    /// What is wider within is narrower without, so nobody looks inside.
    fn not(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(_), Some(_)) => self.opaque(here, Kind::Limit, old, new),
            (_, None) => self.value(here, Kind::DemandRemoved, old, new),
            _ => self.value(here, Kind::DemandAdded, old, new),
        }
    }
}

/// The changes that say already that the generated type is another one.
const OTHER_TYPE: [Kind; 7] = [
    Kind::DemandAdded,
    Kind::DemandRemoved,
    Kind::ListAdded,
    Kind::ListRemoved,
    Kind::Type,
    Kind::TypeNarrowed,
    Kind::TypeWidened,
];

/// So many steps lead from a type or an operation to a schema at most. A document has 127 levels.
const DEEPEST: usize = 300;

/// The pointer that a schema is, if it is a reference.
pub fn pointer(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// What a value has to fit: the parts of `allOf`, or the schema itself unless it says nothing.
fn demands(written: &Value, schema: &Value) -> Vec<Value> {
    let itself = || if says_nothing(schema) { Vec::new() } else { vec![written.clone()] };
    schema["allOf"].as_array().cloned().unwrap_or_else(itself)
}

fn says_nothing(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| schema.keys().all(|name| is_note(name)))
}

/// The name of a type without its place.
pub fn short(pointer: &str) -> &str {
    pointer.strip_prefix("#/components/schemas/").unwrap_or(pointer)
}

fn type_and_format(schema: &Value) -> Option<String> {
    let kind = told(schema.get("type")?);
    let format = schema.get("format").map(told);
    Some(format.iter().fold(kind, |kind, format| format!("{kind} ({format})")))
}
