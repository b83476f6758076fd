//! A place in an OpenAPI document, and what the steps to it are.

use std::fmt;

/// Members that speak to people and bind nobody.
const WORDS: &[&str] = &[
    "contact",
    "description",
    "example",
    "examples",
    "externalDocs",
    "summary",
    "termsOfService",
    "title",
];

/// Members that hold names of the contract's own choice, or a list: what comes next is no keyword.
const NAMES: &[&str] = &[
    "allOf",
    "anyOf",
    "callbacks",
    "content",
    "encoding",
    "headers",
    "links",
    "mapping",
    "oneOf",
    "parameters",
    "paths",
    "properties",
    "requestBodies",
    "required",
    "responses",
    "schemas",
    "scopes",
    "securitySchemes",
    "servers",
    "tags",
    "variables",
];

/// The steps from the root of a document to a value.
#[derive(Clone)]
pub struct Place(Vec<String>);

impl Place {
    /// The whole document.
    pub(super) fn root() -> Self {
        Self(Vec::new())
    }

    /// A step further.
    pub(super) fn step(&self, step: &str) -> Self {
        Self(self.0.iter().cloned().chain([step.to_owned()]).collect())
    }

    /// The steps with `*` for whatever is not a keyword of OpenAPI. A property may be called
    /// `description`, and its loss is no matter of words.
    pub(super) fn kinds(&self) -> Vec<&str> {
        let (mut named, mut data) = (false, false);
        self.0
            .iter()
            .map(|step| {
                let kind = if named || data { "*" } else { step };
                named = NAMES.contains(&kind);
                data = data || kind == "enum" || is_data(kind);
                kind
            })
            .collect()
    }

    /// Whether the value only speaks to people.
    pub(super) fn is_words(&self) -> bool {
        self.kinds().iter().any(|kind| WORDS.contains(kind))
    }

    /// Whether the value counts as one, whatever it is made of.
    pub(super) fn is_whole(&self) -> bool {
        self.is_words() || self.kinds().iter().any(|kind| is_data(kind))
    }
}

/// Whether what is inside such a member is a value, not more of OpenAPI.
fn is_data(kind: &str) -> bool {
    matches!(kind, "default" | "security") || kind.starts_with("x-")
}

/// As a JSON pointer, in which an item of a list goes by its name where it has one.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#")?;
        self.0
            .iter()
            .try_for_each(|step| write!(f, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}
