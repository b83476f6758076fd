//! Where a change is: JSON pointers into both documents, and words for people.

use serde_json::Value;

use crate::Document;
use crate::pointer::steps;

/// A place in the older document and in the newer one, each as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub old: String,
    pub new: String,
}

impl Place {
    /// The place as far as each document has it.
    pub fn within(self, old: &Document, new: &Document) -> Self {
        Self { old: resolving(self.old, &old.json), new: resolving(self.new, &new.json) }
    }
}

/// The longest beginning of a pointer that leads to something.
fn resolving(mut pointer: String, json: &Value) -> String {
    while json.pointer(pointer.trim_start_matches('#')).is_none() {
        pointer.truncate(pointer.rfind('/').unwrap_or_default());
    }
    pointer
}

/// The place of a pointer in words: `NewBook.id`, `200[].title`, `query limit`. An operation is not
/// in them.
pub fn words(pointer: &str, json: &Value) -> String {
    let steps = steps(pointer);
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let mut words = String::new();
    let mut add = |word: &str| {
        let is_glued = words.is_empty() || word.starts_with(['.', '[']);
        words.push_str(if is_glued { "" } else { " " });
        words.push_str(word);
    };
    let mut value = json;
    let mut at = 0;
    while at < steps.len() {
        let used = match steps[at..] {
            ["components", "schemas", name, ..] if at == 0 => {
                add(name);
                3
            }
            ["components", kind, name, ..] if at == 0 => {
                add(kind);
                add(name);
                3
            }
            ["paths", _, ..] if at == 0 => steps.len().min(3),
            ["requestBody", ..] => {
                add("request");
                1
            }
            ["responses", status, ..] => {
                add(status);
                2
            }
            ["parameters", number, ..] => {
                let parameter = &value["parameters"][number.parse().unwrap_or(usize::MAX)];
                let [place, name] = ["in", "name"].map(|name| parameter[name].as_str());
                add(place.unwrap_or("parameters"));
                add(name.unwrap_or(number));
                2
            }
            ["content", "application/json", "schema", ..] => 3,
            ["content", media_type, "schema", ..] => {
                add(media_type);
                3
            }
            ["properties", name, ..] => {
                add(&format!(".{name}"));
                2
            }
            ["additionalProperties", ..] if at + 1 < steps.len() => {
                add(".*");
                1
            }
            ["items", ..] => {
                add("[]");
                1
            }
            ["allOf", _, ..] => 2,
            ["schema", _, ..] => 1,
            _ => {
                add(steps[at]);
                1
            }
        };
        for step in &steps[at..at + used] {
            let number = step.parse().unwrap_or(usize::MAX);
            value = value.get(step).or_else(|| value.get(number)).unwrap_or(&Value::Null);
        }
        at += used;
    }
    words
}
