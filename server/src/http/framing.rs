//! What RFC 9112 demands of a head so that it is clear to whom the request goes and where it ends.
//!
//! A proxy may understand a head that breaks these rules otherwise than hyper does. So it is
//! refused before the credentials are looked at, and its connection closes. Only the route is
//! checked before.

use dropshot::RequestInfo;
use http::header::{HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Version};

use crate::http::field::Field;
use crate::http::refusal::Refusal;

/// RFC 9112, section 3.2: an HTTP/1.1 request has one `Host`, and a valid one.
pub fn check_host(head: &RequestInfo) -> Result<(), Refusal> {
    if head.version() != Version::HTTP_11 {
        return Ok(());
    }
    match Field::of(head.headers(), &HOST) {
        Field::Once(value) if value.to_str().is_ok_and(is_host_and_port) => Ok(()),
        _ => Err(Refusal::Host),
    }
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
pub fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Refusal> {
    match Field::of(headers, &TRANSFER_ENCODING) {
        Field::Absent => Ok(()),
        Field::Once(coding) if is_chunked(coding) => Ok(()),
        Field::Once(_) | Field::Repeated => Err(Refusal::TransferCoding),
    }
}

fn is_chunked(coding: &HeaderValue) -> bool {
    coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked")
}
