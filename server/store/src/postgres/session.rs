//! A connection whose commits are durable, its prepared statement and the warnings it received,
//! and a blocking session that connects when it is needed, and reconnects after a fault.
//!
//! Nothing blocking here may be called in an asynchronous context: the call would panic.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backon::{BlockingRetryable, ConstantBuilder};
use futures::StreamExt;
use futures::stream::poll_fn;
use metrics::{counter, describe_counter};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::error::Severity;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Names;
use crate::error::Error;
use crate::postgres::connector::Connector;
use crate::postgres::error::Failure;

const RETRIES: &str = "database_retries_total";

/// The timeout for cancelling a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(250);

/// The timeout for closing a session properly.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

/// Configures the session: sets `synchronous_commit` to at least `on`, makes warnings visible, and
/// lets the database end a transaction, and release its locks, if its client is gone or paused.
///
/// A setting of the session survives a reload of the server's configuration, while an inherited
/// setting would change with it
/// (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT>).
/// `statement_timeout` does not end the wait for a standby, so the service enforces its own
/// deadlines. Settings that the engine does not have are skipped.
const SETTINGS: &str = "SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES \
    ('synchronous_commit', CASE current_setting('synchronous_commit') \
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END), \
    ('client_min_messages', 'warning'), ('statement_timeout', '0'), \
    ('transaction_timeout', '0'), ('idle_session_timeout', '0'), \
    ('idle_in_transaction_session_timeout', '5000'), ('client_connection_check_interval', '5000'), \
    ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), \
    ('tcp_keepalives_count', '3'), \
    ('tcp_user_timeout', '10000')) AS wanted (wanted_name, value) ON name = wanted_name";

/// An open connection. Dropping it closes it.
pub struct Session {
    pub client: Client,
    pub names: &'static Names,
    tls: MakeRustlsConnect,
    /// The SQLSTATE of the last warning. The warning of a statement arrives before its result.
    warning: Arc<Mutex<Option<String>>>,
    /// The statement that adds rows, which is prepared when it is first needed.
    insert: OnceCell<Statement>,
    /// The task that drives the connection. It is aborted when this is dropped.
    connection: JoinSet<()>,
}

impl Session {
    /// Connects to a database. The session is bound to the current runtime.
    pub async fn open(
        names: &'static Names,
        config: &Config,
        tls: MakeRustlsConnect,
    ) -> Result<Self, Failure> {
        let (client, mut messages) = config.connect(tls.clone()).await?;
        let warning = Arc::new(Mutex::new(None));
        let last_warning = Arc::clone(&warning);
        let mut messages = poll_fn(move |context| messages.poll_message(context));
        let mut connection = JoinSet::new();
        connection.spawn(async move {
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notice(notice) = message
                    && notice.parsed_severity() == Some(Severity::Warning)
                {
                    *last_warning.lock() = Some(notice.code().code().to_owned());
                }
            }
        });
        client.query_typed(SETTINGS, &[]).await?;
        Ok(Self { client, names, tls, warning, insert: OnceCell::new(), connection })
    }

    /// Returns the SQLSTATE of the last warning since the previous call.
    pub fn take_warning(&self) -> Option<String> {
        self.warning.lock().take()
    }

    /// Returns the prepared statement that adds rows with different ids: an array of their ids, and
    /// an array of their texts. It skips rows whose ids are taken, and returns the ids of the rows
    /// that it added.
    ///
    /// The `DO UPDATE` locks a row whose id is taken, but does not change it. So the commit of this
    /// transaction waits until that row is as durable as its own rows, on a standby too; a
    /// transaction that only reads the row would not wait. `FOR KEY SHARE` would do the same on one
    /// machine, but not across the shards of Citus
    /// (<https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT>).
    pub async fn insert(&self) -> Result<&Statement, Failure> {
        let prepare = async || {
            let table = self.names.table;
            let insert = format!(
                "INSERT INTO {table} (id, json) SELECT * FROM unnest($1, $2) \
                 ON CONFLICT (id) DO UPDATE SET json = {table}.json WHERE false RETURNING id"
            );
            self.client.prepare_typed(&insert, &[Type::INT8_ARRAY, Type::TEXT_ARRAY]).await
        };
        Ok(self.insert.get_or_try_init(prepare).await?)
    }

    /// Returns the only row of a query without parameters.
    pub async fn row(&self, query: &str) -> Result<Row, Failure> {
        Ok(self.client.query_typed_one(query, &[]).await?)
    }

    /// Closes the session properly. Otherwise the server would log an error.
    pub async fn close(self) {
        let Self { client, mut connection, .. } = self;
        drop(client);
        // If the server does not respond, the connection is dropped all the same.
        let _ = timeout(CLOSE_TIMEOUT, connection.join_next()).await;
    }

    /// Asks the server to cancel the running statement. The statement may have ended already.
    pub async fn cancel(&self) {
        let cancel = self.client.cancel_token();
        // If this fails, the caller closes the connection.
        let _ = timeout(CANCEL_TIMEOUT, cancel.cancel_query(self.tls.clone())).await;
    }
}

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
    /// Why the last attempt failed. A timeout reports this, because it names the cause.
    last_error: Option<Error>,
    runtime: Option<Runtime>,
}

impl ReconnectingSession {
    /// Creates a session that connects on the first call, and registers the metric of retries.
    pub fn new(connector: Connector) -> Result<Self, Error> {
        describe_counter!(RETRIES, "Retries of work on the database.");
        counter!(RETRIES).increment(0);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, session: None, last_error: None, runtime: Some(runtime) })
    }

    /// Runs `work` on the session, and retries it until the deadline while `may_repeat` accepts its
    /// error. After an error it is unknown whether the work was done, unless it was rolled back.
    pub fn retry<T>(
        &mut self,
        may_repeat: fn(&Failure) -> bool,
        deadline: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let attempt = || self.run(deadline, &mut work);
        attempt
            .retry(PAUSES)
            .when(|failure| may_repeat(failure) && Instant::now() + 2 * PAUSE < deadline)
            .notify(|_, _| counter!(RETRIES).increment(1))
            .call()
    }

    /// Runs `work` on the session once.
    fn run<T>(
        &mut self,
        deadline: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut done = self.attempt(deadline, work);
        if let Err(failure) = &mut done
            && failure.is_timeout
            && let Some(error) = &self.last_error
        {
            failure.error = Error::new(failure.error.kind, error.to_string());
        }
        self.last_error = done.as_ref().err().map(|failure| failure.error.clone());
        done
    }

    fn attempt<T>(
        &mut self,
        deadline: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if Instant::now() >= deadline {
            return Err(Failure::timeout());
        }
        let Self { connector, session: kept_session, runtime, .. } = self;
        let runtime = runtime.as_ref().expect("the runtime is there until this is dropped");
        runtime.block_on(async {
            let session = match kept_session.take().filter(|session| !session.client.is_closed()) {
                Some(session) => session,
                None => connect(connector, deadline).await?,
            };
            session.take_warning();
            let mut done = with_deadline(&session, deadline, work(&session)).await;
            if done.is_ok()
                && let Some(code) = session.take_warning()
            {
                // What a warning means for a row is unknown, and a commit with a warning may be
                // missing on the standby. Its message may contain a value of a row.
                let message = format!("the database warned with SQLSTATE {code}");
                done = Err(Failure::transient(message));
            }
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
}

/// Connects before the deadline.
async fn connect(connector: &Connector, deadline: Instant) -> Result<Session, Failure> {
    let session = timeout_at(deadline.into(), connector.connect()).await;
    session.unwrap_or(Err(Failure::timeout()))
}

/// Waits for work on a session, and cancels it shortly before the deadline. A statement that is not
/// cancelled would go on in the database and hold its locks. A cancelled commit that waits for a
/// standby ends with success and a warning.
async fn with_deadline<T>(
    session: &Session,
    deadline: Instant,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    let left = deadline.saturating_duration_since(Instant::now());
    if let Ok(done) = timeout(left.saturating_sub(CANCEL_MARGIN.min(left / 4)), &mut work).await {
        return done;
    }
    session.cancel().await;
    match timeout_at(deadline.into(), work).await {
        Ok(Ok(done)) => Ok(done),
        _ => Err(Failure::timeout()),
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
