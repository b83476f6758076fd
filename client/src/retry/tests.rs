use crate::RetryingClient;
use crate::types::NewPlant;

/// A consumer may give it to another thread.
#[test]
fn create_is_send() {
    fn is_send(_: impl Send) {}
    let _ = |client: &RetryingClient, plant: &NewPlant| is_send(client.create_plant(plant));
    let _ = |client: &RetryingClient| is_send(client.create_plant(NewPlant::builder()));
}
