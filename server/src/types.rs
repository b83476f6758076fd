//! The schemas of a plant: `NewPlant` and `Plant`.
//!
//! The doc comments on the types and their members become descriptions in the published document,
//! so write them for its readers. The `Deserialize` derived here also parses the body of a request
//! and a stored row. Nothing here knows about HTTP, or about where plants are stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plant in the store.
// An optional member needs both attributes, in both types. `schemars(with)` keeps `nullable` out of
// the document. `default` keeps the member out of `required`. `skip_serializing_if` keeps
// `default: null` out of the document and null out of a response. `serde(with)` rejects null in a
// request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(example = "Plant::example")]
pub struct Plant {
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. It may be absent, but is never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub tag: Option<String>,
}

/// A plant to create: the members of Plant and an identification number. Unknown members are
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(example = "NewPlant::example")]
pub struct NewPlant {
    /// Identification number of the plant, chosen by the client: any signed 64-bit integer.
    /// Languages whose numbers are doubles, such as JavaScript and TypeScript, round integers above
    /// 2^53, so two different ids can become the same id. In these languages, use a type that
    /// preserves every digit.
    pub id: i64,
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. It may be absent, but is never null.
    #[schemars(with = "String")]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "serde_with::rust::unwrap_or_skip"
    )]
    pub tag: Option<String>,
}

impl NewPlant {
    /// Splits the request body into the id and the plant.
    ///
    /// This function names every member of both types. A member that exists in only one of them
    /// does not compile, unless it is dropped here by name. A contract test catches that case.
    #[must_use]
    pub fn into_parts(self) -> (i64, Plant) {
        let Self { id, name, tag } = self;
        (id, Plant { name, tag })
    }

    /// The example in the document. The server also prints it when it starts on a new store.
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
