//! Formats the place of a change for people.

use crate::Document;
use crate::json::{Json, steps};

/// Formats a JSON pointer without its operation: `NewBook.id`, `200[].title` or `query limit`.
pub fn words(pointer: &str, document: &Document) -> String {
    let written: Vec<&str> = pointer.split('/').collect();
    let steps: Vec<String> = steps(pointer).collect();
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
                let parameter = Json::find(&document.json, &written[..at + 3].join("/"));
                let parameter = parameter.map(|json| document.target(json));
                let text = |name| parameter.as_ref()?.text_of(name);
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

impl Document {
    /// The target of a Reference Object, or the value itself.
    fn target<'t>(&'t self, json: Json<'t>) -> Json<'t> {
        let target = json.reference().and_then(|reference| Json::find(&self.json, reference));
        target.unwrap_or(json)
    }
}
