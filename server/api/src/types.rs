//! The schemas of the contract that hold a plant: NewPlant and Plant.
//!
//! The doc comments on the types and their members are descriptions in the published document:
//! write them for its readers. What is derived here also reads the body of a request. Nothing here
//! knows about HTTP, or about where a plant is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plant of the store.
// An optional member takes both attributes, in both types. `schemars(with)` keeps `nullable` out of
// the document, `default` keeps the member out of `required`, `skip_serializing_if` keeps
// `default: null` out of the document and null out of an answer, and `serde(with)` refuses null in
// a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(example = "Plant::example")]
pub struct Plant {
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. Absent or a string, never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub tag: Option<String>,
}

/// A plant to create: a plant and its identification number. Unknown members are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(example = "NewPlant::example")]
pub struct NewPlant {
    /// Identification number of the plant, chosen by the client: any integer of 64 bits. A language
    /// whose numbers are doubles, such as JavaScript and TypeScript, rounds an integer above 2^53:
    /// two ids may become one. Use a type there that keeps every digit.
    pub id: i64,
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. Absent or a string, never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub tag: Option<String>,
}

impl NewPlant {
    /// The id of the plant, and the plant. It names every member of both types: a member that one of
    /// them lacks does not compile, or is dropped here by name, which a test of the contract sees.
    #[must_use]
    pub fn into_parts(self) -> (i64, Plant) {
        let Self { id, name, tag } = self;
        (id, Plant { name, tag })
    }

    /// The example of the document, which a first start shows, too.
    #[must_use]
    pub fn example() -> Self {
        Self { id: 1, name: "Monstera deliciosa".into(), tag: Some("indoor".into()) }
    }
}

impl Plant {
    fn example() -> Self {
        NewPlant::example().into_parts().1
    }
}
