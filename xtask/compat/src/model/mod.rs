//! The model of a document in normal form, in which equal meanings have equal values.
//!
//! Only these types are compared. The comparison destructures each of them without `..`, so a new
//! field without a rule does not compile. A keyword without a field is in [`Extras`]. Fields marked
//! `skip` do not count when two values are compared or sorted.
//!
//! Nothing here compares two documents.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::kind::Kind;
pub use schema::{
    AdditionalProperties, Alternatives, Annotations, Codes, Discriminator, Generated, Nullable,
    Origins, Pointer, Schema, is_any,
};

/// A string of the document, which is cheap to clone.
pub type Text = Rc<str>;

/// A document.
#[derive(Default)]
pub struct Model {
    /// The operations by path and method. The path has `{}` in place of each parameter.
    pub operations: BTreeMap<(String, &'static str), Operation>,
    /// The schemas of `components/schemas`, and every other schema that is the target of a `$ref`.
    pub schemas: BTreeMap<Pointer, Rc<Schema>>,
    /// The schemas that are the target of a `$ref`.
    pub referenced: BTreeSet<Pointer>,
    /// The extras of the document, of `components` and of `paths`.
    pub extras: Extras,
}

/// An operation, with everything that it inherits from its path and from the document.
pub struct Operation {
    /// Its name for people: `POST /books`.
    pub name: String,
    /// The path of each server's URL, followed by the path of the operation.
    pub url_paths: BTreeSet<String>,
    pub security: Requirements,
    pub servers: Servers,
    /// The parameters by location and name; a path parameter has its number as the name.
    pub parameters: BTreeMap<String, Field>,
    pub body: Option<Field>,
    /// The responses by status.
    pub responses: BTreeMap<Text, Response>,
    /// The extras of the operation, of its path and of its `responses`.
    pub extras: Extras,
}

/// The security requirements of an operation. A request has to satisfy one of them. Each is the set
/// of its security schemes and scopes. A scheme is described by its type and location, because its
/// name in the document means nothing to a client.
pub type Requirements = BTreeSet<BTreeSet<String>>;

/// The servers of an operation, each as a URL with its variables.
pub type Servers = BTreeSet<String>;

/// A parameter, a header or a request body.
pub struct Field {
    pub name: Text,
    /// The location of a parameter: `query`, `header`, `path` or `cookie`. `headers` for a header
    /// of a response, and `request` for a request body.
    pub in_: Text,
    pub is_required: bool,
    pub value: FieldValue,
    pub extras: Extras,
}

/// The value of a parameter or a header has either `schema` or `content` (Parameter Object). A
/// request body has `content`.
pub enum FieldValue {
    /// The value is sent as text, in the format that `style` defines, such as
    /// `form, explode: true`.
    Schema { schema: Rc<Schema>, style: Text },
    /// The value is sent as one of these media types.
    Content(Content),
}

/// The media types of a body.
pub type Content = BTreeMap<String, MediaType>;

/// A Media Type Object.
pub struct MediaType {
    pub schema: Rc<Schema>,
    pub extras: Extras,
}

/// A response.
pub struct Response {
    /// The media types; `None` if the response has no body.
    pub content: Option<Content>,
    pub headers: BTreeMap<String, Field>,
    pub extras: Extras,
}

/// The keywords of an object that have no field of their own in the model: extensions, keywords
/// that are compared as a whole, and unknown keywords. A keyword of an inner object, such as
/// `responses`, has the name of the object before its own. A value in place of an object has an
/// empty name.
pub type Extras = BTreeMap<Text, Extra>;

/// A keyword that is compared as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extra {
    /// The value as JSON.
    pub json: Text,
    /// The schemas to which the value has a `$ref`.
    pub references: BTreeSet<Pointer>,
    /// The kind of change if the keyword is added.
    pub added: Kind,
    /// The kind of change if the keyword is changed or removed.
    pub changed: Kind,
}
