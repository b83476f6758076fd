//! How a session with a database is made: on which of its hosts, how encrypted, and how safe.

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Cause;
use crate::postgres::error::PostgresError;
use crate::postgres::schema;
use crate::postgres::session::Session;
use crate::postgres::tls::tls;
use crate::postgres::url::{PostgresUrl, is_local};

/// How long one host may take. The driver's own time-out is only that of TCP, and a listener may
/// accept and stay silent.
const HOST_LIMIT: Duration = Duration::from_secs(2);

/// What a session is for: the later one asks more of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    pub purpose: Purpose,
    /// The host that the next connect tries first: the last one that took a session from this one
    /// or its clone, or the one after a host that is being tried.
    first: Arc<AtomicUsize>,
}

impl Connector {
    /// To that database. Off this machine, or with an authority to trust, the connection is
    /// encrypted unless the URL says `sslmode=disable`.
    pub fn new(url: &PostgresUrl, ca: Option<&Path>, purpose: Purpose) -> Result<Self, Cause> {
        let mut hosts = url.hosts.clone();
        for host in &mut hosts {
            // The driver's default, which may be plain text.
            if host.get_ssl_mode() == SslMode::Prefer {
                let is_plain = is_local(host) && ca.is_none();
                host.ssl_mode(if is_plain { SslMode::Disable } else { SslMode::Require });
            }
            if host.get_password().is_none()
                && let Ok(password) = env::var("PGPASSWORD")
            {
                host.password(password);
            }
        }
        Ok(Self { hosts, tls: tls(ca)?, purpose, first: Arc::default() })
    }

    /// A new session. Tries the host of the last one first, and then the next ones. Bound to the
    /// runtime that it is made on.
    ///
    /// A caller with less time than [`HOST_LIMIT`] may drop this while a host is silent. Then the
    /// next call begins with the host after that one.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let first = self.first.load(Relaxed);
        let mut failed = None;
        let mut said = Vec::new();
        for at in (first..self.hosts.len()).chain(0..first) {
            self.first.store((at + 1) % self.hosts.len(), Relaxed);
            let mut host = self.hosts[at].clone();
            if self.purpose != Purpose::Read {
                host.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            let session = timeout(HOST_LIMIT, Session::open(&host, self.tls.clone())).await;
            match session.unwrap_or(Err(PostgresError::Timeout)) {
                Ok(session) => {
                    self.first.store(at, Relaxed);
                    // It takes writes, so no other host of the database does.
                    if self.purpose == Purpose::WriteSafely {
                        schema::refuse_unsafe(&session).await?;
                    }
                    return Ok(session);
                }
                Err(error) => {
                    said.push(error.to_string());
                    // One host that may come back soon is enough to wait for.
                    failed = failed.filter(PostgresError::passes_soon).or(Some(error));
                }
            }
        }
        Err(PostgresError::NoHost(said.join("; "), failed.unwrap_or(PostgresError::Timeout).into()))
    }
}
