//! The queue of creates, and the requests that wait for what becomes of them.
//!
//! The writer's thread has the rows, and the requests' side has those who wait for them. Both are
//! in the order in which the creates came: a create joins both at once, and the outcomes of a batch
//! belong to those who wait first. Nothing outside this file may change either of the two.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::engine::{Outcome, Row};
use crate::error::WriteError;

/// What became of a create, or why that is not known: then the row may be in the store or not.
/// The same create, sent again, tells. The creates of one batch share their error.
pub type CreateResult = Result<Outcome, Arc<WriteError>>;

/// Kept by a create until its commit has ended. What its last clone holds is free then.
pub type Guard = Arc<dyn Send + Sync>;

/// What the writer's thread takes from the queue.
pub enum Work {
    /// Commits a row.
    Create(Create),
    /// Finds out whether the store takes writes.
    Try,
    /// Commits what is queued, closes the store, and ends.
    End,
}

/// A row that is to be committed.
pub struct Create {
    pub row: Row,
    /// When it came.
    pub since: Instant,
    pub guard: Guard,
}

/// What became of the creates that the writer took last. They may not be committed.
pub struct BatchResult {
    /// How many there were.
    pub creates: usize,
    /// An outcome for each, in their order.
    pub outcomes: Result<Vec<Outcome>, Arc<WriteError>>,
}

/// A request that waits for the outcome of its create.
struct Waiter {
    since: Instant,
    /// None after the request was told that it is too late.
    answer_sender: Option<oneshot::Sender<CreateResult>>,
}

/// The requests' end of the queue.
pub struct Queue {
    work_sender: mpsc::UnboundedSender<Work>,
    /// Those of the running commit first, then those of the queue, in its order.
    waiters: Mutex<VecDeque<Waiter>>,
}

impl Queue {
    /// An empty queue, and the writer's end of it.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Work>) {
        let (work_sender, work_receiver) = mpsc::unbounded_channel();
        (Self { work_sender, waiters: Mutex::default() }, work_receiver)
    }

    /// Adds a create. What is returned is closed without a result if the writer has ended.
    pub fn create(&self, row: Row, guard: Guard) -> oneshot::Receiver<CreateResult> {
        let (answer_sender, answer_receiver) = oneshot::channel();
        let since = Instant::now();
        // While they are locked, no other create joins the queue.
        let mut waiters = self.waiters.lock();
        if self.work_sender.send(Work::Create(Create { row, since, guard })).is_ok() {
            waiters.push_back(Waiter { since, answer_sender: Some(answer_sender) });
        }
        answer_receiver
    }

    /// Adds something else than a create.
    pub fn tell(&self, work: Work) {
        // An error says that the writer has ended already.
        let _ = self.work_sender.send(work);
    }

    /// Whether the writer has ended.
    pub fn is_closed(&self) -> bool {
        self.work_sender.is_closed()
    }

    /// When the first create came that is not committed yet.
    pub fn oldest_arrival(&self) -> Option<Instant> {
        self.waiters.lock().front().map(|waiter| waiter.since)
    }

    /// When the first create came whose request still waits for it.
    pub fn oldest_awaited_arrival(&self) -> Option<Instant> {
        let waiters = self.waiters.lock();
        waiters.iter().find(|waiter| waiter.answer_sender.is_some()).map(|waiter| waiter.since)
    }

    /// Gives their outcomes to those who wait for them.
    pub fn answer(&self, BatchResult { creates, outcomes }: BatchResult) {
        let mut waiters = self.waiters.lock();
        for (at, waiter) in waiters.drain(..creates).enumerate() {
            let outcome = outcomes.as_ref().map(|outcomes| outcomes[at]).map_err(Arc::clone);
            // A request whose client has left has dropped its receiver.
            let _ = waiter.answer_sender.map(|sender| sender.send(outcome));
        }
    }

    /// Tells those who have waited for as long as `timeout` that it is too late. Their creates are
    /// committed all the same.
    pub fn refuse_late(&self, timeout: Duration) {
        let late = Arc::new(WriteError::TooLate(timeout));
        let mut waiters = self.waiters.lock();
        let is_late = |waiter: &&mut Waiter| waiter.since.elapsed() >= timeout;
        for waiter in waiters.iter_mut().take_while(is_late) {
            let sender = waiter.answer_sender.take();
            let _ = sender.map(|sender| sender.send(Err(Arc::clone(&late))));
        }
    }

    /// Has those who wait know that the writer has ended.
    pub fn close(&self) {
        self.waiters.lock().clear();
    }
}
