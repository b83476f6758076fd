//! What one difference means to a consumer of the document.
//!
//! The rules below come first, then the word of the crate `drift`, which knows requests from
//! responses. It is asked about each difference alone, so that what it says of one cannot hide
//! another. What it does not see (security, servers, `nullable`, headers, …), what it does not
//! handle, and what it takes for words though it binds (`readOnly`, `default`, …) is breaking.

use std::fmt;

use drift::{ChangeClass, ChangeComparison, ChangeDetails};
use serde_json::Value;

use super::difference::{Difference, Kind};

/// What a change means to a consumer; the later, the heavier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Nothing but text for people changed: a new patch version.
    Words,
    /// Whatever worked works, and more does: a new minor version.
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

/// The class of a difference, and what happened.
pub fn classify(old: &Value, difference: &Difference) -> (Class, String) {
    match by_rule(difference) {
        Some(class) => (class, difference.kind.to_string()),
        None => by_drift(old, difference),
    }
}

/// The rules of the house; none, where `drift` is to be asked.
#[expect(clippy::match_same_arms, reason = "a rule has its own reason, whatever follows from it")]
fn by_rule(difference: &Difference) -> Option<Class> {
    use Kind::Added;
    match (difference.kind, &difference.place.kinds()[..]) {
        _ if difference.place.is_words() => Some(Class::Words),
        (_, ["info", "license", "url"]) => Some(Class::Words),
        // Semantic Versioning, section 7: a deprecation is a minor version.
        (_, [.., "deprecated"]) => Some(Class::Additive),
        // What is only declared changes nothing before it is used.
        (Added, ["tags"] | ["tags", "*"]) => Some(Class::Additive),
        (Added, ["components"] | ["components", _] | ["components", _, "*"]) => {
            Some(Class::Additive)
        }
        (Added, [.., "responses", "*", "headers"] | [.., "responses", "*", "headers", "*"]) => {
            Some(Class::Additive)
        }
        // The objects of this contract are open: a consumer knows that there may be more members.
        // Whether one is required is a difference of its own.
        (Added, [.., "properties"] | [.., "properties", "*"]) => Some(Class::Additive),
        // Here `drift` panics: a media type or its schema comes or goes, in place or by reference.
        (_, [.., "$ref" | "content"] | [.., "content", "*"] | [.., "content", "*", "schema"]) => {
            Some(Class::Breaking)
        }
        _ => None,
    }
}

fn by_drift(old: &Value, difference: &Difference) -> (Class, String) {
    let what = difference.kind;
    let changes = match drift::compare(old, &difference.alone) {
        Ok(changes) if !changes.is_empty() => changes,
        Ok(_) => return (Class::Breaking, format!("{what} (drift does not see it)")),
        // One difference alone may refer to what only another one brings.
        Err(error) => return (Class::Breaking, format!("{what} (drift cannot judge it: {error})")),
    };
    let told: Vec<_> = changes.iter().flat_map(|change| &change.changes).collect();
    let only = |direction| {
        changes.iter().flat_map(|change| &change.paths).all(|path| path.comparison == direction)
    };
    let is_addition = match (difference.kind, &difference.place.kinds()[..]) {
        // A response promises more, or a request asks for less.
        (Kind::Added, [.., "required", "*"]) => only(ChangeComparison::Output),
        (Kind::Removed, [.., "required", "*"]) => only(ChangeComparison::Input),
        // Forward-incompatible is also what is dropped, such as a status: that is no addition.
        _ => told.iter().all(|change| {
            change.class == ChangeClass::ForwardIncompatible
                && matches!(change.details, ChangeDetails::Added | ChangeDetails::LessStrict)
        }),
    };
    let class = if is_addition { Class::Additive } else { Class::Breaking };
    let messages: Vec<&str> = told.iter().map(|change| &change.message[..]).collect();
    (class, format!("{what} (drift: {})", messages.join("; ")))
}
