//! The values of `error`, for a page and for the client: lines from the one table of them,
//! `server/api/src/error_code.rs`, between two markers of a checked-in file.

use anyhow::{Context, Result};
use plant_store_api::error_code::ErrorCode;

/// The markers: the comment around them is that of the language.
pub const MARKERS: [&str; 2] = ["errors: generated from the contract", "end of errors"];

/// The table in Markdown.
#[must_use]
pub fn table() -> String {
    let row = |code: &ErrorCode| {
        let retryable = if code.is_retryable() { "yes" } else { "no" };
        format!("| {} | {} | {} | {retryable} |\n", code.number(), code.meaning(), code.example())
    };
    let rows: String = ErrorCode::ALL.iter().map(row).collect();
    format!(
        "| `error` | when | an example of `message` | send the same request again |\n\
         | --- | --- | --- | --- |\n{rows}"
    )
}

/// The rows of the client's `ErrorCode`.
#[must_use]
pub fn rows() -> String {
    let row = |code: &ErrorCode| {
        let is_retryable = code.is_retryable();
        format!("    {code:?}, {}, {is_retryable}, {:?};\n", code.number(), code.meaning())
    };
    ErrorCode::ALL.iter().map(row).collect()
}

/// The values after which the same request may be sent again.
#[must_use]
pub fn retryable() -> String {
    let codes = ErrorCode::ALL.iter().filter(|code| code.is_retryable());
    codes.map(|code| code.number().to_string()).collect::<Vec<_>>().join(", ")
}

/// The text of this file, with these lines between its markers.
pub fn between(markers: [&str; 2], path: &str, text: &str, lines: &str) -> Result<String> {
    let [start, end] = markers;
    let parts = || {
        let (before, rest) = text.split_once(start)?;
        let (marker, rest) = rest.split_once('\n')?;
        let (old, after) = rest.split_once(end)?;
        // The start of the comment is in the line of the marker.
        let comment = old.rfind('\n').map_or(0, |last| last + 1);
        Some(format!("{before}{start}{marker}\n{lines}{}{end}{after}", &old[comment..]))
    };
    parts().with_context(|| format!("{path} needs a line with `{start}`, then one with `{end}`"))
}
