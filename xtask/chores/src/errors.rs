//! The table of errors of the document, and what is generated from it: lines of the client, of
//! documents and of recipes, between two markers.

use anyhow::{Context, Result};
use http::StatusCode;
use serde_json::Value;

/// The markers: the comment around them is that of the language.
pub const MARKERS: [&str; 2] = ["errors: generated from the contract", "end of errors"];

/// Makes lines from the table.
type Lines = fn(&[Row]) -> String;

/// The files that have such lines, and what stands between them.
pub const PLACES: [(&str, Lines); 6] = [
    ("server/WIRE.md", table),
    ("client/src/error_code.rs", rows_for_rust),
    ("client/README.md", table_for_rust),
    ("tests/conformance/recipes/with_fetch.ts", |rows| {
        format!("const MAY_PASS = [{}]; // values of `error`, not HTTP statuses\n", retryable(rows))
    }),
    ("tests/conformance/recipes/with_httpx.py", python),
    ("tests/conformance/recipes/with_requests.py", python),
];

/// A value of `error`.
pub struct Row {
    number: u16,
    meaning: String,
    is_retryable: bool,
    /// The `message` of its example.
    example: String,
    /// What Rust calls it.
    name: String,
}

/// The table, from `x-error-codes` and the examples of the 400.
pub fn rows(document: &Value) -> Result<Vec<Row>> {
    let codes = document.pointer("/components/schemas/Error/properties/error/x-error-codes");
    let refusal = &document["paths"]["/plants"]["post"]["responses"]["400"];
    let examples = &refusal["content"]["application/json"]["examples"];
    let row = |code: &Value| {
        let number = code["error"].as_u64().and_then(|number| u16::try_from(number).ok())?;
        Some(Row {
            number,
            meaning: code["meaning"].as_str()?.to_owned(),
            is_retryable: code["retryable"].as_bool()?,
            example: examples[number.to_string()]["value"]["message"].as_str()?.to_owned(),
            name: name(number)?,
        })
    };
    let codes = codes.and_then(Value::as_array).context("`Error.error` has no x-error-codes")?;
    let row = |code| row(code).with_context(|| format!("{code} is no row, or has no example"));
    codes.iter().map(row).collect()
}

/// The name of a status in RFC 9110, as a name of Rust. The crate has two of them from an older RFC.
fn name(number: u16) -> Option<String> {
    let name = StatusCode::from_u16(number).ok()?.canonical_reason()?.replace([' ', '-'], "");
    Some(name.replace("Payload", "Content").replace("Entity", "Content"))
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
        (!before.contains(end) && !after.contains(start) && !after.contains(end))
            .then(|| format!("{before}{start}{marker}\n{lines}{}{end}{after}", &old[comment..]))
    };
    parts().with_context(|| {
        format!("{path} needs one line with `{start}` and below it one with `{end}`, as comments")
    })
}

/// The values after which the same plant may be sent again.
#[must_use]
pub fn retryable(rows: &[Row]) -> String {
    let rows = rows.iter().filter(|row| row.is_retryable);
    rows.map(|row| row.number.to_string()).collect::<Vec<_>>().join(", ")
}

fn python(rows: &[Row]) -> String {
    format!("MAY_PASS = {{{}}}  # values of `error`, not HTTP statuses\n", retryable(rows))
}

fn yes_or_no(row: &Row) -> &'static str {
    if row.is_retryable { "yes" } else { "no" }
}

/// The table in Markdown.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let head = "| `error` | when | an example of `message` | send the same plant again |\n\
                | --- | --- | --- | --- |\n";
    let line = |row: &Row| {
        let Row { number, meaning, example, .. } = row;
        format!("| {number} | {meaning} | {example} | {} |\n", yes_or_no(row))
    };
    rows.iter().fold(head.to_owned(), |table, row| table + &line(row))
}

fn table_for_rust(rows: &[Row]) -> String {
    let head = "| `error` | `ErrorCode` | `is_retryable` |\n| --- | --- | --- |\n";
    let line = |row: &Row| format!("| {} | `{}` | {} |\n", row.number, row.name, yes_or_no(row));
    rows.iter().fold(head.to_owned(), |table, row| table + &line(row))
}

/// A name, a number, whether the same plant may be sent again, and a meaning.
fn rows_for_rust(rows: &[Row]) -> String {
    let line = |Row { number, meaning, is_retryable, name, .. }: &Row| {
        format!("    {name}, {number}, {is_retryable}, {meaning:?};\n")
    };
    rows.iter().map(line).collect()
}
