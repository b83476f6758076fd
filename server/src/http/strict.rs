//! A NewPlant, read from JSON exactly as the contract says.
//!
//! A reader that serde derives would also accept an array in place of the object, an unknown member
//! that is there twice, null for an optional member, and bad UTF-8 in a member that it skips. This
//! one accepts only a JSON text (RFC 8259) that is exactly one object, with no member twice. It takes
//! the members from [`Plant`], and must never name one of them. Its messages name the member and what was
//! expected; they never repeat a value.

mod member;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::{self, Display};

use foldhash::quality::RandomState;
use plant_store_api::types::Plant;
use serde::de::value::MapDeserializer;
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use member::Member;

/// The member of NewPlant that Plant does not have.
const ID: &str = "id";

/// How much of a member's name is repeated in a message or in the log, in characters.
const SHOWN: usize = 40;

/// How many names of ignored members are kept.
const IGNORED: usize = 3;

/// What a body says.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent<T = Plant> {
    /// The id of the plant.
    pub id: i64,
    /// All its other members.
    pub plant: T,
    /// The first names of members that the contract does not have, for the log.
    pub ignored: Vec<String>,
}

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
    #[error("the body must be a JSON object: a NewPlant of the document")]
    NotAnObject,
    /// RFC 8259, section 4, leaves open what a repeated name means; here it is refused.
    #[error("`{0}` is given twice; every member may be given once")]
    Repeated(String),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A member is of another type, or out of its range.
    #[error("`{member}` is {found}; expected {expected}")]
    Mismatch { member: String, found: &'static str, expected: &'static str },
    /// A type of the contract refuses the value.
    #[error("`{0}` has a value that the document does not allow")]
    NotAllowed(String),
}

impl de::Error for NotANewPlant {
    /// The words may repeat a value.
    fn custom<T: Display>(_: T) -> Self {
        Self::NotAllowed("a member".into())
    }

    fn missing_field(member: &'static str) -> Self {
        Self::Missing(member)
    }
}

/// Reads a request body.
pub fn read(body: &[u8]) -> Result<Sent, NotANewPlant> {
    read_as(body)
}

fn read_as<T: DeserializeOwned>(body: &[u8]) -> Result<Sent<T>, NotANewPlant> {
    // Checked first and as a whole, because the parser does not look into a string that it skips.
    let text = std::str::from_utf8(body)
        .map_err(|error| NotANewPlant::NotUtf8 { valid_up_to: error.valid_up_to() })?;
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(Members::default());
    let members = members.and_then(|members| json.end().map(|()| members));
    let members = members.map_err(|error| match error.classify() {
        Category::Data => NotANewPlant::NotAnObject,
        Category::Syntax | Category::Eof | Category::Io => NotANewPlant::NotJson(error.to_string()),
    })?;
    if let Some(Name(name)) = members.repeated {
        return Err(NotANewPlant::Repeated(shown(&name)));
    }
    let ignored = RefCell::default();
    let members = members.once.iter();
    let members = members.map(|(Name(name), value)| Member { name, value, ignored: &ignored });
    let id = members.clone().find(|member| member.name == ID).ok_or(NotANewPlant::Missing(ID))?;
    let id = i64::deserialize(id)?;
    let others = members.filter(|member| member.name != ID).map(|member| (member.name, member));
    let plant = T::deserialize(MapDeserializer::new(others))?;
    Ok(Sent { id, plant, ignored: ignored.into_inner() })
}

/// The beginning of a name.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// The members of a JSON object as they were written.
#[derive(Default)]
struct Members<'a> {
    /// Those with a name that none before them has.
    once: Vec<(Name<'a>, &'a RawValue)>,
    /// Their names.
    names: HashSet<Name<'a>, RandomState>,
    /// The first name that one before it has.
    repeated: Option<Name<'a>>,
}

/// A member's name, without a copy unless it is written with escapes.
#[derive(Clone, PartialEq, Eq, Hash, serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Reads to the end, also after a repetition: if the rest is not JSON, the message says so
    /// instead of naming the repeated member.
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = map.next_entry()? {
            if self.names.insert(Name::clone(&name)) {
                self.once.push((name, value));
            } else {
                self.repeated.get_or_insert(name);
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
