//! The writer's thread: it takes the creates that wait, commits them, and says what became of them.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use parking_lot::Mutex;
use slog::{Logger, crit, error, info, warn};
use tokio::sync::mpsc;

use crate::engine::{BATCH, Closed, Engine, Row};
use crate::error::WriteError;
use crate::group_commit::queue::{BatchResult, Create, Guard, Work};
use crate::last_cause::LastCause;
use crate::metrics::CommitMetrics;

/// The bytes of texts that end a batch: its pages are copied from the WAL in one go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// How long a try whether the store takes writes may take: creates wait behind it.
const TRY_LIMIT: Duration = Duration::from_secs(1);

/// What the requests see of the writer.
pub struct Shared {
    /// Why the last commit failed, or that none was tried yet; none if it succeeded.
    pub failure: Mutex<Option<Arc<WriteError>>>,
    /// Why the store is lost, as the writer or an inspection has found. No commit that ends after
    /// that is a success.
    pub loss: OnceLock<Arc<WriteError>>,
    /// How long a create waits for its answer.
    pub timeout: Duration,
    pub metrics: CommitMetrics,
}

impl Shared {
    /// Marks the store as lost, and says so in the log, once. The process has to end with the error
    /// that this returns.
    pub fn report_loss(&self, cause: &Arc<WriteError>, log: &Logger) -> anyhow::Error {
        // Before the record: no commit that ends after it is a success.
        if self.loss.set(Arc::clone(cause)).is_ok() {
            crit!(log, "the store is lost: stopping"; "cause" => %cause);
        }
        match &**cause {
            WriteError::SyncFailed(_) => {
                anyhow!("a sync of the store failed; a restart reads what is on the disk")
            }
            other => anyhow!(
                "{other}; put its files back as they were, then start again (a -shm file is made \
                 by the start)"
            ),
        }
    }
}

/// Creates that are committed together. The next batch uses the memory of the last one.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    /// The guards of the rows.
    guards: Vec<Guard>,
    /// The bytes of the texts.
    bytes: usize,
    /// When the last of them came.
    newest: Option<Instant>,
}

impl Batch {
    fn push(&mut self, Create { row, since, guard }: Create) {
        self.newest = Some(since);
        self.bytes += row.json.len();
        self.rows.push(row);
        self.guards.push(guard);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    /// Empties it, after its commit has ended.
    fn clear(&mut self) {
        let Self { rows, guards, bytes, newest } = self;
        rows.clear();
        guards.clear();
        *bytes = 0;
        *newest = None;
    }
}

/// What the thread works with.
pub struct Writer {
    engine: Arc<dyn Engine>,
    /// Dropped before `result_sender`, whose end tells that no create can be queued any more.
    work_receiver: mpsc::UnboundedReceiver<Work>,
    result_sender: mpsc::UnboundedSender<BatchResult>,
    shared: Arc<Shared>,
    log: Logger,
    batch: Batch,
    /// Why commits fail.
    commit_cause: LastCause,
    /// Why the upkeep fails. Commits may succeed meanwhile.
    upkeep_cause: LastCause,
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
            commit_cause: LastCause::default(),
            upkeep_cause: LastCause::default(),
        }
    }

    /// Commits until it is told to end, or until the store is lost. Then what waits was never
    /// tried: it is dropped with the queue, and may be sent again as it is.
    ///
    /// # Errors
    ///
    /// The store is lost, or it was not closed.
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
        // Every `GroupCommit` was dropped without a call of `end`: the inspection may have found
        // the store lost, and then its file must not be touched.
        Ok(Closed::AsAfterACrash)
    }

    /// Takes the creates that wait, as far as they fit one batch. Returns whether no more are taken
    /// after these.
    fn gather(&mut self, first: Work) -> bool {
        // The wake-up may have interrupted the thread that is reading the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        let mut next = Ok(first);
        while let Ok(work) = next {
            match work {
                Work::Create(create) => self.batch.push(create),
                Work::Try => {}
                Work::End => return true,
            }
            if self.batch.is_full() {
                break;
            }
            next = self.work_receiver.try_recv();
        }
        false
    }

    /// Commits the batch, and says what became of it. Without rows it tries whether the store takes
    /// writes. Returns whether it was committed.
    ///
    /// # Errors
    ///
    /// The store is lost.
    fn commit(&mut self) -> anyhow::Result<bool> {
        let Shared { failure, loss, timeout, metrics } = &*self.shared;
        let creates = self.batch.rows.len();
        metrics.begun(creates);
        let started = Instant::now();
        // Requests that have waited for too long are refused meanwhile, each at its own time.
        let limit = match self.batch.newest {
            Some(newest) => newest + *timeout,
            None => started + TRY_LIMIT.min(*timeout),
        };
        let committed = self.engine.commit(&self.batch.rows, limit).map_err(Arc::new);
        let outcomes = loss.get().map_or(committed, |loss| Err(Arc::clone(loss)));
        // Counted before the answer, so that a scrape after an answer includes it.
        metrics.ended(creates, started.elapsed(), outcomes.iter().flatten().copied());
        self.batch.clear();
        let failed = outcomes.as_ref().err().map(Arc::clone);
        failure.lock().clone_from(&failed);
        // Fails only if the runtime has ended, and with it every request that waited.
        let _ = self.result_sender.send(BatchResult { creates, outcomes });
        if let Some(cause) = failed {
            self.report_commit(&cause)?;
            return Ok(false);
        }
        if self.commit_cause.succeeded() {
            info!(self.log, "the store takes writes again");
        }
        Ok(true)
    }

    /// Says in the log why a commit failed, once.
    ///
    /// # Errors
    ///
    /// The store is lost.
    fn report_commit(&mut self, cause: &Arc<WriteError>) -> anyhow::Result<()> {
        if cause.is_final() {
            return Err(self.shared.report_loss(cause, &self.log));
        }
        if self.commit_cause.failed(cause) {
            if cause.may_pass() {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            } else {
                error!(self.log, "the store failed"; "cause" => %cause);
            }
        }
        Ok(())
    }

    /// Does what the next commits need. What was committed before is answered already.
    ///
    /// # Errors
    ///
    /// The store is lost.
    fn keep_up(&mut self) -> anyhow::Result<()> {
        match self.engine.upkeep() {
            Ok(()) => {
                if self.upkeep_cause.succeeded() {
                    info!(self.log, "the upkeep of the store succeeds again");
                }
            }
            Err(cause) if cause.is_final() => {
                return Err(self.shared.report_loss(&Arc::new(cause), &self.log));
            }
            Err(cause) => {
                if self.upkeep_cause.failed(&cause) {
                    error!(self.log, "the upkeep of the store fails: each commit tries it again";
                        "cause" => %cause);
                }
            }
        }
        Ok(())
    }

    fn close(&self) -> anyhow::Result<Closed> {
        Ok(self.engine.close()?)
    }
}
