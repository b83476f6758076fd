use crate::RetryingClient;
use crate::types::NewPlant;

/// A consumer may give it to another thread.
#[test]
fn create_is_send() {
    fn is_send(_: impl Send) {}
    let _ = |client: &RetryingClient, plant: &NewPlant| is_send(client.create_plant(plant));
    let _ = |client: &RetryingClient| is_send(client.create_plant(NewPlant::builder()));
}

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
