use super::*;

#[test]
fn example_has_every_member_and_size_counts_each_text() {
    let plant = NewPlant::example();
    let example = serde_json::to_value(&plant).expect("a plant is JSON");
    let declared = schemars::schema_for!(NewPlant).schema.object.expect("an object").properties;
    let example = example.as_object().expect("an object");
    assert!(declared.keys().all(|member| example.contains_key(member)), "{example:?}");
    let texts = example.values().filter_map(|value| value.as_str());
    assert_eq!(plant.size(), texts.map(str::len).sum::<usize>());
}
