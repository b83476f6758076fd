//! How a person is told about a change: its class, its place, the older value and the newer one.

use std::collections::BTreeMap;
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
    /// What a person must read, although only words changed: a description that lists values lists
    /// others now.
    pub note: Option<String>,
}

impl Change {
    pub(crate) fn new(difference: Difference<'_>, class: Class) -> Self {
        let kind = difference.kind();
        let Difference { place, old, new } = difference;
        let is_description = place.kinds().last() == Some(&"description");
        let note = is_description.then(|| other_values(old, new)).flatten();
        Self { place, class, kind, old: old.cloned(), new: new.cloned(), note }
    }
}

/// One line, in which everything of the documents is [`printable`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, class, kind, .. } = self;
        let mut line = match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                let [old, new] = different_parts(told(old), told(new));
                format!("{place}  {old} → {new}")
            }
            // An object is too long for a line, and its place names it.
            (Some(value), None) | (None, Some(value)) if !value.is_object() => {
                format!("{place}  {kind}: {}", shortened(&told(value)))
            }
            _ => format!("{place}  {kind}"),
        };
        if let Some(note) = &self.note {
            line = format!("{line}  ({note})");
        }
        write!(f, "{class:10}  {}", printable(&line))
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

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Two texts from shortly before the word that differs, if they are long.
fn different_parts(old: String, new: String) -> [String; 2] {
    if old.chars().count().max(new.chars().count()) <= LONGEST {
        return [old, new];
    }
    let same = old.char_indices().zip(new.chars()).take_while(|((_, old), new)| old == new);
    let same = same.last().map_or("", |((last, _), _)| &old[..last]);
    let words: Vec<_> = same.rmatch_indices(' ').map(|(space, _)| space + 1).collect();
    let start = words.get(2).copied().unwrap_or_default();
    let mark = if start > 0 { "…" } else { "" };
    [old[start..].to_owned(), new[start..].to_owned()]
        .map(|text| format!("{mark}{}", shortened(&text)))
}

/// What two descriptions disagree about, if one of them lists values: numbers, or `words` in
/// backquotes. A value counts as often as it is there: it may be in a list and in a sentence.
fn other_values(old: Option<&Value>, new: Option<&Value>) -> Option<String> {
    let [old, new] = [old, new].map(values);
    let more_often = |one: &BTreeMap<&str, usize>, other: &BTreeMap<&str, usize>, what| {
        let more = one.iter().filter(|(value, count)| other.get(*value).unwrap_or(&0) < *count);
        let more: Vec<_> = more.map(|(value, _)| *value).collect();
        (!more.is_empty()).then(|| format!("{} {what}", more.join(", ")))
    };
    let is_list = old.len().max(new.len()) > 1;
    let different = [more_often(&new, &old, "added"), more_often(&old, &new, "removed")];
    let different: Vec<_> = different.into_iter().flatten().collect();
    (is_list && !different.is_empty())
        .then(|| format!("the description lists other values: {}", different.join("; ")))
}

/// The values that a description names, and how often it names each.
fn values(description: Option<&Value>) -> BTreeMap<&str, usize> {
    let text = description.and_then(Value::as_str).unwrap_or_default();
    let quoted = text.split('`').skip(1).step_by(2);
    let words = text.split(|char: char| !char.is_alphanumeric());
    let numbers = words.filter(|word| word.starts_with(|char: char| char.is_ascii_digit()));
    let mut counts = BTreeMap::new();
    for value in quoted.chain(numbers).filter(|value| !value.is_empty()) {
        *counts.entry(value).or_default() += 1;
    }
    counts
}
