//! Receives a body, and parses it as the type that the document declares.
//!
//! The derived `Deserialize` of the type does most of the work. This module adds three checks: the
//! text is valid UTF-8, even in members that nothing reads; it is an object (serde would also
//! accept an array as a struct); and nothing follows the object.
//!
//! Nothing here may name a type or a member of a contract.

use dropshot::Body;
use http_body_util::BodyExt;
use humantime::format_duration;
use hyper::body::Body as _;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::{ErrorCode, Refusal};
use crate::http::Limits;

/// The first allocation for a body, at most. A client may declare any length.
const FIRST_ALLOCATION: usize = 64 * 1024;

/// The maximum length of a message in characters. A message may repeat a value of the body.
const MAX_MESSAGE: usize = 200;

/// How many characters of a message that is too long are kept at its end, which says what was
/// expected and where.
const END_OF_MESSAGE: usize = 80;

/// The maximum length of a member name in the log, in characters.
const MAX_NAME: usize = 40;

/// The maximum number of ignored members that the log names.
const MAX_NAMES: usize = 3;

/// The whitespace of JSON (RFC 8259, section 2).
const WHITESPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Receives the whole body within the limits.
///
/// # Errors
///
/// `error` 408 or 413, or 400 if the body is incomplete.
pub async fn receive(body: Body, limits: &Limits) -> Result<Vec<u8>, Refusal> {
    let limit = usize::try_from(limits.max_body.as_u64()).unwrap_or(usize::MAX);
    let received = timeout(*limits.body_timeout, receive_up_to(limit, body)).await;
    received.unwrap_or_else(|_| {
        let limit = format_duration(*limits.body_timeout);
        let message = format!("the body did not arrive within {limit}");
        Err(Refusal::new(ErrorCode::REQUEST_TIMEOUT, message))
    })
}

async fn receive_up_to(limit: usize, mut body: Body) -> Result<Vec<u8>, Refusal> {
    let too_large = || {
        let message = format!("the body is larger than {limit} bytes");
        Refusal::new(ErrorCode::CONTENT_TOO_LARGE, message)
    };
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(too_large());
    }
    // The bytes are copied, because otherwise each of many small chunks would keep a network buffer
    // alive.
    let mut bytes = Vec::with_capacity(declared.min(FIRST_ALLOCATION));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            let message =
                "the body is incomplete: it ended early, or one of its chunks is malformed";
            Refusal::new(ErrorCode::BAD_REQUEST, message).because("the body is incomplete")
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Parses the text as a `T`. Returns also the names of the first few members that the type does not
/// have, for the log.
///
/// # Errors
///
/// `error` 400 if the text is not a `T`.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<(T, Vec<String>), Refusal> {
    let text = str::from_utf8(text).map_err(|error| {
        let place = format!("byte {}", error.valid_up_to() + 1);
        refused(format!("the body is not UTF-8 at {place}"), &place)
    })?;
    if !text.trim_start_matches(WHITESPACE).starts_with('{') {
        return Err(refused("the body must be a JSON object".into(), "the beginning"));
    }
    let mut ignored = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let mut note = |name: serde_ignored::Path<'_>| {
        if ignored.len() < MAX_NAMES {
            ignored.push(printable_name(&name.to_string()));
        }
    };
    let deserializer = serde_ignored::Deserializer::new(&mut json, &mut note);
    let value = serde_path_to_error::deserialize(deserializer)
        .map_err(|error| refusal(&error.path().to_string(), error.inner()))?;
    json.end().map_err(|error| refusal(".", &error))?;
    Ok((value, ignored))
}

/// Creates a refusal with serde's message, prefixed with the path of the member. The path of the
/// whole body is a dot, the path in an incomplete body is a question mark, and both are left out.
fn refusal(path: &str, error: &serde_json::Error) -> Refusal {
    let place = format!("line {} column {}", error.line(), error.column());
    if path == "." || path == "?" {
        return refused(shortened(&error.to_string()), &place);
    }
    let path = printable_name(path);
    refused(shortened(&format!("`{path}`: {error}")), &format!("`{path}`, {place}"))
}

/// Creates a refusal. The message may repeat a value of the body, so the log only contains the
/// place.
fn refused(message: String, place: &str) -> Refusal {
    let refusal = Refusal::new(ErrorCode::BAD_REQUEST, message);
    refusal.because(format!("the body is refused at {place}"))
}

/// Truncates a member name and escapes line breaks and control characters. The client chooses the
/// name, and a terminal may show the log.
fn printable_name(name: &str) -> String {
    name.chars().flat_map(char::escape_debug).take(MAX_NAME).collect()
}

/// Leaves out the middle of a message that is too long.
pub fn shortened(message: &str) -> String {
    let length = message.chars().count();
    if length <= MAX_MESSAGE {
        return message.to_owned();
    }
    let start = message.chars().take(MAX_MESSAGE - END_OF_MESSAGE - 1);
    let end = message.chars().skip(length - END_OF_MESSAGE);
    start.chain(['…']).chain(end).collect()
}
