//! How a session is made on which a commit is durable.

use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::password;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::url::PostgresUrl;

/// Makes `synchronous_commit` at least `on`, and warnings visible. Set in the session, both outlast
/// a reload of the server's settings; a session that has only inherited them would follow it
/// (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT>).
/// `statement_timeout` does not end the wait for a standby; the service limits it itself.
const SETTINGS: &str = "SELECT \
     set_config('synchronous_commit', CASE current_setting('synchronous_commit') \
         WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), \
     set_config('client_min_messages', 'warning', false), \
     set_config('statement_timeout', '0', false)";

/// How a database is connected to.
#[derive(Clone)]
pub struct Connector {
    pub url: PostgresUrl,
    pub tls: MakeRustlsConnect,
    /// For a server: the database takes writes, has the schema of this release, and syncs.
    pub to_serve: bool,
    /// Whether a server may serve from a database that does not sync.
    pub without_fsync: bool,
}

impl Connector {
    /// A new session. Bound to the runtime that it is made on.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let session = self.connect_to_any().await?;
        if self.to_serve {
            if !self.without_fsync {
                session.check_durability().await?;
            }
            match schema::version(&session).await? {
                Some(schema::VERSION) => {}
                found => return Err(PostgresError::NotFit(schema::unfit(found))),
            }
        }
        Ok(session)
    }

    /// A session with a database of which nothing is known yet.
    pub async fn connect_to_any(&self) -> Result<Session, PostgresError> {
        let mut config = self.url.config().clone();
        if let Some(password) = password::of(&self.url).map_err(PostgresError::Credentials)? {
            config.password(password);
        }
        if self.to_serve {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let session = Session::open(&config, self.tls.clone()).await?;
        session.client.query_typed(SETTINGS, &[]).await?;
        session.take_warning();
        Ok(session)
    }
}
