//! Creates that are committed together, and what becomes of each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::store::engine::{Outcome, Writer};
use crate::store::error::CommitError;
use crate::store::metrics::CommitMetrics;
use crate::store::running_commit::RunningCommit;
use crate::types::NewPlant;

/// The most creates of one transaction: enough to make the fsync cheap for each, few enough that
/// the first of them does not wait long.
pub const BATCH: usize = 1024;

/// The bytes of texts that end a batch: its pages are copied from the WAL in one go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Why a create was not answered with its plant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateError {
    /// The id belongs to a different plant.
    Conflict,
    /// The queue is full.
    QueueFull,
    /// The store does not take writes at the moment.
    Unavailable,
    /// The store failed, for that reason. The plant may be in it or not; the same create, sent again,
    /// tells.
    Fault(Arc<str>),
}

pub type CreateResult = Result<NewPlant, CreateError>;

/// What a plant takes of a limit. Dropped when the plant has left this room.
pub type Held = Arc<dyn Send + Sync>;

/// What the writer's thread takes from the queue.
pub enum Work {
    Create(Create),
    /// Tries whether the store takes writes again.
    Try,
    /// Commits what is queued, takes nothing more, and ends.
    End,
}

/// A queued create.
pub struct Create {
    pub plant: NewPlant,
    /// When it came.
    pub since: Instant,
    pub held: Held,
    pub answer: oneshot::Sender<CreateResult>,
}

/// What became of creates, each with the request that waits for it.
pub type Answers = Vec<(oneshot::Sender<CreateResult>, CreateResult)>;

/// Creates that are committed together: the plants, and in the same order the senders of their
/// answers.
#[derive(Default)]
pub struct Batch {
    plants: Vec<NewPlant>,
    waiting: Vec<oneshot::Sender<CreateResult>>,
    held: Vec<Held>,
    bytes: usize,
    /// When the first of them came.
    since: Option<Instant>,
    /// Whether no more creates are taken after these.
    pub is_last: bool,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.plants.is_empty()
    }

    /// Whether the next creates are to go into the next batch.
    pub fn is_full(&self) -> bool {
        self.plants.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    pub fn take(&mut self, work: Work, queue: &mut mpsc::Receiver<Work>) {
        match work {
            Work::Create(Create { plant, since, held, answer }) => {
                self.since.get_or_insert(since);
                self.bytes += plant.size();
                self.plants.push(plant);
                self.held.push(held);
                self.waiting.push(answer);
            }
            Work::Try => {}
            Work::End => {
                self.is_last = true;
                queue.close();
            }
        }
    }

    /// Commits the plants, and returns what became of them. The limit for all is that of the first
    /// one: `timeout` after it came.
    pub fn commit(
        &mut self,
        writer: &mut dyn Writer,
        timeout: Duration,
        running: &RunningCommit,
        metrics: &CommitMetrics,
    ) -> (Result<(), CommitError>, Answers) {
        metrics.taken(self.plants.len());
        let started = Instant::now();
        let until = self.since.take().unwrap_or(started) + timeout;
        let committed = running.run(|| writer.commit(&self.plants, until));
        metrics.committed(started.elapsed());
        let answers = match &committed {
            Ok(outcomes) => self.answered(outcomes, metrics),
            Err(CommitError::Unavailable(_)) => self.refused(&CreateError::Unavailable),
            Err(cause) => self.refused(&CreateError::Fault(cause.to_string().into())),
        };
        self.held.clear();
        self.bytes = 0;
        (committed.map(drop), answers)
    }

    /// Counts before it answers, so that a scrape after an answer includes it.
    fn answered(&mut self, outcomes: &[Outcome], metrics: &CommitMetrics) -> Answers {
        let creates = self.waiting.drain(..).zip(self.plants.drain(..));
        let answer = |((waiting, plant), outcome): ((_, _), &Outcome)| {
            metrics.came_out(*outcome);
            let result = match outcome {
                Outcome::Created | Outcome::Repeated => Ok(plant),
                Outcome::Conflict => Err(CreateError::Conflict),
            };
            (waiting, result)
        };
        creates.zip(outcomes).map(answer).collect()
    }

    pub fn refused(&mut self, error: &CreateError) -> Answers {
        self.plants.clear();
        self.waiting.drain(..).map(|waiting| (waiting, Err(error.clone()))).collect()
    }
}
