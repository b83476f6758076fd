//! How sessions with a database are made: on which of its hosts, how encrypted, and how safe.

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::error::Cause;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::tls;
use crate::store::postgres::url::PostgresUrl;

/// How long one host may take. The driver's own time-out is only that of TCP, and a listener may
/// accept and stay silent.
const HOST_LIMIT: Duration = Duration::from_secs(2);

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// On any host, also a standby.
    Read,
    /// On a host that takes writes.
    Write,
    /// The same, unless its settings make a commit less than durable.
    WriteSafely,
}

/// How sessions with a database are made.
#[derive(Clone)]
pub struct Connector {
    hosts: Vec<(String, Config)>,
    tls: MakeRustlsConnect,
    pub purpose: Purpose,
    /// The host that was connected to last.
    last: Arc<AtomicUsize>,
}

impl Connector {
    /// To that database. Off this machine, or with an authority to trust, the connection is encrypted
    /// unless the URL says `sslmode=disable`.
    pub fn new(url: &PostgresUrl, ca: Option<&Path>, purpose: Purpose) -> Result<Self, Cause> {
        let mut hosts = url.hosts.clone();
        for (_, host) in &mut hosts {
            // The driver's default, which may be plain text.
            if host.get_ssl_mode() == SslMode::Prefer {
                let is_plain = url.is_local() && ca.is_none();
                host.ssl_mode(if is_plain { SslMode::Disable } else { SslMode::Require });
            }
            if host.get_password().is_none()
                && let Ok(password) = env::var("PGPASSWORD")
            {
                host.password(password);
            }
        }
        Ok(Self { hosts, tls: tls::connector(ca)?, purpose, last: Arc::default() })
    }

    /// A new session. Tries the host of the last one first, and then the next ones. Bound to the
    /// runtime that it is made on.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let last = self.last.load(Relaxed);
        let mut errors = Vec::new();
        for at in (last..self.hosts.len()).chain(0..last) {
            let (name, host) = &self.hosts[at];
            let session = timeout(HOST_LIMIT, self.connect_to(host)).await;
            match session.unwrap_or(Err(PostgresError::Timeout)) {
                Ok(session) => {
                    self.last.store(at, Relaxed);
                    if self.purpose == Purpose::WriteSafely {
                        schema::refuse_unsafe(&session).await?;
                    }
                    return Ok(session);
                }
                Err(error) => errors.push((name.clone(), error)),
            }
        }
        Err(PostgresError::Hosts(errors))
    }

    async fn connect_to(&self, host: &Config) -> Result<Session, PostgresError> {
        let mut host = host.clone();
        if self.purpose != Purpose::Read {
            host.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Session::open(&host, self.tls.clone()).await
    }
}
