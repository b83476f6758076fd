//! The thread that commits: it takes creates from the queue, commits them, and answers them, until
//! it is told to end or the store is lost.
//!
//! Nothing is answered with success before [`Writer::commit`] returned it.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use slog::{Logger, crit, error, info, warn};
use tokio::sync::mpsc;

use crate::store::batch::{Answers, Batch, CreateError, Work};
use crate::store::engine::Writer;
use crate::store::error::CommitError;
use crate::store::metrics::CommitMetrics;
use crate::store::running_commit::RunningCommit;

/// How often a store that does not take writes is tried.
pub const TRY_EVERY: Duration = Duration::from_secs(1);

/// The store cannot be trusted any more: the process has to end, and says this at its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreLost(String);

impl From<&CommitError> for StoreLost {
    fn from(cause: &CommitError) -> Self {
        Self(match cause {
            CommitError::SyncFailed(_) => {
                "a sync of the store failed; a restart reads what is on the disk".into()
            }
            other => format!("{other}; put its files back as they were, then start again"),
        })
    }
}

/// What the thread works with, beside the writer.
pub struct WriterThread {
    pub queue: mpsc::Receiver<Work>,
    pub answers: mpsc::UnboundedSender<Answers>,
    /// How long a create may take if the engine can be interrupted.
    pub store_timeout: Duration,
    pub running: Arc<RunningCommit>,
    pub log: Logger,
    pub metrics: CommitMetrics,
}

impl WriterThread {
    /// Commits until it is told to end, or until nobody can send creates any more.
    pub fn run(mut self, mut writer: Box<dyn Writer>) -> Result<(), StoreLost> {
        let ended = self.commit_all(&mut *writer);
        if ended.is_err() {
            // Closing the connection would copy the WAL into the store's file. It is unknown which
            // pages of the WAL are on the disk, or whose file is in its place now.
            mem::forget(writer);
            self.refuse_the_rest();
        }
        ended
    }

    fn commit_all(&mut self, writer: &mut dyn Writer) -> Result<(), StoreLost> {
        let mut batch = Batch::default();
        while let Some(first) = self.queue.blocking_recv() {
            self.fill(&mut batch, first);
            let failed = self.running.failed();
            let is_try = batch.is_empty();
            let done = match is_try {
                true => self.try_write(writer, batch.is_last),
                false => self.commit(writer, &mut batch),
            };
            if failed && !self.running.failed() {
                info!(self.log, "the store takes writes again");
            }
            // A reason that lasts is said once.
            let is_new = !failed || !(is_try || self.running.may_pass());
            done.or_else(|cause| self.report(&cause, is_new))?;
        }
        // Without an order to end, the store may be lost: then its file must not be touched.
        if batch.is_last {
            let finished = self.running.watched(|| writer.finish());
            finished.or_else(|cause| self.report(&cause, true))?;
        }
        Ok(())
    }

    /// Takes the creates that wait, as far as they fit one batch.
    fn fill(&mut self, batch: &mut Batch, first: Work) {
        batch.take(first, &mut self.queue);
        // The wake-up may have interrupted the thread that is reading the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        while !batch.is_full()
            && let Ok(next) = self.queue.try_recv()
        {
            batch.take(next, &mut self.queue);
        }
    }

    /// Commits the batch, answers its creates, and then does what the next commits need.
    fn commit(&self, writer: &mut dyn Writer, batch: &mut Batch) -> Result<(), CommitError> {
        let (committed, answered) =
            batch.commit(writer, self.store_timeout, &self.running, &self.metrics);
        // Fails only if the runtime has ended, and with it every request that waited.
        let _ = self.answers.send(answered);
        committed?;
        self.running.watched(|| writer.maintain())
    }

    /// Tries whether the store takes writes, if the writer may.
    fn try_write(&self, writer: &mut dyn Writer, is_last: bool) -> Result<(), CommitError> {
        if is_last || !(writer.may_try_after_fault() || self.running.may_pass()) {
            return Ok(());
        }
        // Creates wait behind it.
        let until = Instant::now() + TRY_EVERY.min(self.store_timeout);
        self.running.run(|| writer.try_write(until))
    }

    /// Logs the cause if it is new. Fails if the thread has to end because of it.
    fn report(&self, cause: &CommitError, is_new: bool) -> Result<(), StoreLost> {
        match cause {
            CommitError::SyncFailed(_) | CommitError::Gone(_) => {
                crit!(self.log, "the store is lost: stopping"; "cause" => %cause);
                return Err(StoreLost::from(cause));
            }
            _ if !is_new => {}
            CommitError::Unavailable(_) => {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            }
            CommitError::Fault(_) => error!(self.log, "the store failed"; "cause" => %cause),
        }
        Ok(())
    }

    /// The creates in the queue were never tried, so they may be sent again as they are.
    fn refuse_the_rest(&mut self) {
        self.queue.close();
        let mut rest = Batch::default();
        while let Some(work) = self.queue.blocking_recv() {
            rest.take(work, &mut self.queue);
        }
        let _ = self.answers.send(rest.refused(&CreateError::Unavailable));
    }
}
