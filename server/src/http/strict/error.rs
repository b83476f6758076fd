//! Why a body is not what the document describes, in words for the client.

use std::fmt::Display;

use serde::de;

/// How much of a member's name is repeated in a message or in the log, in characters.
const SHOWN: usize = 40;

/// A body is not of its type. `Display` is the message for the client, and repeats no value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SchemaError {
    /// RFC 8259, section 8.1: JSON is UTF-8.
    #[error("the body is not JSON: byte {} is not UTF-8", .valid_up_to + 1)]
    NotUtf8 { valid_up_to: usize },
    /// The parser's own words, which hold a position and no value.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body must be a JSON object: a {schema} of the document")]
    NotAnObject { schema: String },
    /// RFC 8259, section 4, leaves open what a repeated name means; here it is refused.
    #[error("`{0}` is given twice; every member may be given once")]
    Repeated(String),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A member is of another type, or out of its range.
    #[error("`{member}` is {found}; expected {expected}")]
    Mismatch { member: String, found: &'static str, expected: &'static str },
    /// A type of the contract refuses the value.
    #[error("`{member}` has a value that the document does not allow")]
    NotAllowed { member: String },
    /// A type of the contract refuses the members together.
    #[error("the body has a value that the document does not allow")]
    BodyNotAllowed,
}

impl SchemaError {
    pub(super) fn repeated(name: &str) -> Self {
        Self::Repeated(shown(name))
    }

    pub(super) fn mismatch(name: &str, found: &'static str, expected: &'static str) -> Self {
        Self::Mismatch { member: shown(name), found, expected }
    }

    /// The same error, of that member if its type did not know it.
    pub(super) fn of_member(self, name: &str) -> Self {
        match self {
            Self::BodyNotAllowed => Self::NotAllowed { member: shown(name) },
            other => other,
        }
    }
}

impl de::Error for SchemaError {
    /// The words may repeat a value, so they are dropped.
    fn custom<T: Display>(_: T) -> Self {
        Self::BodyNotAllowed
    }

    fn missing_field(member: &'static str) -> Self {
        Self::Missing(member)
    }
}

/// The beginning of a name.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}
