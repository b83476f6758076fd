//! One writer, one thread, one fsync for all creates that wait.
//!
//! The thread takes the first create of the queue and all that wait behind it, up to a bound,
//! commits them in one transaction, and answers them. There is no timer: while an fsync runs, the
//! next creates gather in the queue, and the thread yields the processor once before it takes them.
//! The queue is bounded; a create that finds it full is refused at once.
//!
//! The answers of a batch go as one message to a task on the requests' own thread, which hands them
//! out. Each wake-up of a task from another thread costs a system call; from its own thread it
//! costs none.
//!
//! Nothing is answered with success before [`Writer::commit`] returned it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use slog::{Logger, crit, error, info, warn};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::store::batch::{Answers, Batch, Create, CreateError, Held, Work};
use crate::store::engine::{CommitError, Writer};
use crate::store::metrics::CommitMetrics;
use crate::store::running_commit::RunningCommit;
use crate::types::NewPlant;

/// How often a store that does not take writes is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

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

/// Resolves when the writer has ended: after [`GroupCommit::end`], or when the last
/// [`GroupCommit`] was dropped, once every queued create is committed or refused; or early, because
/// it failed. The last answers may still be on their way to the requests.
pub type WriterEnd = oneshot::Receiver<Result<(), StoreLost>>;

/// The limits of a create's way through the store.
#[derive(Clone, Copy, Debug)]
pub struct CreateLimits {
    /// How many creates may wait.
    pub queue: usize,
    /// How long a create may take, where the engine can be interrupted.
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
        let (counts, runs) = (metrics.clone(), Arc::clone(&running));
        thread::Builder::new().name("writer".into()).spawn(move || {
            // The receiver may be gone: then the process is about to end anyway.
            let ended_by = run(writer, receiver, &answers, store_timeout, &runs, &log, &counts);
            let _ = ended.send(ended_by);
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

    /// Has the writer find out whether the store takes writes. Where nobody creates a plant, nothing
    /// else would.
    pub fn try_write(&self) {
        // Where the queue is full, there are creates that try it.
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
        let place = self.queue.try_reserve().map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(()) => CreateError::QueueFull,
            mpsc::error::TrySendError::Closed(()) => CreateError::Unavailable,
        })?;
        let (answer, answered) = oneshot::channel();
        // Counted before the writer can take it.
        self.metrics.queued();
        let since = Instant::now();
        place.send(Work::Create(Create { plant, since, held: Arc::clone(&held), answer }));
        // There is no answer only if the writer's thread died.
        let answer = answered.await;
        drop(held);
        answer.unwrap_or_else(|_| Err(CreateError::Fault("the writer died".into())))
    }
}

fn run(
    mut writer: Box<dyn Writer>,
    mut queue: mpsc::Receiver<Work>,
    answers: &mpsc::UnboundedSender<Answers>,
    store_timeout: Duration,
    running: &RunningCommit,
    log: &Logger,
    metrics: &CommitMetrics,
) -> Result<(), StoreLost> {
    let tries_faults = writer.may_try_after_fault();
    let mut batch = Batch::default();
    while let Some(first) = queue.blocking_recv() {
        batch.take(first, &mut queue);
        // The wake-up may have interrupted the thread that is reading the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        while !batch.is_full()
            && let Ok(next) = queue.try_recv()
        {
            batch.take(next, &mut queue);
        }
        let (failed, is_try) = (running.failed(), batch.is_empty());
        let done = match batch.is_empty() {
            true if batch.is_last => continue,
            true if !(tries_faults || running.may_pass()) => continue,
            true => {
                // Creates wait behind it.
                let until = Instant::now() + TRY_EVERY.min(store_timeout);
                running.run(|| writer.try_write(until))
            }
            false => {
                let (committed, answered) =
                    batch.commit(&mut *writer, store_timeout, running, metrics);
                // Fails only when the runtime has ended, and with it every request that waited.
                let _ = answers.send(answered);
                committed.and_then(|()| running.watched(|| writer.maintain()))
            }
        };
        if failed && !running.failed() {
            info!(log, "the store takes writes again");
        }
        if let Err(cause) = done {
            // A reason that lasts is said once.
            if !failed || !(is_try || running.may_pass()) {
                report(&cause, log);
            }
            if cause.is_final() {
                // Closing the connection would copy the log into the store's file. It is unknown
                // which pages of the log are on the disk, or whose file is in its place now.
                std::mem::forget(writer);
                refuse_the_rest(queue, answers);
                return Err(StoreLost::from(&cause));
            }
        }
    }
    // Without an order to end, the store may be lost: its file is not to be touched then.
    if batch.is_last
        && let Err(cause) = running.watched(|| writer.finish())
    {
        report(&cause, log);
        if cause.is_final() {
            std::mem::forget(writer);
            return Err(StoreLost::from(&cause));
        }
    }
    Ok(())
}

fn report(cause: &CommitError, log: &Logger) {
    match cause {
        CommitError::Unavailable(_) => {
            warn!(log, "the store does not take writes"; "cause" => %cause);
        }
        CommitError::Fault(_) => error!(log, "the store failed"; "cause" => %cause),
        CommitError::SyncFailed(_) | CommitError::Gone(_) => {
            crit!(log, "the store is lost: stopping"; "cause" => %cause);
        }
    }
}

/// The creates in the queue were never tried, so they may be sent again as they are.
fn refuse_the_rest(mut queue: mpsc::Receiver<Work>, answers: &mpsc::UnboundedSender<Answers>) {
    queue.close();
    let mut rest = Batch::default();
    while let Some(work) = queue.blocking_recv() {
        rest.take(work, &mut queue);
    }
    let _ = answers.send(rest.refused(&CreateError::Unavailable));
}

/// A request whose client has left has dropped its receiver; its answer is dropped too.
async fn hand_out(mut answered: mpsc::UnboundedReceiver<Answers>) {
    while let Some(answers) = answered.recv().await {
        for (waiting, result) in answers {
            let _ = waiting.send(result);
        }
    }
}

/// While commits fail, has one tried every second, if the writer may. Where a balancer sends no
/// creates because of that, nothing else would tell when the reason has passed, or was mended.
async fn try_again(queue: mpsc::WeakSender<Work>, running: Arc<RunningCommit>) {
    let mut ticks = tokio::time::interval(TRY_EVERY);
    loop {
        ticks.tick().await;
        let Some(queue) = queue.upgrade() else { return };
        if running.failed() {
            // Where the queue is full, there are creates that try it.
            let _ = queue.try_send(Work::Try);
        }
    }
}

#[cfg(test)]
mod tests;
