//! One thread, one transaction and one fsync for all creates that wait.
//!
//! The writer's thread takes the first create of the queue and all that wait behind it, up to a
//! bound, commits them, and answers them. There is no timer: while an fsync runs, the next creates
//! gather in the queue. The queue has no bound of its own: each create in it holds one of the
//! service's places.
//!
//! Nothing is answered with success before [`Engine::commit`] returned it.
//!
//! The answers of a batch go as one message to a task on the requests' own thread, which hands them
//! out. Each wake-up of a task from another thread costs a system call; from its own thread it
//! costs none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use slog::{Logger, crit, error, info, warn};
use tokio::sync::{mpsc, oneshot};

use crate::log::Lasting;
use crate::store::engine::{Engine, Outcome, Row};
use crate::store::error::CommitError;
use crate::store::metrics::CommitMetrics;

/// The most creates of one transaction: enough to make the fsync cheap for each, few enough that
/// the first of them does not wait long.
pub const BATCH: usize = 1024;

/// The bytes of texts that end a batch: its pages are copied from the WAL in one go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// How long a try whether the store takes writes may take: creates wait behind it.
const TRY_LIMIT: Duration = Duration::from_secs(1);

/// Why a create was not answered with its plant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateError {
    /// The id belongs to a different plant.
    Conflict,
    /// The store does not take writes at the moment, or has not answered in time. The plant may be in
    /// it or not.
    Unavailable,
    /// The store failed, for that reason. The plant may be in it or not; the same create, sent again,
    /// tells.
    Fault(Arc<str>),
}

type CreateResult = Result<String, CreateError>;
type Answer = oneshot::Sender<CreateResult>;

/// What a create holds until it has left the store, such as its place.
pub type Held = Arc<dyn Send + Sync>;

/// Resolves when the writer has ended: after [`GroupCommit::end`], once every queued create is
/// committed and the store is closed; or early, because the store is lost. The last answers may still
/// be on their way to the requests.
pub type WriterEnd = oneshot::Receiver<Result<(), StoreLost>>;

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

/// What the writer's thread takes from the queue.
enum Work {
    Create(Create),
    /// Finds out whether the store takes writes.
    Try,
    /// Commits what is queued, closes the store, and ends.
    End,
}

/// A queued create.
struct Create {
    row: Row,
    /// When it came.
    since: Instant,
    held: Held,
    answer: Answer,
}

/// The way into the store, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: mpsc::UnboundedSender<Work>,
    commits: Arc<Commits>,
    /// How long a create waits for its answer.
    timeout: Duration,
    metrics: CommitMetrics,
}

/// The commit that runs, and how the last one ended.
#[derive(Default)]
struct Commits {
    running_since: Mutex<Option<Instant>>,
    has_failed: AtomicBool,
}

impl Commits {
    /// Runs a commit, or what the next one waits for.
    fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        *self.running_since.lock() = Some(Instant::now());
        let done = work();
        *self.running_since.lock() = None;
        done
    }
}

impl GroupCommit {
    /// Starts the writer's thread and the task that hands out its answers. A create waits at most
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
        let metrics = CommitMetrics::register();
        let (sender, queue) = mpsc::unbounded_channel();
        let (answers, mut answered) = mpsc::unbounded_channel::<Vec<(Answer, CreateResult)>>();
        let (ended, end) = oneshot::channel();
        let commits = Arc::<Commits>::default();
        let writer = Writer {
            engine,
            queue,
            answers,
            timeout,
            commits: Arc::clone(&commits),
            metrics: metrics.clone(),
            log,
            cause: Lasting::default(),
        };
        thread::Builder::new().name("writer".into()).spawn(move || {
            // If the receiver is gone, the process is about to end anyway.
            let _ = ended.send(writer.run());
        })?;
        tokio::spawn(async move {
            while let Some(answers) = answered.recv().await {
                for (answer, result) in answers {
                    // A request whose client has left has dropped its receiver.
                    let _ = answer.send(result);
                }
            }
        });
        Ok((Self { queue: sender, commits, timeout, metrics }, end))
    }

    /// Whether the store takes creates now, else why not, in words for operators.
    pub fn readiness(&self) -> Result<(), &'static str> {
        let running_since = *self.commits.running_since.lock();
        if self.queue.is_closed() {
            Err("the writer has ended")
        } else if running_since.is_some_and(|since| since.elapsed() >= self.timeout) {
            Err("a commit hangs")
        } else if self.has_failed() {
            Err("the store does not take writes")
        } else {
            Ok(())
        }
    }

    /// Whether the last commit failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.commits.has_failed.load(Relaxed)
    }

    /// Has the writer find out whether the store takes writes. If nobody creates a plant, nothing
    /// else would.
    pub fn try_write(&self) {
        let _ = self.queue.send(Work::Try);
    }

    /// Has the writer commit what is queued, close the store, and end. Later creates are refused.
    pub fn end(&self) {
        // An error says that the writer has ended already.
        let _ = self.queue.send(Work::End);
    }

    /// Returns the plant's text once the row is durable in the store, just now or from an earlier
    /// time. `held` is dropped when the row has left the store, also if nobody waits for it any more.
    ///
    /// Once this future was polled, the create is committed whether or not it is polled again.
    pub async fn create(&self, row: Row, held: Held) -> CreateResult {
        let (answer, answered) = oneshot::channel();
        // Counted before the writer can take it.
        self.metrics.queued();
        // If the writer has ended, this drops `answer` at once.
        let _ = self.queue.send(Work::Create(Create { row, since: Instant::now(), held, answer }));
        match tokio::time::timeout(self.timeout, answered).await {
            Ok(Ok(result)) => result,
            // Too late, or the writer has ended.
            _ => Err(CreateError::Unavailable),
        }
    }
}

/// What the writer's thread works with.
struct Writer {
    engine: Arc<dyn Engine>,
    queue: mpsc::UnboundedReceiver<Work>,
    answers: mpsc::UnboundedSender<Vec<(Answer, CreateResult)>>,
    timeout: Duration,
    commits: Arc<Commits>,
    metrics: CommitMetrics,
    log: Logger,
    /// Why the last commit failed.
    cause: Lasting,
}

/// Creates that are committed together: the rows, and in the same order who waits for them.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    waiting: Vec<(Answer, Held)>,
    bytes: usize,
    /// When the first of them came.
    since: Option<Instant>,
    /// Whether no more creates are taken after these.
    is_last: bool,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    fn take(&mut self, work: Work) {
        match work {
            Work::Create(Create { row, since, held, answer }) => {
                self.since.get_or_insert(since);
                self.bytes += row.plant.len();
                self.rows.push(row);
                self.waiting.push((answer, held));
            }
            Work::Try => {}
            Work::End => self.is_last = true,
        }
    }

    /// Pairs each waiting request with its result. What the requests held is dropped.
    fn answer(
        &mut self,
        mut result: impl FnMut(usize, Row) -> CreateResult,
    ) -> Vec<(Answer, CreateResult)> {
        let creates = self.waiting.drain(..).zip(self.rows.drain(..)).enumerate();
        creates.map(|(at, ((answer, _held), row))| (answer, result(at, row))).collect()
    }
}

impl Writer {
    /// Commits until it is told to end, or until the store is lost. Then what waits was never tried:
    /// it is dropped with the queue, and may be sent again as it is.
    fn run(mut self) -> Result<(), StoreLost> {
        while let Some(first) = self.queue.blocking_recv() {
            let mut batch = self.gather(first);
            if !(batch.is_last && batch.rows.is_empty()) {
                self.commit(&mut batch)?;
            }
            if batch.is_last {
                return self.engine.close().or_else(|cause| self.report(&cause));
            }
        }
        // Without an order to end, the store may be lost: then its file must not be touched.
        Ok(())
    }

    /// The creates that wait, as far as they fit one batch.
    fn gather(&mut self, first: Work) -> Batch {
        let mut batch = Batch::default();
        batch.take(first);
        // The wake-up may have interrupted the thread that is reading the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        while !batch.is_full()
            && !batch.is_last
            && let Ok(next) = self.queue.try_recv()
        {
            batch.take(next);
        }
        batch
    }

    /// Commits the batch, or without rows tries whether the store takes writes, and answers.
    fn commit(&mut self, batch: &mut Batch) -> Result<(), StoreLost> {
        let started = Instant::now();
        let until = match batch.since {
            // The limit for all is that of the first one.
            Some(since) => since + self.timeout,
            None => started + TRY_LIMIT.min(self.timeout),
        };
        if !batch.rows.is_empty() {
            self.metrics.taken(batch.rows.len());
        }
        let committed = self.commits.run(|| self.engine.commit(&batch.rows, until));
        self.commits.has_failed.store(committed.is_err(), Relaxed);
        if !batch.rows.is_empty() {
            self.metrics.committed(started.elapsed());
        }
        let answers = match &committed {
            Ok(outcomes) => batch.answer(|at, row| {
                // Counted before the answer, so that a scrape after an answer includes it.
                self.metrics.came_out(outcomes[at]);
                match outcomes[at] {
                    Outcome::Created | Outcome::Repeated => Ok(row.plant),
                    Outcome::Conflict => Err(CreateError::Conflict),
                }
            }),
            Err(cause) => {
                let refused = match cause {
                    CommitError::Unavailable(_) => CreateError::Unavailable,
                    _ => CreateError::Fault(cause.to_string().into()),
                };
                batch.answer(|_, _| Err(refused.clone()))
            }
        };
        // Fails only if the runtime has ended, and with it every request that waited.
        let _ = self.answers.send(answers);
        if let Err(cause) = committed {
            return self.report(&cause);
        }
        if self.cause.ends() {
            info!(self.log, "the store takes writes again");
        }
        let kept_up = self.commits.run(|| self.engine.upkeep());
        kept_up.or_else(|cause| self.report(&cause))
    }

    /// Logs the cause unless it lasts. Fails if the thread has to end because of it.
    fn report(&mut self, cause: &CommitError) -> Result<(), StoreLost> {
        if cause.is_final() {
            crit!(self.log, "the store is lost: stopping"; "cause" => %cause);
            return Err(StoreLost::from(cause));
        }
        match cause {
            _ if !self.cause.is_new(&cause.to_string()) => {}
            CommitError::Unavailable(_) => {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            }
            _ => error!(self.log, "the store failed"; "cause" => %cause),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
