//! JSON values that know their place in the document.
//!
//! Nothing here knows about OpenAPI.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use serde_json::{Number, Value};

/// A JSON pointer to a value.
pub type Place = Rc<str>;

/// A value of a document.
#[derive(Clone)]
pub struct Json<'t> {
    pub value: &'t Value,
    pub place: Place,
}

impl Deref for Json<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value
    }
}

impl<'t> Json<'t> {
    /// The whole document.
    pub fn root(value: &'t Value) -> Self {
        Self { value, place: "#".into() }
    }

    /// The value of a document at a JSON pointer.
    pub fn find(document: &'t Value, pointer: &str) -> Option<Self> {
        let value = document.pointer(pointer.strip_prefix('#')?)?;
        Some(Self { value, place: pointer.into() })
    }

    fn below(&self, name: &str, value: &'t Value) -> Self {
        Self { value, place: step(&self.place, name) }
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.below(name, value))
    }

    /// The members of an object.
    pub fn entries(&self) -> impl Iterator<Item = (&'t str, Self)> + use<'t> {
        let (own, members) = (self.clone(), self.value.as_object().into_iter().flatten());
        members.map(move |(name, value)| (&name[..], own.below(name, value)))
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Self> + use<'t> {
        let (own, items) = (self.clone(), self.value.as_array().into_iter().flatten());
        items.enumerate().map(move |(at, value)| own.below(&at.to_string(), value))
    }

    /// The content of a string.
    pub fn text(&self) -> Option<&'t str> {
        self.value.as_str()
    }

    /// The content of a string that is a member of an object.
    pub fn text_of(&self, name: &str) -> Option<&'t str> {
        self.value.get(name)?.as_str()
    }

    /// The `$ref` of a Reference Object.
    pub fn reference(&self) -> Option<&'t str> {
        self.text_of("$ref")
    }

    /// The content of a string, or any other value as JSON.
    pub fn shown(&self) -> String {
        self.text().map_or_else(|| self.to_string(), str::to_owned)
    }
}

/// Writes a value as JSON, and both 1.0 and 1 as 1.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unified(self.value).fmt(f)
    }
}

/// A copy of a value in which 1.0 is 1, as is every other number without a fraction.
pub fn unified(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(integer(number).unwrap_or_else(|| number.clone())),
        Value::Array(items) => items.iter().map(unified).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), unified(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
fn integer(number: &Number) -> Option<Number> {
    /// 2^63. A smaller number without a fraction fits an `i64`.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.abs() < LIMIT)?;
    (float.fract() == 0.0).then(|| (float as i64).into())
}

/// The JSON pointer to a member of the value at `place` (RFC 6901).
pub fn step(place: &str, name: &str) -> Place {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")).into()
}

/// The reference tokens of a JSON pointer, unescaped (RFC 6901, section 4).
pub fn steps(pointer: &str) -> impl DoubleEndedIterator<Item = String> {
    let steps = pointer.split_once('/').map(|(_, steps)| steps.split('/'));
    steps.into_iter().flatten().map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// Decodes a `$ref`: a JSON pointer may be percent-encoded in a URL (RFC 6901, section 6).
pub fn decoded(reference: &str) -> String {
    percent_decode_str(reference).decode_utf8_lossy().into_owned()
}
