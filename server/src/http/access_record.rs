//! The records of answered requests. They hold no value of a plant, no token and no query.

use std::net::SocketAddr;
use std::time::Duration;

use dropshot::{HttpError, RequestInfo};
use http::{Method, StatusCode};
use slog::{KV, Record, Serializer};

use crate::http::refusal::Refusal;

/// How much of a method or a path a record holds, in characters.
const LONGEST: usize = 200;

/// The fields of the record of an operation's request.
pub struct AccessRecord<'a> {
    /// The id that the answer carries as `X-Request-Id`.
    pub request_id: &'a str,
    pub remote_addr: SocketAddr,
    pub method: &'a Method,
    pub status: StatusCode,
    pub refusal: Option<&'a Refusal>,
    /// The name of the token, if the service knows it.
    pub token: Option<&'a str>,
    /// The names of members that were ignored, a few of them.
    pub ignored: &'a [String],
    /// From the routed request to the finished answer.
    pub latency: Duration,
}

impl KV for AccessRecord<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{}", self.remote_addr))?;
        serializer.emit_str("method".into(), self.method.as_str())?;
        serializer.emit_u16("status".into(), self.status.as_u16())?;
        if let Some(refusal) = self.refusal {
            serializer.emit_u16("error".into(), refusal.code().number())?;
        }
        if let Some(cause) = self.refusal.and_then(Refusal::cause) {
            serializer.emit_str("cause".into(), &cause)?;
        }
        if let Some(token) = self.token {
            serializer.emit_str("token".into(), token)?;
        }
        if !self.ignored.is_empty() {
            serializer.emit_str("ignored".into(), &self.ignored.join(","))?;
        }
        let latency = u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX);
        serializer.emit_u64("latency_us".into(), latency)
    }
}

/// The fields of the record of a request that does not match the operation to which Dropshot's
/// router gives it.
pub struct NotRoutedRecord<'a> {
    pub request_id: &'a str,
    pub remote_addr: SocketAddr,
    pub head: &'a RequestInfo,
    pub refusal: &'a HttpError,
}

impl KV for NotRoutedRecord<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        let method = format_args!("{:.LONGEST$}", self.head.method().as_str());
        let path = format_args!("{:.LONGEST$}", self.head.uri().path());
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{}", self.remote_addr))?;
        serializer.emit_arguments("method".into(), &method)?;
        serializer.emit_arguments("path".into(), &path)?;
        serializer.emit_u16("status".into(), self.refusal.status_code.as_u16())?;
        serializer.emit_str("cause".into(), &self.refusal.internal_message)
    }
}
