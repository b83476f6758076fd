//! What is counted of creates, commits and the store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
};

use crate::store::engine::Outcome;

const CREATES: &str = "plant_store_creates_total";
const DATABASE_RETRIES: &str = "plant_store_database_retries_total";

fn gauge(name: &'static str, unit: Unit, meaning: &'static str) -> Gauge {
    describe_gauge!(name, unit, meaning);
    metrics::gauge!(name)
}

fn histogram(name: &'static str, unit: Unit, meaning: &'static str) -> Histogram {
    describe_histogram!(name, unit, meaning);
    metrics::histogram!(name)
}

#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
fn float(bytes: u64) -> f64 {
    bytes as f64
}

/// The series of creates and commits.
#[derive(Clone)]
pub struct CommitMetrics {
    created: Counter,
    repeated: Counter,
    conflict: Counter,
    batch_size: Histogram,
    commit_duration: Histogram,
    commit_running: Gauge,
    in_flight: Gauge,
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
        let creates = |outcome| counter!(CREATES, "outcome" => outcome);
        Self {
            created: creates("created"),
            repeated: creates("repeated"),
            conflict: creates("conflict"),
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
            commit_running: gauge(
                "plant_store_commit_running_seconds",
                Unit::Seconds,
                "How long the running commit has been running, as of the last second: large if the \
                 store does not answer.",
            ),
            in_flight: gauge(
                "plant_store_batches_in_flight",
                Unit::Count,
                "Batches that are being committed now: 0 or 1.",
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
        self.in_flight.set(1);
    }

    /// A commit has ended, with success or without.
    pub fn committed(&self, took: Duration) {
        self.commit_duration.record(took);
        self.in_flight.set(0);
    }

    /// The running commit has been running for so long; zero if none runs.
    pub fn running(&self, time: Duration) {
        self.commit_running.set(time.as_secs_f64());
    }

    /// A plant has gone through a commit.
    pub fn came_out(&self, outcome: Outcome) {
        let counter = match outcome {
            Outcome::Created => &self.created,
            Outcome::Repeated => &self.repeated,
            Outcome::Conflict => &self.conflict,
        };
        counter.increment(1);
    }
}

/// The series of the store's size.
pub struct StoreMetrics {
    bytes: Gauge,
}

impl StoreMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        let meaning = "The size of the store, without its WAL.";
        Self { bytes: gauge("plant_store_store_bytes", Unit::Bytes, meaning) }
    }

    /// The store has this size now.
    pub fn bytes(&self, bytes: u64) {
        self.bytes.set(float(bytes));
    }
}

/// The series of a store that is a file.
pub struct FileMetrics {
    wal: Gauge,
    disk_free: Gauge,
    last_checkpoint: Gauge,
}

impl FileMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        Self {
            wal: gauge(
                "plant_store_wal_bytes",
                Unit::Bytes,
                "The size of the store's WAL. It stays below 32 MiB, unless another process reads \
                 the store for long.",
            ),
            disk_free: gauge(
                "plant_store_disk_free_bytes",
                Unit::Bytes,
                "What is free for the service on the disk that holds the store.",
            ),
            last_checkpoint: gauge(
                "plant_store_last_checkpoint_timestamp_seconds",
                Unit::Seconds,
                "When the WAL was last copied into the store as a whole, in seconds since 1970; 0 \
                 before the first time.",
            ),
        }
    }

    /// How long the WAL is, and what is free on the disk.
    pub fn bytes(&self, wal: u64, free: u64) {
        self.wal.set(float(wal));
        self.disk_free.set(float(free));
    }

    /// The whole WAL has been copied into the store just now.
    pub fn checkpointed(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.last_checkpoint.set(now.as_secs_f64());
    }
}

/// Why something is sent to a database again.
const RETRY_CAUSES: [&str; 7] =
    ["connection", "read_only", "timeout", "serialization", "deadlock", "warning", "other"];

/// The series of the connections to a database.
#[derive(Clone)]
pub struct DatabaseMetrics {
    connections: Gauge,
    round_trip: Histogram,
}

impl DatabaseMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_counter!(
            DATABASE_RETRIES,
            "What was sent to the database again, by its cause: connection, read_only, timeout, \
             serialization, deadlock, warning or other."
        );
        for cause in RETRY_CAUSES {
            counter!(DATABASE_RETRIES, "cause" => cause).increment(0);
        }
        Self {
            connections: gauge(
                "plant_store_database_connections",
                Unit::Count,
                "Open connections to the database: one writes plants, one does everything else.",
            ),
            round_trip: histogram(
                "plant_store_database_round_trip_seconds",
                Unit::Seconds,
                "An empty statement, once a second: the way to the database and back.",
            ),
        }
    }

    /// A connection was opened.
    pub fn connected(&self) {
        self.connections.increment(1);
    }

    /// A connection was closed, by whichever side.
    pub fn disconnected(&self) {
        self.connections.decrement(1);
    }

    /// Something is sent again, because of that: one of [`RETRY_CAUSES`].
    pub fn retried(cause: &'static str) {
        counter!(DATABASE_RETRIES, "cause" => cause).increment(1);
    }

    /// An empty statement took so long.
    pub fn round_trip(&self, time: Duration) {
        self.round_trip.record(time);
    }
}
