//! What the head of a request decides, in this order, before one byte of its body is read:
//!
//! | step | else |
//! | --- | --- |
//! | the exact route | 404, 405: not a request of the operation |
//! | one `Host`, and no transfer coding but `chunked` | 400 |
//! | a bearer token that is accepted | 401, or 503 if the tokens are not known |
//! | the rate of the token | 429 |
//! | the media type | 415 |
//! | a place for the create | 503 |
//!
//! Dropshot's router also takes `post`, `//plants`, `/plants/` and `/%70lants` for the operation,
//! but a proxy in front of the service may have rules for `POST /plants` alone.
//!
//! Of the value of `Authorization`, only the digest of the token leaves this module.

use std::sync::Arc;

use dropshot::{ClientErrorStatusCode, HttpError};
use http::header::{ALLOW, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::accepted_tokens::{Accepted, AcceptedTokens};
use crate::http::answer::Refusal;
use crate::token::Token;

/// The one path of the contract.
const PATH: &str = "/plants";

/// A request whose body is not read.
pub enum NotAdmitted {
    /// It is none of the operation, whatever Dropshot's router says. This is Dropshot's own refusal of
    /// other paths and methods.
    Misrouted(Box<HttpError>),
    /// It has a token if that is accepted, or was until it expired.
    Refused { refusal: Refusal, token: Option<Arc<Accepted>> },
}

/// A place among the creates that are in the service: the body of its request may be read. It is free
/// again when this is dropped: when the socket has taken the last byte of the answer, or the connection
/// has ended.
pub struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_token: OwnedSemaphorePermit,
    pub token: Arc<Accepted>,
}

/// Decides whether the body of a request may be read.
pub fn admit(
    head: &Parts,
    accepted: &AcceptedTokens,
    places: &Arc<Semaphore>,
) -> Result<Place, NotAdmitted> {
    check_route(head).map_err(|it| NotAdmitted::Misrouted(it.into()))?;
    check_host(head)?;
    check_transfer_coding(&head.headers)?;
    let token = accepted.find(&bearer_token(&head.headers)?.digest())?;
    let place = token
        .check_expiry()
        .and_then(|()| token.check_rate())
        .and_then(|()| check_media_type(&head.headers))
        .and_then(|()| Place::take(places, &token));
    place.map_err(|refusal| NotAdmitted::Refused { refusal, token: Some(token) })
}

impl From<Refusal> for NotAdmitted {
    /// Refused before its token was accepted.
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal, token: None }
    }
}

impl Place {
    /// Takes a place for a create with that token.
    ///
    /// # Errors
    ///
    /// None is free, or the token has its share of them.
    pub fn take(places: &Arc<Semaphore>, token: &Arc<Accepted>) -> Result<Self, Refusal> {
        let take = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned();
        let (Ok(of_token), Ok(of_all)) = (take(&token.places), take(places)) else {
            return Err(Refusal::Overload);
        };
        Ok(Self { _of_all: of_all, _of_token: of_token, token: Arc::clone(token) })
    }
}

/// Refuses what is not exactly `POST /plants`.
fn check_route(head: &Parts) -> Result<(), HttpError> {
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

/// RFC 9112, section 3.2: an HTTP/1.1 request has one `Host`, and a valid one.
fn check_host(head: &Parts) -> Result<(), Refusal> {
    let is_valid = head.version != Version::HTTP_11
        || only(&head.headers, &HOST).is_some_and(is_host_and_port);
    if is_valid { Ok(()) } else { Err(Refusal::Host) }
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
fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_chunked = |coding: &str| coding.trim_ascii().eq_ignore_ascii_case("chunked");
    let is_valid = !headers.contains_key(TRANSFER_ENCODING)
        || only(headers, &TRANSFER_ENCODING).is_some_and(is_chunked);
    if is_valid { Ok(()) } else { Err(Refusal::TransferCoding) }
}

/// The token of a request (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
fn bearer_token(headers: &HeaderMap) -> Result<Token, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Refusal::NoToken)?;
    if values.next().is_some() {
        return Err(Refusal::MalformedToken);
    }
    let value = value.to_str().map_err(|_| Refusal::MalformedToken)?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(Refusal::NoToken);
    }
    // 1*SP between the two.
    Token::parse(credentials.trim_start_matches(' ')).ok_or(Refusal::MalformedToken)
}

/// RFC 9110, section 8.3: one media type, its name in any case. RFC 8259 defines no parameters of
/// `application/json`, so they are ignored.
fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
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

/// The value of a header field that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests;
