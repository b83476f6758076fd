//! A type of the contract, read from JSON exactly as the document says.
//!
//! A reader that serde derives would also accept an array in place of the object, an unknown member
//! that is there twice, null for an optional member, and bad UTF-8 in a member that it skips. This
//! one accepts only a JSON text (RFC 8259) that is exactly one object, with no member twice. It
//! takes the members from the type that it reads, and must never name a member or a type. Its
//! messages name the member and what was expected; they never repeat a value.
//!
//! Members that are strings, integers or booleans, optional ones too, are read by this module. All
//! others (enumerations, fractions, lists, nested objects) are read by serde_json. What the
//! document says of the inside of those is checked as far as their types check it. Not checked:
//! that a nested object has no unknown member twice, and no null for an optional member.

mod error;
mod member;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

pub use error::SchemaError;

use crate::http::strict::member::{IgnoredNames, Member};

/// What a body says.
#[derive(Debug, PartialEq, Eq)]
pub struct Read<T> {
    /// The value of the type.
    pub value: T,
    /// The first names of members that the type does not have, for the log.
    pub ignored: Vec<String>,
}

/// Reads the body of a request.
pub fn read<T: DeserializeOwned + JsonSchema>(body: &[u8]) -> Result<Read<T>, SchemaError> {
    // Checked first and as a whole, because the parser does not look into a string that it skips.
    let text = std::str::from_utf8(body)
        .map_err(|error| SchemaError::NotUtf8 { valid_up_to: error.valid_up_to() })?;
    let members = members_of(text).map_err(|error| match error.classify() {
        Category::Data => SchemaError::NotAnObject { schema: T::schema_name() },
        Category::Syntax | Category::Eof | Category::Io => SchemaError::NotJson(error.to_string()),
    })?;
    if let Some(name) = first_repeated(&members) {
        return Err(SchemaError::repeated(name));
    }
    let ignored = RefCell::default();
    let object = Object { members: members.iter(), value: None, ignored: &ignored };
    let value = T::deserialize(object)?;
    Ok(Read { value, ignored: ignored.into_inner() })
}

/// A member's name, without a copy unless it is written with escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A member of an object, as it was written.
struct RawMember<'a> {
    name: Name<'a>,
    value: &'a RawValue,
}

fn members_of(text: &str) -> serde_json::Result<Vec<RawMember<'_>>> {
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(MembersVisitor)?;
    json.end()?;
    Ok(members)
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<RawMember<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry()? {
            members.push(RawMember { name, value });
        }
        Ok(members)
    }
}

/// The first name that one before it has. They are sorted: a hash of each costs more, and comparing
/// all pairs takes too long if a client sends many.
fn first_repeated<'a>(members: &'a [RawMember<'_>]) -> Option<&'a str> {
    let name = |at: usize| &*members[at].name.0;
    let mut by_name: Vec<usize> = (0..members.len()).collect();
    // It keeps the order of those with one name.
    by_name.sort_by_key(|at| name(*at));
    let repeated = by_name.windows(2).filter(|pair| name(pair[0]) == name(pair[1]));
    repeated.map(|pair| pair[1]).min().map(name)
}

/// Gives the members to a type, in the order in which they were written.
struct Object<'a> {
    members: std::slice::Iter<'a, RawMember<'a>>,
    /// The member whose name was given last.
    value: Option<Member<'a>>,
    ignored: &'a IgnoredNames,
}

impl<'de> Deserializer<'de> for Object<'de> {
    type Error = SchemaError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = SchemaError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        key: K,
    ) -> Result<Option<K::Value>, SchemaError> {
        let Some(RawMember { name: Name(name), value }) = self.members.next() else {
            return Ok(None);
        };
        self.value = Some(Member { name, value, ignored: self.ignored });
        key.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, SchemaError> {
        let member = self.value.take().expect("serde asks for a value after its name");
        seed.deserialize(member).map_err(|error| error.of_member(member.name))
    }
}

#[cfg(test)]
mod tests;
