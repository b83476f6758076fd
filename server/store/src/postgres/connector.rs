//! Connecting to a database: which host a session uses, whether it is encrypted, and whether its
//! commits are durable.

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

/// The timeout for connecting to one host. The driver's own timeout covers only the TCP connect,
/// and a listener may accept and then stay silent.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);

/// What a session is for. Each variant asks more of the host than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Reading, on any host, including a standby.
    Read,
    /// Writing, on a host that takes writes.
    Write,
    /// Writing, on a host whose settings make each commit durable.
    WriteSafely,
}

/// Opens sessions with a database.
#[derive(Clone)]
pub struct Connector {
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    pub purpose: Purpose,
    /// The host that the next connect tries first, shared with the clones of this connector. It is
    /// the last host that accepted a session, or the host after the one that is being tried.
    first: Arc<AtomicUsize>,
}

impl Connector {
    /// Creates a connector for a database. The connection is encrypted if the database is on
    /// another machine or `ca` is given, unless the URL says `sslmode=disable`.
    pub fn new(url: &PostgresUrl, ca: Option<&Path>, purpose: Purpose) -> Result<Self, Cause> {
        let mut hosts = url.hosts.clone();
        for host in &mut hosts {
            // `Prefer` is the driver's default, and may be plain text.
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

    /// Opens a session. Tries the host of the last session first, then the other hosts in order.
    /// The session is bound to the current runtime.
    ///
    /// # Cancellation
    ///
    /// A caller with less time than [`HOST_TIMEOUT`] may drop this future while a host is silent.
    /// The next call then begins with the host after the silent one.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let first = self.first.load(Relaxed);
        let mut last_error = None;
        let mut errors = Vec::new();
        for at in (first..self.hosts.len()).chain(0..first) {
            self.first.store((at + 1) % self.hosts.len(), Relaxed);
            let mut host = self.hosts[at].clone();
            if self.purpose != Purpose::Read {
                host.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            let session = timeout(HOST_TIMEOUT, Session::open(&host, self.tls.clone())).await;
            match session.unwrap_or(Err(PostgresError::Timeout)) {
                Ok(session) => {
                    self.first.store(at, Relaxed);
                    // This host takes writes, so no other host of the database does.
                    if self.purpose == Purpose::WriteSafely {
                        schema::require_safe_settings(&session).await?;
                    }
                    return Ok(session);
                }
                Err(error) => {
                    errors.push(error.to_string());
                    // One host that may come back soon is enough to wait for.
                    last_error = last_error.filter(PostgresError::is_transient).or(Some(error));
                }
            }
        }
        let error = last_error.unwrap_or(PostgresError::Timeout);
        Err(PostgresError::NoHost(errors.join("; "), error.into()))
    }
}
