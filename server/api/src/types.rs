//! The schemas of the contract that hold a plant: NewPlant and Plant.
//!
//! The doc comments on the types and their members are descriptions in the published document:
//! write them for its readers. Nothing here knows about HTTP, about where a plant is kept, or
//! about how strictly a body is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plant of the store.
// The one list of members. A new member is one field here. An optional one takes both attributes:
// `with` keeps `nullable` out of the document, `default` keeps the member out of `required`, and
// `skip_serializing_if` keeps `default: null` out of the document and null off the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plant {
    /// Name of the plant.
    pub name: String,
    /// Tag that specifies the type of the plant. Absent or a string, never null.
    #[schemars(with = "String")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// A plant to create: a plant and its identification number. Unknown members are ignored.
// Dropshot demands `Deserialize` to describe a body. The service reads bodies more strictly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewPlant {
    /// Identification number of the plant, chosen by the client: any integer of 64 bits. A language
    /// whose numbers are doubles, such as JavaScript and TypeScript, rounds an integer above 2^53:
    /// two ids may become one. Use a type there that keeps every digit.
    pub id: i64,
    /// All other members.
    #[serde(flatten)]
    pub plant: Plant,
}
