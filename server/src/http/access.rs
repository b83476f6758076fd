//! The access record: what the log says of a request of the operation.

use std::time::Duration;

use http::{Method, StatusCode};
use slog::{KV, Record, Serializer};

use crate::http::error_code::ErrorCode;

/// The fields of an access record. A plant, a token or a URI is never among them.
pub struct Access<'a> {
    /// The id that the answer carries as `X-Request-Id`.
    pub request_id: &'a str,
    pub method: &'a Method,
    pub status: StatusCode,
    /// `Error.error` of a refusal.
    pub error: Option<ErrorCode>,
    /// Why the service failed, where it did.
    pub cause: Option<&'a str>,
    /// The name of the accepted token.
    pub token: Option<&'a str>,
    /// From the routed request to the finished answer.
    pub latency: Duration,
}

impl KV for Access<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("req_id".into(), self.request_id)?;
        serializer.emit_str("method".into(), self.method.as_str())?;
        serializer.emit_u16("status".into(), self.status.as_u16())?;
        if let Some(error) = self.error {
            serializer.emit_u16("error".into(), error.number())?;
        }
        if let Some(cause) = self.cause {
            serializer.emit_str("cause".into(), cause)?;
        }
        if let Some(token) = self.token {
            serializer.emit_str("token".into(), token)?;
        }
        serializer.emit_u64(
            "latency_us".into(),
            u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX),
        )
    }
}
