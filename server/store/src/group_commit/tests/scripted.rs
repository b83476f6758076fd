//! An engine that does what the test says.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::engine::{Checked, Closed, Engine, Outcome, Row, Sizes};
use crate::error::{StoreError, WriteError};
use crate::token::{StoredToken, TokenName};

pub type Committed = Result<Vec<Outcome>, WriteError>;

/// An engine that reports the ids that it is about to commit, and returns what the test sends.
pub struct Scripted {
    pub begun: mpsc::Sender<Vec<i64>>,
    pub results: Mutex<mpsc::Receiver<Committed>>,
    /// The time of each commit by which it has to return.
    pub limits: Mutex<Vec<Instant>>,
    /// What the next calls return; then they succeed.
    pub upkeeps: Mutex<VecDeque<Result<(), WriteError>>>,
    /// What the call returns, once.
    pub close: Mutex<Option<StoreError>>,
}

impl Engine for Scripted {
    fn commit(&self, rows: &[Row], until: Instant) -> Committed {
        self.limits.lock().push(until);
        self.begun.send(rows.iter().map(|row| row.id).collect()).expect("the test receives");
        self.results.lock().recv().expect("a result")
    }

    fn upkeep(&self) -> Result<(), WriteError> {
        self.upkeeps.lock().pop_front().unwrap_or(Ok(()))
    }

    fn close(&self) -> Result<Closed, StoreError> {
        self.close.lock().take().map_or(Ok(Closed::Wholly), Err)
    }

    fn page(&self, _: Option<i64>, _: usize) -> Result<Vec<Row>, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn count(&self) -> Result<u64, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        unimplemented!("group commit knows no token")
    }

    fn add_token(&self, _: &StoredToken) -> Result<(), StoreError> {
        unimplemented!("group commit knows no token")
    }

    fn revoke_token(&self, _: &TokenName) -> Result<(), StoreError> {
        unimplemented!("group commit knows no token")
    }

    fn check(&self) -> Result<Checked, StoreError> {
        unimplemented!("group commit does not read")
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        unimplemented!("group commit does not look at files")
    }
}
