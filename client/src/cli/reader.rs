//! Reads a value of the contract as strictly as the service does, and also refuses members that the
//! service would ignore: a mistyped name would lose its value, and a plant never changes.
//!
//! Nothing here may name a type or a member of the contract.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The message for a text that is not an object.
pub const NO_OBJECT: &str = "it is not a JSON object";

/// How long a message is at most, in characters. It may repeat a value.
const LONGEST_MESSAGE: usize = 200;

/// Why a text is not a value of the contract.
pub struct Invalid {
    /// What is wrong, and what to do.
    pub message: String,
    /// The text as JSON, if nothing is wrong with it but the name of a member.
    pub object: Option<Value>,
}

/// The value of a JSON text.
pub fn json<T: DeserializeOwned>(text: &[u8], ignores_unknown: bool) -> Result<T, Invalid> {
    let (value, object, unknown) = strict(text).map_err(|message| {
        let message = message.chars().take(LONGEST_MESSAGE).collect();
        Invalid { message, object: None }
    })?;
    match unknown.first().filter(|_| !ignores_unknown) {
        Some(name) => {
            let message = format!(
                "`{name}` is no member that the contract has: correct it, or add --ignore-unknown"
            );
            Err(Invalid { message, object: Some(object) })
        }
        None => Ok(value),
    }
}

/// Reads an object of the contract. Returns it also as JSON, and the names of its members that the
/// type does not have.
///
/// Around serde stand the checks of the service: serde would take an array for an object, ignore
/// what follows it, and take null for an absent member.
fn strict<T: DeserializeOwned>(text: &[u8]) -> Result<(T, Value, Vec<String>), String> {
    let text = str::from_utf8(text).map_err(|error| not_utf_8(error.valid_up_to()))?;
    if !text.trim_start().starts_with('{') {
        return Err(NO_OBJECT.to_owned());
    }
    let mut unknown = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let mut note = |name: serde_ignored::Path<'_>| unknown.push(name.to_string());
    let noting = serde_ignored::Deserializer::new(&mut json, &mut note);
    let value = serde_path_to_error::deserialize(noting).map_err(|error| {
        // The path of the whole object is a dot, and that of what has no name a question mark.
        match error.path().to_string().as_str() {
            "." | "?" => error.inner().to_string(),
            path => format!("`{path}`: {}", error.inner()),
        }
    })?;
    json.end().map_err(|error| error.to_string())?;
    let object: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut members = object.as_object().into_iter().flatten();
    match members.find(|(name, value)| value.is_null() && !unknown.contains(name)) {
        Some((name, _)) => Err(format!("`{name}`: null: leave the member out")),
        None => Ok((value, object, unknown)),
    }
}

/// The message for a text that is not UTF-8 from a byte on, counted from 0.
pub fn not_utf_8(byte: usize) -> String {
    format!(
        "byte {} is not UTF-8: convert the file, such as by `iconv -f WINDOWS-1252 -t UTF-8`",
        byte + 1
    )
}
