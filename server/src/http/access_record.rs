//! The record of an answered request. It holds no value of a plant, no token and no query.

use std::net::SocketAddr;
use std::time::Duration;

use http::StatusCode;
use slog::{KV, Record, Serializer};

use crate::http::refusal::Refusal;

/// The fields of the record.
pub struct AccessRecord<'a> {
    /// The id that the answer carries as `X-Request-Id`.
    pub request_id: &'a str,
    /// The `operationId` of the document.
    pub operation: &'a str,
    pub remote_addr: SocketAddr,
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
        serializer.emit_str("operation".into(), self.operation)?;
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
