//! What is counted of creates, commits and the store.

use std::time::Duration;

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
};

use crate::store::engine::{Outcome, Sizes};

const CREATES: &str = "plant_store_creates_total";
const DATABASE_RETRIES: &str = "plant_store_database_retries_total";

/// Why something is sent to a database again.
const RETRY_CAUSES: [&str; 7] =
    ["connection", "read_only", "timeout", "serialization", "deadlock", "warning", "other"];

fn gauge(name: &'static str, unit: Unit, meaning: &'static str) -> Gauge {
    describe_gauge!(name, unit, meaning);
    metrics::gauge!(name)
}

fn histogram(name: &'static str, unit: Unit, meaning: &'static str) -> Histogram {
    describe_histogram!(name, unit, meaning);
    metrics::histogram!(name)
}

/// The series of creates and commits.
#[derive(Clone)]
pub struct CommitMetrics {
    /// In the order of [`Outcome`].
    creates: [Counter; 3],
    batch_size: Histogram,
    commit_duration: Histogram,
    queue_depth: Gauge,
}

impl CommitMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_counter!(
            CREATES,
            "Plants that went through a commit, by what became of them: created, repeated (the \
             same plant was there) or conflict (a different one was)."
        );
        Self {
            creates: ["created", "repeated", "conflict"]
                .map(|it| counter!(CREATES, "outcome" => it)),
            batch_size: histogram(
                "plant_store_commit_batch_size",
                Unit::Count,
                "Creates of one commit.",
            ),
            commit_duration: histogram(
                "plant_store_commit_duration_seconds",
                Unit::Seconds,
                "A commit, its sync included, whether or not it succeeded.",
            ),
            queue_depth: gauge(
                "plant_store_queue_depth",
                Unit::Count,
                "Creates that wait for a commit; those of the running one do not count.",
            ),
        }
    }

    /// A create enters the queue.
    pub fn queued(&self) {
        self.queue_depth.increment(1);
    }

    /// A batch leaves the queue, to be committed.
    pub fn taken(&self, creates: usize) {
        let creates = u32::try_from(creates).unwrap_or(u32::MAX);
        self.queue_depth.decrement(creates);
        self.batch_size.record(creates);
    }

    /// A commit has ended, with success or without.
    pub fn committed(&self, took: Duration) {
        self.commit_duration.record(took);
    }

    /// Plants have gone through a commit.
    pub fn came_out(&self, outcomes: &[Outcome]) {
        for (outcome, creates) in
            [Outcome::Created, Outcome::Repeated, Outcome::Conflict].into_iter().zip(&self.creates)
        {
            let count = outcomes.iter().filter(|it| **it == outcome).count();
            creates.increment(count as u64);
        }
    }
}

/// Shows how large the store is. What the engine cannot tell has no series.
#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
pub fn show_sizes(Sizes { store, wal, disk_free }: Sizes) {
    let wal_meaning = "The size of the store's WAL. It stays below 32 MiB, unless another process \
                       reads the store for long.";
    for (bytes, name, meaning) in [
        (store, "plant_store_store_bytes", "The size of the store, without its WAL."),
        (wal, "plant_store_wal_bytes", wal_meaning),
        (
            disk_free,
            "plant_store_disk_free_bytes",
            "What is free for the service on the disk that holds the store.",
        ),
    ] {
        if let Some(bytes) = bytes {
            gauge(name, Unit::Bytes, meaning).set(bytes as f64);
        }
    }
}

/// Registers the series of [`retried`].
pub fn register_retries() {
    describe_counter!(
        DATABASE_RETRIES,
        "What was sent to the database again, by its cause: connection, read_only, timeout, \
         serialization, deadlock, warning or other."
    );
    for cause in RETRY_CAUSES {
        counter!(DATABASE_RETRIES, "cause" => cause).increment(0);
    }
}

/// Something is sent to a database again, because of that: one of [`RETRY_CAUSES`].
pub fn retried(cause: &'static str) {
    counter!(DATABASE_RETRIES, "cause" => cause).increment(1);
}
