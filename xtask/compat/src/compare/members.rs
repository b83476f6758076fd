//! What changed between the members of two objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cursor::Cursor;
use super::{Comparison, strings};
use crate::change::Shown;
use crate::kind::{Direction, Kind};

impl Comparison<'_> {
    /// Compares the members that have a name.
    pub(super) fn members(&mut self, at: &Cursor<'_>, old: &Value, new: &Value) {
        let at = &at.with(Some(old), Some(new));
        let was_closed = old.get("additionalProperties") == Some(&Value::Bool(false));
        let [were_required, are_required] = [old, new].map(|schema| strings(&schema["required"]));
        let properties = at.below("properties");
        let mut names: BTreeSet<&str> = &were_required | &are_required;
        names.extend(properties.members().map(|(name, _)| name));
        for name in names {
            let at = properties.below(name).located();
            let [was_required, is_required] =
                [&were_required, &are_required].map(|names| names.contains(name));
            // The schema that a member refers to may say which side sends it.
            let [whole_old, whole_new] = self.resolved(&at).map(Option::unwrap_or_default);
            match (at.old, at.new) {
                (Some(old), Some(new)) => {
                    if whole_old["readOnly"] == true && whole_new["readOnly"] != true && is_required
                    {
                        self.in_one(&at.only(Direction::REQUEST).with(None, Some(new)), true);
                    }
                    let at = self.sides(&at, &whole_old, &whole_new);
                    self.required(&at, was_required, is_required);
                    let old = with_null_of(new, old, was_required, is_required);
                    self.schema(&at.with(Some(&old), Some(new)));
                }
                (None, None) if was_required != is_required => {
                    let kind = if is_required { Kind::Required } else { Kind::Optional };
                    let [was, is] = [was_required, is_required].map(|required| {
                        format!("{name} {}", if required { "required" } else { "optional" })
                    });
                    self.report_text(&at, kind, Some(&was), Some(&is));
                }
                (None, None) => {}
                (None, Some(new)) if was_closed => {
                    let kind = match is_required {
                        true => Kind::RequiredAddedToClosed,
                        false => Kind::AddedToClosed,
                    };
                    let at = at.only(sides(&whole_new));
                    self.report(&at, kind, None, Some(Shown::of(new)));
                }
                (Some(_), None) => self.in_one(&at.only(sides(&whole_old)), was_required),
                (None, Some(new)) => {
                    let at = at.only(sides(&whole_new));
                    let others =
                        old.get("additionalProperties").filter(|others| others.is_object());
                    if others.is_some() {
                        // Another value was allowed under this name before.
                        self.schema(&at.at(others, Some(new)));
                    }
                    self.in_one(&at, is_required && !was_required);
                }
            }
        }
    }

    /// Compares which side sends a member.
    fn sides<'v>(&mut self, at: &Cursor<'v>, old: &Value, new: &Value) -> Cursor<'v> {
        for (name, side) in [("readOnly", Direction::REQUEST), ("writeOnly", Direction::RESPONSE)] {
            let kind = if new[name] == true { Kind::OneWay } else { Kind::BothWays };
            self.value(&at.only(side).below(name).with(old.get(name), new.get(name)), kind);
        }
        if sides(old) == sides(new) { at.only(sides(new)) } else { at.clone() }
    }

    /// Compares the members that have no name.
    pub(super) fn others(&mut self, at: &Cursor<'_>) {
        let is_closed = |others: Option<&Value>| others == Some(&Value::Bool(false));
        let kind = match at.values().map(is_closed) {
            [true, _] => Some(Kind::ObjectOpened),
            [_, true] => Some(Kind::ObjectClosed),
            _ => None,
        };
        let any = if kind.is_some() { json!(true) } else { json!({}) };
        let at = at.with(at.old.or(Some(&any)), at.new.or(Some(&any)));
        match kind {
            Some(kind) => self.value(&at, kind),
            None => self.schema(&at),
        }
    }
}

/// The sides that send a member.
fn sides(member: &Value) -> Direction {
    match (member["readOnly"] == true, member["writeOnly"] == true) {
        (true, false) => Direction::RESPONSE,
        (false, true) => Direction::REQUEST,
        _ => Direction::BOTH,
    }
}

/// The older member. If a member that may be null becomes one that must be there and not null, that
/// is one change, and so is the reverse: then the older member gets the newer `nullable`.
fn with_null_of(new: &Value, old: &Value, was_required: bool, is_required: bool) -> Value {
    let mut old = old.clone();
    let is_one = was_required != is_required && new.get("nullable").is_some() != is_required;
    if let (true, Value::Object(schema)) = (is_one, &mut old) {
        schema.remove("nullable");
        schema.extend(new.get("nullable").map(|value| ("nullable".to_owned(), value.clone())));
    }
    old
}
