//! Compares the published document with the specification. The test `golden` of `xtask` compares it
//! with the document that the code generates.

use assert_json_diff::assert_json_include;
use serde_json::Value;

use super::pages::text;

/// Returns the checked-in document.
fn document() -> Value {
    serde_json::from_str(&text("openapi/plant-store.json")).expect("the document is JSON")
}

/// `specification.json` is the specification as an OpenAPI document, written by hand. Values that
/// OpenAPI requires and the specification leaves open are those that were published first: the
/// default of `base_url`, `operationId` and the tag.
#[test]
fn document_contains_the_whole_specification() {
    let mut specified: Value =
        serde_json::from_str(include_str!("../../specification.json")).expect("JSON");
    // An addition to the document changes its version.
    specified["info"]["version"] = document()["info"]["version"].clone();
    assert_json_include!(actual: document(), expected: specified);
}

/// An optional member is absent or has its type. Without `schemars(with)`, the document would allow
/// null, which the service refuses.
#[test]
fn document_has_no_nullable_member() {
    assert!(!text("openapi/plant-store.json").contains("nullable"));
}

/// `into_parts` names the fields of both types, but it still compiles if it drops a field. The
/// service would then answer 200 and lose the member.
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
