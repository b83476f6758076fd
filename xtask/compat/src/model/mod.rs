//! A document in normal form: every difference that means nothing is removed.
//!
//! Only these types are compared. Each of them is taken apart field by field, so a field without a
//! rule does not compile, and [`Notes::unknown`] has each keyword that is not in the table of
//! keywords. What a type says beside the values that it allows is in its [`Origin`].
//!
//! Nothing here knows that there are two documents.

mod print;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

pub use print::{Prints, hash};
pub use schema::{
    Case, Cases, Code, Limit, Made, Null, Others, Pointer, Schema, SchemaNotes, Tag, is_any,
    references, words,
};

use crate::tree::Place;

/// A text of the document.
pub type Text = Rc<str>;

/// A document.
#[derive(Default)]
pub struct Model {
    /// The operations by method and path, in which `{}` stands for each parameter.
    pub operations: BTreeMap<(String, &'static str), Operation>,
    /// The schemas that have a name or that a reference leads to.
    pub schemas: BTreeMap<Pointer, Rc<Schema>>,
    /// The schemas that a reference leads to.
    pub referenced: BTreeSet<Pointer>,
    /// The fingerprints of the schemas.
    pub prints: Prints,
    /// What belongs to no operation and no schema, each with its place.
    pub rest: Vec<(&'static str, Notes)>,
}

/// An operation with everything that it inherits.
pub struct Operation {
    /// Its name for people: `POST /books`.
    pub name: String,
    /// The paths of its URLs: the path of each server, followed by its own.
    pub addresses: BTreeSet<String>,
    pub id: Option<Text>,
    pub tags: Vec<String>,
    pub security: Security,
    pub servers: Servers,
    /// The parameters, by what identifies them.
    pub parameters: BTreeMap<String, Field>,
    pub body: Option<Field>,
    /// The responses by status.
    pub responses: BTreeMap<Text, Response>,
    pub callbacks: Option<Whole>,
    pub pagination: Option<Text>,
    pub websocket: Option<Text>,
    pub notes: Notes,
    /// What the path of the operation says.
    pub path: Notes,
    /// What the object of the responses says.
    pub answers: Notes,
}

/// The sets of schemes of which any one lets a request in. A scheme is described by what it asks
/// for.
pub struct Security {
    pub sets: BTreeSet<BTreeSet<String>>,
    pub place: Place,
}

/// The servers that requests are sent to, each as JSON without its words.
pub struct Servers {
    pub all: BTreeSet<String>,
    pub words: u64,
    pub urls: Vec<String>,
    pub place: Place,
}

/// A parameter, a header or a body.
pub struct Field {
    pub name: Text,
    /// Where a parameter stands: `query`.
    pub within: Text,
    pub is_required: bool,
    pub carried: Carried,
    /// The keywords that are compared as a whole, such as `allowReserved`.
    pub whole: BTreeMap<&'static str, Whole>,
    pub notes: Notes,
}

/// How a field carries its value.
pub enum Carried {
    /// As a text. The style, and whether a list or an object explodes, say how.
    Text { schema: Rc<Schema>, style: Text, explode: bool },
    /// As one of several media types.
    Content(BTreeMap<String, Media>),
}

/// What a body says about a media type.
pub struct Media {
    pub schema: Rc<Schema>,
    pub encoding: Option<Whole>,
    pub notes: Notes,
}

/// A response.
pub struct Response {
    /// The media types; none if there is no content.
    pub content: Option<BTreeMap<String, Media>>,
    pub headers: BTreeMap<String, Field>,
    pub links: Option<Whole>,
    pub notes: Notes,
}

/// A value that is compared as a whole.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The value as JSON, in which every reference that leads to no schema is followed.
    pub json: Text,
    /// The schemas that the value refers to.
    pub references: BTreeSet<Pointer>,
    /// A fingerprint of its texts for people.
    pub words: u64,
}

/// What any object may say beside its meaning, and the keywords that have no rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Notes {
    pub is_deprecated: bool,
    /// The extensions, as JSON.
    pub extensions: BTreeMap<Text, Text>,
    /// The keywords that have no rule, as JSON.
    pub unknown: BTreeMap<Text, Text>,
    pub origin: Origin,
}

/// Where something is written, and what that says to people and to generators of code. It does not
/// count when two values are compared.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub place: Place,
    /// A fingerprint of each text for people, by its keyword.
    pub words: Vec<(&'static str, u64)>,
}

impl Origin {
    pub fn at(place: Place) -> Self {
        Self { place, words: Vec::new() }
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl PartialOrd for Origin {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Origin {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
