//! The metrics of creates, commits and the store.

use std::time::Duration;

use metrics::{
    Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::engine::{Outcome, Sizes};

const CREATES: &str = "creates_total";
const BATCH_SIZE: &str = "commit_batch_size";
const COMMIT_DURATION: &str = "commit_duration_seconds";
const QUEUE_DEPTH: &str = "queue_depth";
const DATABASE_RETRIES: &str = "database_retries_total";

/// Why work is sent to a database again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryCause {
    Connection,
    ReadOnly,
    Timeout,
    Serialization,
    Deadlock,
    Warning,
    Other,
}

impl RetryCause {
    const ALL: [Self; 7] = [
        Self::Connection,
        Self::ReadOnly,
        Self::Timeout,
        Self::Serialization,
        Self::Deadlock,
        Self::Warning,
        Self::Other,
    ];

    /// Returns the value of the label `cause`.
    fn label(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::ReadOnly => "read_only",
            Self::Timeout => "timeout",
            Self::Serialization => "serialization",
            Self::Deadlock => "deadlock",
            Self::Warning => "warning",
            Self::Other => "other",
        }
    }
}

/// Registers the metrics of creates and commits. Returns the number of creates that wait for a
/// commit, not counting the creates of the running commit.
pub fn register_commits() -> Gauge {
    describe_counter!(
        CREATES,
        "Creates that went through a commit, by outcome: created, repeated (the same row was \
         already stored) or conflict (the id belongs to a different row)."
    );
    describe_histogram!(BATCH_SIZE, Unit::Count, "Number of creates in a commit.");
    describe_histogram!(
        COMMIT_DURATION,
        Unit::Seconds,
        "Duration of a commit including its sync, successful or not."
    );
    describe_gauge!(
        QUEUE_DEPTH,
        Unit::Count,
        "Creates that wait for a commit, not counting the creates of the running commit."
    );
    let _ = (histogram!(BATCH_SIZE), histogram!(COMMIT_DURATION));
    record_end(0, Duration::ZERO, &[]);
    gauge!(QUEUE_DEPTH)
}

/// Records the start of a commit of that many creates. A test write has none, and is not recorded.
pub fn record_start(count: u32) {
    if count > 0 {
        histogram!(BATCH_SIZE).record(count);
    }
}

/// Records the end of a commit of that many creates, with their outcomes if it succeeded.
pub fn record_end(count: u32, duration: Duration, outcomes: &[Outcome]) {
    if count > 0 {
        histogram!(COMMIT_DURATION).record(duration);
    }
    for (outcome, label) in [
        (Outcome::Created, "created"),
        (Outcome::Repeated, "repeated"),
        (Outcome::Conflict, "conflict"),
    ] {
        let count = outcomes.iter().filter(|other| **other == outcome).count();
        counter!(CREATES, "outcome" => label).increment(count as u64);
    }
}

/// Sets the gauges of the store's sizes. A size that the engine cannot report has no series.
#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
pub fn show_sizes(Sizes { store, wal, disk_free }: Sizes) {
    for (bytes, name, meaning) in [
        (store, "store_bytes", "The size of the store, without its WAL."),
        (
            wal,
            "wal_bytes",
            "The size of the store's WAL. It stays below 32 MiB unless another process reads the \
             store for a long time.",
        ),
        (
            disk_free,
            "disk_free_bytes",
            "Free space available to the service on the disk that holds the store.",
        ),
    ] {
        if let Some(bytes) = bytes {
            describe_gauge!(name, Unit::Bytes, meaning);
            gauge!(name).set(bytes as f64);
        }
    }
}

/// Registers the metric that [`retried`] counts.
pub fn register_retries() {
    let labels = RetryCause::ALL.map(RetryCause::label);
    let [all_but_last @ .., last] = &labels;
    let causes = all_but_last.join(", ");
    describe_counter!(
        DATABASE_RETRIES,
        format!("Retries of work on the database, by cause: {causes} or {last}.")
    );
    for label in labels {
        counter!(DATABASE_RETRIES, "cause" => label).increment(0);
    }
}

/// Counts a retry of work on a database.
pub fn retried(cause: RetryCause) {
    counter!(DATABASE_RETRIES, "cause" => cause.label()).increment(1);
}
