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

/// How long a call other than a commit may take.
const LIMIT: Duration = Duration::from_secs(5);

/// How long a call may take that only reads.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// The pauses before a repeat: the first one, and the longest one. A restart of the database takes
/// some hundred milliseconds.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// How long before a limit the statement is cancelled: a quarter of the limit, at most this.
const CANCEL: Duration = Duration::from_millis(500);

/// When a call that begins now has to end.
pub fn until() -> Instant {
    Instant::now() + LIMIT
}

/// When a call that begins now, and only reads, has to end. It is short, so that a server notices soon
/// that its database is gone.
pub fn until_read() -> Instant {
    Instant::now() + READ_LIMIT
}

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

    /// Does the work on the session, again and again while the fault may pass. The work must be safe to
    /// do twice.
    ///
    /// # Errors
    ///
    /// The last one. It is unknown whether the work was done.
    pub fn retry<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        self.retry_if(PostgresError::may_pass_soon, until, work)
    }

    /// Does the work on the session, again and again while it fails with what may be repeated.
    ///
    /// # Errors
    ///
    /// The last one.
    pub fn retry_if<T>(
        &mut self,
        may_repeat: fn(&PostgresError) -> bool,
        until: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.run(until, &mut work) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            // Random, so that servers with the same fault do not come back at the same time.
            let pause_now = pause.mul_f64(rand::rng().random_range(0.5..1.5));
            if !may_repeat(&error) || Instant::now() + pause_now >= until {
                return Err(error);
            }
            retried(error.kind());
            thread::sleep(pause_now);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Does the work once, on the session.
    ///
    /// # Errors
    ///
    /// It is unknown whether the work was done.
    pub fn run<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        if Instant::now() >= until {
            return Err(PostgresError::Timeout);
        }
        let session = match self.session.take() {
            Some(session) if !session.client.is_closed() => session,
            other => {
                if let Some(closed) = other {
                    self.close(closed);
                }
                self.connect(until, async |connector| connector.connect().await)?
            }
        };
        session.take_warning();
        let mut done = self.within(&session, until, work(&session));
        if let Some(warning) = session.take_warning()
            && done.is_ok()
        {
            done = Err(PostgresError::Warned(warning));
        }
        let stays = match &done {
            Ok(_) => true,
            Err(error) => error.leaves_connection() && self.roll_back(&session, until),
        };
        match stays {
            true => self.session = Some(session),
            false => self.close(session),
        }
        done
    }

    /// Ends the transaction that an error may have left open. If there is none, the database warns,
    /// and nobody asks for that warning.
    fn roll_back(&self, session: &Session, until: Instant) -> bool {
        let rolled_back = session.client.batch_execute("ROLLBACK");
        let ended = self.block_on(async { timeout_at(until.into(), rolled_back).await });
        matches!(ended, Ok(Ok(())))
    }

    /// A session of the caller's own, on this runtime.
    pub fn connect(
        &self,
        until: Instant,
        connect: impl AsyncFnOnce(&Connector) -> Result<Session, PostgresError>,
    ) -> Result<Session, PostgresError> {
        let connect = async { timeout_at(until.into(), connect(&self.connector)).await };
        self.block_on(connect).unwrap_or(Err(PostgresError::Timeout))
    }

    /// Fails if the session with that process of the database shares it with a new one: a pooler in
    /// transaction mode gives a process to a session for one transaction. An engine without such
    /// processes has none above 0.
    pub fn refuse_pooler(&self, backend: i32) -> Result<(), PostgresError> {
        let other = self.connect(until(), async |connector| connector.connect_to_any().await)?;
        let found = self.within(&other, until(), other.backend());
        self.close(other);
        match found? {
            found if found == backend && found > 0 => Err(PostgresError::Pooler),
            _ => Ok(()),
        }
    }

    /// Waits for work on a session, and cancels it shortly before the limit. A statement that is not
    /// cancelled goes on in the database, and holds its locks.
    pub fn within<T>(
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
        let done = self.block_on(async { timeout_at(until.into(), work).await });
        done.map_or(Err(PostgresError::Timeout), |done| done.map_err(PostgresError::cancelled))
    }

    /// Closes the session. The next call connects.
    pub fn disconnect(&mut self) {
        if let Some(session) = self.session.take() {
            self.close(session);
        }
    }

    /// Closes a session of [`Self::connect`].
    pub fn close(&self, session: Session) {
        self.block_on(session.close());
    }

    /// Drives the sessions while it waits.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
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
