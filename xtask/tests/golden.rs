//! The drift check of the plant store: the checked-in files must be the files that the code
//! generates. With `EXPECTORATE=overwrite`, which `cargo xtask generate` sets, the test overwrites
//! them instead.
//!
//! A service prints its published document, and the client, its mocks and its commands are
//! generated from the document. The values of `error` are inserted into a page.

use groundwork_testing::{Part, Suite, assert_between_markers, generate};
use serde_json::Value;
use xtask::checkout::{DOCUMENT, build, root};

#[test]
fn plant_store_is_up_to_date() {
    let suite = Suite::new(build("--bin", "plant-store").expect("the program builds"));
    let client = root().join("client/src/generated.rs");
    let document = suite.assert_up_to_date(root().join(DOCUMENT), client);
    assert_contents("client/src/mock.rs", &generate(Part::Mock, &document));
    assert_contents("client/src/cli/generated.rs", &generate(Part::Commands, &document));
    let json = serde_json::to_value(&document).expect("a document is JSON");
    assert_between_markers(root().join("server/WIRE.md"), "errors", &table_of_errors(&json));
}

fn assert_contents(path: &str, text: &str) {
    expectorate::assert_contents(root().join(path), text);
}

/// Formats the values of `error`, with the example of a message that the document has of each, as a
/// table in Markdown.
fn table_of_errors(document: &Value) -> String {
    let values =
        &document["components"]["schemas"]["Error"]["properties"]["error"]["x-error-codes"];
    let refusal = &document["paths"]["/plants"]["post"]["responses"]["400"];
    let examples = &refusal["content"]["application/json"]["examples"];
    let row = |value: &Value| {
        let error = &value["error"];
        let meaning = value["meaning"].as_str().expect("a value has a meaning");
        let example = examples[error.to_string()]["value"]["message"].as_str();
        let example = example.expect("a value has an example");
        let is_retryable = value["retryable"].as_bool().expect("a value is retryable or not");
        let again = if is_retryable { "yes" } else { "no" };
        format!("| {error} | {meaning} | {example} | {again} |\n")
    };
    let rows: String = values.as_array().expect("a list of values").iter().map(row).collect();
    format!(
        "| `error` | when | an example of `message` | send the same request again |\n\
         | --- | --- | --- | --- |\n{rows}"
    )
}
