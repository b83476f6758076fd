//! One writer, one thread, one fsync for all creates that wait.
//!
//! [`WriterThread`] takes the first create of the queue and all that wait behind it, up to a bound,
//! commits them in one transaction, and answers them. There is no timer: while an fsync runs, the
//! next creates gather in the queue. The queue is bounded; a create that finds it full is refused at
//! once.
//!
//! The answers of a batch go as one message to a task on the requests' own thread, which hands them
//! out. Each wake-up of a task from another thread costs a system call; from its own thread it
//! costs none.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use slog::Logger;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::store::batch::{Answers, Create, CreateError, Held, Work};
use crate::store::engine::Writer;
use crate::store::metrics::CommitMetrics;
use crate::store::running_commit::RunningCommit;
use crate::store::writer_thread::{StoreLost, TRY_EVERY, WriterThread};
use crate::types::NewPlant;

/// Resolves when the writer has ended: after [`GroupCommit::end`], or when the last
/// [`GroupCommit`] was dropped, once every queued create is committed or refused; or early, because
/// it failed. The last answers may still be on their way to the requests.
pub type WriterEnd = oneshot::Receiver<Result<(), StoreLost>>;

/// The limits of a create's way through the store.
#[derive(Clone, Copy, Debug)]
pub struct CreateLimits {
    /// How many creates may wait.
    pub queue: usize,
    /// How long a create may take if the engine can be interrupted.
    pub store_timeout: Duration,
    /// After how long new creates are refused because of a commit that hangs.
    pub commit_timeout: Duration,
}

/// The way into the store, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: mpsc::Sender<Work>,
    running: Arc<RunningCommit>,
    metrics: CommitMetrics,
}

impl GroupCommit {
    /// Starts the writer's thread, the task that hands out its answers, and the one that watches for
    /// a commit that hangs. Registers the metrics.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(
        writer: Box<dyn Writer>,
        limits: CreateLimits,
        log: Logger,
    ) -> std::io::Result<(Self, WriterEnd)> {
        let metrics = CommitMetrics::register();
        let CreateLimits { queue, store_timeout, commit_timeout } = limits;
        let (sender, receiver) = mpsc::channel(queue.min(Semaphore::MAX_PERMITS));
        let (answers, answered) = mpsc::unbounded_channel();
        let (ended, end) = oneshot::channel();
        let running = Arc::new(RunningCommit::new(commit_timeout));
        tokio::spawn(Arc::clone(&running).watch(metrics.clone(), log.clone()));
        let thread = WriterThread {
            queue: receiver,
            answers,
            store_timeout,
            running: Arc::clone(&running),
            log,
            metrics: metrics.clone(),
        };
        thread::Builder::new().name("writer".into()).spawn(move || {
            // If the receiver is gone, the process is about to end anyway.
            let _ = ended.send(thread.run(writer));
        })?;
        tokio::spawn(hand_out(answered));
        tokio::spawn(try_again(sender.downgrade(), Arc::clone(&running)));
        Ok((Self { queue: sender, running, metrics }, end))
    }

    /// Whether a create would be taken now, else why not, in words for operators.
    pub fn readiness(&self) -> Result<(), &'static str> {
        if self.queue.is_closed() {
            Err("the writer has ended")
        } else if self.running.refuses() {
            Err("a commit hangs")
        } else if self.running.failed() {
            Err("the store does not take writes")
        } else if self.queue.capacity() == 0 {
            Err("the queue is full")
        } else {
            Ok(())
        }
    }

    /// Whether the writer does not hang in a commit.
    #[must_use]
    pub fn answers(&self) -> bool {
        !self.running.refuses()
    }

    /// Has the writer find out whether the store takes writes. If nobody creates a plant, nothing
    /// else would.
    pub fn try_write(&self) {
        // If the queue is full, there are creates that try it.
        let _ = self.queue.try_send(Work::Try);
    }

    /// Has the writer commit what is queued, and end. Later creates are refused.
    pub async fn end(&self) {
        // An error says that the writer has ended already.
        let _ = self.queue.send(Work::End).await;
    }

    /// Returns the plant once it is durable in the store, just now or from an earlier time.
    ///
    /// Once this future was polled, the create is committed whether or not it is polled again.
    pub async fn create(&self, plant: NewPlant, held: Held) -> Result<NewPlant, CreateError> {
        if self.running.refuses() {
            return Err(CreateError::Unavailable);
        }
        let permit = self.queue.try_reserve().map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(()) => CreateError::QueueFull,
            mpsc::error::TrySendError::Closed(()) => CreateError::Unavailable,
        })?;
        let (answer, answered) = oneshot::channel();
        // Counted before the writer can take it.
        self.metrics.queued();
        let since = Instant::now();
        permit.send(Work::Create(Create { plant, since, held: Arc::clone(&held), answer }));
        // There is no answer only if the writer's thread died.
        let answer = answered.await;
        drop(held);
        answer.unwrap_or_else(|_| Err(CreateError::Fault("the writer died".into())))
    }
}

/// A request whose client has left has dropped its receiver; its answer is dropped too.
async fn hand_out(mut answered: mpsc::UnboundedReceiver<Answers>) {
    while let Some(answers) = answered.recv().await {
        for (waiting, result) in answers {
            let _ = waiting.send(result);
        }
    }
}

/// While commits fail, has one tried every second. If a balancer sends no creates because of that,
/// nothing else would tell when the reason has passed.
async fn try_again(queue: mpsc::WeakSender<Work>, running: Arc<RunningCommit>) {
    let mut ticks = tokio::time::interval(TRY_EVERY);
    loop {
        ticks.tick().await;
        let Some(queue) = queue.upgrade() else { return };
        if running.failed() {
            // If the queue is full, there are creates that try it.
            let _ = queue.try_send(Work::Try);
        }
    }
}

#[cfg(test)]
mod tests;
