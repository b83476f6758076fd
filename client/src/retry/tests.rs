use reqwest::StatusCode;

use crate::{Error, RetryingClient, may_repeat, types};

#[test]
fn errors_of_a_proxy_may_be_repeated() {
    for (status, repeat) in [(401, false), (404, false), (502, true), (504, true)] {
        let mut response = http::Response::new("");
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        assert_eq!(may_repeat(&Error::UnexpectedResponse(response.into())), repeat, "{status}");
    }
    assert!(!may_repeat(&Error::InvalidRequest(String::new())));
}

/// A consumer may give it to another thread.
#[test]
fn create_is_send() {
    fn is_send(_: impl Send) {}
    let _ = |client: &RetryingClient, plant: &types::NewPlant| is_send(client.create_plant(plant));
}
