//! A place in an OpenAPI document, and what the steps to it are.

use std::fmt;

use anyhow::{Context, Result, ensure};
use indexmap::IndexMap;
use serde_json::Value;

use crate::yaml::escaped;

/// Members that are only text for people. The licence is that of the document.
const WORDS: &[&str] = &[
    "contact",
    "description",
    "example",
    "examples",
    "externalDocs",
    "license",
    "summary",
    "termsOfService",
    "title",
];

/// Members that hold a list, or names that the contract chooses: the next step is not a keyword.
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

/// The values that a schema has now: others may come.
pub(crate) const OPEN_ENUM: &str = "x-extensible-enum";

/// The same values of `Error.error`, each with its meaning.
pub(crate) const ERROR_CODES: &str = "x-error-codes";

/// The steps from the root of a document to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(Vec<String>);

impl Place {
    /// The whole document.
    pub(crate) fn root() -> Self {
        Self(Vec::new())
    }

    /// One step further.
    pub(crate) fn step(&self, step: &str) -> Self {
        Self(self.0.iter().cloned().chain([step.to_owned()]).collect())
    }

    /// One step back; none from the root.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, steps)| Self(steps.to_owned()))
    }

    /// The steps as the document has them.
    pub(crate) fn steps(&self) -> &[String] {
        &self.0
    }

    /// The steps, with `*` for every step that is not a keyword of OpenAPI. A property may have the
    /// name `description`, and then it is not text for people.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        let mut data = false;
        for step in &self.0 {
            let is_name = data || kinds.last().is_some_and(|kind| NAMES.contains(kind));
            // No path and no status starts with `x-`.
            let is_extension = step.starts_with("x-")
                && matches!(kinds[..], ["paths"] | ["paths", "*", _, "responses"]);
            let kind = if is_name && !is_extension { "*" } else { step };
            data = data || kind == "enum" || is_data(kind);
            kinds.push(kind);
        }
        kinds
    }

    /// Whether the value is only text for people.
    pub(crate) fn is_words(&self) -> bool {
        self.kinds().iter().any(|kind| WORDS.contains(kind))
    }

    /// Whether the value is, or is in, an extension of OpenAPI.
    pub(crate) fn is_extension(&self) -> bool {
        self.kinds().iter().any(|kind| kind.starts_with("x-"))
    }

    /// Whether the value is, or is in, a list of values by which clients decide.
    pub(crate) fn is_of_codes(&self) -> bool {
        self.kinds().iter().any(|kind| matches!(*kind, OPEN_ENUM | ERROR_CODES))
    }

    /// Whether the value is compared as a whole, not member by member.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_words() || self.kinds().iter().any(|kind| is_data(kind))
    }

    /// Whether an absent value means the same as an empty one here.
    pub(crate) fn is_collection(&self) -> bool {
        matches!(
            self.kinds()[..],
            ["components"]
                | ["components", _]
                | [.., "headers" | "parameters" | "properties" | "required" | "tags"]
        )
    }

    /// Whether the next steps are names, not keywords.
    pub(crate) fn has_names(&self) -> bool {
        self.kinds().last().is_some_and(|kind| NAMES.contains(kind))
    }

    /// The value at this place of a document.
    pub(crate) fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, step| Some(member(value, step)?.1))
    }

    /// The JSON pointer (RFC 6901) of this place, or of its nearest ancestor that the document has.
    #[must_use]
    pub fn pointer(&self, document: &Value) -> String {
        let (mut pointer, mut value) = (String::new(), document);
        for step in &self.0 {
            let Some((step, member)) = member(value, step) else { break };
            pointer.push('/');
            pointer.push_str(&escaped(&step));
            value = member;
        }
        pointer
    }
}

/// Whether such a member holds a plain value, in which no step is a keyword of OpenAPI.
fn is_data(kind: &str) -> bool {
    matches!(kind, "default" | "security") || kind.starts_with("x-")
}

/// Whether such a member is only text for people.
pub(crate) fn is_word(kind: &str) -> bool {
    WORDS.contains(&kind)
}

/// The values one step further. The members of an object are found by their names. The items of a
/// list are found by their names if each has a different one, else by their positions.
pub(crate) fn members(value: &Value) -> IndexMap<String, &Value> {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), member)).collect()
        }
        Value::Array(items) => {
            let name = |item: &Value| match item {
                Value::String(name) => Some(name.clone()),
                Value::Number(number) => Some(number.to_string()),
                item => item["name"]
                    .as_str()
                    .map(str::to_owned)
                    .or_else(|| Some(item["error"].as_u64()?.to_string())),
            };
            items
                .iter()
                .map(|item| Some((name(item)?, item)))
                .collect::<Option<IndexMap<_, _>>>()
                .filter(|named| named.len() == items.len())
                .unwrap_or_else(|| {
                    (0..items.len()).map(|position| position.to_string()).zip(items).collect()
                })
        }
        _ => IndexMap::new(),
    }
}

/// The value one step further, and its step in a JSON pointer.
fn member<'a>(value: &'a Value, step: &str) -> Option<(String, &'a Value)> {
    if let Value::Object(members) = value {
        return Some((step.to_owned(), members.get(step)?));
    }
    let items = members(value);
    let (position, _, item) = items.get_full(step)?;
    Some((position.to_string(), *item))
}

/// Where a `$ref` leads. It fails if the comparison does not follow it: a change there would seem
/// harmless.
pub(crate) fn target<'a>(document: &'a Value, reference: &str) -> Result<(Place, &'a Value)> {
    let steps = reference.strip_prefix("#/").into_iter().flat_map(|steps| steps.split('/'));
    let place = steps
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .fold(Place::root(), |place, step| place.step(&step));
    let is_followed = match place.kinds()[..] {
        ["components", kind, _, ..] => NAMES.contains(&kind),
        ["paths", _, ..] => true,
        _ => false,
    };
    ensure!(
        is_followed && !place.is_whole(),
        "the `$ref` `{reference}` is not followed: only `#/components/...` and `#/paths/...` of the \
         same document are, without extensions, examples and defaults"
    );
    // The order of a list with names does not count, so a position in it is no place.
    let value = place.find(document).with_context(|| {
        format!("the `$ref` `{reference}` leads nowhere, or to a position in a list with names")
    })?;
    Ok((place, value))
}

/// A JSON pointer, but an item of a list that has a name is written by its name, not by its
/// position.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#")?;
        self.0.iter().try_for_each(|step| write!(f, "/{}", escaped(step)))
    }
}
