//! The head of a request, but for its credentials: the route, what RFC 9112 demands, and the media
//! type.
//!
//! Dropshot's router also takes `post`, `//plants`, `/plants/` and `/%70lants` for the operation,
//! but a proxy in front of the service may have rules for `POST /plants` alone.

use dropshot::{ClientErrorStatusCode, HttpError};
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};

use crate::http::refusal::Refusal;

/// The one path of the contract.
const PATH: &str = "/plants";

/// What a header field takes besides its name and its value: its place in the map, and the two
/// allocations.
const FIELD: usize = 160;

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
pub fn check_framing(head: &Parts) -> Result<(), Refusal> {
    if !has_valid_host(head) {
        return Err(Refusal::Host);
    }
    if !has_valid_transfer_coding(head) {
        return Err(Refusal::TransferCoding);
    }
    Ok(())
}

/// RFC 9110, section 8.3: one media type, its name in any case. RFC 8259 defines no parameters of
/// `application/json`, so they are ignored.
pub fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(media_type), None) = (types.next(), types.next()) else {
        return Err(Refusal::NotJsonMediaType);
    };
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    if !essence.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Refusal::NotJsonMediaType);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::ContentCoding);
    }
    Ok(())
}

/// What a copy of the head takes, in bytes, about.
pub fn size(head: &Parts) -> usize {
    let target = head.uri.path_and_query().map_or(0, |it| it.as_str().len());
    let authority = head.uri.authority().map_or(0, |it| it.as_str().len());
    let field =
        |(name, value): (&HeaderName, &HeaderValue)| FIELD + name.as_str().len() + value.len();
    target + authority + head.headers.iter().map(field).sum::<usize>()
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
