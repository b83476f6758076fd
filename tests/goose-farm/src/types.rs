//! The schemas of a goose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX_NAME: usize = 40;

/// A goose of the farm.
// An optional member needs all attributes of `breed`, in both types. `schemars(with)` keeps
// `nullable` out of the document. `default` keeps the member out of `required`.
// `skip_serializing_if` keeps `default: null` out of the document and null out of a response.
// `serde(with)` rejects null in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Goose {
    /// Name of the goose.
    pub name: Name,
    /// Weight in grams, at most 15,000.
    pub grams: u32,
    /// Rings on the legs of the goose.
    pub rings: Vec<Ring>,
    /// Breed of the goose. It may be absent, but is never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub breed: Option<String>,
}

/// A name of 1 to 40 characters.
// `schemars(length)` only publishes the bound. `try_from` enforces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Name(#[schemars(length(min = 1, max = "MAX_NAME"))] String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.chars().count() {
            1..=MAX_NAME => Ok(Self(name)),
            length => Err(format!("a name has 1 to {MAX_NAME} characters, not {length}")),
        }
    }
}

/// A ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ring {
    /// Color of the ring.
    pub color: Color,
    /// Letters and digits on the ring.
    pub code: String,
}

/// Color of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// The goose was ringed here.
    Blue,
    /// The goose came from another farm.
    White,
}

/// A goose to add: the members of Goose and a number.
// `serde(flatten)` of a `Goose` would have the same document, but the messages of refusals would
// lack the path of a member, and the log would lack the names of ignored members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewGoose {
    /// Number of the goose, chosen by the client.
    pub id: i64,
    /// Name of the goose.
    pub name: Name,
    /// Weight in grams, at most 15,000.
    pub grams: u32,
    /// Rings on the legs of the goose.
    pub rings: Vec<Ring>,
    /// Breed of the goose. It may be absent, but is never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub breed: Option<String>,
}

/// The parameters of the path of a goose.
#[derive(Deserialize, JsonSchema)]
pub struct GoosePath {
    /// Number of the goose.
    pub id: i64,
}

impl NewGoose {
    /// Splits the request body into the number and the goose.
    pub fn into_parts(self) -> (i64, Goose) {
        let Self { id, name, grams, rings, breed } = self;
        (id, Goose { name, grams, rings, breed })
    }

    /// The example that the program prints.
    pub fn example() -> Self {
        let rings = vec![Ring { color: Color::Blue, code: "A7".into() }];
        let breed = Some("Embden".into());
        Self { id: 1, name: Name("Martha".into()), grams: 4200, rings, breed }
    }
}
