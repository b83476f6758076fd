//! A document in normal form: every difference that means nothing is removed.
//!
//! Only these types are compared. Each of them is taken apart field by field, so a field without a
//! rule does not compile, and [`Notes::unknown`] has each keyword that is not in the table of
//! keywords.
//!
//! Nothing here knows that there are two documents.

mod schema;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

pub use schema::{
    Case, Cases, Code, Limit, Made, Null, Others, Pointer, Prints, Schema, SchemaNotes, Tag, hash,
    is_any,
};

use crate::json::Place;

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
    /// What belongs to no operation and no schema: the notes of the document, of its components,
    /// and of its paths.
    pub rest: Vec<Notes>,
    /// The texts for people as JSON, by their JSON pointers.
    pub texts: BTreeMap<String, String>,
}

/// An operation with everything that it inherits.
pub struct Operation {
    /// Its name for people: `POST /books`.
    pub name: String,
    /// The paths of its URLs: the path of each server, followed by its own.
    pub addresses: BTreeSet<String>,
    pub security: Security,
    pub servers: Servers,
    /// The parameters, by what identifies them.
    pub parameters: BTreeMap<String, Field>,
    pub body: Option<Field>,
    /// The responses by status.
    pub responses: BTreeMap<Text, Response>,
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

/// The servers that requests are sent to, each with what is said about it.
pub struct Servers {
    pub all: BTreeSet<String>,
    pub place: Place,
}

/// A parameter, a header or a body.
pub struct Field {
    pub name: Text,
    /// Where a parameter stands: `query`.
    pub within: Text,
    pub is_required: bool,
    pub carried: Carried,
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
    pub notes: Notes,
}

/// A response.
pub struct Response {
    /// The media types; none if there is no content.
    pub content: Option<BTreeMap<String, Media>>,
    pub headers: BTreeMap<String, Field>,
    pub notes: Notes,
}

/// What any object may say beside its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Notes {
    /// Where the object is written.
    pub place: Aside<Place>,
    /// The extensions, and the keywords that are compared as a whole.
    pub whole: BTreeMap<Text, Whole>,
    /// The keywords that have no rule, and the value that is no object, without a name.
    pub unknown: BTreeMap<Text, Whole>,
}

/// A value that is compared as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whole {
    /// The value as JSON.
    pub json: Text,
    /// The schemas that the value refers to.
    pub references: BTreeSet<Pointer>,
}

impl Whole {
    pub fn of(json: &impl ToString) -> Self {
        Self { json: json.to_string().into(), references: BTreeSet::new() }
    }
}

/// Something that does not count when two values are compared.
#[derive(Clone, Default)]
pub struct Aside<T>(pub T);

impl<T> fmt::Debug for Aside<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Aside<T> {}

impl<T> PartialOrd for Aside<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Aside<T> {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl<T> Hash for Aside<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
