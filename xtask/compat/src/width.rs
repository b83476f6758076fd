//! Whether a schema, a parameter or a body allows more than before.

use serde_json::Value;

/// How much code a wider value changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Generated code has the same type.
    SameType,
    /// It has another one.
    OtherType,
}

/// Whether everything that was allowed still is; none if it is not, or if nobody can tell.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
pub fn width(kinds: &[&str], old: Option<&Value>, new: Option<&Value>) -> Option<Width> {
    let is = |value: Option<&Value>, constant: bool| value.is_some_and(|it| *it == constant);
    let falls = |old: Option<&Value>, new: Option<&Value>| {
        old.is_some_and(|old| new.is_none_or(|new| is_larger(old, new)))
    };
    let rises = || old.is_some_and(|old| new.is_none_or(|new| is_larger(new, old)));
    let same_type = match kinds {
        [.., "required", "*"] => new.is_none(),
        [.., "enum", "*"] => old.is_none(),
        [.., "enum" | "multipleOf" | "pattern"] => new.is_none(),
        // `required` is that of a parameter or a body, not of a schema.
        [.., "required" | "exclusiveMaximum" | "exclusiveMinimum" | "uniqueItems"] => {
            is(old, true) && (new.is_none() || is(new, false))
        }
        [.., "maximum" | "maxItems" | "maxLength" | "maxProperties"] => rises(),
        [.., "minimum" | "minItems" | "minLength" | "minProperties"] => falls(old, new),
        [.., "additionalProperties"] => is(old, false) || new.is_none() || is(new, true),
        _ => false,
    };
    let another_type = match kinds {
        [.., "nullable"] => is(new, true),
        [.., "oneOf" | "anyOf", "*"] => old.is_none(),
        [.., "allOf", "*"] => new.is_none(),
        [.., "oneOf" | "anyOf" | "allOf" | "not" | "items" | "schema"] => new.is_none(),
        [.., "format"] => new.is_none() || (is_text(old, "int32") && is_text(new, "int64")),
        [.., "type"] => {
            let is_on_text = matches!(kinds, [.., "headers" | "parameters", "*", "schema", _]);
            let is_plain = !is_text(old, "array") && !is_text(old, "object");
            new.is_none()
                || (is_text(old, "integer") && is_text(new, "number"))
                || (is_on_text && is_plain && old.is_some() && is_text(new, "string"))
        }
        _ => false,
    };
    match (same_type, another_type) {
        (true, _) => Some(Width::SameType),
        (_, true) => Some(Width::OtherType),
        _ => None,
    }
}

fn is_text(value: Option<&Value>, text: &str) -> bool {
    value.is_some_and(|value| value == text)
}

/// Whether it is larger. Two numbers that are the same as 64-bit floats are not.
fn is_larger(one: &Value, other: &Value) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one > other)
}
