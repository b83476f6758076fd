//! How a person is told about a change: its class, its place, the older value and the newer one.

use std::fmt;

use serde_json::Value;

use crate::class::Class;
use crate::difference::{Difference, Kind};
use crate::place::Place;

/// One change.
pub struct Change {
    /// Its place in the documents.
    pub place: Place,
    /// What it means to a consumer.
    pub class: Class,
    /// What happened there.
    pub kind: Kind,
    /// The older value; none if it was added.
    pub old: Option<Value>,
    /// The newer value; none if it was removed.
    pub new: Option<Value>,
    /// When and why it was accepted.
    pub accepted: Option<String>,
}

impl Change {
    pub(crate) fn new(difference: Difference<'_>, class: Class) -> Self {
        let kind = difference.kind();
        let Difference { place, old, new } = difference;
        Self { place, class, kind, old: old.cloned(), new: new.cloned(), accepted: None }
    }

    /// What happened at the place.
    pub(crate) fn what(&self) -> String {
        // A long value is not shown, and neither is an object: its place names it.
        let is_short =
            |value: &&Value| told(value).chars().count() <= LONGEST && !value.is_object();
        let kind = self.kind;
        let [old, new] = [&self.old, &self.new].map(|value| value.as_ref().filter(is_short));
        match (kind, old, new) {
            (Kind::Changed, Some(old), Some(new)) => format!("{} → {}", told(old), told(new)),
            (Kind::Added | Kind::Removed, Some(value), None)
            | (Kind::Added | Kind::Removed, None, Some(value)) => {
                format!("{kind}: {}", told(value))
            }
            _ => kind.to_string(),
        }
    }
}

/// One line, in which everything of the documents is [`printable`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, class, accepted, .. } = self;
        let line = format!("{place}  {}", self.what());
        match accepted {
            Some(why) => {
                write!(f, "accepted    {}", printable(&format!("{line}  ({class}; {why})")))
            }
            None => write!(f, "{class:10}  {}", printable(&line)),
        }
    }
}

/// A text of which a terminal shows each character and a runner of GitHub runs no command: control
/// characters, line breaks and invisible characters are escaped.
#[must_use]
pub fn printable(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|char| match char {
            '\'' | '"' | '\\' => char.to_string(),
            _ => char.escape_debug().to_string(),
        })
        .collect();
    // The runner looks for this old form of a command in the whole line, for `::` only at its start.
    escaped.replace("##[", "##\\[")
}

/// A value as JSON; a string without quotation marks, if nothing else looks the same.
fn told(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && serde_json::from_str::<Value>(text).is_err() => {
            text.clone()
        }
        _ => value.to_string(),
    }
}

/// The longest part of a value that is shown, in characters.
const LONGEST: usize = 60;
