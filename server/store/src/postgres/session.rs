//! One connection on which a commit is durable, the statements that are prepared on it, and the
//! warnings that came on it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::poll_fn;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::error::Severity;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::engine::BATCH;
use crate::names::TABLE;
use crate::postgres::error::PostgresError;

/// How long it may take to cancel a statement, and to say that the session ends.
const CANCEL_LIMIT: Duration = Duration::from_millis(250);
const CLOSE_LIMIT: Duration = Duration::from_millis(50);

/// The largest statement adds 2^`LARGEST` rows: a whole batch.
pub const LARGEST: usize = BATCH.ilog2() as usize;

/// Makes `synchronous_commit` at least `on`, and warnings visible; has the database end a
/// transaction whose process is gone or paused, and release its locks. Set in the session, they
/// outlast a reload of the server's settings; a session that has only inherited them would follow
/// it (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT>).
/// `statement_timeout` does not end the wait for a standby; the service limits it itself. Only the
/// settings that the engine has.
const SET: &str = "SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES \
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
    tls: MakeRustlsConnect,
    /// The last warning. A warning of a statement is here before the statement's result.
    warning: Arc<Mutex<Option<String>>>,
    /// The statement that adds 2^n rows is the nth.
    inserts: [OnceCell<Statement>; LARGEST + 1],
    /// The task that moves the bytes. It ends when this is dropped.
    connection: JoinSet<()>,
}

impl Session {
    /// Connects. Bound to the runtime that it is called on.
    pub async fn open(config: &Config, tls: MakeRustlsConnect) -> Result<Self, PostgresError> {
        let (client, mut messages) = config.connect(tls.clone()).await?;
        let warning = Arc::new(Mutex::new(None));
        let heard = Arc::clone(&warning);
        let mut messages = poll_fn(move |context| messages.poll_message(context));
        let mut connection = JoinSet::new();
        connection.spawn(async move {
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notice(notice) = message
                    && notice.parsed_severity() == Some(Severity::Warning)
                {
                    let text = format!("{} (SQLSTATE {})", notice.message(), notice.code().code());
                    *heard.lock() = Some(text);
                }
            }
        });
        client.query_typed(SET, &[]).await?;
        Ok(Self { client, tls, warning, inserts: Default::default(), connection })
    }

    /// The warning that came since the last call.
    pub fn take_warning(&self) -> Option<String> {
        self.warning.lock().take()
    }

    /// The statement that adds 2^`exponent` rows with different ids, but none whose id is taken,
    /// and returns the ids of those that were added.
    ///
    /// `VALUES`, because a distributed engine takes the rows of an `unnest` through every node.
    ///
    /// A row whose id is taken is locked by the `DO UPDATE`, and not changed. So the transaction
    /// waits at its commit until that row is as durable as its own, also if a standby has to have
    /// it; a transaction that has only read the row would not wait. `FOR KEY SHARE` would do the
    /// same on one machine, but not over the shards of Citus
    /// (<https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT>).
    pub async fn insert(&self, exponent: usize) -> Result<&Statement, PostgresError> {
        let prepare = async || {
            let rows = 1 << exponent;
            let values = (0..rows).map(|at| format!("(${}, ${})", 2 * at + 1, 2 * at + 2));
            let insert = format!(
                "INSERT INTO {TABLE} (id, json) VALUES {} \
                 ON CONFLICT (id) DO UPDATE SET json = {TABLE}.json WHERE false RETURNING id",
                values.collect::<Vec<_>>().join(", ")
            );
            let types = vec![[Type::INT8, Type::TEXT]; rows].concat();
            self.client.prepare_typed(&insert, &types).await
        };
        Ok(self.inserts[exponent].get_or_try_init(prepare).await?)
    }

    /// The one row of a query without parameters.
    pub async fn row(&self, query: &str) -> Result<Row, PostgresError> {
        Ok(self.client.query_typed_one(query, &[]).await?)
    }

    /// Says to the server that the session ends. Otherwise the server would log an error.
    pub async fn close(self) {
        let Self { client, mut connection, .. } = self;
        drop(client);
        // If the server does not read it, the connection is closed all the same.
        let _ = timeout(CLOSE_LIMIT, connection.join_next()).await;
    }

    /// Has the server cancel the statement that runs. It may have ended meanwhile.
    pub async fn cancel(&self) {
        let cancel = self.client.cancel_token();
        // If this fails, the connection is closed after it.
        let _ = timeout(CANCEL_LIMIT, cancel.cancel_query(self.tls.clone())).await;
    }
}
