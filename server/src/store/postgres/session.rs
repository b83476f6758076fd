//! One connection to the database, the statements that are prepared on it, and the warnings that
//! came on it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::poll_fn;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::batch::BATCH;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::row;

/// How long the request to cancel a statement may take.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(250);

/// How long the last message may take.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

/// The sizes of the statements that add plants: 1, 2, 4 and so on, up to a whole batch.
const SIZES: usize = BATCH.ilog2() as usize + 1;

/// An open connection. Dropping it closes it.
pub struct Session {
    pub client: Client,
    tls: MakeRustlsConnect,
    /// The last warning. A warning of a statement is here before the statement's result.
    warning: Arc<Mutex<Option<String>>>,
    /// The statement that adds 2^n plants is the nth.
    inserts: [OnceCell<Statement>; SIZES],
    connection: Connection,
}

/// The task that moves the bytes. It ends when it is dropped.
struct Connection(JoinHandle<()>);

impl Session {
    /// Connects. Bound to the runtime that it is called on.
    pub async fn open(config: &Config, tls: MakeRustlsConnect) -> Result<Self, PostgresError> {
        let (client, mut connection) = config.connect(tls.clone()).await?;
        let warning = Arc::new(Mutex::new(None));
        let heard = Arc::clone(&warning);
        let mut messages = poll_fn(move |context| connection.poll_message(context));
        let task = tokio::spawn(async move {
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notice(notice) = message
                    && notice.parsed_severity() == Some(Severity::Warning)
                {
                    let text = format!("{} (SQLSTATE {})", notice.message(), notice.code().code());
                    *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                }
            }
        });
        let connection = Connection(task);
        Ok(Self { client, tls, warning, inserts: Default::default(), connection })
    }

    /// The warning that came since the last call.
    pub fn take_warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The statement that adds 2^`exponent` plants.
    pub async fn insert(&self, exponent: usize) -> Result<&Statement, PostgresError> {
        let prepare = async || {
            let plants = 1 << exponent;
            let types = vec![row::TYPES; plants].concat();
            self.client.prepare_typed(&row::insert(plants), &types).await
        };
        Ok(self.inserts[exponent].get_or_try_init(prepare).await?)
    }

    /// The process of the database that serves the session.
    pub async fn backend(&self) -> Result<i32, PostgresError> {
        Ok(self.row("SELECT pg_backend_pid()").await?.try_get(0)?)
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
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, &mut connection.0).await;
    }

    /// Has the server cancel the statement that runs. It may have ended meanwhile.
    pub async fn cancel(&self) {
        let cancel = self.client.cancel_token();
        // If this fails, the connection is closed after it.
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, cancel.cancel_query(self.tls.clone())).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}
