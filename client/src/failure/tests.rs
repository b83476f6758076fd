use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::{Error, ErrorCode, Failure, ResponseValue, types};

#[test]
fn proxy_error_is_retryable_by_its_status() {
    for (status, is_retryable) in
        [(400, false), (413, false), (429, true), (501, false), (502, true), (504, true)]
    {
        let mut response = http::Response::new("");
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        let failure = Failure::from(Error::UnexpectedResponse(response.into()));
        assert_eq!(failure.is_retryable(), is_retryable, "{status}");
    }
    assert!(!Failure::from(Error::InvalidRequest(String::new())).is_retryable());
}

/// Unescaped, this message would clear the terminal and pretend that the create succeeded.
#[test]
fn control_characters_of_a_refusal_are_escaped() {
    let refusal = types::Error {
        error: ErrorCode::Conflict.number(),
        message: "\u{1b}[2Jdone\n\u{9b}1m".to_owned(),
    };
    let response = ResponseValue::new(refusal, StatusCode::CONFLICT, HeaderMap::new());
    let failure = Failure::from(Error::ErrorResponse(response));
    assert_eq!(failure.to_string(), r"refused with 409: \u{1b}[2Jdone\n\u{9b}1m");
}

#[test]
fn invalid_response_is_reported_with_the_start_of_its_body() {
    let page = "\n<html>\r\n  <body>".to_owned() + &"x".repeat(300);
    let cause = serde_json::from_str::<types::Plant>(&page).expect_err("no plant");
    let failure = Failure::from(Error::InvalidResponsePayload(page.into(), cause));
    let text = failure.to_string();
    let expected = format!(": <html> <body>{}…", "x".repeat(187));
    assert!(text.contains("expected value") && text.ends_with(&expected), "{text}");
    assert!(!failure.is_retryable());
}
