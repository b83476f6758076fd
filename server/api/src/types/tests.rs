use super::*;

#[test]
fn example_has_every_member() {
    let example = serde_json::to_value(NewPlant::example()).expect("a plant is JSON");
    let declared = schemars::schema_for!(NewPlant).schema.object.expect("an object").properties;
    let example = example.as_object().expect("an object");
    assert!(declared.keys().all(|member| example.contains_key(member)), "{example:?}");
}
