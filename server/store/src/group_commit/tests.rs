//! Group commit on a scripted engine that returns what the test sends, failures included.

use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use parking_lot::Mutex;
use slog::{Discard, Logger, o};
use tokio::runtime::{Builder, Runtime};

use super::{Arc, CreateResult, Duration, GroupCommit, Instant, Row, WriterEnd};
use crate::engine::Outcome::{self, Created};
use crate::engine::{BATCH, Engine};
use crate::error::{Error, Kind};
use crate::token::{StoredToken, TokenName};

const TIMEOUT: Duration = Duration::from_mins(1);

type Committed = Result<Vec<Outcome>, Error>;

/// An engine that reports the ids it is about to commit, and returns the result that the test
/// sends. A test write succeeds, and is not reported.
struct Scripted {
    begun: mpsc::Sender<Vec<i64>>,
    results: Mutex<mpsc::Receiver<Committed>>,
    /// The deadline of each commit so far.
    deadlines: Mutex<Vec<Instant>>,
    /// The error that `close` returns, once.
    close: Mutex<Option<Error>>,
}

impl Engine for Scripted {
    fn commit(&self, rows: &[Row], deadline: Instant) -> Committed {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.deadlines.lock().push(deadline);
        self.begun.send(rows.iter().map(|row| row.id).collect()).expect("the test receives");
        self.results.lock().recv().expect("a result")
    }

    fn close(&self) -> Result<(), Error> {
        self.close.lock().take().map_or(Ok(()), Err)
    }

    fn get(&self, _: i64, _: Instant) -> Result<Option<Row>, Error> {
        unimplemented!("group commit does not read")
    }

    fn page(&self, _: Option<i64>, _: usize) -> Result<Vec<Row>, Error> {
        unimplemented!("group commit does not read")
    }

    fn count(&self) -> Result<u64, Error> {
        unimplemented!("group commit does not read")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, Error> {
        unimplemented!("group commit does not use tokens")
    }

    fn add_token(&self, _: &StoredToken) -> Result<(), Error> {
        unimplemented!("group commit does not use tokens")
    }

    fn revoke_token(&self, _: &TokenName) -> Result<(), Error> {
        unimplemented!("group commit does not use tokens")
    }

    fn check(&self) -> Result<Vec<String>, Error> {
        unimplemented!("group commit does not read")
    }

    fn inspect(&self) -> Result<(), Error> {
        Ok(())
    }
}

type Create<'a> = Pin<Box<dyn Future<Output = CreateResult> + 'a>>;

/// A group commit, the runtime that delivers its outcomes, and the test's channels to its engine.
struct Store {
    engine: Arc<Scripted>,
    runtime: Runtime,
    commits: GroupCommit,
    end: WriterEnd,
    begun: mpsc::Receiver<Vec<i64>>,
    results: mpsc::Sender<Committed>,
    /// Every create holds a clone.
    guard: Arc<()>,
}

fn store() -> Store {
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
        GroupCommit::start(Arc::clone(&engine) as _, TIMEOUT, log).expect("a thread");
    drop(entered);
    let (begun, results) = (begun_receiver, results_sender);
    Store { engine, runtime, commits, end, begun, results, guard: Arc::default() }
}

fn row(id: i64) -> Row {
    Row { id, json: format!("{{\"name\":\"{id}\"}}").into() }
}

impl Store {
    /// Queues a create.
    fn queued(&self, row: Row) -> Create<'_> {
        let mut create: Create<'_> =
            Box::pin(self.commits.create(row, Arc::clone(&self.guard) as _));
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
fn batch_ends_at_1024_creates_or_8_mib() {
    // The length of each text, and the numbers of creates in the batches.
    for (bytes, batches) in [(1, [BATCH, 1]), (3 * 1024 * 1024, [3, 1])] {
        let store = store();
        let first = store.begun(0);
        let queued = |id| store.queued(Row { id, json: "f".repeat(bytes).into() });
        let waiting: Vec<_> = (1..).map(queued).take(batches.iter().sum()).collect();
        store.commit(Ok(vec![Created]));
        for creates in batches {
            assert_eq!(store.begun.recv().expect("a batch").len(), creates);
            store.commit(Ok(vec![Created; creates]));
        }
        for create in waiting.into_iter().chain([first]) {
            assert!(store.wait(create).is_ok());
        }
    }
}

/// The one is being committed when its client disconnects, and the other is still queued.
#[test]
fn create_without_its_client_is_committed_and_guarded() {
    let mut store = store();
    drop(store.begun(1));
    drop(store.queued(row(2)));
    assert_eq!(Arc::strong_count(&store.guard), 3);
    store.commits.end();
    store.commit(Ok(vec![Created]));
    assert_eq!(store.begun.recv_timeout(TIMEOUT), Ok(vec![2]));
    assert_eq!(Arc::strong_count(&store.guard), 2);
    store.commit(Ok(vec![Created]));
    assert!(matches!(store.end.blocking_recv(), Some(Ok(()))));
    assert_eq!(Arc::strong_count(&store.guard), 1);
}

/// A create that has waited behind a stall must not leave newer creates without time.
#[test]
fn deadline_of_a_batch_is_that_of_its_newest_create() {
    let store = store();
    let first = store.begun(1);
    let old = store.queued(row(2));
    let before_newest = Instant::now();
    let new = store.queued(row(3));
    store.commit(Ok(vec![Created]));
    store.commit(Ok(vec![Created, Created]));
    for create in [first, old, new] {
        assert!(store.wait(create).is_ok());
    }
    let last_deadline = *store.engine.deadlines.lock().last().expect("two batches");
    assert!(last_deadline >= before_newest + TIMEOUT);
}

#[test]
fn failed_close_is_the_error_of_the_writer() {
    let mut store = store();
    *store.engine.close.lock() = Some(Error::new(Kind::Full, "the disk is full"));
    store.commits.end();
    let end = store.end.blocking_recv().expect("the writer has ended");
    assert_eq!(end.expect_err("the close failed").to_string(), "the disk is full");
}

#[test]
fn panic_of_the_writer_is_noticed() {
    let mut store = store();
    drop(store.begun(1));
    drop(store.results);
    assert!(store.end.blocking_recv().is_none());
}
