//! Which of two limits allows more: the keywords of a schema, a parameter or a body.

use serde_json::Value;

use crate::place::is_prose;

/// Whether a schema, a parameter or a body allows all that it did. False also if nobody can tell.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
pub fn is_wider(kinds: &[&str], old: Option<&Value>, new: Option<&Value>) -> bool {
    let is = |value: Option<&Value>, constant: bool| value.is_some_and(|value| *value == constant);
    let is_text = |value: Option<&Value>, text: &str| value.is_some_and(|value| value == text);
    match kinds {
        [.., "required", "*"] => new.is_none(),
        [.., "allOf", "*"] => new.is_none_or(is_only_words),
        [.., "enum" | "oneOf" | "anyOf", "*"] => old.is_none(),
        [.., "pattern"] => new.is_none_or(|new| *new == "" || *new == ".*"),
        [.., "multipleOf"] => new.is_none_or(|new| is_multiple(old, new)),
        [.., "allOf"] => new.is_none_or(|parts| {
            parts.as_array().is_some_and(|parts| parts.iter().all(is_only_words))
        }),
        [.., "enum" | "items" | "schema"] => new.is_none(),
        [.., "oneOf" | "anyOf" | "not"] => new.is_none(),
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
    schema.as_object().is_some_and(|schema| schema.keys().all(|name| is_prose(name)))
}

/// Whether each multiple of the one integer is a multiple of the other.
fn is_multiple(one: Option<&Value>, other: &Value) -> bool {
    let integers = one.and_then(Value::as_u64).zip(other.as_u64());
    integers.is_some_and(|(one, other)| other > 0 && one % other == 0)
}
