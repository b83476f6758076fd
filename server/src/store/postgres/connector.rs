//! How sessions with a database are made: on which of its hosts, how encrypted, and how safe.

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::error::Cause;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::url::{PostgresUrl, is_local};

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
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    pub purpose: Purpose,
    /// The host that was connected to last, by this one or by its clone.
    last: Arc<AtomicUsize>,
}

impl Connector {
    /// To that database. Off this machine, or with an authority to trust, the connection is encrypted
    /// unless the URL says `sslmode=disable`.
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
        Ok(Self { hosts, tls: tls(ca)?, purpose, last: Arc::default() })
    }

    /// A new session. Tries the host of the last one first, and then the next ones. Bound to the
    /// runtime that it is made on.
    pub async fn connect(&self) -> Result<Session, PostgresError> {
        let (first, mut failed) = (self.last.load(Relaxed), PostgresError::Timeout);
        for at in (first..self.hosts.len()).chain(0..first) {
            let mut host = self.hosts[at].clone();
            if self.purpose != Purpose::Read {
                host.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            let session = timeout(HOST_LIMIT, Session::open(&host, self.tls.clone())).await;
            match session.unwrap_or(Err(PostgresError::Timeout)) {
                Ok(session) => {
                    self.last.store(at, Relaxed);
                    if self.purpose == Purpose::WriteSafely {
                        schema::refuse_unsafe(&session).await?;
                    }
                    return Ok(session);
                }
                // One host that may come back soon is enough to wait for.
                Err(error) if at == first || error.passes_soon() => failed = error,
                Err(_) => {}
            }
        }
        Err(failed)
    }
}

/// The server's certificate is always verified, with its name, by the authorities of that PEM file,
/// else by those of the system.
fn tls(ca: Option<&Path>) -> Result<MakeRustlsConnect, Cause> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        let named = |cause: Cause| format!("{}: {cause}", file.display());
        for root in CertificateDer::pem_file_iter(file).map_err(|cause| named(cause.into()))? {
            let root = root.map_err(|cause| named(cause.into()))?;
            roots.add(root).map_err(|cause| named(cause.into()))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
