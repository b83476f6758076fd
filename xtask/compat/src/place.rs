//! Where a change is: a JSON pointer into each document, and words for people.

use serde_json::Value;

use crate::Document;
use crate::pointer::steps;

/// A place in the older and in the newer document, each as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub old: String,
    pub new: String,
}

impl Place {
    /// The place as far as each document contains it.
    pub fn within(self, old: &Document, new: &Document) -> Self {
        Self { old: resolving(self.old, &old.json), new: resolving(self.new, &new.json) }
    }
}

/// The longest beginning of a pointer that leads to a value.
fn resolving(mut pointer: String, json: &Value) -> String {
    while json.pointer(pointer.trim_start_matches('#')).is_none() {
        pointer.truncate(pointer.rfind('/').unwrap_or_default());
    }
    pointer
}

/// The place of a pointer in words, such as `NewBook.id`, `200[].title` or `query limit`. They do
/// not name the operation.
pub fn words(pointer: &str, json: &Value) -> String {
    let written: Vec<&str> = pointer.split('/').collect();
    let steps = steps(pointer);
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let mut words = String::new();
    let mut at = 0;
    while at < steps.len() {
        let (used, word) = match steps[at..] {
            ["components", "schemas", name, ..] if at == 0 => (3, name.to_owned()),
            ["components", kind, name, ..] if at == 0 => (3, format!("{kind} {name}")),
            ["paths", _, ..] if at == 0 => (3, String::new()),
            ["requestBody", ..] => (1, "request".to_owned()),
            ["responses", status, ..] => (2, status.to_owned()),
            ["parameters", number, ..] => {
                let parameter = json.pointer(&format!("/{}", written[1..at + 3].join("/")));
                let text = |name| parameter.and_then(|parameter| parameter[name].as_str());
                let place = text("in").unwrap_or("parameters");
                (2, format!("{place} {}", text("name").unwrap_or(number)))
            }
            ["schema", _, ..] => (1, String::new()),
            ["allOf", _, ..] => (2, String::new()),
            ["content", "application/json", "schema", ..] => (3, String::new()),
            ["content", media_type, "schema", ..] => (3, media_type.to_owned()),
            ["properties", name, ..] => (2, format!(".{name}")),
            ["additionalProperties", _, ..] => (1, ".*".to_owned()),
            ["items", ..] => (1, "[]".to_owned()),
            [name, ..] => (1, name.to_owned()),
            [] => break,
        };
        let is_separate = !words.is_empty() && !word.is_empty() && !word.starts_with(['.', '[']);
        words.push_str(if is_separate { " " } else { "" });
        words.push_str(&word);
        at += used;
    }
    words
}
