//! The thread that commits: it takes waiting creates from the queue, commits them, counts them and
//! sends their outcomes. In between it inspects the store.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use slog::{Logger, crit, error, info, warn};
use tokio::sync::mpsc;

use crate::engine::{BATCH, Engine, Outcome, Sizes};
use crate::error::{Error, WarningDedup};
use crate::group_commit::{Answers, Create, Guard, Shared, Work};

const CREATES: &str = "creates_total";
const BATCH_SIZE: &str = "commit_batch_size";
const COMMIT_DURATION: &str = "commit_duration_seconds";

/// A batch ends when its texts reach this many bytes, because a checkpoint copies its pages in one
/// go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The timeout of a test write: creates wait behind it.
const TEST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause between two inspections.
const INSPECT_EVERY: Duration = Duration::from_secs(1);

/// The thread that commits.
pub struct Writer {
    engine: Arc<dyn Engine>,
    shared: Arc<Shared>,
    log: Logger,
    work_receiver: Receiver<Work>,
    answers_sender: mpsc::UnboundedSender<Answers>,
    inspect_at: Instant,
    inspect_warnings: WarningDedup,
    commit_warnings: WarningDedup,
}

impl Writer {
    pub fn new(
        engine: Arc<dyn Engine>,
        shared: Arc<Shared>,
        log: Logger,
        work_receiver: Receiver<Work>,
        answers_sender: mpsc::UnboundedSender<Answers>,
    ) -> Self {
        Self {
            engine,
            shared,
            log,
            work_receiver,
            answers_sender,
            inspect_at: Instant::now(),
            inspect_warnings: WarningDedup::default(),
            commit_warnings: WarningDedup::default(),
        }
    }

    /// Commits batches until it receives [`Work::End`] or the store is lost. If the store is lost,
    /// the creates that are still queued were never tried: they are dropped with the queue, and
    /// their clients may send them again unchanged.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost or could not be closed.
    pub fn run(mut self) -> Result<(), Error> {
        loop {
            let pause = self.inspect_at.saturating_duration_since(Instant::now());
            if pause.is_zero() {
                self.inspect()?;
                continue;
            }
            let (batch, is_last) = match self.work_receiver.recv_timeout(pause) {
                Ok(first) => self.gather(first),
                Err(RecvTimeoutError::Timeout) => continue,
                // Every `GroupCommit` was dropped without a call of `end`.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            if !batch.is_empty() {
                self.process(batch)?;
            }
            if is_last {
                return self.engine.close();
            }
        }
    }

    /// Inspects the store, and shows its sizes. Fails if it is lost.
    ///
    /// Until a commit has succeeded, and while commits fail, each inspection includes a test write.
    /// A load balancer sends no creates to a server that is not ready, so nothing else would show
    /// that the database role may write, or that the failure has passed. There is also a test write
    /// if the store cannot be inspected, because then commits may fail too.
    fn inspect(&mut self) -> Result<(), Error> {
        // A disk that does not respond stops an inspection, too.
        *self.shared.busy_since.lock() = Some(Instant::now());
        let inspected = self.engine.inspect().map_err(Error::of_served_store);
        match &inspected {
            Ok(()) => {
                self.inspect_warnings.succeeded();
                show_sizes(self.engine.sizes());
            }
            Err(cause) if cause.is_final() => return Err(self.report_loss(cause)),
            Err(cause) => {
                if self.inspect_warnings.failed(cause) {
                    warn!(self.log, "the store cannot be inspected"; "cause" => %cause);
                }
            }
        }
        if inspected.is_err() || self.shared.failure.lock().is_some() {
            self.process(Vec::new())?;
        }
        *self.shared.busy_since.lock() = None;
        // From here, so that creates are committed between two inspections that take long.
        self.inspect_at = Instant::now() + INSPECT_EVERY;
        Ok(())
    }

    /// Commits the batch. Fails if the store is lost.
    fn process(&mut self, batch: Vec<Create>) -> Result<(), Error> {
        let oldest = batch.first().map_or_else(Instant::now, |create| create.arrived_at);
        *self.shared.busy_since.lock() = Some(oldest);
        match self.commit(batch) {
            Ok(()) => {
                if self.commit_warnings.succeeded() {
                    info!(self.log, "the store takes writes again");
                }
            }
            Err(cause) if cause.is_final() => return Err(self.report_loss(&cause)),
            Err(cause) if !self.commit_warnings.failed(&cause) => {}
            Err(cause) if cause.may_pass() => {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            }
            Err(cause) => error!(self.log, "the store failed"; "cause" => %cause),
        }
        *self.shared.busy_since.lock() = None;
        Ok(())
    }

    /// Takes waiting creates until the batch is full or the queue is empty. Returns whether this is
    /// the last batch.
    fn gather(&self, first: Work) -> (Vec<Create>, bool) {
        // Waking this thread may have preempted the thread that reads the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut next = Ok(first);
        while let Ok(work) = next {
            match work {
                Work::Create(create) => {
                    bytes += create.row.json.len();
                    batch.push(create);
                }
                Work::End => return (batch, true),
            }
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                break;
            }
            next = self.work_receiver.try_recv();
        }
        (batch, false)
    }

    /// Commits the batch and sends its outcomes. An empty batch is a test write.
    fn commit(&self, batch: Vec<Create>) -> Result<(), Error> {
        let Shared { timeout, failure, queue_depth, .. } = &*self.shared;
        let count = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        queue_depth.decrement(count);
        if count > 0 {
            histogram!(BATCH_SIZE).record(count);
        }
        let started = Instant::now();
        // Older requests of the batch are refused in the meantime, each at its own deadline. The
        // time may be over for all of them, if an inspection came first. Then the batch shows, as a
        // test write does, whether the store takes writes.
        let least = started + TEST_WRITE_TIMEOUT.min(*timeout);
        let deadline = batch.last().map_or(least, |newest| least.max(newest.arrived_at + *timeout));
        let mut rows = Vec::with_capacity(batch.len());
        let mut waiting = Vec::with_capacity(batch.len());
        for Create { row, guard, answer_sender, .. } in batch {
            rows.push(row);
            waiting.push((answer_sender, guard));
        }
        let outcomes = self.engine.commit(&rows, deadline).map_err(Error::of_served_store);
        // Counted before the outcomes are sent, so that a scrape after a response includes it.
        if count > 0 {
            histogram!(COMMIT_DURATION).record(started.elapsed());
        }
        count_outcomes(outcomes.as_deref().unwrap_or_default());
        failure.lock().clone_from(&outcomes.as_ref().err().cloned());
        let answer = |(at, (answer_sender, _)): (usize, (_, Guard))| {
            (answer_sender, outcomes.as_ref().map(|outcomes| outcomes[at]).map_err(Error::clone))
        };
        // Fails only if the runtime has ended, and every waiting request with it.
        let _ = self.answers_sender.send(waiting.into_iter().enumerate().map(answer).collect());
        outcomes.map(drop)
    }

    /// Logs that the store is lost. The process has to end with the returned error.
    fn report_loss(&self, cause: &Error) -> Error {
        crit!(self.log, "the store is lost: stopping"; "cause" => %cause);
        cause.clone()
    }
}

/// Registers the metrics of commits.
pub fn register_metrics() {
    describe_counter!(
        CREATES,
        "Creates that went through a commit, by outcome: created, repeated (the same row was \
         already stored) or conflict (the id belongs to a different row)."
    );
    describe_histogram!(BATCH_SIZE, Unit::Count, "Number of creates in a commit.");
    describe_histogram!(
        COMMIT_DURATION,
        Unit::Seconds,
        "Duration of a commit including its sync and a checkpoint, successful or not."
    );
    let _ = (histogram!(BATCH_SIZE), histogram!(COMMIT_DURATION));
    count_outcomes(&[]);
}

fn count_outcomes(outcomes: &[Outcome]) {
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
fn show_sizes(Sizes { store, wal, disk_free }: Sizes) {
    for (bytes, name, meaning) in [
        (store, "store_bytes", "The size of the store, without its WAL."),
        (
            wal,
            "wal_bytes",
            "The size of the store's WAL. It stays below 32 MiB unless another process reads the \
             store for a long time, the disk is slow, or bodies may be large.",
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
