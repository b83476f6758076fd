//! Whether a rule fits a difference: its conditions.

use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::difference::Difference;
use crate::limit::is_wider;
use crate::members::items;
use crate::place::Within;
use crate::rules::{RULES, Rule};
use crate::usage::{Named, Usage, Users};

/// A difference, and what uses it.
pub struct Case<'a> {
    /// Of the older document, the one that consumers have.
    pub old_usage: &'a Usage<'a>,
    /// Of the newer one.
    pub new_usage: &'a Usage<'a>,
    pub difference: &'a Difference<'a>,
    /// What uses it in the older document.
    pub users: Users,
}

impl Case<'_> {
    /// The first rule that fits.
    pub fn rule(&self) -> &'static Rule {
        RULES.iter().find(|rule| self.fits(rule)).expect("the last rule is for every change")
    }

    fn fits(&self, rule: &Rule) -> bool {
        let Difference { place, .. } = self.difference;
        (rule.kinds.is_empty() || rule.kinds.contains(&self.difference.kind()))
            && rule.places.iter().any(|pattern| place.fits(pattern))
            && rule.demands.iter().all(|demand| self.holds(demand.condition) == demand.must_hold)
    }

    fn holds(&self, condition: Condition) -> bool {
        let Self { old_usage, new_usage, difference: Difference { place, old, new, .. }, users } =
            *self;
        match condition {
            Condition::Codes => place.within() == Within::Codes,
            Condition::Words => place.within() == Within::Words,
            Condition::Extension => place.within() == Within::Extension,
            Condition::WasTrue => old.is_some_and(|old| *old == true),
            Condition::TagUsed => old_usage.has(Named::Tag, place.name()),
            Condition::SchemeUsed => old_usage.has(Named::Scheme, place.text(2)),
            Condition::SchemeUsedNow => new_usage.has(Named::Scheme, place.text(2)),
            Condition::Request => users.is_only_request(),
            Condition::Response => users.is_only_response(),
            Condition::Plain => users.is_plain(),
            Condition::Composed => users.composed,
            Condition::Unclear => users.unclear,
            Condition::Unused => !users.is_any(),
            Condition::Wider => is_wider(&place.kinds(), *old, *new),
            Condition::Narrower => is_wider(&place.kinds(), *new, *old),
            Condition::Optional => self.is_optional(),
            Condition::Closed => self.object()["additionalProperties"] == false,
            Condition::Open => {
                self.object().get("additionalProperties").is_none_or(|more| *more == true)
            }
            Condition::Free => {
                items(&self.object()["required"]).any(|name| name == place.name())
                    || (users.composed && old_usage.has(Named::Composed, place.name()))
            }
            Condition::Loosened => self.is_loosened(),
            Condition::Wrapped => self.difference.is_wrapped,
            Condition::Demanded => self.is_demanded(),
            Condition::NeverSent => {
                users == Users::REQUEST && old.is_some_and(|member| member["readOnly"] == true)
            }
            Condition::NeverReceived => {
                users == Users::RESPONSE && old.is_some_and(|member| member["writeOnly"] == true)
            }
            Condition::AbsentAlike => {
                old.xor(*new).is_some_and(|value| is_default(place.kind(), value))
            }
            // A name of a response.
            Condition::Refusal => place.name() == "default" || place.name().starts_with(['4', '5']),
        }
    }

    /// The schema to which this member is added. It does not say whether the member is required.
    fn object(&self) -> &Value {
        let mut place = self.difference.place_in_old.clone();
        place.pop();
        place.pop();
        place.find(self.old_usage.document).unwrap_or(&Value::Null)
    }

    /// Whether the schema around this member, or around the member that has this flag, requires it.
    /// True also if nobody can tell.
    fn is_demanded(&self) -> bool {
        let mut around = self.difference.place_in_old.clone();
        if around.kind() != "*" {
            around.pop();
        }
        let name = around.name().to_owned();
        around.pop();
        if around.kind() != "properties" {
            return true;
        }
        around.pop();
        let Some(object) = around.find(self.old_usage.document) else { return true };
        items(&object["required"]).any(|required| *required == *name)
    }

    /// Whether a parameter or a body may be left out, and overrides no parameter of the path. One
    /// behind a `$ref` counts as required.
    fn is_optional(&self) -> bool {
        let Difference { place, new, .. } = self.difference;
        let shared = &self.old_usage.document["paths"][place.text(1)]["parameters"];
        new.is_some_and(|new| {
            let overrides =
                |other: &Value| other.get("$ref").is_some() || other.get("name") == new.get("name");
            let is_required = new["required"] == true || new.get("$ref").is_some();
            !is_required && !items(shared).any(overrides)
        })
    }

    /// Whether each way in is still one: a list of alternatives, of which each names all that it
    /// needs.
    fn is_loosened(&self) -> bool {
        let Difference { old, new, .. } = self.difference;
        let free = [Value::Object(<_>::default())];
        let ways = |own: Option<&Value>, document: &Value| -> Vec<Value> {
            let list = own.or(document.get("security")).and_then(Value::as_array);
            list.filter(|ways| !ways.is_empty()).cloned().unwrap_or_else(|| free.to_vec())
        };
        let old_ways = ways(*old, self.old_usage.document);
        let new_ways = ways(*new, self.new_usage.document);
        let asks_for_no_more = |old: &Value, new: &Value| {
            new.as_object().into_iter().flatten().all(|(scheme, scopes)| {
                old[scheme].as_array().is_some_and(|had| items(scopes).all(|one| had.contains(one)))
            })
        };
        old_ways.iter().all(|old| new_ways.iter().any(|new| asks_for_no_more(old, new)))
    }
}

/// Whether a member of OpenAPI says what its absence means.
fn is_default(keyword: &str, value: &Value) -> bool {
    match keyword {
        "additionalProperties" => *value == true || *value == Value::Object(Map::new()),
        "minLength" | "minItems" | "minProperties" => *value == 0,
        _ => *value == false,
    }
}
