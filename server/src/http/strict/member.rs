//! One member of a body: how serde reads its value.
//!
//! Strings, integers, booleans and optional members are read here, strictly and with a message that
//! says what was found. A value of any other kind is handed to serde_json with its text.

use std::cell::RefCell;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::http::strict::error::{SchemaError, shown};

/// How many names of ignored members are kept.
const IGNORED: usize = 3;

/// The names of members that no type asked for.
pub type IgnoredNames = RefCell<Vec<String>>;

/// A member, with the text of its value.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub name: &'a str,
    pub value: &'a RawValue,
    pub ignored: &'a IgnoredNames,
}

/// The kind of a value (RFC 8259, section 3).
#[derive(Clone, Copy)]
enum Kind {
    Object,
    Array,
    String,
    Boolean,
    Null,
    Number,
}

impl Kind {
    fn in_words(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Number => "a number",
        }
    }
}

impl Member<'_> {
    /// OpenAPI 3.0 takes JSON Schema's integer: a number without fraction and exponent. So `-0` is
    /// an integer and `1.0` is not. The parser's own numbers cannot tell them apart, so the text is
    /// read.
    fn integer<T: FromStr>(self, expected: &'static str) -> Result<T, SchemaError> {
        let text = self.value.get();
        text.parse().map_err(|_| match self.kind() {
            Kind::Number if text.contains(['.', 'e', 'E']) => {
                self.mismatch("a number with a fraction or an exponent", expected)
            }
            Kind::Number => self.mismatch("out of range", expected),
            other => self.mismatch(other.in_words(), expected),
        })
    }

    fn boolean(self) -> Result<bool, SchemaError> {
        let text = self.value.get();
        text.parse().map_err(|_| self.mismatch(self.kind().in_words(), Kind::Boolean.in_words()))
    }

    fn string(self) -> Result<String, SchemaError> {
        let expected = Kind::String.in_words();
        serde_json::from_str(self.value.get()).map_err(|_| match self.kind() {
            // The only error left is an escape that names half a surrogate pair.
            Kind::String => self.mismatch("a string with half a surrogate pair", expected),
            other => self.mismatch(other.in_words(), expected),
        })
    }

    /// The first byte of a value tells its kind.
    fn kind(self) -> Kind {
        match self.value.get().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    fn mismatch(self, found: &'static str, expected: &'static str) -> SchemaError {
        SchemaError::mismatch(self.name, found, expected)
    }
}

/// Methods that read an integer: its type, and what is expected.
macro_rules! integers {
    ($($method:ident $visit:ident $expected:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
            visitor.$visit(self.integer($expected)?)
        }
    )*};
}

/// Methods that hand the text of the value to serde_json. An error of it may repeat the value.
macro_rules! handed_to_serde_json {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, SchemaError> {
            let mut json = serde_json::Deserializer::from_str(self.value.get());
            json.$method($($argument,)* visitor).map_err(SchemaError::custom)
        }
    )*};
}

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = SchemaError;

    integers! {
        deserialize_i8 visit_i8 "an integer of 8 bits";
        deserialize_i16 visit_i16 "an integer of 16 bits";
        deserialize_i32 visit_i32 "an integer of 32 bits";
        deserialize_i64 visit_i64 "an integer of 64 bits";
        deserialize_u8 visit_u8 "an integer of 8 bits, from 0 on";
        deserialize_u16 visit_u16 "an integer of 16 bits, from 0 on";
        deserialize_u32 visit_u32 "an integer of 32 bits, from 0 on";
        deserialize_u64 visit_u64 "an integer of 64 bits, from 0 on";
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        self.deserialize_string(visitor)
    }

    /// An optional member is absent or of its type: null is a mismatch of that type.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        visitor.visit_some(self)
    }

    /// A type with one unnamed field is written as that field.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SchemaError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SchemaError> {
        let mut ignored = self.ignored.borrow_mut();
        if ignored.len() < IGNORED {
            ignored.push(shown(self.name));
        }
        visitor.visit_unit()
    }

    handed_to_serde_json! {
        deserialize_any();
        deserialize_i128();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
    }
}
