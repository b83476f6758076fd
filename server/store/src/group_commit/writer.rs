//! The thread that commits: it takes waiting creates from the queue, commits them, counts them and
//! sends their outcomes.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use slog::{error, info, warn};
use tokio::sync::mpsc;

use crate::engine::{BATCH, Engine, Outcome};
use crate::error::{Error, WarningDedup};
use crate::group_commit::{Answers, Create, End, Guard, Shared, Work};

const CREATES: &str = "creates_total";
const BATCH_SIZE: &str = "commit_batch_size";
const COMMIT_DURATION: &str = "commit_duration_seconds";

/// A batch ends when its texts reach this many bytes, because a checkpoint copies its pages in one
/// go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The timeout of a test write: creates wait behind it.
const TEST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The thread that commits.
pub struct Writer {
    pub engine: Arc<dyn Engine>,
    pub shared: Arc<Shared>,
    pub work_receiver: mpsc::UnboundedReceiver<Work>,
    pub answers_sender: mpsc::UnboundedSender<Answers>,
}

impl Writer {
    /// Commits batches until it receives [`Work::End`] or the store is lost. If the store is lost,
    /// the creates that are still queued were never tried: they are dropped with the queue, and
    /// their clients may send them again unchanged.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost or could not be closed.
    pub fn run(mut self) -> End {
        let shared = Arc::clone(&self.shared);
        let Shared { log, busy_since, .. } = &*shared;
        let mut commit_warnings = WarningDedup::default();
        // Separate, because commits may succeed while the upkeep fails.
        let mut upkeep_warnings = WarningDedup::default();
        while let Some(first) = self.work_receiver.blocking_recv() {
            let (batch, is_last) = self.gather(first);
            if is_last && batch.is_empty() {
                return self.engine.close();
            }
            let oldest = batch.first().map_or_else(Instant::now, |create| create.arrived_at);
            *busy_since.lock() = Some(oldest);
            match self.commit(batch) {
                Ok(()) => {
                    if commit_warnings.succeeded() {
                        info!(log, "the store takes writes again");
                    }
                    self.keep_up(&mut upkeep_warnings)?;
                }
                Err(cause) if cause.is_final() => return Err(shared.report_loss(&cause)),
                Err(cause) if !commit_warnings.failed(&cause) => {}
                Err(cause) if cause.may_pass() => {
                    warn!(log, "the store does not take writes"; "cause" => %cause);
                }
                Err(cause) => error!(log, "the store failed"; "cause" => %cause),
            }
            *busy_since.lock() = None;
            if is_last {
                return self.engine.close();
            }
        }
        // Every `GroupCommit` was dropped without a call of `end`. An inspection may have found the
        // store lost, so its file must not be touched.
        Ok(None)
    }

    /// Takes waiting creates until the batch is full or the queue is empty. Returns whether this is
    /// the last batch.
    fn gather(&mut self, first: Work) -> (Vec<Create>, bool) {
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
                Work::TestWrite => {}
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
        let Shared { timeout, failure, loss, queue_depth, .. } = &*self.shared;
        let count = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        queue_depth.decrement(count);
        if count > 0 {
            histogram!(BATCH_SIZE).record(count);
        }
        let started = Instant::now();
        // Older requests of the batch are refused in the meantime, each at its own deadline.
        let deadline = match batch.last() {
            Some(newest) => newest.arrived_at + *timeout,
            None => started + TEST_WRITE_TIMEOUT.min(*timeout),
        };
        let mut rows = Vec::with_capacity(batch.len());
        let mut waiting = Vec::with_capacity(batch.len());
        for Create { row, guard, answer_sender, .. } in batch {
            rows.push(row);
            waiting.push((answer_sender, guard));
        }
        let committed = self.engine.commit(&rows, deadline).map_err(Error::of_served_store);
        let outcomes = loss.get().map_or(committed, |loss| Err(loss.clone()));
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

    /// Prepares the store for the next commits. All committed creates were answered before.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost.
    fn keep_up(&self, warnings: &mut WarningDedup) -> Result<(), Error> {
        let Shared { log, .. } = &*self.shared;
        match self.engine.upkeep().map_err(Error::of_served_store) {
            Ok(()) => {
                if warnings.succeeded() {
                    info!(log, "the upkeep of the store succeeded again");
                }
            }
            Err(cause) if cause.is_final() => return Err(self.shared.report_loss(&cause)),
            Err(cause) => {
                if warnings.failed(&cause) {
                    error!(log, "the upkeep of the store failed: it is retried after each commit";
                        "cause" => %cause);
                }
            }
        }
        Ok(())
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
        "Duration of a commit including its sync, successful or not."
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
