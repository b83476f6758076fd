//! The value of one member, read as the type of the contract asks for it.

use std::cell::RefCell;
use std::str::FromStr;

use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::{IGNORED, NotANewPlant, shown};

const STRING: &str = "a string";
const NUMBER: &str = "a number";
const BOOLEAN: &str = "a boolean";

/// A member, with the text of its value.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub name: &'a str,
    pub value: &'a RawValue,
    /// Takes its name if nobody asks for its value.
    pub ignored: &'a RefCell<Vec<String>>,
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

    fn string(self) -> Result<String, NotANewPlant> {
        serde_json::from_str(self.value.get()).map_err(|_| match self.kind() {
            // The only error left is an escape that names half a surrogate pair.
            STRING => self.mismatch("a string with half a surrogate pair", STRING),
            other => self.mismatch(other, STRING),
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

/// For each type of integer: how a visitor asks for it, how it gets it, and its name in a message.
macro_rules! integers {
    ($($deserialize:ident $visit:ident $expected:literal)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
            visitor.$visit(self.integer($expected)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = NotANewPlant;

    integers! {
        deserialize_i32 visit_i32 "an integer of 32 bits"
        deserialize_i64 visit_i64 "an integer of 64 bits"
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        let value = self.value.get().parse();
        visitor.visit_bool(value.map_err(|_| self.mismatch(self.kind(), BOOLEAN))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        visitor.visit_string(self.string()?)
    }

    /// An optional member is absent or of its type: null is a mismatch of that type.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotANewPlant> {
        visitor.visit_some(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, NotANewPlant> {
        let mut ignored = self.ignored.borrow_mut();
        if ignored.len() < IGNORED {
            ignored.push(shown(self.name));
        }
        visitor.visit_unit()
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
