//! An engine that does what the test tells it to.

use std::sync::mpsc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::engine::{Engine, Outcome, Row};
use crate::error::Error;
use crate::token::{StoredToken, TokenName};

pub type Committed = Result<Vec<Outcome>, Error>;

/// An engine that reports the ids it is about to commit, and returns the result that the test
/// sends. A test write succeeds, and is not reported.
pub struct Scripted {
    pub begun: mpsc::Sender<Vec<i64>>,
    pub results: Mutex<mpsc::Receiver<Committed>>,
    /// The deadline of each commit so far.
    pub deadlines: Mutex<Vec<Instant>>,
    /// The error that `close` returns, once.
    pub close: Mutex<Option<Error>>,
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
