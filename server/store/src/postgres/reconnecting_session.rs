//! A session that is made when it is needed, and made again after a fault, for threads that may
//! block.
//!
//! Nothing here may be called on a thread of another runtime: it would panic.

use std::pin::pin;
use std::time::{Duration, Instant};

use backon::{BlockingRetryable, ConstantBuilder};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{timeout, timeout_at};

use crate::error::Cause;
use crate::metrics::retried;
use crate::postgres::connector::Connector;
use crate::postgres::error::PostgresError;
use crate::postgres::session::Session;

/// The shortest pause before a repeat. A restart of the database takes some hundred milliseconds.
const PAUSE: Duration = Duration::from_millis(35);

/// The pauses before repeats, each up to twice as long as the shortest one, at random: servers with
/// the same fault do not come back at the same time.
const PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(PAUSE).with_jitter().without_max_times();

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
    pub fn new(connector: Connector) -> Result<Self, Cause> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, session: None, runtime: Some(runtime) })
    }

    /// Does the work on the session, again and again while it fails with what may be repeated.
    /// After an error it is unknown whether the work was done; only a rollback says that it was
    /// not.
    pub fn retry<T>(
        &mut self,
        may_repeat: fn(&PostgresError) -> bool,
        until: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        (|| self.run(until, &mut work))
            .retry(PAUSES)
            .when(|error| may_repeat(error) && Instant::now() + 2 * PAUSE < until)
            .notify(|error, _| retried(error.retry_cause()))
            .call()
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
        let Self { connector, session: kept, runtime } = self;
        let runtime = runtime.as_ref().expect("it is there until this is dropped");
        runtime.block_on(async {
            let session = match kept.take().filter(|session| !session.client.is_closed()) {
                Some(session) => session,
                None => connect(connector, until).await?,
            };
            session.take_warning();
            let done = within(&session, until, work(&session)).await.and_then(|done| {
                session.take_warning().map_or(Ok(done), |said| Err(PostgresError::Warned(said)))
            });
            if done.is_ok() {
                *kept = Some(session);
            } else {
                // Ends the transaction. A new connection finds the host that takes writes, and
                // prepares its statements for the tables as they are.
                session.close().await;
            }
            done
        })
    }

    /// Closes the session. The next call connects.
    pub fn disconnect(&mut self) {
        if let Some(runtime) = &self.runtime
            && let Some(session) = self.session.take()
        {
            runtime.block_on(session.close());
        }
    }
}

/// Connects before the limit.
async fn connect(connector: &Connector, until: Instant) -> Result<Session, PostgresError> {
    let session = timeout_at(until.into(), connector.connect()).await;
    session.unwrap_or(Err(PostgresError::Timeout))
}

/// Waits for work on a session, and cancels it shortly before the limit. A statement that is not
/// cancelled goes on in the database, and holds its locks. One that waits for a standby ends with
/// success and a warning.
async fn within<T>(
    session: &Session,
    until: Instant,
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let mut work = pin!(work);
    let left = until.saturating_duration_since(Instant::now());
    if let Ok(done) = timeout(left.saturating_sub(CANCEL.min(left / 4)), &mut work).await {
        return done;
    }
    session.cancel().await;
    match timeout_at(until.into(), work).await {
        Ok(Ok(done)) => Ok(done),
        _ => Err(PostgresError::Timeout),
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
