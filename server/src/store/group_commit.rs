//! One writer, one thread, one sync for all who wait.
//!
//! The thread takes the first create of the queue and all that wait behind it, up to a bound,
//! commits them in one transaction, and answers them. There is no timer: while a sync runs, the
//! next batch gathers by itself, and the thread yields the processor once before it takes it. The
//! queue is bounded, and a full one refuses at once.
//!
//! The answers of a batch go back as one message, to a task that hands them out: a wake from
//! another thread costs a system call each, and one from the thread that is woken costs none.
//!
//! Nothing is answered with success before [`Writer::commit`] returned it.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use slog::{Logger, crit, error, warn};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{CommitError, Outcome, Writer};
use crate::api::NewPlant;
use crate::metrics::Metrics;

/// The most creates of one transaction: enough to make a sync cheap for each, few enough that the
/// first of them does not wait for long.
const BATCH: usize = 1024;

/// Why a create was not answered with its plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The id belongs to a different plant.
    #[error("the id belongs to a different plant")]
    Conflict,
    /// As many creates wait as may wait.
    #[error("the queue is full")]
    QueueFull,
    /// The store does not take writes at the moment.
    #[error("the store is unavailable")]
    Unavailable,
    /// The store failed; whether the plant is in it, the next attempt will tell.
    #[error("the store failed")]
    Fault,
}

/// The writer must not go on: the process has to end, and recovery to read what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sync of the store failed; a restart reads what is on the disk")]
pub struct WriterFailed;

/// Resolves when the writer has ended: after the last [`GroupCommit`] was dropped and every
/// queued create was committed or refused, or early, because it failed. Answers may be on their way
/// still: whoever waits for them is who knows.
pub type WriterEnd = oneshot::Receiver<Result<(), WriterFailed>>;

/// The way into the store, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: mpsc::Sender<Create>,
    metrics: Arc<Metrics>,
}

type CreateResult = Result<NewPlant, CreateError>;

/// A queued create.
struct Create {
    plant: NewPlant,
    answer: oneshot::Sender<CreateResult>,
}

/// What became of creates, each with the one who waits for it.
type Answers = Vec<(oneshot::Sender<CreateResult>, CreateResult)>;

/// Creates that are committed together; the two run in parallel.
#[derive(Default)]
struct Batch {
    plants: Vec<NewPlant>,
    waiting: Vec<oneshot::Sender<CreateResult>>,
}

impl GroupCommit {
    /// Starts the writer's thread, with a queue for that many waiting creates, and the task that
    /// hands out its answers.
    ///
    /// # Errors
    ///
    /// Where the operating system gives no thread.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(
        writer: Box<dyn Writer>,
        queue: usize,
        log: Logger,
        metrics: Arc<Metrics>,
    ) -> std::io::Result<(Self, WriterEnd)> {
        let (sender, receiver) = mpsc::channel(queue.min(Semaphore::MAX_PERMITS));
        let (answers, answered) = mpsc::unbounded_channel();
        let (ended, end) = oneshot::channel();
        let counts = Arc::clone(&metrics);
        thread::Builder::new().name("writer".into()).spawn(move || {
            // The receiver of this may be gone; then nobody needs to know.
            let _ = ended.send(run(writer, receiver, &answers, &log, &counts));
        })?;
        tokio::spawn(hand_out(answered));
        Ok((Self { queue: sender, metrics }, end))
    }

    /// Returns the plant once it is durable in the store, just now or from an earlier time.
    ///
    /// Once this future was polled the create takes its course, whether it is polled again or
    /// not.
    ///
    /// # Errors
    ///
    /// [`CreateError`].
    pub async fn create(&self, plant: NewPlant) -> Result<NewPlant, CreateError> {
        let place = self.queue.try_reserve().map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(()) => CreateError::QueueFull,
            mpsc::error::TrySendError::Closed(()) => CreateError::Unavailable,
        })?;
        let (answer, answered) = oneshot::channel();
        // Counted before the writer can take it.
        self.metrics.queued();
        place.send(Create { plant, answer });
        // Unanswered only where the writer's thread died.
        answered.await.unwrap_or(Err(CreateError::Fault))
    }
}

fn run(
    mut writer: Box<dyn Writer>,
    mut queue: mpsc::Receiver<Create>,
    answers: &mpsc::UnboundedSender<Answers>,
    log: &Logger,
    metrics: &Metrics,
) -> Result<(), WriterFailed> {
    let mut batch = Batch::default();
    while let Some(first) = queue.blocking_recv() {
        batch.push(first);
        // The first create woke this thread, maybe off the very core where the next ones are just
        // being read: whoever reads them goes first, and they share the sync.
        thread::yield_now();
        while batch.plants.len() < BATCH
            && let Ok(next) = queue.try_recv()
        {
            batch.push(next);
        }
        metrics.taken(batch.plants.len());
        let started = Instant::now();
        let committed = writer.commit(&batch.plants);
        metrics.commit_duration.record(started.elapsed());
        let answered = match &committed {
            Ok(outcomes) => batch.answered(outcomes, metrics),
            Err(CommitError::Unavailable(_)) => batch.refused(CreateError::Unavailable),
            Err(CommitError::Fault(_) | CommitError::SyncFailed(_)) => {
                batch.refused(CreateError::Fault)
            }
        };
        // Nobody is there to hand them out only where the runtime has ended, and all who waited.
        let _ = answers.send(answered);
        match committed.and_then(|_| writer.maintain()) {
            Ok(()) => {}
            Err(cause @ CommitError::Unavailable(_)) => {
                warn!(log, "the store does not take writes"; "cause" => %cause);
            }
            Err(cause @ CommitError::Fault(_)) => {
                error!(log, "the store failed"; "cause" => %cause);
            }
            Err(cause @ CommitError::SyncFailed(_)) => {
                crit!(log, "the store failed to sync: stopping"; "cause" => %cause);
                // Closing the store could write what the failed sync left in doubt.
                std::mem::forget(writer);
                refuse_the_rest(queue, answers);
                return Err(WriterFailed);
            }
        }
    }
    Ok(())
}

/// What waits was never tried, so it may be sent again as it is.
fn refuse_the_rest(mut queue: mpsc::Receiver<Create>, answers: &mpsc::UnboundedSender<Answers>) {
    queue.close();
    let mut rest = Batch::default();
    while let Some(create) = queue.blocking_recv() {
        rest.push(create);
    }
    let _ = answers.send(rest.refused(CreateError::Unavailable));
}

impl Batch {
    fn push(&mut self, Create { plant, answer }: Create) {
        self.plants.push(plant);
        self.waiting.push(answer);
    }

    /// Counts before it answers: whoever has the answer finds it in a scrape.
    fn answered(&mut self, outcomes: &[Outcome], metrics: &Metrics) -> Answers {
        let creates = self.waiting.drain(..).zip(self.plants.drain(..));
        let answer = |((waiting, plant), outcome): ((_, _), &Outcome)| {
            let (count, result) = match outcome {
                Outcome::Created => (&metrics.created, Ok(plant)),
                Outcome::Repeated => (&metrics.repeated, Ok(plant)),
                Outcome::Conflict => (&metrics.conflict, Err(CreateError::Conflict)),
            };
            count.increment(1);
            (waiting, result)
        };
        creates.zip(outcomes).map(answer).collect()
    }

    fn refused(&mut self, error: CreateError) -> Answers {
        self.plants.clear();
        self.waiting.drain(..).map(|waiting| (waiting, Err(error))).collect()
    }
}

/// A client that no longer waits has dropped its end: its answer goes nowhere.
async fn hand_out(mut answered: mpsc::UnboundedReceiver<Answers>) {
    while let Some(answers) = answered.recv().await {
        for (waiting, result) in answers {
            let _ = waiting.send(result);
        }
    }
}

#[cfg(test)]
mod tests;
