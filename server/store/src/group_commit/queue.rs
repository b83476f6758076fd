//! The queue of creates, and the list of the requests that wait for them.
//!
//! The writer owns the receiving end of the queue; the list of waiting requests stays on the
//! requests' side. Both have the order in which the creates arrived: a create is added to both at
//! once, and the outcomes of a batch belong to the requests at the front of the list. Nothing
//! outside this file may change either of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::engine::{Outcome, Row};
use crate::error::WriteError;

/// The outcome of a create, or an error if the outcome is unknown. After an error the row may be
/// stored or not; sending the same create again shows which. The creates of one batch share their
/// error.
pub type CreateResult = Result<Outcome, Arc<WriteError>>;

/// A handle that a create holds until its commit has ended. Dropping the last clone releases
/// whatever the guard holds, such as a permit.
pub type Guard = Arc<dyn Send + Sync>;

/// An item of the queue.
pub enum Work {
    /// Commit a row.
    Create(Create),
    /// Find out whether the store takes writes.
    TestWrite,
    /// Commit the queued creates, close the store, and end.
    End,
}

/// A row to commit.
pub struct Create {
    pub row: Row,
    /// When the create was queued.
    pub arrived_at: Instant,
    pub guard: Guard,
}

/// The result of the last batch that the writer took. The batch may have failed.
pub struct BatchResult {
    /// The number of creates in the batch.
    pub creates: usize,
    /// One outcome for each create, in the order of the batch.
    pub outcomes: Result<Vec<Outcome>, Arc<WriteError>>,
}

/// A request that waits for the outcome of its create.
struct Waiter {
    arrived_at: Instant,
    /// `None` after the request was refused because its time was over.
    answer_sender: Option<oneshot::Sender<CreateResult>>,
}

/// The requests' end of the queue.
pub struct Queue {
    work_sender: mpsc::UnboundedSender<Work>,
    /// The requests of the running commit, followed by the requests of the queue, both in order.
    waiters: Mutex<VecDeque<Waiter>>,
}

impl Queue {
    /// Returns an empty queue and the writer's end of it.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Work>) {
        let (work_sender, work_receiver) = mpsc::unbounded_channel();
        (Self { work_sender, waiters: Mutex::default() }, work_receiver)
    }

    /// Adds a create. If the writer has ended, the returned channel is closed without a result.
    pub fn create(&self, row: Row, guard: Guard) -> oneshot::Receiver<CreateResult> {
        let (answer_sender, answer_receiver) = oneshot::channel();
        let arrived_at = Instant::now();
        // While this lock is held, no other create joins the queue.
        let mut waiters = self.waiters.lock();
        if self.work_sender.send(Work::Create(Create { row, arrived_at, guard })).is_ok() {
            waiters.push_back(Waiter { arrived_at, answer_sender: Some(answer_sender) });
        }
        answer_receiver
    }

    /// Adds work other than a create.
    pub fn send(&self, work: Work) {
        // An error means that the writer has ended already.
        let _ = self.work_sender.send(work);
    }

    /// Whether the writer has ended.
    pub fn is_closed(&self) -> bool {
        self.work_sender.is_closed()
    }

    /// Returns when the oldest create without an outcome was queued.
    pub fn oldest_arrival(&self) -> Option<Instant> {
        self.waiters.lock().front().map(|waiter| waiter.arrived_at)
    }

    /// Returns when the oldest create whose request still waits was queued.
    pub fn oldest_awaited_arrival(&self) -> Option<Instant> {
        let waiters = self.waiters.lock();
        waiters.iter().find(|waiter| waiter.answer_sender.is_some()).map(|waiter| waiter.arrived_at)
    }

    /// Delivers the outcomes of a batch to the waiting requests.
    pub fn answer(&self, BatchResult { creates, outcomes }: BatchResult) {
        let mut waiters = self.waiters.lock();
        for (at, waiter) in waiters.drain(..creates).enumerate() {
            let outcome = outcomes.as_ref().map(|outcomes| outcomes[at]).map_err(Arc::clone);
            // If the client has disconnected, the receiver was dropped.
            let _ = waiter.answer_sender.map(|sender| sender.send(outcome));
        }
    }

    /// Refuses the requests that have waited for `timeout` or longer. Their creates are committed
    /// all the same.
    pub fn refuse_late(&self, timeout: Duration) {
        let late = Arc::new(WriteError::TooLate(timeout));
        let mut waiters = self.waiters.lock();
        let is_late = |waiter: &&mut Waiter| waiter.arrived_at.elapsed() >= timeout;
        for waiter in waiters.iter_mut().take_while(is_late) {
            let sender = waiter.answer_sender.take();
            let _ = sender.map(|sender| sender.send(Err(Arc::clone(&late))));
        }
    }

    /// Closes the channels of all waiting requests, because the writer has ended.
    pub fn close(&self) {
        self.waiters.lock().clear();
    }
}
