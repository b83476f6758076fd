//! A NewPlant, read from JSON exactly as the contract says.
//!
//! A reader that serde derives would also accept an array in place of the object, an unknown member
//! that is there twice, and bad UTF-8 in a member that it skips. This one accepts only a JSON text
//! (RFC 8259) that is exactly one object, with no member twice. Its messages name the member and
//! what was expected; they never repeat a value.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use foldhash::quality::RandomState;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use plant_store_api::types::{NewPlant, Plant};

/// How much of a member's name a message repeats, in characters.
const SHOWN: usize = 40;

/// Why a body is not a NewPlant, in words for the client.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotANewPlant {
    /// RFC 8259, section 8.1: JSON is UTF-8.
    #[error("the body is not JSON: byte {} is not UTF-8", .valid_up_to + 1)]
    NotUtf8 { valid_up_to: usize },
    /// The parser's own words, which hold a position and no value.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body must be a JSON object with the members `id` and `name`")]
    NotAnObject,
    /// RFC 8259, section 4, leaves open what a repeated name means; here it is refused.
    #[error("`{0}` is given twice; every member may be given once")]
    Repeated(String),
    #[error("`{member}` is missing; expected {expected}")]
    Missing { member: &'static str, expected: &'static str },
    /// A member is of another type, or out of its range.
    #[error("`{member}` is {found}; expected {expected}")]
    Mismatch { member: &'static str, found: &'static str, expected: &'static str },
}

/// Reads a request body.
pub fn read(body: &[u8]) -> Result<NewPlant, NotANewPlant> {
    // Checked first and as a whole, because the parser does not look into a string that it skips.
    let text = std::str::from_utf8(body)
        .map_err(|error| NotANewPlant::NotUtf8 { valid_up_to: error.valid_up_to() })?;
    let members: Members = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => NotANewPlant::NotAnObject,
        Category::Syntax | Category::Eof | Category::Io => NotANewPlant::NotJson(error.to_string()),
    })?;
    members.try_into()
}

/// The members of a JSON object as they were written: those of NewPlant, and the names of the
/// others.
#[derive(Default)]
struct Members<'a> {
    id: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    tag: Option<&'a RawValue>,
    others: HashSet<Name<'a>, RandomState>,
    repeated: Option<Name<'a>>,
}

/// A member's name, without a copy unless it is written with escapes.
#[derive(PartialEq, Eq, Hash, serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    fn add(&mut self, name: Name<'a>, value: &'a RawValue) {
        let before = match &*name.0 {
            "id" => self.id.replace(value),
            "name" => self.name.replace(value),
            "tag" => self.tag.replace(value),
            _ => self.others.replace(Name(name.0.clone())).map(|_| value),
        };
        if before.is_some() {
            self.repeated.get_or_insert(name);
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                // After a repetition, too, it reads to the end: if the rest is not JSON, the
                // message says so instead of naming the repeated member.
                while let Some((name, value)) = map.next_entry()? {
                    members.add(name, value);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl TryFrom<Members<'_>> for NewPlant {
    type Error = NotANewPlant;

    fn try_from(members: Members<'_>) -> Result<Self, NotANewPlant> {
        if let Some(Name(name)) = members.repeated {
            return Err(NotANewPlant::Repeated(name.chars().take(SHOWN).collect()));
        }
        let required = |member, value: Option<_>, expected| {
            value.ok_or(NotANewPlant::Missing { member, expected })
        };
        Ok(Self {
            id: integer("id", required("id", members.id, INTEGER)?)?,
            plant: Plant {
                name: string("name", required("name", members.name, STRING)?)?,
                tag: members.tag.map(|value| string("tag", value)).transpose()?,
            },
        })
    }
}

const INTEGER: &str = "an integer of 64 bits";
const STRING: &str = "a string";
const NUMBER: &str = "a number";

/// OpenAPI 3.0 takes JSON Schema's integer: a number without fraction and exponent. So `-0` is an
/// integer and `1.0` is not. The parser's own numbers cannot tell them apart, so the text is read.
fn integer(member: &'static str, value: &RawValue) -> Result<i64, NotANewPlant> {
    let text = value.get();
    text.parse().map_err(|_| {
        let found = match kind(value) {
            NUMBER if text.contains(['.', 'e', 'E']) => "a number with a fraction or an exponent",
            NUMBER => "out of range",
            other => other,
        };
        NotANewPlant::Mismatch { member, found, expected: INTEGER }
    })
}

fn string(member: &'static str, value: &RawValue) -> Result<String, NotANewPlant> {
    serde_json::from_str(value.get()).map_err(|_| {
        let found = match kind(value) {
            // The only error left is an escape that names half a surrogate pair.
            STRING => "a string with half a surrogate pair",
            other => other,
        };
        NotANewPlant::Mismatch { member, found, expected: STRING }
    })
}

/// The kind of a value (RFC 8259, section 3), which its first byte tells.
fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => STRING,
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => NUMBER,
    }
}

#[cfg(test)]
mod tests;
