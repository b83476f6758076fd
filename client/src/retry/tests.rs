use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::{Error, ResponseValue, RetryingClient, may_repeat, refusal, types};

#[test]
fn refusals_408_500_503_and_proxy_errors_may_be_repeated() {
    for (error, repeat) in [
        (400, false),
        (401, false),
        (408, true),
        (409, false),
        (413, false),
        (415, false),
        (500, true),
        (503, true),
    ] {
        let body = types::Error { error, message: String::new() };
        let refused = ResponseValue::new(body, StatusCode::BAD_REQUEST, HeaderMap::new());
        let refused = Error::ErrorResponse(refused);
        assert_eq!(refusal(&refused).map(|refusal| refusal.error), Some(error));
        assert_eq!(may_repeat(&refused), repeat, "{error}");
    }
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
