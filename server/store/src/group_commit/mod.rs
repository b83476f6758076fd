//! Group commit: one thread, one transaction and one fsync for all creates that are waiting.
//!
//! The writer takes the first create from the queue and all creates behind it, up to a limit,
//! commits them as one batch, and reports their outcomes. A batch never waits for a timer: while an
//! fsync runs, the next creates gather in the queue. The queue itself is unbounded, because every
//! create in it holds a permit of its caller.
//!
//! No create may be acknowledged before [`Engine::commit`] has returned its outcome.
//!
//! In SQLite the writer does the fsyncs: of the WAL in each commit, and of the store's file in
//! [`Engine::upkeep`]. If the WAL has grown too long, [`Engine::inspect`] also syncs both files, on
//! another thread. In PostgreSQL nothing in this process syncs.
//!
//! The outcomes of a batch are sent as one message to a task on the requests' runtime. That task
//! delivers them to the waiting requests, in the order of the queue, and refuses requests that have
//! waited too long. If the runtime has one thread, waking a request from this task costs no system
//! call; from the writer each wake-up would cost one.
//!
//! There is no timer per create. With a timer, and with the answer's sender in the queue, a create
//! took 1,980 instructions from the queue to its answer instead of 1,310 (measured side by side
//! with callgrind, without an engine, 64 creates at a time).

mod queue;
mod writer;

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use slog::Logger;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;

use crate::engine::{Closed, Engine, Row};
use crate::error::WriteError;
use crate::group_commit::queue::{BatchResult, Queue, Work};
pub use crate::group_commit::queue::{CreateResult, Guard};
use crate::group_commit::writer::{Shared, Writer};
use crate::metrics::CommitMetrics;

/// Resolves when the writer has ended. That is after [`GroupCommit::end`], once every queued create
/// is committed and the store is closed, or earlier if the store is lost.
///
/// An error means that the store is lost or could not be closed. The last answers may still be on
/// their way to the requests.
pub type WriterEnd = oneshot::Receiver<anyhow::Result<Closed>>;

/// Why the store takes no creates at the moment, in words for operators.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages document the variants")]
pub enum NotReady {
    #[error("the writer has ended")]
    WriterEnded,
    #[error("a commit hangs")]
    Hangs,
    #[error(transparent)]
    Failed(Arc<WriteError>),
}

/// A handle to the writer, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: Arc<Queue>,
    shared: Arc<Shared>,
}

impl GroupCommit {
    /// Starts the writer and the task that delivers its outcomes, and registers the metrics.
    /// A create waits at most `timeout` for its answer.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot create the thread.
    ///
    /// # Panics
    ///
    /// Panics if it is called outside of a tokio runtime.
    pub fn start(
        engine: Arc<dyn Engine>,
        timeout: Duration,
        log: Logger,
    ) -> io::Result<(Self, WriterEnd)> {
        let (queue, work_receiver) = Queue::new();
        let (result_sender, result_receiver) = mpsc::unbounded_channel();
        let (end_sender, end_receiver) = oneshot::channel();
        let untried = WriteError::Unavailable("no commit was tried yet".into());
        let shared = Arc::new(Shared {
            failure: Mutex::new(Some(Arc::new(untried))),
            loss: OnceLock::new(),
            timeout,
            metrics: CommitMetrics::register(),
        });
        let writer = Writer::new(engine, work_receiver, result_sender, Arc::clone(&shared), log);
        thread::Builder::new().name("writer".into()).spawn(move || {
            // If the receiver is gone, the process is about to exit anyway.
            let _ = end_sender.send(writer.run());
        })?;
        let queue = Arc::new(queue);
        tokio::spawn(deliver_outcomes(result_receiver, Arc::clone(&queue), timeout));
        Ok((Self { queue, shared }, end_receiver))
    }

    /// Checks whether the store takes creates, judging by the last commit.
    ///
    /// # Errors
    ///
    /// Returns the reason if it does not.
    pub fn readiness(&self) -> Result<(), NotReady> {
        let is_overdue = |arrival: Instant| arrival.elapsed() >= self.shared.timeout;
        if self.queue.is_closed() {
            Err(NotReady::WriterEnded)
        } else if self.queue.oldest_arrival().is_some_and(is_overdue) {
            Err(NotReady::Hangs)
        } else {
            self.shared.failure.lock().clone().map_or(Ok(()), |cause| Err(NotReady::Failed(cause)))
        }
    }

    /// Whether the last commit failed, or no commit was tried yet.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.shared.failure.lock().is_some()
    }

    /// Makes the writer do a test write. Without creates, nothing else would show whether the store
    /// takes writes.
    pub fn test_write(&self) {
        self.queue.send(Work::TestWrite);
    }

    /// Marks the store as lost because an inspection has found it so, and logs the cause. No commit
    /// that ends after this call is a success. The process has to end with the returned error.
    pub fn report_loss(&self, cause: WriteError, log: &Logger) -> anyhow::Error {
        self.shared.report_loss(&Arc::new(cause), log)
    }

    /// Makes the writer commit the queued creates, close the store, and end. Later creates are
    /// refused.
    pub fn end(&self) {
        self.queue.send(Work::End);
    }

    /// Queues a row and waits for its outcome, which is durable when this returns. `guard` is
    /// dropped when the commit of the row has ended, even if nobody waits for the outcome any more.
    ///
    /// # Cancellation
    ///
    /// After the first poll the row is committed even if this future is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the store did not commit the row, failed, or did not answer in time.
    pub async fn create(&self, row: Row, guard: Guard) -> CreateResult {
        // Counted before the writer can take the create from the queue.
        self.shared.metrics.queued();
        let answered = self.queue.create(row, guard).await;
        let has_ended = |_| Err(Arc::new(WriteError::Unavailable("the writer has ended".into())));
        answered.unwrap_or_else(has_ended)
    }
}

/// Delivers outcomes to the waiting requests until the writer has ended.
async fn deliver_outcomes(
    mut result_receiver: mpsc::UnboundedReceiver<BatchResult>,
    queue: Arc<Queue>,
    timeout: Duration,
) {
    loop {
        // A create that arrives in the meantime has a later deadline than this one.
        let oldest = queue.oldest_awaited_arrival().unwrap_or_else(Instant::now);
        let deadline = oldest + timeout;
        match timeout_at(deadline.into(), result_receiver.recv()).await {
            Ok(Some(result)) => queue.answer(result),
            Ok(None) => return queue.close(),
            Err(_) => queue.refuse_late(timeout),
        }
    }
}

#[cfg(test)]
mod tests;
