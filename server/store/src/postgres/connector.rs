//! How sessions with a database are made: on which of its hosts, how encrypted, and how safe; when
//! they are needed, and again after a fault, for threads that may block.
//!
//! Nothing here may be called on a thread of another runtime: it would panic.

use std::env;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{timeout, timeout_at};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Cause;
use crate::metrics::retried;
use crate::postgres::error::PostgresError;
use crate::postgres::schema;
use crate::postgres::session::Session;
use crate::url::{PostgresUrl, is_local};

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
        let (first, mut failed, mut said) = (self.last.load(Relaxed), None, Vec::new());
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

/// The server's certificate is always verified, with its name, by the authorities of that PEM file,
/// else by those of the system.
fn tls(ca: Option<&Path>) -> Result<MakeRustlsConnect, Cause> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        let mut add = |root: Result<_, _>| -> Result<(), Cause> { Ok(roots.add(root?)?) };
        let added = CertificateDer::pem_file_iter(file).map_err(Cause::from);
        let added = added.and_then(|mut all| all.try_for_each(&mut add));
        added.map_err(|cause| format!("{}: {cause}", file.display()))?;
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The pause before a repeat, half or one and a half times as long: servers with the same fault do
/// not come back at the same time. A restart of the database takes some hundred milliseconds.
const PAUSE: Duration = Duration::from_millis(50);

/// How long before a limit the statement is cancelled: a quarter of the limit, at most this.
const CANCEL: Duration = Duration::from_millis(500);

/// At most one session, and the runtime that it runs on: only while a call waits for it.
pub struct ReconnectingSession {
    connector: Connector,
    session: Option<Session>,
    runtime: Option<Runtime>,
}

impl ReconnectingSession {
    /// Connects at the first call.
    pub fn new(connector: Connector) -> Result<Self, Cause> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, session: None, runtime: Some(runtime) })
    }

    /// Does the work on the session, again and again while it fails with what may be repeated. After an
    /// error it is unknown whether the work was done; only a rollback says that it was not.
    pub fn retry<T>(
        &mut self,
        may_repeat: fn(&PostgresError) -> bool,
        until: Instant,
        mut work: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        loop {
            let pause = PAUSE.mul_f64(rand::rng().random_range(0.5..1.5));
            match self.run(until, &mut work) {
                Err(error) if may_repeat(&error) && Instant::now() + pause < until => {
                    retried(error.kind());
                }
                done => return done,
            }
            thread::sleep(pause);
        }
    }

    /// Does the work once, on the session.
    pub fn run<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnOnce(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        if Instant::now() >= until {
            return Err(PostgresError::Timeout);
        }
        let Self { connector, session: kept, runtime } = self;
        let runtime = runtime.as_ref().expect("it is there until this is dropped");
        runtime.block_on(async {
            let session = match kept.take().filter(|it| !it.client.is_closed()) {
                Some(session) => session,
                None => timeout_at(until.into(), connector.connect())
                    .await
                    .unwrap_or(Err(PostgresError::Timeout))?,
            };
            session.take_warning();
            let done = within(&session, until, work(&session)).await.and_then(|done| {
                session.take_warning().map_or(Ok(done), |said| Err(PostgresError::Warned(said)))
            });
            if done.is_ok() {
                *kept = Some(session);
            } else {
                // Ends the transaction. A new connection finds the host that takes writes, and
                // prepares its statements for the tables as they are.
                session.close().await;
            }
            done
        })
    }

    /// Closes the session. The next call connects.
    pub fn disconnect(&mut self) {
        if let (Some(session), Some(runtime)) = (self.session.take(), &self.runtime) {
            runtime.block_on(session.close());
        }
    }
}

/// Waits for work on a session, and cancels it shortly before the limit. A statement that is not
/// cancelled goes on in the database, and holds its locks. One that waits for a standby ends with
/// success and a warning.
async fn within<T>(
    session: &Session,
    until: Instant,
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let mut work = pin!(work);
    let left = until.saturating_duration_since(Instant::now());
    if let Ok(done) = timeout(left.saturating_sub(CANCEL.min(left / 4)), &mut work).await {
        return done;
    }
    session.cancel().await;
    match timeout_at(until.into(), work).await {
        Ok(Ok(done)) => Ok(done),
        _ => Err(PostgresError::Timeout),
    }
}

/// Waits for no task: this may be dropped on a thread of another runtime.
impl Drop for ReconnectingSession {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
