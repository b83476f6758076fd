//! The published document, and what the specification says. `xtask/chores/tests/golden.rs` says
//! whether it is the document that the code makes.

use std::fs;
use std::path::{Path, PathBuf};

use assert_json_diff::assert_json_include;
use plant_store_tests::build;
use serde_json::Value;
use xshell::{Shell, cmd};
use xtask::checkout::{DOCUMENT, root};
use xtask::run::quietly;

/// The checked-in document, as text.
pub fn text() -> String {
    fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in")
}

/// The checked-in document.
pub fn document() -> Value {
    serde_json::from_str(&text()).expect("the document is JSON")
}

/// The specification as a document, written by hand. What OpenAPI asks for and the specification
/// leaves open is as it was published first: the default of `base_url`, `operationId`, the tag.
fn specification() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("specification.json")
}

#[test]
fn document_has_everything_of_the_specification() {
    let text = fs::read_to_string(specification()).expect("it is checked in");
    let mut specified: Value = serde_json::from_str(&text).expect("JSON");
    // An addition needs another version.
    specified["info"]["version"] = document()["info"]["version"].clone();
    assert_json_include!(actual: document(), expected: specified);
}

/// An optional member is absent or of its type. Without `schemars(with)` the document would allow
/// null, which the service refuses.
#[test]
fn document_has_no_nullable_member() {
    assert!(!text().contains("nullable"));
}

/// `into_parts` ties the two types, but a field that it takes and drops compiles: then the service
/// would answer 200 and lose the member.
#[test]
fn new_plant_has_the_members_of_a_plant_and_an_id() {
    let schemas = &document()["components"]["schemas"];
    let mut new_plant = schemas["NewPlant"].clone();
    new_plant["properties"].as_object_mut().expect("properties").remove("id").expect("an id");
    new_plant["required"].as_array_mut().expect("names").retain(|name| name != "id");
    for keyword in ["properties", "required"] {
        assert_eq!(new_plant[keyword], schemas["Plant"][keyword]);
    }
}

#[test]
fn what_the_document_adds_to_the_specification_breaks_no_consumer() {
    let compat = build("openapi-compat", false).expect("the program builds");
    let specification = specification();
    let published = root().join(DOCUMENT);
    let sh = Shell::new().expect("a folder");
    quietly(cmd!(sh, "{compat} {specification} {published}")).expect("nothing breaks a consumer");
}
