//! A blocking session that connects when it is needed, and reconnects after a fault.
//!
//! Nothing here may be called on a thread of another runtime: the call would panic.

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

/// The minimum pause before a retry. A restart of the database takes a few hundred milliseconds.
const PAUSE: Duration = Duration::from_millis(35);

/// The pauses before retries. Jitter makes each pause up to twice as long as the minimum, so that
/// servers with the same fault do not come back at the same time.
const PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(PAUSE).with_jitter().without_max_times();

/// How long before a deadline the statement is cancelled: a quarter of the remaining time, but at
/// most this.
const CANCEL_MARGIN: Duration = Duration::from_millis(500);

/// A session that reconnects, and the runtime that drives it. The session makes progress only while
/// a call blocks on it.
pub struct ReconnectingSession {
    connector: Connector,
    session: Option<Session>,
    runtime: Option<Runtime>,
}

impl ReconnectingSession {
    /// Creates a session that connects on the first call.
    pub fn new(connector: Connector) -> Result<Self, Cause> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, session: None, runtime: Some(runtime) })
    }

    /// Runs `work` on the session, and retries it until the deadline while `may_repeat` accepts its
    /// error. After an error it is unknown whether the work was done, unless it was rolled back.
    pub fn retry<T>(
        &mut self,
        may_repeat: fn(&PostgresError) -> bool,
        deadline: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        (|| self.run(deadline, &mut work))
            .retry(PAUSES)
            .when(|error| may_repeat(error) && Instant::now() + 2 * PAUSE < deadline)
            .notify(|error, _| retried(error.retry_cause()))
            .call()
    }

    /// Runs `work` on the session once.
    pub fn run<T>(
        &mut self,
        deadline: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        if Instant::now() >= deadline {
            return Err(PostgresError::Timeout);
        }
        let Self { connector, session: kept_session, runtime } = self;
        let runtime = runtime.as_ref().expect("the runtime is there until this is dropped");
        runtime.block_on(async {
            let session = match kept_session.take().filter(|session| !session.client.is_closed()) {
                Some(session) => session,
                None => connect(connector, deadline).await?,
            };
            session.take_warning();
            let done = with_deadline(&session, deadline, work(&session)).await.and_then(|done| {
                session
                    .take_warning()
                    .map_or(Ok(done), |warning| Err(PostgresError::Warned(warning)))
            });
            if done.is_ok() {
                *kept_session = Some(session);
            } else {
                // Closing the session ends the transaction. A new connection finds the host that
                // takes writes, and prepares its statements for the current tables.
                session.close().await;
            }
            done
        })
    }

    /// Closes the session. The next call reconnects.
    pub fn disconnect(&mut self) {
        if let Some(runtime) = &self.runtime
            && let Some(session) = self.session.take()
        {
            runtime.block_on(session.close());
        }
    }
}

/// Connects before the deadline.
async fn connect(connector: &Connector, deadline: Instant) -> Result<Session, PostgresError> {
    let session = timeout_at(deadline.into(), connector.connect()).await;
    session.unwrap_or(Err(PostgresError::Timeout))
}

/// Waits for work on a session, and cancels it shortly before the deadline. A statement that is not
/// cancelled would go on in the database and hold its locks. A cancelled commit that waits for a
/// standby ends with success and a warning.
async fn with_deadline<T>(
    session: &Session,
    deadline: Instant,
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let mut work = pin!(work);
    let left = deadline.saturating_duration_since(Instant::now());
    if let Ok(done) = timeout(left.saturating_sub(CANCEL_MARGIN.min(left / 4)), &mut work).await {
        return done;
    }
    session.cancel().await;
    match timeout_at(deadline.into(), work).await {
        Ok(Ok(done)) => Ok(done),
        _ => Err(PostgresError::Timeout),
    }
}

/// Does not wait for any task, so this may be dropped on a thread of another runtime.
impl Drop for ReconnectingSession {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
