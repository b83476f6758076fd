//! Whether a schema, a parameter or a body allows more than before.

use serde_json::Value;

/// Whether everything that was allowed still is. False also if nobody can tell.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
pub fn is_wider(kinds: &[&str], old: Option<&Value>, new: Option<&Value>) -> bool {
    let is = |value: Option<&Value>, constant: bool| value.is_some_and(|it| *it == constant);
    let is_text = |value: Option<&Value>, text: &str| value.is_some_and(|it| it == text);
    match kinds {
        [.., "required" | "allOf", "*"] => new.is_none(),
        [.., "enum" | "oneOf" | "anyOf", "*"] => old.is_none(),
        [.., "enum" | "multipleOf" | "pattern" | "items" | "schema"] => new.is_none(),
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
        [.., "format"] => new.is_none() || (is_text(old, "int32") && is_text(new, "int64")),
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
