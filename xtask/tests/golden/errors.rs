//! Generates the values of `error` for a page and for the client, from the table in
//! `server/api/src/error_code.rs`. They are inserted between two markers of a checked-in file.

use std::fs;

use anyhow::{Context, Result};
use plant_store_api::error_code::ErrorCode;
use xtask::checkout::root;

use crate::Generated;

/// Formats the values as a table in Markdown.
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

/// Formats the values as rows of the client's `ErrorCode`.
pub fn rows() -> String {
    let row = |code: &ErrorCode| {
        let is_retryable = code.is_retryable();
        format!("    {code:?}, {}, {is_retryable}, {:?};\n", code.number(), code.meaning())
    };
    ErrorCode::ALL.iter().map(row).collect()
}

/// Returns the content of a checked-in file with these lines between its two markers. Each marker
/// is in a comment.
pub fn between_markers(path: &'static str, lines: &str) -> Result<Generated> {
    const START: &str = "errors: generated from the contract";
    const END: &str = "end of errors";
    let text =
        fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))?;
    let parts = || {
        let (before, rest) = text.split_once(START)?;
        let (marker, rest) = rest.split_once('\n')?;
        let (old, after) = rest.split_once(END)?;
        // Keep the start of the comment, which is in the line of the marker.
        let comment = old.rfind('\n').map_or(0, |last| last + 1);
        Some(format!("{before}{START}{marker}\n{lines}{}{END}{after}", &old[comment..]))
    };
    let text = parts()
        .with_context(|| format!("{path} needs a line with `{START}`, then one with `{END}`"))?;
    Ok(Generated { path, text })
}
