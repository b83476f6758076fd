//! Group commit on a scripted engine that returns what the test sends, failures included.

mod scripted;

use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use parking_lot::Mutex;
use slog::{Discard, Logger, o};
use tokio::runtime::{Builder, Runtime};

use super::{Arc, CreateResult, Duration, GroupCommit, Instant, Row, WriterEnd};
use crate::engine::BATCH;
use crate::engine::Outcome::{self, Conflict, Created, Repeated};
use crate::error::{Error, Kind};
use crate::group_commit::tests::scripted::{Committed, Scripted};

const TIMEOUT: Duration = Duration::from_mins(1);

type Create<'a> = Pin<Box<dyn Future<Output = CreateResult> + 'a>>;

/// A group commit, the runtime that delivers its outcomes, and the test's channels to its engine.
struct Store {
    engine: Arc<Scripted>,
    runtime: Runtime,
    commits: GroupCommit,
    end: WriterEnd,
    begun: mpsc::Receiver<Vec<i64>>,
    results: mpsc::Sender<Committed>,
}

fn store(timeout: Duration) -> Store {
    let (begun, begun_receiver) = mpsc::channel();
    let (results_sender, results) = mpsc::channel();
    let engine = Arc::new(Scripted {
        begun,
        results: Mutex::new(results),
        deadlines: Mutex::default(),
        close: Mutex::default(),
    });
    let log = Logger::root(Discard, o!());
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let entered = runtime.enter();
    let (commits, end) =
        GroupCommit::start(Arc::clone(&engine) as _, timeout, log).expect("a thread");
    drop(entered);
    let (begun, results) = (begun_receiver, results_sender);
    Store { engine, runtime, commits, end, begun, results }
}

fn row(id: i64) -> Row {
    Row { id, json: format!("{{\"name\":\"{id}\"}}").into() }
}

/// Returns why the store takes no creates, or "ready".
fn readiness(store: &Store) -> String {
    store.commits.readiness().map_or_else(|cause| cause.to_string(), |()| "ready".into())
}

/// Returns the outcome, or the message of the error.
fn outcome_or_message(result: CreateResult) -> Result<Outcome, String> {
    result.map_err(|error| error.to_string())
}

impl Store {
    fn create(&self, row: Row) -> impl Future<Output = CreateResult> {
        self.commits.create(row, Arc::new(()))
    }

    /// Queues a create.
    fn queued(&self, row: Row) -> Create<'_> {
        let mut create: Create<'_> = Box::pin(self.create(row));
        let _runtime = self.runtime.enter();
        let polled = create.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        create
    }

    /// Queues a create and waits until the writer has begun to commit it in a batch of its own.
    fn begun(&self, id: i64) -> Create<'_> {
        let create = self.queued(row(id));
        assert_eq!(self.begun.recv(), Ok(vec![id]));
        create
    }

    fn commit(&self, result: Committed) {
        self.results.send(result).expect("a writer");
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

#[test]
fn waiting_creates_share_a_commit_and_get_their_own_outcomes() {
    let store = store(TIMEOUT);
    let first = store.begun(1);
    let waiting = [2, 3, 4].map(|id| store.queued(row(id)));
    store.commit(Ok(vec![Created]));
    assert_eq!(outcome_or_message(store.wait(first)), Ok(Created));
    assert_eq!(store.begun.recv(), Ok(vec![2, 3, 4]));
    store.commit(Ok(vec![Created, Conflict, Repeated]));
    let expected = [Created, Conflict, Repeated].map(Ok);
    assert_eq!(waiting.map(|create| outcome_or_message(store.wait(create))), expected);
}

#[test]
fn batch_holds_at_most_1024_creates() {
    let store = store(TIMEOUT);
    let first = store.begun(0);
    let ids = 1..=i64::try_from(BATCH + 1).expect("a batch is small");
    let waiting: Vec<_> = ids.map(|id| store.queued(row(id))).collect();
    for (result, next) in [(vec![Created], BATCH), (vec![Created; BATCH], 1)] {
        store.commit(Ok(result));
        assert_eq!(store.begun.recv().expect("a batch").len(), next);
    }
    store.commit(Ok(vec![Created]));
    for create in waiting.into_iter().chain([first]) {
        assert!(store.wait(create).is_ok());
    }
}

#[test]
fn batch_ends_with_the_row_that_exceeds_8_mib() {
    let store = store(TIMEOUT);
    let first = store.begun(0);
    let large = |id| Row { id, json: "f".repeat(3 * 1024 * 1024).into() };
    let waiting: Vec<_> = (1..=4).map(|id| store.queued(large(id))).collect();
    for (result, next) in [(vec![Created], vec![1, 2, 3]), (vec![Created; 3], vec![4])] {
        store.commit(Ok(result));
        assert_eq!(store.begun.recv(), Ok(next));
    }
    store.commit(Ok(vec![Created]));
    for create in waiting.into_iter().chain([first]) {
        assert!(store.wait(create).is_ok());
    }
}

#[test]
fn queued_create_is_committed_after_its_client_has_disconnected() {
    let mut store = store(TIMEOUT);
    let first = store.begun(1);
    drop(store.queued(row(2)));
    store.commits.end();
    store.commit(Ok(vec![Created]));
    drop(first);
    assert_eq!(store.begun.recv(), Ok(vec![2]));
    store.commit(Ok(vec![Created]));
    assert!(matches!(store.end.blocking_recv(), Some(Ok(()))));
}

#[test]
fn late_create_is_refused_but_keeps_its_permit() {
    let mut store = store(Duration::from_millis(10));
    let held = Arc::new(());
    let create = store.commits.create(row(1), Arc::clone(&held) as _);
    let late = store.wait(create).expect_err("nothing is committed yet");
    assert!(late.may_pass() && late.to_string().contains("within 10ms"), "{late}");
    assert_eq!(Arc::strong_count(&held), 2, "its row is still in the store's queue");
    assert_eq!(store.begun.recv(), Ok(vec![1]));
    assert_eq!(readiness(&store), "the store does not answer");
    store.commits.end();
    store.commit(Ok(vec![Created]));
    assert!(matches!(store.end.blocking_recv(), Some(Ok(()))));
    assert_eq!(Arc::strong_count(&held), 1);
}

/// A create that has waited behind a stall must not leave newer creates without time.
#[test]
fn deadline_of_a_batch_is_that_of_its_newest_create() {
    let store = store(TIMEOUT);
    let first = store.begun(1);
    let old = store.queued(row(2));
    let before_newest = Instant::now();
    let new = store.queued(row(3));
    store.commit(Ok(vec![Created]));
    store.commit(Ok(vec![Created, Created]));
    for create in [first, old, new] {
        assert_eq!(outcome_or_message(store.wait(create)), Ok(Created));
    }
    let last_deadline = *store.engine.deadlines.lock().last().expect("two batches");
    assert!(last_deadline >= before_newest + TIMEOUT);
}

#[test]
fn failed_close_is_the_error_of_the_writer() {
    let mut store = store(TIMEOUT);
    *store.engine.close.lock() = Some(Error::new(Kind::Full, "the disk is full"));
    store.commits.end();
    let end = store.end.blocking_recv().expect("the writer has ended");
    assert_eq!(end.expect_err("the close failed").to_string(), "the disk is full");
}

#[test]
fn panic_of_the_writer_is_noticed() {
    let mut store = store(TIMEOUT);
    drop(store.begun(1));
    drop(store.results);
    assert!(store.end.blocking_recv().is_none());
}
