//! One thread, one transaction and one fsync for all creates that wait.
//!
//! The writer's thread takes the first create of the queue and all that wait behind it, up to a
//! bound, commits them, and answers them. No batch waits for a timer: while an fsync runs, the next
//! creates gather in the queue. The queue has no bound of its own: each create in it holds a permit
//! of its caller.
//!
//! Nothing is answered with success before [`Engine::commit`] returned it.
//!
//! In a file, the writer's thread syncs: the WAL in each commit, the store's file in
//! [`Engine::upkeep`]. Beside it, [`Engine::inspect`] syncs both on a thread of its own if the WAL
//! has become long. In a database, nothing in this process syncs.
//!
//! The outcomes of a batch go as one message to a task of the requests' runtime. It hands them to
//! those who wait, who stand in the order of the queue, and refuses those who have waited for too
//! long. If that runtime has one thread, a wake-up costs no system call; from the writer's thread
//! each one would. A create has no timer: with one, and its sender in the queue, it took 1,980
//! instructions from the queue to its answer instead of 1,310 (both ways side by side, without an
//! engine, 64 creates at a time, callgrind).

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

/// Resolves when the writer has ended: after [`GroupCommit::end`], once every queued create is
/// committed and the store is closed; or early, because the store is lost. An error says that the
/// store is lost or was not closed. The last answers may still be on their way to the requests.
pub type WriterEnd = oneshot::Receiver<anyhow::Result<Closed>>;

/// Why the store takes no creates now, in words for operators.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotReady {
    #[error("the writer has ended")]
    WriterEnded,
    #[error("a commit hangs")]
    Hangs,
    #[error(transparent)]
    Failed(Arc<WriteError>),
}

/// The way into the store, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: Arc<Queue>,
    shared: Arc<Shared>,
}

impl GroupCommit {
    /// Starts the writer's thread and the task that hands out its outcomes. A create waits at most
    /// `timeout` for its answer. Registers the metrics.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
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
            // If the receiver is gone, the process is about to end anyway.
            let _ = end_sender.send(writer.run());
        })?;
        let queue = Arc::new(queue);
        tokio::spawn(hand_out(result_receiver, Arc::clone(&queue), timeout));
        Ok((Self { queue, shared }, end_receiver))
    }

    /// Whether the store takes creates now, as far as the last commit tells.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn readiness(&self) -> Result<(), NotReady> {
        let is_hanging = |arrival: Instant| arrival.elapsed() >= self.shared.timeout;
        if self.queue.is_closed() {
            Err(NotReady::WriterEnded)
        } else if self.queue.oldest_arrival().is_some_and(is_hanging) {
            Err(NotReady::Hangs)
        } else {
            self.shared.failure.lock().clone().map_or(Ok(()), |cause| Err(NotReady::Failed(cause)))
        }
    }

    /// Whether the last commit failed, or none was tried yet.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.shared.failure.lock().is_some()
    }

    /// Has the writer find out whether the store takes writes. If nobody creates anything, nothing
    /// else would.
    pub fn try_write(&self) {
        self.queue.tell(Work::Try);
    }

    /// Has no commit that ends after this be a success, because an inspection has found the store
    /// lost, and says so in the log. The process has to end with the error that this returns.
    pub fn report_loss(&self, cause: WriteError, log: &Logger) -> anyhow::Error {
        self.shared.report_loss(&Arc::new(cause), log)
    }

    /// Has the writer commit what is queued, close the store, and end. Later creates are refused.
    pub fn end(&self) {
        self.queue.tell(Work::End);
    }

    /// Returns what became of the row, once that is durable in the store. `guard` is dropped when
    /// the commit of the row has ended, also if nobody waits for it any more.
    ///
    /// Once this future was polled, the create is committed whether or not it is polled again.
    ///
    /// # Errors
    ///
    /// The store has not committed it, failed, or has not answered in time.
    pub async fn create(&self, row: Row, guard: Guard) -> CreateResult {
        // Counted before the writer can take it.
        self.shared.metrics.queued();
        let answered = self.queue.create(row, guard).await;
        let has_ended = |_| Err(Arc::new(WriteError::Unavailable("the writer has ended".into())));
        answered.unwrap_or_else(has_ended)
    }
}

/// Hands the outcomes to those who wait for them, until the writer has ended.
async fn hand_out(
    mut result_receiver: mpsc::UnboundedReceiver<BatchResult>,
    queue: Arc<Queue>,
    timeout: Duration,
) {
    loop {
        // A create that comes meanwhile may wait for longer than this one.
        let oldest = queue.oldest_awaited_arrival().unwrap_or_else(Instant::now);
        let until = oldest + timeout;
        match timeout_at(until.into(), result_receiver.recv()).await {
            Ok(Some(result)) => queue.answer(result),
            Ok(None) => return queue.close(),
            Err(_) => queue.refuse_late(timeout),
        }
    }
}

#[cfg(test)]
mod tests;
