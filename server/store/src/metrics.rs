//! What is counted of creates, commits and the store.

use std::time::Duration;

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};

use crate::engine::{Outcome, Sizes};

const CREATES: &str = "creates_total";
const BATCH_SIZE: &str = "commit_batch_size";
const COMMIT_DURATION: &str = "commit_duration_seconds";
const QUEUE_DEPTH: &str = "queue_depth";
const DATABASE_RETRIES: &str = "database_retries_total";

/// Why something is sent to a database again.
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

    /// The value of the label `cause`.
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

/// The series of creates and commits.
pub struct CommitMetrics {
    created: Counter,
    repeated: Counter,
    conflict: Counter,
    batch_size: Histogram,
    commit_duration: Histogram,
    queue_depth: Gauge,
}

impl CommitMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_counter!(
            CREATES,
            "Creates that went through a commit, by what became of them: created, repeated (the \
             same row was there) or conflict (a different one was)."
        );
        describe_histogram!(BATCH_SIZE, Unit::Count, "Creates of one commit.");
        describe_histogram!(
            COMMIT_DURATION,
            Unit::Seconds,
            "A commit, its sync included, whether or not it succeeded."
        );
        describe_gauge!(
            QUEUE_DEPTH,
            Unit::Count,
            "Creates that wait for a commit; those of the running one do not count."
        );
        Self {
            created: counter!(CREATES, "outcome" => "created"),
            repeated: counter!(CREATES, "outcome" => "repeated"),
            conflict: counter!(CREATES, "outcome" => "conflict"),
            batch_size: histogram!(BATCH_SIZE),
            commit_duration: histogram!(COMMIT_DURATION),
            queue_depth: gauge!(QUEUE_DEPTH),
        }
    }

    /// A create waits for a commit.
    pub fn queued(&self) {
        self.queue_depth.increment(1);
    }

    /// A commit of that number of creates begins. A try has none, and is not counted.
    pub fn begun(&self, creates: usize) {
        let creates = u32::try_from(creates).unwrap_or(u32::MAX);
        if creates > 0 {
            self.queue_depth.decrement(creates);
            self.batch_size.record(creates);
        }
    }

    /// A commit of that number of creates has ended, with these outcomes if it succeeded.
    pub fn ended(
        &self,
        creates: usize,
        duration: Duration,
        outcomes: impl Iterator<Item = Outcome>,
    ) {
        if creates > 0 {
            self.commit_duration.record(duration);
        }
        for outcome in outcomes {
            let counter = match outcome {
                Outcome::Created => &self.created,
                Outcome::Repeated => &self.repeated,
                Outcome::Conflict => &self.conflict,
            };
            counter.increment(1);
        }
    }
}

/// Shows how large the store is. What the engine cannot tell has no series.
#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
pub fn show_sizes(Sizes { store, wal, disk_free }: Sizes) {
    for (bytes, name, meaning) in [
        (store, "store_bytes", "The size of the store, without its WAL."),
        (
            wal,
            "wal_bytes",
            "The size of the store's WAL. It stays below 32 MiB, unless another process reads the \
             store for long.",
        ),
        (
            disk_free,
            "disk_free_bytes",
            "What is free for the service on the disk that holds the store.",
        ),
    ] {
        if let Some(bytes) = bytes {
            describe_gauge!(name, Unit::Bytes, meaning);
            gauge!(name).set(bytes as f64);
        }
    }
}

/// Registers the series of [`retried`].
pub fn register_retries() {
    let labels = RetryCause::ALL.map(RetryCause::label);
    let [all_but_last @ .., last] = &labels;
    let causes = all_but_last.join(", ");
    describe_counter!(
        DATABASE_RETRIES,
        format!("What was sent to the database again, by its cause: {causes} or {last}.")
    );
    for label in labels {
        counter!(DATABASE_RETRIES, "cause" => label).increment(0);
    }
}

/// Something is sent to a database again, because of that.
pub fn retried(cause: RetryCause) {
    counter!(DATABASE_RETRIES, "cause" => cause.label()).increment(1);
}
