//! A NewPlant, read from JSON exactly as the contract says.
//!
//! A reader that serde derives would also accept an array in place of the object, an unknown member
//! that is there twice, null for an optional member, and bad UTF-8 in a member that it skips. This
//! one accepts only a JSON text (RFC 8259) that is exactly one object, with no member twice. It takes
//! the members from the type of a plant, and must never name one of them. Its messages name the member and what was
//! expected; they never repeat a value.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::de::value::MapDeserializer;
use serde::de::{
    self, Deserialize, DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The member of NewPlant that Plant does not have.
const ID: &str = "id";

/// How much of a member's name is repeated in a message or in the log, in characters.
const SHOWN: usize = 40;

/// How many names of ignored members are kept.
const IGNORED: usize = 3;

const STRING: &str = "a string";
const NUMBER: &str = "a number";
const BOOLEAN: &str = "a boolean";

/// What a body says.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent<T> {
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
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<Sent<T>, NotANewPlant> {
    // Checked first and as a whole, because the parser does not look into a string that it skips.
    let text = std::str::from_utf8(body)
        .map_err(|error| NotANewPlant::NotUtf8 { valid_up_to: error.valid_up_to() })?;
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(Members);
    let members = members.and_then(|members| json.end().map(|()| members));
    let members = members.map_err(|error| match error.classify() {
        Category::Data => NotANewPlant::NotAnObject,
        Category::Syntax | Category::Eof | Category::Io => NotANewPlant::NotJson(error.to_string()),
    })?;
    if let Some(name) = first_repeated(&members) {
        return Err(NotANewPlant::Repeated(shown(name)));
    }
    let ignored = RefCell::default();
    let members = members.iter();
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

/// The first name that one before it has. Sorting them takes no hash of each, and no long time if
/// there are many.
fn first_repeated<'a>(members: &'a [(Name<'_>, &RawValue)]) -> Option<&'a str> {
    let name = |at: usize| &*members[at].0.0;
    let mut by_name: Vec<usize> = (0..members.len()).collect();
    // It keeps the order of those with one name.
    by_name.sort_by_key(|at| name(*at));
    let repeated = by_name.windows(2).filter(|pair| name(pair[0]) == name(pair[1]));
    repeated.map(|pair| pair[1]).min().map(name)
}

/// A member's name, without a copy unless it is written with escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads the members of a JSON object as they were written.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(Name<'de>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// A member, with the text of its value.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a str,
    value: &'a RawValue,
    /// Takes its name if nobody asks for its value.
    ignored: &'a RefCell<Vec<String>>,
}

impl Member<'_> {
    /// OpenAPI 3.0 takes JSON Schema's integer: a number without fraction and exponent. So `-0` is an
    /// integer and `1.0` is not. The parser's own numbers cannot tell them apart, so the text is read.
    fn integer<T: FromStr>(self, expected: &'static str) -> Result<T, NotANewPlant> {
        let text = self.value.get();
        text.parse().map_err(|_| match self.kind() {
            NUMBER if text.contains(['.', 'e', 'E']) => {
                self.mismatch("a number with a fraction or an exponent", expected)
            }
            NUMBER => self.mismatch("out of range", expected),
            other => self.mismatch(other, expected),
        })
    }

    /// The kind of a value (RFC 8259, section 3), which its first byte tells.
    fn kind(self) -> &'static str {
        match self.value.get().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => STRING,
            Some(b't' | b'f') => BOOLEAN,
            Some(b'n') => "null",
            _ => NUMBER,
        }
    }

    fn mismatch(self, found: &'static str, expected: &'static str) -> NotANewPlant {
        NotANewPlant::Mismatch { member: self.name.into(), found, expected }
    }
}

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = NotANewPlant;

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        visitor.visit_i32(self.integer("an integer of 32 bits")?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        visitor.visit_i64(self.integer("an integer of 64 bits")?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        let value = self.value.get().parse();
        visitor.visit_bool(value.map_err(|_| self.mismatch(self.kind(), BOOLEAN))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        let text = serde_json::from_str(self.value.get());
        visitor.visit_string(text.map_err(|_| match self.kind() {
            // The only error left is an escape that names half a surrogate pair.
            STRING => self.mismatch("a string with half a surrogate pair", STRING),
            other => self.mismatch(other, STRING),
        })?)
    }

    /// An optional member is absent or of its type: null is a mismatch of that type.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        visitor.visit_some(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, it: V) -> Result<V::Value, NotANewPlant> {
        let mut ignored = self.ignored.borrow_mut();
        if ignored.len() < IGNORED {
            ignored.push(shown(self.name));
        }
        it.visit_unit()
    }

    /// The contract has no member of another type. One that gets it needs a method of its own here.
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NotANewPlant> {
        Err(NotANewPlant::NotAllowed(self.name.into()))
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier
    }
}

impl<'de> IntoDeserializer<'de, NotANewPlant> for Member<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests;
