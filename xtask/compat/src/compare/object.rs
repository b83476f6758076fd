//! What changed between the members of two objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Comparison, Here, members};
use crate::change::Told;
use crate::kind::{Direction, Kind};

impl Comparison<'_> {
    /// The members that have a name.
    pub(super) fn members(&mut self, here: &Here, old: &Value, new: &Value) {
        let others = old.get("additionalProperties");
        let was_closed = others == Some(&Value::Bool(false));
        let names = [old, new].map(required);
        let mut all = members(old.get("properties"), new.get("properties"));
        let only_required = names[0].union(&names[1]).map(|name| (*name, None, None));
        let known: BTreeSet<&str> = all.iter().map(|member| member.0).collect();
        all.extend(only_required.filter(|(name, ..)| !known.contains(name)));
        let properties = here.below("properties");
        for (name, old, new) in all {
            let here = properties.below(name).of(old, new);
            let [was_required, is_required] = [&names[0], &names[1]].map(|all| all.contains(name));
            // The schema that a member refers to may say which side sends it.
            let whole_old = old.and_then(|old| self.old.resolved(old)).unwrap_or_default();
            let whole_new = new.and_then(|new| self.new.resolved(new)).unwrap_or_default();
            match (old, new) {
                (Some(old), Some(new)) => {
                    if has(&whole_old, "readOnly") && !has(&whole_new, "readOnly") && is_required {
                        let here = here.only(Direction::REQUEST);
                        self.in_one(&here, None, Some(new), true);
                    }
                    let here = self.ways(&here, &whole_old, &whole_new);
                    self.required(&here, was_required, is_required);
                    let old = &as_nullable_as(new, old, was_required, is_required);
                    self.schema(&here, old, new);
                }
                (None, None) if was_required != is_required => {
                    let kind = if is_required { Kind::Required } else { Kind::Optional };
                    let told = |is: bool| {
                        Some(Told::text(name).and(if is { " required" } else { " optional" }))
                    };
                    self.say(&here, kind, told(was_required), told(is_required));
                }
                (None, None) => {}
                (None, Some(new)) if was_closed => {
                    let kind = match is_required {
                        true => Kind::RequiredAddedToClosed,
                        false => Kind::AddedToClosed,
                    };
                    self.say(&here.only(ways(&whole_new)), kind, None, Some(Told::of(new)));
                }
                (old, new) => {
                    let whole = if old.is_some() { &whole_old } else { &whole_new };
                    let here = here.only(ways(whole));
                    if let (Some(others @ Value::Object(_)), Some(new)) = (others, new) {
                        // Under this name another value was allowed before.
                        self.schema(&here, others, new);
                    }
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

    /// The members that have no name.
    pub(super) fn others(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let is_closed = |others: Option<&Value>| others == Some(&Value::Bool(false));
        let any = json!({});
        let kind = match (is_closed(old), is_closed(new)) {
            (true, _) => Kind::ObjectOpened,
            (_, true) => Kind::ObjectClosed,
            _ => return self.schema(here, old.unwrap_or(&any), new.unwrap_or(&any)),
        };
        let open = json!(true);
        self.value(here, kind, old.or(Some(&open)), new.or(Some(&open)));
    }
}

/// The names of the members that an object must have.
pub fn required(schema: &Value) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
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

/// The older member. One that must be there now and must not be null any more is one change, and so
/// is the reverse.
fn as_nullable_as(new: &Value, old: &Value, was_required: bool, is_required: bool) -> Value {
    let mut old = old.clone();
    let is_one = was_required != is_required && new.get("nullable").is_some() != is_required;
    if let (true, Value::Object(schema)) = (is_one, &mut old) {
        schema.remove("nullable");
        schema.extend(new.get("nullable").map(|value| ("nullable".to_owned(), value.clone())));
    }
    old
}
