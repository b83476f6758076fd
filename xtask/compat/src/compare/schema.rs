//! What changed between two schemas.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::matching::{self, pairs};
use super::values::types;
use super::{Comparison, Found, Here, members, told};
use crate::kind::{Direction, Kind};
use crate::normalise::{BOUNDS, Model, is_note};

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
            if !self.graph.lead(here.node, here.through, old_name, new_name) {
                self.say(here, Kind::NotCompared, None, None);
            }
            return;
        }
        let (Some(whole_old), Some(whole_new)) = (self.old.resolved(old), self.new.resolved(new))
        else {
            self.say(here, Kind::NotCompared, Some(told(old)), Some(told(new)));
            return;
        };
        let said = self.found.len();
        self.notes(here, &whole_old, &whole_new);
        self.limits(here, &whole_old, &whole_new);
        let is_other = |found: &Found| {
            use Kind::{ListAdded, ListRemoved, Type, TypeNarrowed, TypeWidened};
            matches!(found.kind, Type | TypeNarrowed | TypeWidened | ListAdded | ListRemoved)
        };
        if pointer(old) != pointer(new) && !self.found[said..].iter().any(is_other) {
            self.type_name(here, old, new);
        }
    }

    fn type_name(&mut self, here: &Here, old: &Value, new: &Value) {
        let [old, new] = [old, new].map(|one| pointer(one).map(|name| short(name).to_owned()));
        self.say(here, Kind::TypeName, old, new);
    }

    /// What a schema says beside the values that it allows.
    fn notes(&mut self, here: &Here, old: &Value, new: &Value) {
        // A schema that says nothing allows null, too.
        let says_nothing = |schema: &Value| {
            schema.as_object().is_some_and(|schema| schema.keys().all(|name| is_note(name)))
        };
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
                "default" if old.is_some() && new.is_some() => {
                    self.value(&here, Kind::Default, old, new);
                }
                // A list that is left out is empty in generated code.
                "default" if old.or(new) == Some(&json!([])) => {}
                "default" => self.value(&here, Kind::DefaultSaid, old, new),
                "x-codes" => self.codes(&here, old, new),
                // The object that has the member judges them.
                "readOnly" | "writeOnly" => {}
                _ => self.other(&here, name, old, new),
            }
        }
    }

    /// Which values two schemas allow. They are no references.
    fn limits(&mut self, here: &Here, old: &Value, new: &Value) {
        if !old.is_object() || !new.is_object() {
            self.value(here, Kind::Unknown, Some(old), Some(new));
            return;
        }
        if cases(old).is_some() != cases(new).is_some() {
            self.case_or_list(here, old, new);
            return;
        }
        if let Some(kind) = types(old, new) {
            let [old, new] = [old, new].map(type_name);
            self.say(&here.below("type"), kind, old, new);
        }
        if old.get("type") != new.get("type") {
            // Of another type every other keyword is another one, too.
            return;
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
                "allOf" => {
                    let list = |parts: Option<&Value>| parts.and_then(Value::as_array).cloned();
                    let [old, new] = [old, new].map(|parts| list(parts).unwrap_or_default());
                    self.list(&here, (Kind::DemandRemoved, Kind::DemandAdded), &old, &new);
                }
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
            (Some(old), Some(new)) => {
                let texts = (self.old.prints.nameless(old), self.new.prints.nameless(new));
                if texts.0 != texts.1 {
                    self.say(here, Kind::Limit, Some(told(old)), Some(told(new)));
                }
            }
            (_, None) => self.value(here, Kind::DemandRemoved, old, new),
            _ => self.value(here, Kind::DemandAdded, old, new),
        }
    }

    /// A schema, and a list of cases of which it may be one.
    fn case_or_list(&mut self, here: &Here, old: &Value, new: &Value) {
        let name = cases(old).or(cases(new)).map_or("oneOf", |(name, _)| name);
        let here = here.below(name);
        let list = |schema: &Value| {
            cases(schema).map_or_else(|| vec![schema.clone()], |all| all.1.clone())
        };
        let (old_list, new_list) = (list(old), list(new));
        let grew = cases(old).is_none();
        let (plain, list) = if grew { (old, &new_list) } else { (new, &old_list) };
        let model = if grew { self.new } else { self.old };
        if is_wider(plain, model, list) {
            let is_same = |case: &Value| says_little(case) && case.get("type") == plain.get("type");
            let kind = match grew {
                _ if list.iter().any(is_same) => Kind::TypeName,
                true => Kind::TypeNarrowed,
                false => Kind::TypeWidened,
            };
            return self.value(&here, kind, Some(old), Some(new));
        }
        let has_values = [old, new].iter().any(|one| one.get("enum").is_some());
        let any = json!({});
        let mut is_one = old_list.contains(&any) || new_list.contains(&any);
        for (one, other) in pairs((self.old, &old_list), (self.new, &new_list)) {
            match (one, other) {
                (Some(one), Some(other)) => {
                    is_one = true;
                    let here = here.below(&matching::label(if grew { other } else { one }));
                    if let (Some(one), Some(other)) =
                        (self.old.resolved(one), self.new.resolved(other))
                    {
                        self.limits(&here, &one, &other);
                    }
                }
                _ if !has_values => {}
                (Some(one), None) => self.say(&here, Kind::PartRemoved, Some(told(one)), None),
                (_, other) => self.say(&here, Kind::PartAdded, None, other.map(told)),
            }
        }
        if !has_values {
            let kind = match (is_one, grew) {
                (false, _) => Kind::Type,
                (true, true) => Kind::TypeWidened,
                (true, false) => Kind::TypeNarrowed,
            };
            self.value(&here, kind, Some(old), Some(new));
        }
    }

    /// Two lists of parts.
    fn list(&mut self, here: &Here, (removed, added): (Kind, Kind), old: &[Value], new: &[Value]) {
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let label = old.or(new).map(matching::label).unwrap_or_default();
            let here = here.below(&label);
            match (old, new) {
                (Some(old), Some(new)) => self.schema(&here, old, new),
                (Some(old), None) => self.say(&here, removed, Some(told(old)), None),
                (_, new) => self.say(&here, added, None, new.map(told)),
            }
        }
    }

    fn members(&mut self, here: &Here, old: &Value, new: &Value) {
        let was_closed = old.get("additionalProperties") == Some(&Value::Bool(false));
        let names = [old, new].map(required);
        let mut all = members(old.get("properties"), new.get("properties"));
        let only_required = names[0].union(&names[1]).map(|name| (*name, None, None));
        let known: BTreeSet<&str> = all.iter().map(|member| member.0).collect();
        all.extend(only_required.filter(|(name, ..)| !known.contains(name)));
        let properties = here.below("properties");
        for (name, old, new) in all {
            let here = properties.below(name);
            let [was_required, is_required] = [&names[0], &names[1]].map(|all| all.contains(name));
            match (old, new) {
                (Some(old), Some(new)) => {
                    if has(old, "readOnly") && !has(new, "readOnly") && is_required {
                        let here = here.only(Direction::REQUEST);
                        self.in_one(&here, None, Some(new), true);
                    }
                    let here = self.ways(&here, old, new);
                    self.required(&here, was_required, is_required);
                    let old = &as_nullable_as(new, old, was_required != is_required);
                    self.schema(&here, old, new);
                }
                (None, None) => self.required(&here, was_required, is_required),
                (None, Some(new)) if was_closed && !is_required => {
                    let here = here.only(ways(new));
                    self.say(&here, Kind::AddedToClosed, None, Some(told(new)));
                }
                (old, new) => {
                    let here = here.only(old.or(new).map_or(Direction::BOTH, ways));
                    let is_required =
                        if old.is_some() { was_required } else { is_required && !was_required };
                    self.in_one(&here, old, new, is_required);
                }
            }
        }
    }

    /// Which side sends a member, and what changed about that.
    fn ways(&mut self, here: &Here, old: &Value, new: &Value) -> Here {
        for (name, side) in [("readOnly", Direction::REQUEST), ("writeOnly", Direction::RESPONSE)] {
            let kind = if has(new, name) { Kind::OneWay } else { Kind::BothWays };
            let here = here.only(side).below(name);
            self.value(&here, kind, old.get(name), new.get(name));
        }
        if ways(old) == ways(new) { here.only(ways(new)) } else { here.clone() }
    }

    fn others(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        if let (Some(Value::Object(_)), Some(Value::Object(_))) = (old, new) {
            let [old, new] = [old, new].map(|schema| schema.cloned().unwrap_or_default());
            return self.schema(here, &old, &new);
        }
        let freedom = |others: Option<&Value>| match others {
            None => 2,
            Some(Value::Bool(false)) => 0,
            Some(_) => 1,
        };
        let opened = freedom(new) > freedom(old);
        let kind = if opened { Kind::ObjectOpened } else { Kind::ObjectClosed };
        let open = json!(true);
        self.value(here, kind, old.or(Some(&open)), new.or(Some(&open)));
    }
}

/// The pointer that a schema is, if it is a reference.
pub fn pointer(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// The cases of which a value is one, and the keyword that lists them.
pub fn cases(schema: &Value) -> Option<(&'static str, &Vec<Value>)> {
    ["oneOf", "anyOf"].into_iter().find_map(|name| Some((name, schema.get(name)?.as_array()?)))
}

/// The names of the members that an object must have.
pub fn required(schema: &Value) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Whether a schema says no more than its type, and each of the cases has the type.
fn is_wider(schema: &Value, model: &Model, cases: &[Value]) -> bool {
    let fits = |case: &Value| {
        let case = model.resolved(case).unwrap_or_default();
        schema.get("type").is_none_or(|kind| case.get("type") == Some(kind))
    };
    says_little(schema) && cases.iter().all(fits)
}

/// Whether a schema says no more than its type.
fn says_little(schema: &Value) -> bool {
    let keywords = schema.as_object();
    keywords.is_some_and(|schema| schema.keys().all(|name| name == "type" || is_note(name)))
}

fn has(schema: &Value, flag: &str) -> bool {
    schema.get(flag) == Some(&Value::Bool(true))
}

/// Which sides send a member.
fn ways(member: &Value) -> Direction {
    match (has(member, "readOnly"), has(member, "writeOnly")) {
        (true, false) => Direction::RESPONSE,
        (false, true) => Direction::REQUEST,
        _ => Direction::BOTH,
    }
}

/// The older member. If another change says already that it may be missing, or not any more, null
/// says nothing more.
fn as_nullable_as(new: &Value, old: &Value, is_said: bool) -> Value {
    let mut old = old.clone();
    if let (true, Value::Object(schema)) = (is_said, &mut old) {
        schema.remove("nullable");
        schema.extend(new.get("nullable").map(|value| ("nullable".to_owned(), value.clone())));
    }
    old
}

/// The name of a type without its place.
pub fn short(pointer: &str) -> &str {
    pointer.strip_prefix("#/components/schemas/").unwrap_or(pointer)
}

fn type_name(schema: &Value) -> Option<String> {
    let kind = told(schema.get("type")?);
    let format = schema.get("format").map(told);
    Some(format.iter().fold(kind, |kind, format| format!("{kind} ({format})")))
}
