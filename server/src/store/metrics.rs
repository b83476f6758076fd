//! What is counted of creates and commits.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};

use crate::store::engine::{Outcome, Sizes};

const CREATES: &str = "plant_store_creates_total";
const BATCH_SIZE: &str = "plant_store_commit_batch_size";
const COMMIT_DURATION: &str = "plant_store_commit_duration_seconds";
const COMMIT_RUNNING: &str = "plant_store_commit_running_seconds";
const BATCHES_IN_FLIGHT: &str = "plant_store_batches_in_flight";
const QUEUE_DEPTH: &str = "plant_store_queue_depth";
const STORE_BYTES: &str = "plant_store_store_bytes";
const LOG_BYTES: &str = "plant_store_log_bytes";
const DISK_FREE_BYTES: &str = "plant_store_disk_free_bytes";
const DATABASE_CONNECTIONS: &str = "plant_store_database_connections";
const DATABASE_RETRIES: &str = "plant_store_database_retries_total";
const DATABASE_ROUND_TRIP: &str = "plant_store_database_round_trip_seconds";
const LAST_CHECKPOINT: &str = "plant_store_last_checkpoint_timestamp_seconds";

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
        describe_histogram!(BATCH_SIZE, Unit::Count, "Creates of one commit.");
        describe_histogram!(
            COMMIT_DURATION,
            Unit::Seconds,
            "A commit, its sync included, whether or not it succeeded."
        );
        describe_gauge!(
            COMMIT_RUNNING,
            Unit::Seconds,
            "How long the running commit has been running, as of the last second: large where the \
             store does not answer."
        );
        describe_gauge!(
            BATCHES_IN_FLIGHT,
            Unit::Count,
            "Batches that are being committed now: 0 or 1."
        );
        describe_gauge!(
            QUEUE_DEPTH,
            Unit::Count,
            "Creates that wait for a commit; those of the running one do not count."
        );
        let creates = |outcome| counter!(CREATES, "outcome" => outcome);
        Self {
            created: creates("created"),
            repeated: creates("repeated"),
            conflict: creates("conflict"),
            batch_size: histogram!(BATCH_SIZE),
            commit_duration: histogram!(COMMIT_DURATION),
            commit_running: gauge!(COMMIT_RUNNING),
            in_flight: gauge!(BATCHES_IN_FLIGHT),
            queue_depth: gauge!(QUEUE_DEPTH),
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

    /// The running commit has been running for so long; zero, where none runs.
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
    store: Gauge,
}

impl StoreMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_gauge!(STORE_BYTES, Unit::Bytes, "The size of the store, without its log.");
        Self { store: gauge!(STORE_BYTES) }
    }

    /// The store has these sizes now.
    pub fn sizes(&self, Sizes { store, .. }: Sizes) {
        if let Some(bytes) = store {
            self.store.set(float(bytes));
        }
    }
}

/// The series of a store that is a file.
pub struct FileMetrics {
    log: Gauge,
    disk_free: Gauge,
}

impl FileMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_gauge!(
            LOG_BYTES,
            Unit::Bytes,
            "The size of the store's log. It stays below 32 MiB, unless another process reads the \
             store for long."
        );
        describe_gauge!(
            DISK_FREE_BYTES,
            Unit::Bytes,
            "What is free for the service on the disk that holds the store."
        );
        Self { log: gauge!(LOG_BYTES), disk_free: gauge!(DISK_FREE_BYTES) }
    }

    /// How long the log is, and what is free on the disk.
    pub fn bytes(&self, log: u64, free: u64) {
        self.log.set(float(log));
        self.disk_free.set(float(free));
    }
}

#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
fn float(bytes: u64) -> f64 {
    bytes as f64
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
        describe_gauge!(
            DATABASE_CONNECTIONS,
            Unit::Count,
            "Open connections to the database: one writes plants, one does everything else."
        );
        describe_counter!(
            DATABASE_RETRIES,
            "What was sent to the database again, by its cause: connection, read_only, timeout, \
             serialization, deadlock, warning or other."
        );
        describe_histogram!(
            DATABASE_ROUND_TRIP,
            Unit::Seconds,
            "An empty statement, once a second: the way to the database and back."
        );
        for cause in RETRY_CAUSES {
            counter!(DATABASE_RETRIES, "cause" => cause).increment(0);
        }
        Self {
            connections: gauge!(DATABASE_CONNECTIONS),
            round_trip: histogram!(DATABASE_ROUND_TRIP),
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

/// The series of the checkpoints, which copy the log into the store.
pub struct CheckpointMetrics {
    last: Gauge,
}

impl CheckpointMetrics {
    /// Registers the series.
    pub fn register() -> Self {
        describe_gauge!(
            LAST_CHECKPOINT,
            Unit::Seconds,
            "When the log was last copied into the store as a whole, in seconds since 1970; 0 as \
             long as it was not."
        );
        Self { last: gauge!(LAST_CHECKPOINT) }
    }

    /// The whole log has been copied just now.
    pub fn done(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.last.set(now.as_secs_f64());
    }
}
