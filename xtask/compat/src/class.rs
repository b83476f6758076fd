//! What one difference means to a consumer of the document.
//!
//! The rules name what is harmless, each with its reason. A change that no rule names is breaking.
//! So a change that nobody has thought of does not pass.

use std::fmt;

use serde_json::Value;

use crate::difference::{Difference, Kind};
use crate::place::ERROR_CODES;
use crate::usage::{Side, Usage};

/// What a change means to a consumer, from the lightest to the heaviest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Nothing but text for people changed: the version may stay.
    Words,
    /// What worked still works: a new minor version.
    Additive,
    /// What worked may not work any longer: a new major version.
    Breaking,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Words => "words only",
            Self::Additive => "additive",
            Self::Breaking => "breaking",
        })
    }
}

/// The class of a difference. `usage` is that of the older document, the one that consumers have.
pub fn classify(old: &Value, usage: &Usage, difference: &Difference<'_>) -> Class {
    if difference.place.is_of_codes() {
        class_of_codes(difference)
    } else if is_words(usage, difference) {
        Class::Words
    } else if is_additive(old, usage, difference) {
        Class::Additive
    } else {
        Class::Breaking
    }
}

/// Clients decide by these values, and take one that they do not know as the x00 of its class.
fn class_of_codes(difference: &Difference<'_>) -> Class {
    let member = match difference.place.kinds()[..] {
        [.., ERROR_CODES, "*", "*"] => name(difference),
        _ => "",
    };
    match (difference.kind(), member) {
        (_, "meaning") => Class::Words,
        // A client repeated the request, and now that is of no use.
        (_, "retryable") if difference.old.is_some_and(|old| *old == true) => Class::Breaking,
        (_, "retryable") | (Kind::Added, _) => Class::Additive,
        _ => Class::Breaking,
    }
}

#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
fn is_words(usage: &Usage, difference: &Difference<'_>) -> bool {
    match (difference.kind(), &difference.place.kinds()[..]) {
        _ if difference.place.is_words() => true,
        // OpenAPI 3.0.3, "Versions": tools make no distinction between 3.0.0 and 3.0.1.
        (Kind::Changed, ["openapi"]) => true,
        // Declaring a tag only adds a heading and its text; operations may have undeclared tags.
        (Kind::Added, ["tags", "*"]) => true,
        (Kind::Removed, ["tags", "*"]) => !usage.has_tag(name(difference)),
        _ => false,
    }
}

#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
fn is_additive(old: &Value, usage: &Usage, difference: &Difference<'_>) -> bool {
    use Kind::Added;
    let place = &difference.place;
    match (difference.kind(), &place.kinds()[..]) {
        // OpenAPI gives it no meaning, but a generator may: it is more than words.
        _ if place.is_extension() => true,
        // Semantic Versioning, section 7: a deprecation is a minor version.
        (_, [.., "deprecated"]) => true,
        // A component that nothing uses changes nothing. But a generator makes a setting of each
        // security scheme, so it is more than words.
        (Added, ["components", _, "*"]) => true,
        (_, ["components", "securitySchemes", "*", ..]) => !usage.has_scheme(&place.steps()[2]),
        (Added, ["paths", "*"]) => true,
        (Added, ["paths", "*", method]) if METHODS.contains(method) => true,
        (Added, ["paths", "*", _, "requestBody"]) => is_optional(difference.new),
        (Added, ["paths", "*", "parameters", "*"] | ["paths", "*", _, "parameters", "*"]) => {
            is_optional(difference.new) && !overrides_another(old, difference)
        }
        (
            Added,
            ["paths", "*", _, "responses", "*", "headers", "*"]
            | ["components", "responses", "*", "headers", "*"],
        ) => !usage.is_unclear(place),
        (Added, [.., "properties", "*"]) => is_new_property(old, usage, difference),
        // The response promises more.
        (Added, [.., "required", "*"]) => usage.is_only(Side::Response, place),
        _ => usage.is_only(Side::Request, place) && asks_for_less(difference),
    }
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Whether a parameter or a request body may be left out. One behind a `$ref` counts as required.
fn is_optional(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value["required"] != true && value.get("$ref").is_none())
}

/// A parameter of an operation overrides the one of the path that has the same name.
fn overrides_another(old: &Value, parameter: &Difference<'_>) -> bool {
    let path = &old["paths"][&parameter.place.steps()[1]];
    let name = parameter.new.map(|parameter| &parameter["name"]);
    let mut shared = path["parameters"].as_array().into_iter().flatten();
    shared.any(|other| other.get("$ref").is_some() || other.get("name") == name)
}

/// Objects are open: a consumer sends only the members that the document names, and expects that it
/// may receive others. Whether a property is required is a difference of its own.
fn is_new_property(old: &Value, usage: &Usage, property: &Difference<'_>) -> bool {
    let place = &property.place;
    let Some(schema) = place.parent().and_then(|place| place.parent()?.find(old)) else {
        return false;
    };
    // A closed object said that it has no other member, or which schema each other one has.
    let is_open = schema.get("additionalProperties").is_none_or(|more| *more == true);
    // Required, but not described, it could be anything. A request may hold what is now refused; a
    // response only promises more.
    let mut required = schema["required"].as_array().into_iter().flatten();
    let was_free = required.any(|required| required == name(property));
    is_open && !usage.is_unclear(place) && (!was_free || usage.is_only(Side::Response, place))
}

/// Whether every request that was accepted still is: a bound was removed or made wider.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
fn asks_for_less(difference: &Difference<'_>) -> bool {
    let Difference { ref place, old, new } = *difference;
    let is = |value: Option<&Value>, constant: bool| value.is_some_and(|it| *it == constant);
    match &place.kinds()[..] {
        [.., "required", "*"] => new.is_none(),
        [.., "enum", "*"] => old.is_none(),
        [.., "enum" | "multipleOf" | "pattern"] => new.is_none(),
        // `required` is that of a parameter or a body, not of a schema.
        [.., "required" | "exclusiveMaximum" | "exclusiveMinimum" | "uniqueItems"] => {
            is(old, true) && (new.is_none() || is(new, false))
        }
        [.., "maximum" | "maxItems" | "maxLength" | "maxProperties"] => {
            old.is_some_and(|old| new.is_none_or(|new| is_larger(new, old)))
        }
        [.., "minimum" | "minItems" | "minLength" | "minProperties"] => {
            old.is_some_and(|old| new.is_none_or(|new| is_larger(old, new)))
        }
        [.., "additionalProperties"] => is(old, false) || new.is_none() || is(new, true),
        _ => false,
    }
}

/// Whether it is larger. Two numbers that are the same as 64-bit floats are not.
fn is_larger(one: &Value, other: &Value) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one > other)
}

fn name<'a>(difference: &'a Difference<'_>) -> &'a str {
    difference.place.steps().last().map_or("", |name| name)
}
