//! What the service records and counts of each request of an operation, once it has ended.
//!
//! A record holds no value of a plant, no token and no query.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dropshot::{RequestContext, ServerContext};
use http::StatusCode;
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use plant_store_api::error_code::ErrorCode;
use slog::{KV, Logger, Record, Serializer, debug, error, info};

use crate::http::known_tokens::KnownToken;
use crate::http::refusal::Refusal;

const REFUSALS: &str = "refusals_total";
const REQUEST_DURATION: &str = "request_duration_seconds";

/// The status of a record whose request has no answer, as nginx has it.
const NO_ANSWER: u16 = 499;

/// Where the records go, and the handles of the series.
pub struct AccessLog {
    log: Logger,
    duration: Histogram,
    /// In the order of [`ErrorCode::ALL`].
    refusals: Vec<Counter>,
}

impl AccessLog {
    /// Registers the series.
    pub fn new(log: Logger) -> Self {
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
            log,
            duration: histogram!(REQUEST_DURATION),
            refusals: ErrorCode::ALL.iter().map(refusals).collect(),
        }
    }

    fn count(&self, answer: &Answered, latency: Duration) {
        self.duration.record(latency);
        if let Some(refusal) = &answer.refusal {
            self.refusals[refusal.code() as usize].increment(1);
        }
    }
}

/// The record of a request. Dropping it writes it: a request whose client leaves before the answer
/// is dropped too, and its plant may be stored.
pub struct AccessRecord {
    log: Arc<AccessLog>,
    /// The id that the answer carries as `X-Request-Id`.
    request_id: String,
    /// The `operationId` of the document.
    operation: String,
    remote_addr: SocketAddr,
    started: Instant,
    /// The token of the request, if the service knows it, also if it has expired.
    pub token: Option<Arc<KnownToken>>,
    /// The names of members that were ignored, a few of them.
    pub ignored: Vec<String>,
    /// None until the request is answered.
    pub answer: Option<Answered>,
}

/// What a request was answered.
pub struct Answered {
    pub status: StatusCode,
    pub refusal: Option<Refusal>,
}

impl AccessRecord {
    /// The record of a request that begins now.
    pub fn new(log: Arc<AccessLog>, context: RequestContext<impl ServerContext>) -> Self {
        Self {
            log,
            remote_addr: context.request.remote_addr(),
            request_id: context.request_id,
            operation: context.endpoint.operation_id,
            started: Instant::now(),
            token: None,
            ignored: Vec::new(),
            answer: None,
        }
    }
}

impl Drop for AccessRecord {
    fn drop(&mut self) {
        let latency = self.started.elapsed();
        let msg = if let Some(answer) = &self.answer {
            self.log.count(answer, latency);
            "request completed"
        } else {
            "request ended without an answer"
        };
        let record = Fields { record: self, latency };
        if thread::panicking() {
            // The connection ends without an answer.
            error!(self.log.log, "request panicked"; record);
            return;
        }
        // The records of strangers could fill the disk that holds the log.
        if self.token.is_some() {
            info!(self.log.log, "{msg}"; record);
        } else {
            debug!(self.log.log, "{msg}"; record);
        }
    }
}

/// The fields of a record.
struct Fields<'a> {
    record: &'a AccessRecord,
    /// From the routed request to the finished answer.
    latency: Duration,
}

impl KV for Fields<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        let AccessRecord { request_id, operation, remote_addr, token, ignored, answer, .. } =
            self.record;
        serializer.emit_str("req_id".into(), request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{remote_addr}"))?;
        serializer.emit_str("operation".into(), operation)?;
        let status = answer.as_ref().map_or(NO_ANSWER, |answer| answer.status.as_u16());
        serializer.emit_u16("status".into(), status)?;
        if let Some(refusal) = answer.as_ref().and_then(|answer| answer.refusal.as_ref()) {
            serializer.emit_u16("error".into(), refusal.code().number())?;
            if let Some(cause) = refusal.cause() {
                serializer.emit_str("cause".into(), &cause)?;
            }
        }
        if let Some(token) = token {
            serializer.emit_str("token".into(), token.stored.name.as_str())?;
        }
        if !ignored.is_empty() {
            serializer.emit_str("ignored".into(), &ignored.join(","))?;
        }
        let latency = u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX);
        serializer.emit_u64("latency_us".into(), latency)
    }
}
