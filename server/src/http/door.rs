//! What is checked before anything else: the route, and what RFC 9112 demands of a head. (The
//! listener's `door` is another one: it bounds the connections.)
//!
//! Dropshot's router also takes `post`, `//plants`, `/plants/` and `/%70lants` for the operation,
//! but a proxy in front of the service may have rules for `POST /plants` alone. Nothing here looks
//! at the credentials.

use dropshot::{ClientErrorStatusCode, HttpError};
use http::header::{ALLOW, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, Version};

use crate::http::refusal::Refusal;

/// The one path of the contract.
const PATH: &str = "/plants";

/// Refuses what is not exactly `POST /plants`, with Dropshot's own refusal of other paths and
/// methods.
pub fn check_route(head: &Parts) -> Result<(), HttpError> {
    if head.uri.path() != PATH {
        return Err(HttpError::for_not_found(None, "the path is spelled otherwise".into()));
    }
    if head.method != Method::POST {
        let refusal = HttpError::for_client_error_with_status(
            None,
            ClientErrorStatusCode::METHOD_NOT_ALLOWED,
        );
        return Err(refusal.with_header(ALLOW, "POST").expect("`POST` is a header value"));
    }
    Ok(())
}

/// Refuses a head without a valid `Host`, or with a transfer coding that is not served.
pub fn check_head(head: &Parts) -> Result<(), Refusal> {
    if !has_valid_host(head) {
        return Err(Refusal::Host);
    }
    if !has_valid_transfer_coding(head) {
        return Err(Refusal::TransferCoding);
    }
    Ok(())
}

/// RFC 9112, section 3.2: an HTTP/1.1 request has one `Host`, and a valid one.
fn has_valid_host(head: &Parts) -> bool {
    head.version != Version::HTTP_11 || only(&head.headers, &HOST).is_some_and(is_host_and_port)
}

/// RFC 9110, section 7.2: `uri-host [ ":" port ]`.
fn is_host_and_port(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (text, ""),
    };
    // RFC 3986, section 3.2.3: digits, and Rust would also take a sign before them.
    let is_port = port.is_empty() || !port.starts_with('+') && port.parse::<u16>().is_ok();
    is_port && host.parse::<Authority>().is_ok_and(|authority| authority.host() == host)
}

/// RFC 9112, section 6.1: a body has no transfer coding but `chunked`, once.
fn has_valid_transfer_coding(head: &Parts) -> bool {
    !head.headers.contains_key(TRANSFER_ENCODING)
        || only(&head.headers, &TRANSFER_ENCODING)
            .is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case("chunked"))
}

/// The value of a header field that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
