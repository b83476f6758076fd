//! Short ways into a JSON value. Each returns something empty if the value is of another type.

use serde_json::Value;

/// The items of an array.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The members of an object.
pub fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The text of a string.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
