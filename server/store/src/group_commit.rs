//! Group commit: one thread, one transaction and one fsync for all creates that are waiting.
//!
//! The writer takes the first create from the queue and all creates behind it, up to a limit,
//! commits them as one batch, and sends their outcomes. A batch never waits for a timer: while an
//! fsync runs, the next creates gather in the queue. The queue itself is unbounded, because every
//! create in it holds a permit of its caller.
//!
//! No create may be acknowledged before [`Engine::commit`] has returned its outcome.
//!
//! Between two batches, and while no create waits, the writer inspects the store once a second. So
//! in SQLite one thread does all fsyncs: of the WAL, and of the store's file, in
//! [`Engine::commit`] and [`Engine::inspect`]. In PostgreSQL nothing in this process syncs.

mod writer;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use metrics::{Gauge, Unit, describe_gauge, gauge};
use parking_lot::Mutex;
use slog::Logger;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::engine::{Engine, Outcome, Row};
use crate::error::{Error, Kind};
use crate::group_commit::writer::{Writer, register_metrics};

const QUEUE_DEPTH: &str = "queue_depth";

/// The outcome of a create, or an error if the outcome is unknown. After an error the row may be
/// stored or not; sending the same create again shows which.
pub type CreateResult = Result<Outcome, Error>;

/// A handle that a create holds until its commit has ended. Dropping the last clone releases
/// whatever the guard holds, such as a permit.
pub type Guard = Arc<dyn Send + Sync>;

/// Receives a value when the store is no longer served: after [`GroupCommit::end`], once every
/// queued create is committed and the store is closed, or earlier if the store is lost. Closes
/// without a value if the writer has panicked. If every [`GroupCommit`] is dropped instead, the
/// store is not closed, and its next start recovers it.
///
/// An error means that the store is lost or could not be closed. The last answers may still be on
/// their way to the requests.
pub type WriterEnd = mpsc::UnboundedReceiver<Result<(), Error>>;

/// An item of the queue.
enum Work {
    Create(Create),
    /// Commit the queued creates, close the store, and end.
    End,
}

/// A row to commit.
struct Create {
    row: Row,
    /// When the create was queued.
    arrived_at: Instant,
    guard: Guard,
    answer_sender: oneshot::Sender<CreateResult>,
}

/// The creates of a batch that was committed or failed, each with its result.
type Answers = Vec<(oneshot::Sender<CreateResult>, CreateResult)>;

/// A handle to the writer, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    work_sender: Sender<Work>,
    shared: Arc<Shared>,
}

/// What the writer and the requests share.
struct Shared {
    /// How long a create waits for its answer.
    timeout: Duration,
    /// The number of creates in the queue.
    queue_depth: Gauge,
    /// Why the last commit failed, or that no commit has ended yet, or that the writer has ended.
    /// `None` if the last commit succeeded.
    failure: Mutex<Option<Error>>,
    /// When the oldest create of the running batch was queued, or when its test write or the
    /// running inspection began. `None` while the writer is idle.
    busy_since: Mutex<Option<Instant>>,
}

impl GroupCommit {
    /// Starts the writer and the task that delivers outcomes, and registers the metrics. A create
    /// waits at most `timeout` for its answer.
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
        register_metrics();
        describe_gauge!(
            QUEUE_DEPTH,
            Unit::Count,
            "Creates that wait for a commit, not counting the creates of the running commit."
        );
        let (end_sender, writer_end) = mpsc::unbounded_channel();
        let untried = Error::new(Kind::Unavailable, "no commit has ended yet").of_served_store();
        let shared = Arc::new(Shared {
            timeout,
            queue_depth: gauge!(QUEUE_DEPTH),
            failure: Mutex::new(Some(untried)),
            busy_since: Mutex::default(),
        });
        let (work_sender, work_receiver) = channel();
        let (answers_sender, mut answers_receiver) = mpsc::unbounded_channel::<Answers>();
        // If the runtime has one thread, waking a request from this task costs no system call; from
        // the writer each wake-up would cost one.
        tokio::spawn(async move {
            while let Some(answers) = answers_receiver.recv().await {
                for (answer_sender, result) in answers {
                    // If the client has disconnected, the receiver was dropped.
                    let _ = answer_sender.send(result);
                }
            }
        });
        let writer = Writer::new(engine, Arc::clone(&shared), log, work_receiver, answers_sender);
        let state = Arc::clone(&shared);
        thread::Builder::new().name("writer".into()).spawn(move || {
            // No create can be queued any more when this returns.
            let end = writer.run();
            *state.failure.lock() = Some(writer_has_ended());
            // If the receiver is gone, the process is about to exit anyway.
            let _ = end_sender.send(end);
        })?;
        Ok((Self { work_sender, shared }, writer_end))
    }

    /// Checks whether the store takes creates, judging by the last commit.
    ///
    /// # Errors
    ///
    /// Returns the reason if it does not.
    pub fn readiness(&self) -> Result<(), Error> {
        let Shared { failure, busy_since, timeout, .. } = &*self.shared;
        // The last failure says more than that the next commit is late, too.
        if let Some(cause) = failure.lock().clone() {
            return Err(cause);
        }
        if busy_since.lock().is_some_and(|since| since.elapsed() >= *timeout) {
            return Err(Error::new(Kind::Unavailable, "the store does not answer"));
        }
        Ok(())
    }

    /// Makes the writer commit the queued creates, close the store, and end. Later creates are
    /// refused.
    pub fn end(&self) {
        // An error means that the writer has ended already.
        let _ = self.work_sender.send(Work::End);
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
        let Shared { timeout: limit, queue_depth, .. } = &*self.shared;
        // Counted before the writer can take the create from the queue.
        queue_depth.increment(1);
        let (answer_sender, answer) = oneshot::channel();
        let create = Create { row, arrived_at: Instant::now(), guard, answer_sender };
        // If the writer has ended, this drops the sender of the answer.
        let _ = self.work_sender.send(Work::Create(create));
        match timeout(*limit, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(writer_has_ended()),
            Err(_) => {
                let message = format!("the store did not answer within {limit:?}");
                Err(Error::new(Kind::Unavailable, message))
            }
        }
    }
}

fn writer_has_ended() -> Error {
    Error::new(Kind::Unavailable, "the writer has ended")
}

#[cfg(test)]
mod tests;
