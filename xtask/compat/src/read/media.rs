//! Media types and media ranges (RFC 9110, sections 8.3.1 and 12.5.1).

use std::collections::BTreeSet;

/// Normalises a media type: lower case, no spaces and quotes, sorted parameters, and no charset of
/// JSON (RFC 8259, section 11).
pub fn media_type(name: &str) -> String {
    let name: String = name.to_lowercase().replace('"', "").split_whitespace().collect();
    let (kind, parameters) = name.split_once(';').unwrap_or((&name, ""));
    let mut parameters: BTreeSet<&str> = parameters.split(';').collect();
    parameters.retain(|one| !(one.is_empty() || is_json(kind) && one.starts_with("charset=")));
    parameters.iter().fold(kind.to_owned(), |kind, one| format!("{kind};{one}"))
}

fn is_json(kind: &str) -> bool {
    kind == "application/json" || kind.ends_with("+json")
}

/// Whether `encoding` applies to a media type (Media Type Object).
pub fn is_form(media_type: &str) -> bool {
    media_type.starts_with("multipart/")
        || media_type.starts_with("application/x-www-form-urlencoded")
}

/// Whether a media range includes a media type, or another range.
pub fn includes(range: &str, other: &str) -> bool {
    let (range, other) = (split(range), split(other));
    let is_kind = match range.0.strip_suffix('*') {
        Some("*/") => true,
        Some(prefix) => other.0.starts_with(prefix),
        None => range.0 == other.0,
    };
    is_kind && range.1.is_subset(&other.1)
}

/// Whether two media types differ at most in the charset UTF-8, or US-ASCII, which is a part of it.
pub fn is_same_in_utf_8(one: &str, other: &str) -> bool {
    let without = |name| {
        let (kind, mut parameters) = split(name);
        parameters.retain(|one| !["charset=utf-8", "charset=us-ascii"].contains(one));
        (kind, parameters)
    };
    without(one) == without(other)
}

fn split(name: &str) -> (&str, BTreeSet<&str>) {
    let mut parts = name.split(';');
    (parts.next().unwrap_or_default(), parts.collect())
}
