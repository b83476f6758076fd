//! One thread, one transaction and one fsync for all creates that wait.
//!
//! The writer's thread takes the first create of the queue and all that wait behind it, up to a
//! bound, commits them, and answers them. No batch waits for a timer: while an fsync runs, the next
//! creates gather in the queue. The queue has no bound of its own: each create in it holds one of
//! the service's places.
//!
//! Nothing is answered with success before [`Engine::commit`] returned it.
//!
//! The results of a batch go as one message to a task on the requests' own thread. It hands them to
//! those who wait, who stand in the order of the queue, and refuses who has waited for too long. So a
//! wake-up costs no system call, which from another thread it does, and a create has no timer.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use parking_lot::Mutex;
use slog::{Logger, crit, error, info, warn};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;

use crate::engine::{Engine, Outcome, Row};
use crate::error::CommitError;
use crate::metrics::CommitMetrics;

/// The most creates of one transaction: enough to make the fsync cheap for each, few enough that
/// the first of them does not wait long.
pub const BATCH: usize = 1024;

/// The bytes of texts that end a batch: its pages are copied from the WAL in one go.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// How long a try whether the store takes writes may take: creates wait behind it.
const TRY_LIMIT: Duration = Duration::from_secs(1);

/// What became of a create, or why that is not known: then the plant may be in the store or not. The
/// same create, sent again, tells. The creates of one batch share their error.
pub type CreateResult = Result<Outcome, Arc<CommitError>>;

/// Is dropped when a create has left the store, and gives its permit back then.
pub type Guard = Arc<dyn Send + Sync>;

/// Resolves when the writer has ended: after [`GroupCommit::end`], once every queued create is
/// committed and the store is closed; or early, because the store is lost. The last answers may still
/// be on their way to the requests.
pub type WriterEnd = oneshot::Receiver<anyhow::Result<()>>;

/// Says in the log that the store cannot be trusted any more. The process has to end with the error
/// that this returns.
pub fn lost(cause: &CommitError, log: &Logger) -> anyhow::Error {
    crit!(log, "the store is lost: stopping"; "cause" => %cause);
    match cause {
        CommitError::SyncFailed(_) => {
            anyhow!("a sync of the store failed; a restart reads what is on the disk")
        }
        other => anyhow!("{other}; put its files back as they were, then start again"),
    }
}

/// What the writer's thread takes from the queue.
enum Work {
    /// A create, when it came, and its guard.
    Create(Row, Instant, Guard),
    /// Finds out whether the store takes writes.
    Try,
    /// Commits what is queued, closes the store, and ends.
    End,
}

/// Who waits for the result of a create.
struct Waiter {
    since: Instant,
    /// None if it has waited for too long.
    answer: Option<oneshot::Sender<CreateResult>>,
}

/// The way into the store, shared by all requests.
#[derive(Clone)]
pub struct GroupCommit {
    queue: mpsc::UnboundedSender<Work>,
    shared: Arc<Shared>,
}

/// What the requests, the writer's thread and the task share.
struct Shared {
    /// Those of the running commit first, then those of the queue, in its order.
    waiters: Mutex<VecDeque<Waiter>>,
    /// Whether the last commit failed.
    has_failed: AtomicBool,
    /// How long a create waits for its answer.
    timeout: Duration,
    metrics: CommitMetrics,
}

impl GroupCommit {
    /// Starts the writer's thread and the task that hands out its results. A create waits at most
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
        let (sender, queue) = mpsc::unbounded_channel();
        let (results, committed) = mpsc::unbounded_channel();
        let (ended, end) = oneshot::channel();
        let shared = Arc::new(Shared {
            waiters: Mutex::default(),
            has_failed: AtomicBool::new(false),
            timeout,
            metrics: CommitMetrics::register(),
        });
        let (rows, guards, cause) = (Vec::new(), Vec::new(), None);
        let writer = Writer {
            engine,
            queue,
            results,
            rows,
            guards,
            shared: Arc::clone(&shared),
            log,
            cause,
        };
        thread::Builder::new().name("writer".into()).spawn(move || {
            // If the receiver is gone, the process is about to end anyway.
            let _ = ended.send(writer.run());
        })?;
        tokio::spawn(hand_out(committed, Arc::clone(&shared)));
        Ok((Self { queue: sender, shared }, end))
    }

    /// Whether the store takes creates now, else why not, in words for operators.
    pub fn readiness(&self) -> Result<(), &'static str> {
        let first = self.shared.waiters.lock().front().map(|it| it.since);
        if self.queue.is_closed() {
            Err("the writer has ended")
        } else if first.is_some_and(|since| since.elapsed() >= self.shared.timeout) {
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
        self.shared.has_failed.load(Relaxed)
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

    /// Returns what became of the row, once that is durable in the store. `guard` is dropped when the row has left the store, also if nobody waits for it any more.
    ///
    /// Once this future was polled, the create is committed whether or not it is polled again.
    pub async fn create(&self, row: Row, guard: Guard) -> CreateResult {
        let has_ended = |_| Err(Arc::new(CommitError::Unavailable("the writer has ended".into())));
        self.queue(row, guard).await.unwrap_or_else(has_ended)
    }

    fn queue(&self, row: Row, guard: Guard) -> oneshot::Receiver<CreateResult> {
        let (answer, answered) = oneshot::channel();
        let since = Instant::now();
        // Counted before the writer can take it.
        self.shared.metrics.queue_depth.increment(1);
        // While they are locked nobody else joins the queue.
        let mut waiters = self.shared.waiters.lock();
        if self.queue.send(Work::Create(row, since, guard)).is_ok() {
            waiters.push_back(Waiter { since, answer: Some(answer) });
        }
        answered
    }
}

/// Hands the results to those who wait for them, until the writer has ended.
async fn hand_out(mut committed: mpsc::UnboundedReceiver<Vec<CreateResult>>, shared: Arc<Shared>) {
    let Shared { waiters, timeout, .. } = &*shared;
    loop {
        // Who comes later may wait for longer.
        let first = waiters.lock().iter().find(|it| it.answer.is_some()).map(|it| it.since);
        let until = first.unwrap_or_else(Instant::now) + *timeout;
        let results = timeout_at(until.into(), committed.recv()).await;
        let mut waiters = waiters.lock();
        match results {
            Ok(Some(results)) => {
                let first = waiters.drain(..results.len());
                for (waiter, result) in first.zip(results) {
                    // A request whose client has left has dropped its receiver.
                    let _ = waiter.answer.map(|answer| answer.send(result));
                }
            }
            Ok(None) => return waiters.clear(),
            Err(_) => {
                let is_late = |it: &&mut Waiter| it.since.elapsed() >= *timeout;
                let late = Arc::new(CommitError::TooLate(*timeout));
                for waiter in waiters.iter_mut().take_while(is_late) {
                    let _ = waiter.answer.take().map(|answer| answer.send(Err(Arc::clone(&late))));
                }
            }
        }
    }
}

/// What the writer's thread works with.
struct Writer {
    engine: Arc<dyn Engine>,
    /// Dropped before `results`, whose end tells that no create can be queued any more.
    queue: mpsc::UnboundedReceiver<Work>,
    results: mpsc::UnboundedSender<Vec<CreateResult>>,
    /// The batch. The next one uses its memory again.
    rows: Vec<Row>,
    guards: Vec<Guard>,
    shared: Arc<Shared>,
    log: Logger,
    /// Why commits fail. A cause that lasts is said once.
    cause: Option<String>,
}

impl Writer {
    /// Commits until it is told to end, or until the store is lost. Then what waits was never tried:
    /// it is dropped with the queue, and may be sent again as it is.
    fn run(mut self) -> anyhow::Result<()> {
        while let Some(first) = self.queue.blocking_recv() {
            let (since, is_last) = self.gather(first);
            if !(is_last && self.rows.is_empty()) {
                self.commit(since).or_else(|cause| self.report(&cause))?;
            }
            if is_last {
                return self.engine.close().or_else(|cause| self.report(&cause));
            }
        }
        // Without an order to end, the store may be lost: then its file must not be touched.
        Ok(())
    }

    /// Takes the creates that wait, as far as they fit one batch. Returns when the first of them came,
    /// and whether no more are taken after these.
    fn gather(&mut self, first: Work) -> (Option<Instant>, bool) {
        // The wake-up may have interrupted the thread that is reading the next creates on this
        // core. After the yield it has read them, and they share the fsync.
        thread::yield_now();
        let (mut since, mut bytes, mut next) = (None, 0, Ok(first));
        while let Ok(work) = next {
            match work {
                Work::Create(row, came, guard) => {
                    since.get_or_insert(came);
                    bytes += row.plant.len();
                    self.rows.push(row);
                    self.guards.push(guard);
                }
                Work::Try => {}
                Work::End => return (since, true),
            }
            if self.rows.len() >= BATCH || bytes >= BATCH_BYTES {
                break;
            }
            next = self.queue.try_recv();
        }
        (since, false)
    }

    /// Commits the batch, the first of which came at that time, and answers. Without rows it tries
    /// whether the store takes writes.
    fn commit(&mut self, since: Option<Instant>) -> Result<(), Arc<CommitError>> {
        let Shared { has_failed, timeout, metrics, .. } = &*self.shared;
        let started = Instant::now();
        let creates = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if creates > 0 {
            metrics.queue_depth.decrement(creates);
            metrics.batch_size.record(creates);
        }
        // The limit for all is that of the first one.
        let limit = since.map_or(started + TRY_LIMIT.min(*timeout), |it| it + *timeout);
        let committed = self.engine.commit(&self.rows, limit).map_err(Arc::new);
        has_failed.store(committed.is_err(), Relaxed);
        if creates > 0 {
            metrics.commit_duration.record(started.elapsed());
        }
        // Counted before the answer, so that a scrape after an answer includes it.
        for outcome in committed.iter().flatten() {
            metrics.creates[*outcome as usize].increment(1);
        }
        let results = match &committed {
            Ok(outcomes) => outcomes.iter().copied().map(Ok).collect(),
            Err(cause) => vec![Err(Arc::clone(cause)); self.rows.len()],
        };
        self.rows.clear();
        self.guards.clear();
        // Fails only if the runtime has ended, and with it every request that waited.
        let _ = self.results.send(results);
        committed?;
        if self.cause.take().is_some() {
            info!(self.log, "the store takes writes again");
        }
        self.engine.upkeep().map_err(Arc::new)
    }

    /// Logs the cause unless it lasts. Fails if the thread has to end because of it.
    fn report(&mut self, cause: &CommitError) -> anyhow::Result<()> {
        if cause.is_final() {
            return Err(lost(cause, &self.log));
        }
        let said = Some(cause.to_string());
        match cause {
            _ if self.cause == said => {}
            CommitError::Unavailable(_) => {
                warn!(self.log, "the store does not take writes"; "cause" => %cause);
            }
            _ => error!(self.log, "the store failed"; "cause" => %cause),
        }
        self.cause = said;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
