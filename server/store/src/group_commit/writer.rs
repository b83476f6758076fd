//! The writer: a thread that takes waiting creates from the queue, commits them, and reports their
//! outcomes.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use parking_lot::Mutex;
use slog::{Logger, crit, error, info, warn};
use tokio::sync::mpsc;

use crate::engine::{BATCH, Closed, Engine, Row};
use crate::error::{FilesGone, WriteError};
use crate::group_commit::queue::{BatchResult, Create, Guard, Work};
use crate::metrics::CommitMetrics;
use crate::warning_dedup::WarningDedup;

/// A batch ends when its texts reach this many bytes, because a checkpoint copies its pages in one
/// go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The timeout of a test write: creates wait behind it.
const TEST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The state that the writer shares with the requests.
pub struct Shared {
    /// Why the last commit failed, or that no commit was tried yet. `None` if the last commit
    /// succeeded.
    pub failure: Mutex<Option<Arc<WriteError>>>,
    /// Why the store is lost. The writer or an inspection sets it, and no commit that ends
    /// afterwards is a success.
    pub loss: OnceLock<Arc<WriteError>>,
    /// How long a create waits for its answer.
    pub timeout: Duration,
    pub metrics: CommitMetrics,
}

impl Shared {
    /// Marks the store as lost, and logs that once. The process has to end with the returned error.
    pub fn report_loss(&self, cause: &Arc<WriteError>, log: &Logger) -> anyhow::Error {
        // Set before the record is logged: no commit that ends after the record is a success.
        if self.loss.set(Arc::clone(cause)).is_ok() {
            crit!(log, "the store is lost: stopping"; "cause" => %cause);
        }
        match &**cause {
            WriteError::SyncFailed(_) => {
                anyhow!("an fsync of the store failed; a restart reads what is on the disk")
            }
            _ => FilesGone(Arc::clone(cause)).into(),
        }
    }
}

/// Creates that are committed together. The next batch reuses the memory of the last one.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    /// The guards of the rows.
    guards: Vec<Guard>,
    /// The total size of the texts.
    bytes: usize,
    /// When the newest create of the batch was queued.
    newest: Option<Instant>,
}

impl Batch {
    fn push(&mut self, Create { row, arrived_at, guard }: Create) {
        self.newest = Some(arrived_at);
        self.bytes += row.json.len();
        self.rows.push(row);
        self.guards.push(guard);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    /// Empties the batch after its commit has ended.
    fn clear(&mut self) {
        let Self { rows, guards, bytes, newest } = self;
        rows.clear();
        guards.clear();
        *bytes = 0;
        *newest = None;
    }
}

/// The state of the writer.
pub struct Writer {
    engine: Arc<dyn Engine>,
    /// Dropped before `result_sender`: when that channel closes, no create can be queued any more.
    work_receiver: mpsc::UnboundedReceiver<Work>,
    result_sender: mpsc::UnboundedSender<BatchResult>,
    shared: Arc<Shared>,
    log: Logger,
    batch: Batch,
    commit_warnings: WarningDedup,
    /// Separate, because commits may succeed while the upkeep fails.
    upkeep_warnings: WarningDedup,
}

impl Writer {
    pub fn new(
        engine: Arc<dyn Engine>,
        work_receiver: mpsc::UnboundedReceiver<Work>,
        result_sender: mpsc::UnboundedSender<BatchResult>,
        shared: Arc<Shared>,
        log: Logger,
    ) -> Self {
        Self {
            engine,
            work_receiver,
            result_sender,
            shared,
            log,
            batch: Batch::default(),
            commit_warnings: WarningDedup::default(),
            upkeep_warnings: WarningDedup::default(),
        }
    }

    /// Commits batches until it receives [`Work::End`] or the store is lost. If the store is lost,
    /// the creates that are still queued were never tried: they are dropped with the queue, and
    /// their clients may send them again unchanged.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost or could not be closed.
    pub fn run(mut self) -> anyhow::Result<Closed> {
        while let Some(first) = self.work_receiver.blocking_recv() {
            let is_last = self.gather(first);
            if is_last && self.batch.rows.is_empty() {
                return self.close();
            }
            let is_committed = self.commit()?;
            if is_committed {
                self.keep_up()?;
            }
            if is_last {
                return self.close();
            }
        }
        // Every `GroupCommit` was dropped without a call of `end`. An inspection may have found the
        // store lost, so its file must not be touched.
        Ok(Closed::Unclean)
    }

    /// Moves waiting creates into the batch until it is full or the queue is empty. Returns whether
    /// this is the last batch.
    fn gather(&mut self, first: Work) -> bool {
        // Waking this thread may have preempted the thread that reads the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        let mut next = Ok(first);
        while let Ok(work) = next {
            match work {
                Work::Create(create) => self.batch.push(create),
                Work::TestWrite => {}
                Work::End => return true,
            }
            if self.batch.is_full() {
                break;
            }
            next = self.work_receiver.try_recv();
        }
        false
    }

    /// Commits the batch and sends its outcomes. An empty batch is a test write. Returns whether
    /// the commit succeeded.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost.
    fn commit(&mut self) -> anyhow::Result<bool> {
        let Shared { failure, loss, timeout, metrics } = &*self.shared;
        let creates = self.batch.rows.len();
        metrics.begun(creates);
        let started = Instant::now();
        // Older requests of the batch are refused in the meantime, each at its own deadline.
        let deadline = match self.batch.newest {
            Some(newest) => newest + *timeout,
            None => started + TEST_WRITE_TIMEOUT.min(*timeout),
        };
        let committed = self.engine.commit(&self.batch.rows, deadline).map_err(Arc::new);
        let outcomes = loss.get().map_or(committed, |loss| Err(Arc::clone(loss)));
        // Counted before the outcomes are sent, so that a scrape after a response includes it.
        metrics.ended(creates, started.elapsed(), outcomes.iter().flatten().copied());
        self.batch.clear();
        let failed = outcomes.as_ref().err().map(Arc::clone);
        failure.lock().clone_from(&failed);
        // Fails only if the runtime has ended, and every waiting request with it.
        let _ = self.result_sender.send(BatchResult { creates, outcomes });
        if let Some(cause) = failed {
            self.report_commit(&cause)?;
            return Ok(false);
        }
        if self.commit_warnings.succeeded() {
            info!(self.log, "the store takes writes again");
        }
        Ok(true)
    }

    /// Logs why a commit failed, unless the same failure was logged already.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost.
    fn report_commit(&mut self, cause: &Arc<WriteError>) -> anyhow::Result<()> {
        if cause.is_final() {
            return Err(self.shared.report_loss(cause, &self.log));
        }
        if self.commit_warnings.failed(cause) {
            if cause.may_pass() {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            } else {
                error!(self.log, "the store failed"; "cause" => %cause);
            }
        }
        Ok(())
    }

    /// Prepares the store for the next commits. All committed creates were answered before.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost.
    fn keep_up(&mut self) -> anyhow::Result<()> {
        match self.engine.upkeep() {
            Ok(()) => {
                if self.upkeep_warnings.succeeded() {
                    info!(self.log, "the upkeep of the store succeeded again");
                }
            }
            Err(cause) if cause.is_final() => {
                return Err(self.shared.report_loss(&Arc::new(cause), &self.log));
            }
            Err(cause) => {
                if self.upkeep_warnings.failed(&cause) {
                    error!(self.log, "the upkeep of the store failed: it is retried after each \
                        commit"; "cause" => %cause);
                }
            }
        }
        Ok(())
    }

    fn close(&self) -> anyhow::Result<Closed> {
        Ok(self.engine.close()?)
    }
}
