//! What the log says of a request.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use dropshot::HttpError;
use http::Method;
use http::request::Parts;
use slog::{KV, Record, Serializer};

use crate::log::shortened;
use plant_store_api::error_code::ErrorCode;

/// The fields of an access record. A value of a plant, a token or a URI is never among them.
pub struct Access<'a> {
    /// The id that the answer carries as `X-Request-Id`.
    pub request_id: &'a str,
    pub remote_addr: SocketAddr,
    /// `Error.error` of a refusal.
    pub error: Option<ErrorCode>,
    /// Why the request was refused, if that helps an operator to help the client.
    pub cause: Option<Cow<'a, str>>,
    /// The name of the accepted token.
    pub token: Option<&'a str>,
    /// The names of members that were ignored, a few of them.
    pub ignored: &'a [String],
    /// From the routed request to the finished answer.
    pub latency: Duration,
}

impl KV for Access<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{}", self.remote_addr))?;
        // The operation has one.
        serializer.emit_str("method".into(), Method::POST.as_str())?;
        // The contract has one status for every refusal.
        serializer.emit_u16("status".into(), if self.error.is_some() { 400 } else { 200 })?;
        if let Some(error) = self.error {
            serializer.emit_u16("error".into(), error.number())?;
        }
        if let Some(cause) = &self.cause {
            serializer.emit_str("cause".into(), cause)?;
        }
        if let Some(token) = self.token {
            serializer.emit_str("token".into(), token)?;
        }
        if !self.ignored.is_empty() {
            serializer.emit_str("ignored".into(), &self.ignored.join(","))?;
        }
        serializer.emit_u64(
            "latency_us".into(),
            u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX),
        )
    }
}

/// The record of a request that is not for the operation. It has the same fields as the records of
/// the requests that Dropshot's router refuses.
pub struct Misrouted<'a> {
    pub request_id: &'a str,
    pub remote_addr: SocketAddr,
    pub head: &'a Parts,
    pub refusal: &'a HttpError,
}

impl KV for Misrouted<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{}", self.remote_addr))?;
        serializer.emit_str("method".into(), shortened(self.head.method.as_str()))?;
        serializer.emit_str("path".into(), shortened(self.head.uri.path()))?;
        serializer.emit_u16("status".into(), self.refusal.status_code.as_u16())?;
        serializer.emit_str("cause".into(), &self.refusal.internal_message)
    }
}
