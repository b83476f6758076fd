//! What the log says of a request, and what the metrics count.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use http::Method;
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use plant_store_api::error_code::ErrorCode;
use slog::{KV, Record, Serializer};

const REFUSALS: &str = "plant_store_refusals_total";
const REQUEST_DURATION: &str = "plant_store_request_duration_seconds";

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

/// The series of requests.
pub struct RequestMetrics {
    duration: Histogram,
    /// By the order of [`ErrorCode::ALL`].
    refusals: Vec<Counter>,
}

impl RequestMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_counter!(
            REFUSALS,
            "Requests of the operation that were refused, by the error member of the answer."
        );
        describe_histogram!(
            REQUEST_DURATION,
            Unit::Seconds,
            "From the routed request to its answer, refusals included."
        );
        let refusals = |code: &ErrorCode| counter!(REFUSALS, "error" => code.number().to_string());
        Self {
            duration: histogram!(REQUEST_DURATION),
            refusals: ErrorCode::ALL.iter().map(refusals).collect(),
        }
    }

    /// Counts an answered request: `error` is that of a refusal.
    pub fn answered(&self, error: Option<ErrorCode>, latency: Duration) {
        self.duration.record(latency);
        if let Some(error) = error {
            self.refusals[error as usize].increment(1);
        }
    }
}
