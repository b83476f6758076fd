//! Generates the table of the values of `error` for a page, from a document.

use anyhow::{Context, Result};
use openapiv3::OpenAPI;
use serde::Deserialize;
use serde_json::Value;

/// A value of `error`.
#[derive(Deserialize)]
pub struct Row {
    error: u16,
    meaning: String,
    retryable: bool,
    /// A message that the service sends with the value.
    #[serde(default)]
    example: String,
}

/// Reads the values of `error` and their examples.
pub fn rows(document: &OpenAPI) -> Result<Vec<Row>> {
    let document = serde_json::to_value(document)?;
    let table = &document["components"]["schemas"]["Error"]["properties"]["error"]["x-error-codes"];
    let mut rows: Vec<Row> = serde_json::from_value(table.clone())?;
    let operations = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    let mut operations = operations.filter_map(Value::as_object).flat_map(|path| path.values());
    let operation = operations.next().context("the document has an operation")?;
    let examples = &operation["responses"]["400"]["content"]["application/json"]["examples"];
    for row in &mut rows {
        let message = examples[row.error.to_string()]["value"]["message"].as_str();
        message.context("each value has an example")?.clone_into(&mut row.example);
    }
    Ok(rows)
}

/// Formats the values as a table in Markdown.
pub fn table(rows: &[Row]) -> String {
    let row = |Row { error, meaning, retryable, example }: &Row| {
        let retryable = if *retryable { "yes" } else { "no" };
        format!("| {error} | {meaning} | {example} | {retryable} |\n")
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "| `error` | when | an example of `message` | send the same request again |\n\
         | --- | --- | --- | --- |\n{rows}"
    )
}
