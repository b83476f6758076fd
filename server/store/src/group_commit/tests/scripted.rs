//! An engine that does what the test tells it to.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::engine::{Checked, Closed, Engine, Outcome, Row, Sizes};
use crate::error::{StoreError, WriteError};
use crate::token::{StoredToken, TokenName};

pub type Committed = Result<Vec<Outcome>, WriteError>;

/// An engine that reports the ids it is about to commit, and returns the result that the test
/// sends.
pub struct Scripted {
    pub begun: mpsc::Sender<Vec<i64>>,
    pub results: Mutex<mpsc::Receiver<Committed>>,
    /// The deadline of each commit so far.
    pub deadlines: Mutex<Vec<Instant>>,
    /// The results of the next upkeeps. When the queue is empty, upkeeps succeed.
    pub upkeeps: Mutex<VecDeque<Result<(), WriteError>>>,
    /// The error that `close` returns, once.
    pub close: Mutex<Option<StoreError>>,
    /// The test sends nothing: an inspection waits until the test has ended.
    pub inspections: Mutex<mpsc::Receiver<()>>,
}

impl Engine for Scripted {
    fn commit(&self, rows: &[Row], deadline: Instant) -> Committed {
        self.deadlines.lock().push(deadline);
        self.begun.send(rows.iter().map(|row| row.id).collect()).expect("the test receives");
        self.results.lock().recv().expect("a result")
    }

    fn upkeep(&self) -> Result<(), WriteError> {
        self.upkeeps.lock().pop_front().unwrap_or(Ok(()))
    }

    fn close(&self) -> Result<Closed, StoreError> {
        self.close.lock().take().map_or(Ok(Closed::Clean), Err)
    }

    fn page(&self, _: Option<i64>, _: usize) -> Result<Vec<Row>, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn count(&self) -> Result<u64, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        unimplemented!("group commit does not use tokens")
    }

    fn add_token(&self, _: &StoredToken) -> Result<(), StoreError> {
        unimplemented!("group commit does not use tokens")
    }

    fn revoke_token(&self, _: &TokenName) -> Result<(), StoreError> {
        unimplemented!("group commit does not use tokens")
    }

    fn check(&self) -> Result<Checked, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        let _ = self.inspections.lock().recv();
        Ok(Sizes::default())
    }
}
