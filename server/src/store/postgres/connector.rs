//! How a session is made on which a commit is durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::faults;
use crate::store::postgres::password;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::url::{PostgresUrl, host_of};
use crate::store::version::VERSION;

/// How long one host may take. The driver's own time-out is only that of TCP, and a listener may
/// accept and stay silent.
const HOST_LIMIT: Duration = Duration::from_secs(2);

/// If packets are lost, a connection for writes ends after about this time, at both ends. Not for
/// `export` and `copy`, because either side may be slow there (tcp(7), `TCP_USER_TIMEOUT`).
const SILENCE: Duration = Duration::from_secs(10);

/// Makes `synchronous_commit` at least `on`, and warnings visible. Set in the session, both outlast
/// a reload of the server's settings; a session that has only inherited them would follow it
/// (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT>).
/// `statement_timeout` does not end the wait for a standby; the service limits it itself. With
/// `row_security` off, a policy that would hide rows is an error, as in `pg_dump`.
const SETTINGS: &str = "\
    ('synchronous_commit', CASE current_setting('synchronous_commit') \
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END), \
    ('client_min_messages', 'warning'), ('statement_timeout', '0'), ('row_security', 'off'), \
    ('transaction_timeout', '0'), ('idle_session_timeout', '0'), \
    ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')";

/// Has the database end a transaction whose process is gone or paused, and release its locks.
const SETTINGS_OF_A_WRITER: &str = "\
    ('idle_in_transaction_session_timeout', '5000'), ('client_connection_check_interval', '5000'), \
    ('tcp_user_timeout', '10000')";

/// `export` and `copy` may wait for their reader, and for a lock, for as long as it takes.
const SETTINGS_OF_A_READER: &str =
    "('idle_in_transaction_session_timeout', '0'), ('lock_timeout', '0')";

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// On any host, also a standby.
    Read,
    /// On a host that takes writes.
    Write,
    /// On a host that takes writes, in a transaction that may be long and slow.
    Fill,
    /// On a host that takes writes, and has the schema of this release.
    Serve {
        /// Whether the database may be one that does not sync.
        without_fsync: bool,
    },
}

/// How a database is connected to.
#[derive(Clone)]
pub struct Connector {
    url: PostgresUrl,
    tls: MakeRustlsConnect,
    purpose: Purpose,
    /// The host that was connected to last.
    last: Arc<AtomicUsize>,
}

impl Connector {
    /// To that database, for that purpose.
    pub fn new(url: PostgresUrl, tls: MakeRustlsConnect, purpose: Purpose) -> Self {
        Self { url, tls, purpose, last: Arc::default() }
    }

    /// For another purpose.
    pub fn with_purpose(&self, purpose: Purpose) -> Self {
        Self { purpose, ..self.clone() }
    }

    /// A new session. Bound to the runtime that it is made on.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let session = self.connect_to_any().await?;
        if let Purpose::Serve { without_fsync } = self.purpose {
            faults::check(&session, without_fsync).await?;
            match schema::version(&session).await? {
                Some(VERSION) => {}
                found => return Err(PostgresError::NotFit(schema::unfit(found))),
            }
        }
        Ok(session)
    }

    /// A session with a database of which nothing is known yet. Tries the host of the last session
    /// first, and then the next ones.
    pub async fn connect_to_any(&self) -> Result<Session, PostgresError> {
        let hosts = self.url.hosts();
        let last = self.last.load(Relaxed);
        let mut errors = Vec::new();
        for at in (last..hosts.len()).chain(0..last) {
            let (host, port) = host_of(&hosts[at]);
            match timeout(HOST_LIMIT, self.connect_to(&hosts[at])).await {
                Ok(Ok(session)) => {
                    self.last.store(at, Relaxed);
                    return Ok(session);
                }
                Ok(Err(error)) => errors.push((format!("{host}:{port}"), error)),
                Err(_) => errors.push((format!("{host}:{port}"), PostgresError::Timeout)),
            }
        }
        Err(PostgresError::Hosts(errors))
    }

    async fn connect_to(&self, host: &Config) -> Result<Session, PostgresError> {
        let mut host = host.clone();
        if let Some(password) =
            password::of(&self.url, &host).map_err(PostgresError::Credentials)?
        {
            host.password(password);
        }
        if self.purpose != Purpose::Read {
            host.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let more = match self.purpose {
            Purpose::Read | Purpose::Fill => SETTINGS_OF_A_READER,
            Purpose::Write | Purpose::Serve { .. } => {
                host.tcp_user_timeout(SILENCE);
                SETTINGS_OF_A_WRITER
            }
        };
        let session = Session::open(&host, self.tls.clone()).await?;
        // Only the settings that the engine has.
        let set = format!(
            "SELECT set_config(name, value, false) FROM pg_settings \
             JOIN (VALUES {SETTINGS}, {more}) AS wanted (wanted_name, value) ON name = wanted_name"
        );
        session.client.query_typed(&set, &[]).await?;
        session.take_warning();
        Ok(session)
    }
}
