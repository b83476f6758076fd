//! The text of a body, parsed as what the document describes.
//!
//! What the type derives from serde reads it. Around that stand three checks: that the text is
//! UTF-8 also in members that nobody reads, that it is an object (serde would also take the members
//! of a struct from an array), and that nothing follows it. Nothing here may name a type or a
//! member of the contract.

use serde::de::DeserializeOwned;

use crate::http::refusal::Refusal;

/// How long a message is at most, in characters. It may repeat a value.
const LONGEST_MESSAGE: usize = 200;

/// How much of the name of a member goes to the log, in characters.
const LONGEST_NAME: usize = 40;

/// How many names of ignored members go to the log.
const MOST_NAMES: usize = 3;

/// RFC 8259, section 2.
const WHITESPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// What a text says.
pub struct Parsed<T> {
    pub value: T,
    /// The first names of members that the type does not have: for the log.
    pub ignored: Vec<String>,
}

/// Parses the text.
///
/// # Errors
///
/// `error` 400: the text is not what the type describes.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<Parsed<T>, Refusal> {
    let text = str::from_utf8(text).map_err(|error| {
        let place = format!("byte {}", error.valid_up_to() + 1);
        Refusal::Body { message: format!("the body is not UTF-8 at {place}"), place }
    })?;
    if !text.trim_start_matches(WHITESPACE).starts_with('{') {
        let message = "the body must be a JSON object".into();
        return Err(Refusal::Body { message, place: "its beginning".into() });
    }
    let mut ignored = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let mut note = |name: serde_ignored::Path<'_>| {
        if ignored.len() < MOST_NAMES {
            ignored.push(shortened_name(&name.to_string()));
        }
    };
    let noting = serde_ignored::Deserializer::new(&mut json, &mut note);
    let value = serde_path_to_error::deserialize(noting)
        .map_err(|error| refused(&error.path().to_string(), error.inner()))?;
    json.end().map_err(|error| refused(".", &error))?;
    Ok(Parsed { value, ignored })
}

/// serde's words, behind the path of the member. The path of the whole body is a dot.
fn refused(path: &str, error: &serde_json::Error) -> Refusal {
    let place = format!("line {} column {}", error.line(), error.column());
    if path == "." {
        let message = shortened(&error.to_string(), LONGEST_MESSAGE);
        return Refusal::Body { message, place };
    }
    let path = shortened_name(path);
    let message = shortened(&format!("`{path}`: {error}"), LONGEST_MESSAGE);
    Refusal::Body { message, place: format!("`{path}`, {place}") }
}

/// A client may choose the name, and a terminal shows the log: no character of it is a line break,
/// or one that a terminal interprets.
fn shortened_name(name: &str) -> String {
    name.chars().flat_map(char::escape_debug).take(LONGEST_NAME).collect()
}

fn shortened(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
