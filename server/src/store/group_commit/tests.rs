//! Group commit over a writer that returns what the test tells it to, failures included.

use std::pin::Pin;
use std::sync::mpsc as std_mpsc;
use std::task::{Context, Waker};

use slog::{Discard, o};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::store::batch::{BATCH, CreateResult};
use crate::store::engine::Outcome::{self, Conflict, Created, Repeated};
use crate::store::error::CommitError;

const COMMIT_TIMEOUT: Duration = Duration::from_mins(1);

type Committed = Result<Vec<Outcome>, CommitError>;
type Answer<'a> = Pin<Box<dyn Future<Output = Result<NewPlant, CreateError>> + 'a>>;

/// A writer that reports the ids that it is about to commit, and returns what the test sends.
struct Scripted {
    begun: std_mpsc::Sender<Vec<i64>>,
    results: std_mpsc::Receiver<Committed>,
    upkeep: Option<CommitError>,
}

impl Writer for Scripted {
    fn commit(&mut self, plants: &[NewPlant], _: Instant) -> Committed {
        self.begun.send(plants.iter().map(|plant| plant.id).collect()).expect("the test receives");
        self.results.recv().expect("a result")
    }

    fn try_write(&mut self, _: Instant) -> Result<(), CommitError> {
        Err(CommitError::Unavailable("still".into()))
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        self.upkeep.take().map_or(Ok(()), Err)
    }
}

/// A group commit, the runtime that hands out its answers, and the test's channels to its writer.
struct Store {
    runtime: Runtime,
    plants: GroupCommit,
    end: WriterEnd,
    begun: std_mpsc::Receiver<Vec<i64>>,
    results: std_mpsc::Sender<Committed>,
}

fn store(queue: usize, upkeep: Option<CommitError>) -> Store {
    let ((begun, begun_end), (results_end, results)) = (std_mpsc::channel(), std_mpsc::channel());
    let writer = Box::new(Scripted { begun, results, upkeep });
    let log = Logger::root(Discard, o!());
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let entered = runtime.enter();
    let limits =
        CreateLimits { queue, store_timeout: COMMIT_TIMEOUT, commit_timeout: COMMIT_TIMEOUT };
    let (plants, end) = GroupCommit::start(writer, limits, log).expect("a thread");
    drop(entered);
    Store { runtime, plants, end, begun: begun_end, results: results_end }
}

fn plant(id: i64) -> NewPlant {
    NewPlant::new(id, "")
}

impl Store {
    fn create(&self, plant: NewPlant) -> impl Future<Output = CreateResult> {
        self.plants.create(plant, Arc::new(()))
    }

    /// A create that is in the queue.
    fn queued(&self, id: i64) -> Answer<'_> {
        let mut create: Answer<'_> = Box::pin(self.create(plant(id)));
        let polled = create.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "{id}");
        create
    }

    /// A create that the writer has begun to commit, alone.
    fn begun(&self, id: i64) -> Answer<'_> {
        let create = self.queued(id);
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
fn waiting_creates_share_a_commit_and_get_their_own_answers() {
    let store = store(3, None);
    let first = store.begun(1);
    let waiting = [2, 3, 4].map(|id| store.queued(id));
    assert_eq!(store.wait(store.create(plant(5))), Err(CreateError::QueueFull));
    store.commit(Ok(vec![Created]));
    assert_eq!(store.wait(first), Ok(plant(1)));
    assert_eq!(store.begun.recv(), Ok(vec![2, 3, 4]));
    store.commit(Ok(vec![Created, Conflict, Repeated]));
    let expected = [Ok(plant(2)), Err(CreateError::Conflict), Ok(plant(4))];
    assert_eq!(waiting.map(|create| store.wait(create)), expected);
}

#[test]
fn batch_takes_1024_creates_at_most() {
    let store = store(BATCH + 1, None);
    let first = store.begun(0);
    let ids = 1..=i64::try_from(BATCH + 1).expect("a batch is small");
    let waiting: Vec<_> = ids.map(|id| store.queued(id)).collect();
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
fn batch_takes_8_mib_of_texts_and_the_plant_that_exceeds_them() {
    let store = store(4, None);
    let first = store.begun(0);
    let large = |id| store.create(NewPlant::new(id, "f".repeat(3 * 1024 * 1024)));
    let mut waiting: Vec<Answer<'_>> = (1..=4).map(|id| Box::pin(large(id)) as _).collect();
    for create in &mut waiting {
        assert!(create.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
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
fn queued_create_is_committed_when_its_client_has_left() {
    let store = store(1, None);
    let first = store.begun(1);
    drop(store.queued(2));
    store.commit(Ok(vec![Created]));
    drop(first);
    assert_eq!(store.begun.recv(), Ok(vec![2]));
    store.commit(Ok(vec![Created]));
    drop(store.plants);
    assert_eq!(store.end.blocking_recv(), Ok(Ok(())), "a queue at its end is no failure");
}

#[test]
fn failed_commit_is_an_error_and_the_next_may_succeed() {
    for (failure, expected) in [
        (CommitError::Unavailable("full".into()), CreateError::Unavailable),
        (
            CommitError::Fault("broken".into()),
            CreateError::Fault("the store failed: broken".into()),
        ),
    ] {
        // A place for the create, and one for the service's own try.
        let store = store(2, None);
        let create = store.begun(1);
        store.commit(Err(failure));
        assert_eq!(store.wait(create), Err(expected));
        let create = store.begun(1);
        store.commit(Ok(vec![Created]));
        assert_eq!(store.wait(create), Ok(plant(1)));
    }
}

#[test]
fn nothing_is_committed_after_a_failed_fsync() {
    let store = store(1, None);
    let (begun, waiting) = (store.begun(1), store.queued(2));
    store.commit(Err(CommitError::SyncFailed("lost".into())));
    assert_eq!(
        store.wait(begun),
        Err(CreateError::Fault("a sync of the store failed: lost".into())),
        "it may be in the store or not"
    );
    assert_eq!(store.wait(waiting), Err(CreateError::Unavailable), "it was never tried");
    assert_eq!(store.wait(store.create(plant(3))), Err(CreateError::Unavailable));
    let lost = StoreLost::from(&CommitError::SyncFailed("lost".into()));
    assert_eq!(store.end.blocking_recv(), Ok(Err(lost)));
    assert!(store.begun.try_recv().is_err());
}

#[test]
fn failed_fsync_in_upkeep_stops_the_writer_after_the_answers() {
    let store = store(1, Some(CommitError::SyncFailed("lost".into())));
    let create = store.begun(1);
    store.commit(Ok(vec![Created]));
    assert_eq!(store.wait(create), Ok(plant(1)));
    let lost = StoreLost::from(&CommitError::SyncFailed("lost".into()));
    assert_eq!(store.end.blocking_recv(), Ok(Err(lost)));
}
