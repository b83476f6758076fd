//! The series of requests.

use std::time::Duration;

use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use plant_store_api::error_code::ErrorCode;

const REFUSALS: &str = "plant_store_refusals_total";
const REQUEST_DURATION: &str = "plant_store_request_duration_seconds";

/// The handles of the series.
pub struct RequestMetrics {
    duration: Histogram,
    /// In the order of [`ErrorCode::ALL`].
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
