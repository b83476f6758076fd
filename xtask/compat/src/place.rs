//! A place in an OpenAPI document, and what the steps to it are.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::members::member;

/// Members that are only text for people. The licence is that of the document.
const WORDS: [&str; 9] = [
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
pub(crate) const NAMES: [&str; 21] = [
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Step {
    text: String,
    /// Whether the contract chose the text: it is no keyword of OpenAPI.
    is_name: bool,
    /// What the value after this step is.
    within: Within,
}

/// What a value is, and all that is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Within {
    /// Members that OpenAPI describes.
    #[default]
    Contract,
    /// The values of an `enum`.
    Enum,
    /// Only text for people.
    Words,
    /// A plain value.
    Data,
    /// An extension of OpenAPI.
    Extension,
    /// An extension with values by which clients decide.
    Codes,
}

impl Within {
    fn of(kind: &str) -> Self {
        match kind {
            "enum" => Self::Enum,
            "default" | "security" => Self::Data,
            "x-extensible-enum" | "x-error-codes" => Self::Codes,
            _ if kind.starts_with("x-") => Self::Extension,
            _ if is_prose(kind) => Self::Words,
            _ => Self::Contract,
        }
    }
}

impl Step {
    fn kind(&self) -> &str {
        if self.is_name { "*" } else { &self.text }
    }
}

impl Place {
    /// A copy, one step longer.
    pub(crate) fn step(&self, text: &str) -> Self {
        let mut place = self.clone();
        place.push(text);
        place
    }

    /// Appends a step.
    pub(crate) fn push(&mut self, text: &str) {
        // No path and no status starts with `x-`.
        let is_extension = text.starts_with("x-")
            && matches!(self.kinds()[..], ["paths"] | ["paths", "*", _, "responses"]);
        let is_value = !matches!(self.within(), Within::Contract | Within::Words);
        let is_name = !is_extension && (is_value || self.has_names());
        let within = match self.within() {
            Within::Contract => Within::of(if is_name { "*" } else { text }),
            within => within,
        };
        self.0.push(Step { text: text.to_owned(), is_name, within });
    }

    /// Removes the last step.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a step as the document has it; empty if there is no such step.
    pub(crate) fn text(&self, step: usize) -> &str {
        self.0.get(step).map_or("", |step| &step.text)
    }

    /// The text of the last step.
    pub(crate) fn name(&self) -> &str {
        self.0.last().map_or("", |step| &step.text)
    }

    /// The steps, with `*` for every step that is not a keyword of OpenAPI. A property may have the
    /// name `description`, and then it is not text for people.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.0.iter().map(Step::kind).collect()
    }

    /// The last of them.
    pub(crate) fn kind(&self) -> &str {
        self.0.last().map_or("", Step::kind)
    }

    /// Whether it fits a pattern of the rules.
    pub(crate) fn fits(&self, pattern: &[&str]) -> bool {
        fits(&self.0, pattern)
    }

    /// What the value is.
    pub(crate) fn within(&self) -> Within {
        self.0.last().map_or(Within::Contract, |step| step.within)
    }

    /// Whether the value is compared as a whole, not member by member.
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.within(), Within::Contract | Within::Enum)
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
        NAMES.contains(&self.kind())
    }

    /// The value at this place of a document.
    pub(crate) fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, step| Some(member(value, &step.text)?.1))
    }

    /// The names and positions that lead to this place, or to its nearest ancestor that the
    /// document has.
    pub(crate) fn path(&self, document: &Value) -> Vec<String> {
        let step = |value: &mut &Value, step: &Step| {
            let (step, next) = member(value, &step.text)?;
            *value = next;
            Some(step)
        };
        self.0.iter().scan(document, step).collect()
    }
}

fn fits(steps: &[Step], pattern: &[&str]) -> bool {
    match (steps, pattern) {
        (_, ["..", rest @ ..]) => (0..=steps.len()).any(|skipped| fits(&steps[skipped..], rest)),
        ([step, steps @ ..], [wanted, pattern @ ..]) => {
            let is_wanted = |one: &str| match one.strip_prefix('=') {
                Some(text) => text == step.text,
                None => one == "_" || one == step.kind(),
            };
            wanted.split(',').any(is_wanted) && fits(steps, pattern)
        }
        _ => steps.is_empty() && pattern.is_empty(),
    }
}

/// Whether such a member is only text for people.
pub(crate) fn is_prose(kind: &str) -> bool {
    WORDS.contains(&kind)
}

/// A JSON pointer (RFC 6901), but an item of a list that has a name is written by its name, not by
/// its position.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#")?;
        let escaped = |step: &Step| step.text.replace('~', "~0").replace('/', "~1");
        self.0.iter().try_for_each(|step| write!(f, "/{}", escaped(step)))
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
