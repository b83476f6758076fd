//! A session that connects when it is needed, and again after a fault, for threads that may block.
//!
//! Nothing here may be called on a thread of another runtime: it would panic.

use std::io;
use std::pin::pin;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{timeout, timeout_at};

use crate::store::metrics::retried;
use crate::store::postgres::connector::Connector;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::session::Session;

/// The pauses before a repeat. A restart of the database takes some hundred milliseconds.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// How long before a limit the statement is cancelled: a quarter of the limit, at most this.
const CANCEL: Duration = Duration::from_millis(500);

/// At most one session, and the runtime that it runs on: only while a call waits for it.
pub struct ReconnectingSession {
    connector: Connector,
    session: Option<Session>,
    runtime: Option<Runtime>,
}

impl ReconnectingSession {
    /// Connects at the first call.
    pub fn new(connector: Connector) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, session: None, runtime: Some(runtime) })
    }

    /// Does the work on the session, again and again while it fails with what may be repeated. After an
    /// error it is unknown whether the work was done; only a rollback says that it was not.
    pub fn retry<T>(
        &mut self,
        may_repeat: fn(&PostgresError) -> bool,
        until: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let mut pause = FIRST_PAUSE;
        loop {
            // Random, so that servers with the same fault do not come back at the same time.
            let pause_now = pause.mul_f64(rand::rng().random_range(0.5..1.5));
            match self.run(until, &mut work) {
                Err(error) if may_repeat(&error) && Instant::now() + pause_now < until => {
                    retried(error.kind());
                }
                done => return done,
            }
            thread::sleep(pause_now);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Does the work once, on the session.
    pub fn run<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        if Instant::now() >= until {
            return Err(PostgresError::Timeout);
        }
        let session = match self.session.take().filter(|it| !it.client.is_closed()) {
            Some(session) => session,
            None => self.block_until(until, self.connector.connect())?,
        };
        session.take_warning();
        let done = self.within(&session, until, work(&session)).and_then(|done| {
            session.take_warning().map_or(Ok(done), |warning| Err(PostgresError::Warned(warning)))
        });
        if done.is_ok() {
            self.session = Some(session);
        } else {
            // Ends the transaction. A new connection finds the host that takes writes, and prepares
            // its statements for the tables as they are.
            self.block_on(session.close());
        }
        done
    }

    /// Waits for work on a session, and cancels it shortly before the limit. A statement that is not
    /// cancelled goes on in the database, and holds its locks. One that waits for a standby ends with
    /// success and a warning.
    fn within<T>(
        &self,
        session: &Session,
        until: Instant,
        work: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        let mut work = pin!(work);
        let left = until.saturating_duration_since(Instant::now());
        let limit = left.saturating_sub(CANCEL.min(left / 4));
        if let Ok(done) = self.block_on(async { timeout(limit, &mut work).await }) {
            return done;
        }
        self.block_on(session.cancel());
        self.block_until(until, work).map_err(|_| PostgresError::Timeout)
    }

    /// Closes the session. The next call connects.
    pub fn disconnect(&mut self) {
        if let Some(session) = self.session.take() {
            self.block_on(session.close());
        }
    }

    fn block_until<T>(
        &self,
        until: Instant,
        work: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        let done = self.block_on(async { timeout_at(until.into(), work).await });
        done.unwrap_or(Err(PostgresError::Timeout))
    }

    /// Drives the session while it waits.
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.as_ref().expect("it is there until this is dropped").block_on(future)
    }
}

/// Waits for no task: this may be dropped on a thread of another runtime.
impl Drop for ReconnectingSession {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
