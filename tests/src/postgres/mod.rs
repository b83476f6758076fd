//! A real, disposable PostgreSQL for the tests.
//!
//! Whatever happens to the test process, no server and no folder is left behind: see `cluster.rs`.
//! Failures panic with PostgreSQL's own message.

mod cluster;
mod link;

use std::sync::LazyLock;
use std::thread;

use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::{Client, Error, NoTls, SimpleQueryMessage};

use crate::EVENT_TIMEOUT;

pub use cluster::Cluster;
pub use link::{Link, Network};

/// The runtime of all sessions and links of the process.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

/// A session in which a test runs SQL. It may also be used inside a tokio runtime. Dropping it ends
/// its transaction and releases its locks.
pub struct Session(Client);

impl Session {
    /// Opens a session with the database of that URL.
    pub fn open(url: &str) -> Self {
        Self::try_open(url).unwrap_or_else(|error| panic!("{}", cause(&error)))
    }

    /// Opens a session, or fails, for example if the database is down.
    pub fn try_open(url: &str) -> Result<Self, Error> {
        let (client, connection) = wait_for(tokio_postgres::connect(url, NoTls))?;
        RUNTIME.spawn(connection);
        Ok(Self(client))
    }

    /// Runs statements, which must succeed.
    pub fn execute(&self, statements: &str) {
        let _ = self.rows(statements);
    }

    /// Runs statements, which must succeed, and returns the rows of the last one as text. A NULL is
    /// `None`.
    pub fn rows(&self, statements: &str) -> Vec<Vec<Option<String>>> {
        self.try_rows(statements).unwrap_or_else(|error| panic!("{statements}: {}", cause(&error)))
    }

    /// Runs statements that may fail, and returns the rows of the last one as text.
    pub fn try_rows(&self, statements: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        let messages = wait_for(self.0.simple_query(statements))?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows
            .map(|row| (0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            .collect())
    }

    /// Runs a query and returns its only value as text.
    pub fn value(&self, query: &str) -> String {
        let mut values = self.rows(query).into_iter().flatten();
        values.next().flatten().unwrap_or_else(|| panic!("{query}: no value"))
    }
}

/// Returns the message of the database; `Error` itself displays only "db error".
fn cause(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Waits for a future, on a thread of its own: inside another runtime, blocking would panic.
fn wait_for<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let wait = || RUNTIME.block_on(async { timeout(EVENT_TIMEOUT, future).await });
    let answer = thread::scope(|scope| scope.spawn(wait).join()).expect("no panic");
    answer.expect("the database answers in time")
}
