//! What the contract says of the bodies of its operations: the names and the types of their
//! members. Nothing here is specific to one operation: the lists are generated from the document.

use serde::de::DeserializeOwned;

use crate::types;

/// A type of the contract that is the body of an operation.
pub trait Body: DeserializeOwned {
    /// The name of its schema.
    const NAME: &'static str;
    /// All its members, in the order of the schema.
    const MEMBERS: &'static [Member];
}

/// A member of a body.
pub struct Member {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a body without it is refused.
    pub is_required: bool,
}

/// What a member holds.
#[derive(Clone, Copy, PartialEq)]
#[allow(dead_code, reason = "the contract of today has not all of them")]
pub enum Kind {
    /// Any string.
    Text,
    /// A string of which not each is allowed: of an enumeration or a format.
    RestrictedText,
    /// An integer of 32 bits.
    Integer32,
    /// An integer of 64 bits.
    Integer64,
    /// `true` or `false`.
    Boolean,
    /// Anything else, such as a fraction, a list or an object.
    Other,
}

impl Kind {
    /// Whether JSON writes each value of it in quotes.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::RestrictedText)
    }
}

// bodies: generated from the contract
impl Body for types::NewPlant {
    const NAME: &'static str = "NewPlant";
    const MEMBERS: &'static [Member] = &[
        Member { name: "id", kind: Kind::Integer64, is_required: true },
        Member { name: "name", kind: Kind::Text, is_required: true },
        Member { name: "tag", kind: Kind::Text, is_required: false },
    ];
}
// end of bodies
