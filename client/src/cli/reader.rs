//! Parses a value of the contract as strictly as the service does. It also refuses members that the
//! service would ignore: the value of a mistyped member would be lost, and a plant never changes.
//!
//! Nothing here may name a type or a member of the contract.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The message for a text that is not an object.
pub const NOT_AN_OBJECT: &str = "it is not a JSON object";

/// The length limit of a message, in characters. A message may repeat a value of any length.
const LONGEST_MESSAGE: usize = 200;

/// Why a text is not a value of the contract.
pub struct Invalid {
    /// What is wrong, and how to fix it.
    pub message: String,
    /// The text as JSON, if an unknown member is all that is wrong with it.
    pub object: Option<Value>,
}

/// Parses a JSON text. Refuses unknown members unless `ignores_unknown` is set.
pub fn json<T: DeserializeOwned>(text: &[u8], ignores_unknown: bool) -> Result<T, Invalid> {
    let (value, object, unknown) = strict(text).map_err(|message| {
        let message = message.chars().take(LONGEST_MESSAGE).collect();
        Invalid { message, object: None }
    })?;
    match unknown.first().filter(|_| !ignores_unknown) {
        Some(name) => {
            let message = format!(
                "the contract has no member `{name}`: correct the name, or add --ignore-unknown"
            );
            Err(Invalid { message, object: Some(object) })
        }
        None => Ok(value),
    }
}

/// Parses an object of the contract. Returns the value, the object as JSON, and the names of the
/// members that the type does not have.
///
/// serde on its own would accept an array instead of the object, text after the object, and null
/// instead of an absent member. The service refuses all three, and so does this function.
fn strict<T: DeserializeOwned>(text: &[u8]) -> Result<(T, Value, Vec<String>), String> {
    let text = str::from_utf8(text).map_err(|error| not_utf_8(error.valid_up_to()))?;
    if !text.trim_start().starts_with('{') {
        return Err(NOT_AN_OBJECT.to_owned());
    }
    let mut unknown = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let mut record = |name: serde_ignored::Path<'_>| unknown.push(name.to_string());
    let recording = serde_ignored::Deserializer::new(&mut json, &mut record);
    let value = serde_path_to_error::deserialize(recording).map_err(|error| {
        // The path of the whole object is a dot, and the path of a nameless part a question mark.
        match error.path().to_string().as_str() {
            "." | "?" => error.inner().to_string(),
            path => format!("`{path}`: {}", error.inner()),
        }
    })?;
    json.end().map_err(|error| error.to_string())?;
    let object: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut members = object.as_object().into_iter().flatten();
    match members.find(|(name, value)| value.is_null() && !unknown.contains(name)) {
        Some((name, _)) => Err(format!("`{name}`: null is not allowed: leave the member out")),
        None => Ok((value, object, unknown)),
    }
}

/// The message for a text whose first invalid byte is `byte`, counted from 0.
pub fn not_utf_8(byte: usize) -> String {
    format!(
        "byte {} is not UTF-8: convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`",
        byte + 1
    )
}
