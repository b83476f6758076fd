//! The access log: writes a record for each request of an operation when the request ends, and
//! updates the metrics.
//!
//! A record must never contain a value of a resource, a token or a query.

use std::mem::take;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dropshot::{RequestContext, ServerContext};
use http::StatusCode;
use metrics::{Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use slog::{KV, Logger, Record, Serializer, debug, error, info};

use crate::error::Refusal;
use crate::service::Service;
use crate::tokens::KnownToken;

const REFUSALS: &str = "refusals_total";
const REQUEST_DURATION: &str = "request_duration_seconds";

/// The status in the record of a request that got no answer, as in nginx.
const NO_ANSWER: u16 = 499;

/// The destination of the records.
pub struct AccessLog {
    log: Logger,
    duration: Histogram,
}

impl AccessLog {
    /// Creates an access log that writes to `log`, and registers its metrics.
    pub fn new(service: &Service, log: Logger) -> Self {
        describe_counter!(REFUSALS, "Refused requests, by the error member of the answer.");
        describe_histogram!(
            REQUEST_DURATION,
            Unit::Seconds,
            "Time from the routed request to its answer, refusals included."
        );
        for row in service.error_table() {
            counter!(REFUSALS, "error" => row.error.to_string()).increment(0);
        }
        Self { log, duration: histogram!(REQUEST_DURATION) }
    }
}

/// The record of a request, which is written when it is dropped.
///
/// A request whose client disconnects before the answer is dropped too. Its row may be stored.
pub struct AccessRecord {
    log: Arc<AccessLog>,
    /// The `X-Request-Id` of the answer.
    request_id: String,
    /// The `operationId` in the document.
    operation: String,
    remote_addr: SocketAddr,
    started: Instant,
    /// The token of the request, if the service knows it. It may have expired.
    pub token: Option<Arc<KnownToken>>,
    /// The names of the first few members that were ignored.
    pub ignored: Vec<String>,
    /// `None` until the request is answered.
    pub status: Option<StatusCode>,
    /// `None` unless the request is refused.
    pub refusal: Option<Refusal>,
}

impl AccessRecord {
    /// Creates the record of a request that starts now.
    pub fn new(log: Arc<AccessLog>, context: &mut RequestContext<impl ServerContext>) -> Self {
        Self {
            log,
            remote_addr: context.request.remote_addr(),
            request_id: take(&mut context.request_id),
            operation: take(&mut context.endpoint.operation_id),
            started: Instant::now(),
            token: None,
            ignored: Vec::new(),
            status: None,
            refusal: None,
        }
    }
}

impl Drop for AccessRecord {
    fn drop(&mut self) {
        let AccessLog { log, duration } = &*self.log;
        let latency = self.started.elapsed();
        let msg = if self.status.is_some() {
            duration.record(latency);
            if let Some(refusal) = &self.refusal {
                counter!(REFUSALS, "error" => refusal.code.number().to_string()).increment(1);
            }
            "request completed"
        } else {
            "request ended without an answer"
        };
        let fields = Fields { record: self, latency };
        if thread::panicking() {
            // The connection ends without an answer.
            error!(log, "request panicked"; fields);
        } else if self.token.is_some() {
            info!(log, "{msg}"; fields);
        } else {
            // Otherwise clients without a token could fill the disk that holds the log.
            debug!(log, "{msg}"; fields);
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
        let AccessRecord { request_id, operation, remote_addr, token, ignored, .. } = self.record;
        serializer.emit_str("req_id".into(), request_id)?;
        serializer.emit_arguments("remote_addr".into(), &format_args!("{remote_addr}"))?;
        serializer.emit_str("operation".into(), operation)?;
        let status = self.record.status.map_or(NO_ANSWER, |status| status.as_u16());
        serializer.emit_u16("status".into(), status)?;
        if let Some(refusal) = &self.record.refusal {
            serializer.emit_u16("error".into(), refusal.code.number())?;
            if let Some(cause) = &refusal.cause {
                serializer.emit_str("cause".into(), cause)?;
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
