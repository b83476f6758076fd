//! Whether a rule fits a difference: its conditions.

use serde_json::{Map, Value};

use crate::class::{RULES, Rule};
use crate::difference::Difference;
use crate::place::{Within, is_word, items};
use crate::usage::{COMPOSED, REQUEST, RESPONSE, Sides, UNCLEAR, Usage};

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
            "tag-used" => old_usage.has("tag", place.name()),
            "scheme-used" => old_usage.has("scheme", place.text(2)),
            "scheme-used-now" => new_usage.has("scheme", place.text(2)),
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
                    || (sides & COMPOSED != 0 && old_usage.has("composed", place.name()))
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

    /// Whether the schema around this member, or around the member that has this flag, requires it. True
    /// also if nobody can tell.
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

    /// Whether a parameter or a body may be left out, and overrides no parameter of the path. One behind
    /// a `$ref` counts as required.
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

    /// Whether each way in is still one: a list of alternatives, of which each names all that it needs.
    fn is_loosened(&self) -> bool {
        let Difference { old, new, .. } = self.difference;
        let free = [Value::Object(<_>::default())];
        let ways = |own: Option<&Value>, document: &Value| -> Vec<Value> {
            let list = own.or(document.get("security")).and_then(Value::as_array);
            list.filter(|ways| !ways.is_empty()).cloned().unwrap_or_else(|| free.to_vec())
        };
        let [old, new] = [ways(*old, self.old_usage.document), ways(*new, self.new_usage.document)];
        let asks_for_no_more = |old: &Value, new: &Value| {
            new.as_object().into_iter().flatten().all(|(scheme, scopes)| {
                old[scheme].as_array().is_some_and(|had| items(scopes).all(|one| had.contains(one)))
            })
        };
        old.iter().all(|old| new.iter().any(|new| asks_for_no_more(old, new)))
    }
}

/// Whether a schema, a parameter or a body allows all that it did. False also if nobody can tell.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
fn is_wider(kinds: &[&str], old: Option<&Value>, new: Option<&Value>) -> bool {
    let is = |value: Option<&Value>, constant: bool| value.is_some_and(|value| *value == constant);
    let is_text = |value: Option<&Value>, text: &str| value.is_some_and(|value| value == text);
    match kinds {
        [.., "required", "*"] => new.is_none(),
        [.., "allOf", "*"] => new.is_none_or(|new| old.is_none() && is_only_words(new)),
        [.., "enum" | "oneOf" | "anyOf", "*"] => old.is_none(),
        [.., "pattern"] => new.is_none_or(|new| *new == "" || *new == ".*"),
        [.., "multipleOf"] => new.is_none_or(|new| is_multiple(old, new)),
        [.., "allOf"] if new.is_some() => {
            old.is_none() && new.is_some_and(|parts| items(parts).all(is_only_words))
        }
        [.., "enum" | "items" | "schema"] => new.is_none(),
        [.., "oneOf" | "anyOf" | "allOf" | "not"] => new.is_none(),
        // `required` is that of a parameter or a body, not of a schema.
        [.., "required" | "exclusiveMaximum" | "exclusiveMinimum" | "uniqueItems"] => {
            is(old, true) && (new.is_none() || is(new, false))
        }
        [.., "maximum" | "maxItems" | "maxLength" | "maxProperties"] => {
            old.is_some_and(|old| new.is_none_or(|new| is_larger(new, old)))
        }
        [.., "minItems" | "minLength" | "minProperties"] if new.is_some_and(|new| *new == 0) => {
            true
        }
        [.., "minimum" | "minItems" | "minLength" | "minProperties"] => {
            old.is_some_and(|old| new.is_none_or(|new| is_larger(old, new)))
        }
        [.., "additionalProperties"] => is(old, false) || new.is_none() || is(new, true),
        [.., "nullable"] => is(new, true),
        [.., "format"] => {
            new.is_none()
                || (is_text(old, "int32") && is_text(new, "int64"))
                || (is_text(old, "float") && is_text(new, "double"))
        }
        [.., "type"] if new.is_none() => true,
        // These are text, so a string may be any of them.
        [.., "headers" | "parameters", "*", "schema", "type"] if is_text(new, "string") => {
            old.is_some() && !is_text(old, "array") && !is_text(old, "object")
        }
        [.., "type"] => is_text(old, "integer") && is_text(new, "number"),
        _ => false,
    }
}

/// Whether it is larger. Two numbers that are the same as 64-bit floats are not.
fn is_larger(one: &Value, other: &Value) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one > other)
}

/// Whether a schema limits nothing: it has only text for people.
fn is_only_words(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| schema.keys().all(|name| is_word(name)))
}

/// Whether each multiple of the one integer is a multiple of the other.
fn is_multiple(one: Option<&Value>, other: &Value) -> bool {
    let integers = one.and_then(Value::as_u64).zip(other.as_u64());
    integers.is_some_and(|(one, other)| other > 0 && one % other == 0)
}

/// Whether a member of OpenAPI says what its absence means.
fn is_default(keyword: &str, value: &Value) -> bool {
    match keyword {
        "additionalProperties" => *value == true || *value == Value::Object(Map::new()),
        "minLength" | "minItems" | "minProperties" => *value == 0,
        _ => *value == false,
    }
}
