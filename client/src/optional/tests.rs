use crate::types::NewPlant;

#[test]
fn optional_member_takes_what_a_required_one_takes_and_plants_are_compared() {
    let fern = |tag: Option<&str>| {
        let fern = NewPlant::builder().id(1).name("Fern");
        NewPlant::try_from(fern.tag(tag)).expect("a plant")
    };
    let tagged = NewPlant::builder().id(1).name("Fern").tag("indoor");
    assert_eq!(fern(Some("indoor")), tagged.try_into().expect("a plant"));
    let tagged = NewPlant::builder().id(1).name("Fern").tag(Some("indoor".to_owned()));
    assert_eq!(fern(Some("indoor")), tagged.tag("indoor".to_owned()).try_into().expect("a plant"));
    assert_ne!(fern(None), fern(Some("indoor")));
}
