//! Whether a rule fits a difference: its conditions.

use serde_json::{Map, Value};

use crate::class::{RULES, Rule};
use crate::difference::Difference;
use crate::limit::is_wider;
use crate::members::items;
use crate::place::Within;
use crate::usage::{COMPOSED, Named, REQUEST, RESPONSE, Sides, UNCLEAR, Usage};

/// A difference, and what uses it.
pub struct Case<'a> {
    /// Of the older document, the one that consumers have.
    pub old_usage: &'a Usage<'a>,
    /// Of the newer one.
    pub new_usage: &'a Usage<'a>,
    pub difference: &'a Difference<'a>,
    pub sides: Sides,
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
            && rule.conditions.iter().all(|condition| match condition.strip_prefix('!') {
                Some(condition) => !self.holds(condition),
                None => self.holds(condition),
            })
    }

    fn holds(&self, condition: &str) -> bool {
        let Self { old_usage, new_usage, difference: Difference { place, old, new, .. }, sides } =
            *self;
        match condition {
            "codes" => place.within() == Within::Codes,
            "words" => place.within() == Within::Words,
            "extension" => place.within() == Within::Extension,
            "was-true" => old.is_some_and(|old| *old == true),
            "tag-used" => old_usage.has(Named::Tag, place.name()),
            "scheme-used" => old_usage.has(Named::Scheme, place.text(2)),
            "scheme-used-now" => new_usage.has(Named::Scheme, place.text(2)),
            "request" => sides & !COMPOSED == REQUEST,
            "response" => sides & !COMPOSED == RESPONSE,
            "plain" => sides & (COMPOSED | UNCLEAR) == 0,
            "composed" => sides & COMPOSED != 0,
            "unclear" => sides & UNCLEAR != 0,
            "unused" => sides == 0,
            "wider" => is_wider(&place.kinds(), *old, *new),
            "narrower" => is_wider(&place.kinds(), *new, *old),
            "optional" => self.is_optional(),
            "closed" => self.object()["additionalProperties"] == false,
            "open" => self.object().get("additionalProperties").is_none_or(|more| *more == true),
            "free" => {
                items(&self.object()["required"]).any(|name| name == place.name())
                    || (sides & COMPOSED != 0 && old_usage.has(Named::Composed, place.name()))
            }
            "loosened" => self.is_loosened(),
            "wrapped" => self.difference.is_wrapped,
            "demanded" => self.is_demanded(),
            "never-sent" => {
                sides == REQUEST && old.is_some_and(|member| member["readOnly"] == true)
            }
            "never-received" => {
                sides == RESPONSE && old.is_some_and(|member| member["writeOnly"] == true)
            }
            "absent-alike" => old.xor(*new).is_some_and(|value| is_default(place.kind(), value)),
            // A name of a response.
            "refusal" => place.name() == "default" || place.name().starts_with(['4', '5']),
            _ => panic!("the rules have a condition that is not here: {condition}"),
        }
    }

    /// The schema to which this member is added. It does not say whether the member is required.
    fn object(&self) -> &Value {
        let mut place = self.difference.at.clone();
        place.pop();
        place.pop();
        place.find(self.old_usage.document).unwrap_or(&Value::Null)
    }

    /// Whether the schema around this member, or around the member that has this flag, requires it.
    /// True also if nobody can tell.
    fn is_demanded(&self) -> bool {
        let mut around = self.difference.at.clone();
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
