//! Generates what a client needs to know about retries: the values of `error` for a page and for the
//! client, from the table in `server/api/src/error_code.rs`, and the operations that the document
//! marks as idempotent.

use openapiv3::OpenAPI;
use plant_store_api::error_code::ErrorCode;

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

/// Formats the ids of the operations with `x-idempotent` as elements of the client's list.
pub fn idempotent(document: &OpenAPI) -> String {
    let operations = document.operations().map(|(_, _, operation)| operation);
    let marked = operations.filter(|one| one.extensions.get("x-idempotent") == Some(&true.into()));
    let line = |id| format!("    {id:?},\n");
    marked.flat_map(|one| &one.operation_id).map(line).collect()
}
