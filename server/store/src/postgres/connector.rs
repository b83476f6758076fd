//! Connecting to a database: its URL, which host a session uses, whether it is encrypted and which
//! certificates are trusted, and whether its commits are durable.
//!
//! A password in a URL must never be shown: not by `Display`, not by `Debug`, and not in an error.

use std::env;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, bail};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Names;
use crate::error::{Error, Kind};
use crate::postgres::error::Failure;
use crate::postgres::schema;
use crate::postgres::session::Session;

/// Default parameters, so that no call waits for minutes for a host that does not answer or on a
/// dead connection. The parameters of the URL come after them and take precedence.
const DEFAULTS: &str = "connect_timeout=1&tcp_user_timeout=10\
    &keepalives_idle=3&keepalives_interval=3&keepalives_retries=3";

/// The URL of a database, as the driver parses it. The driver's `Debug` hides the password, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresUrl {
    /// The URL without the password and without parameters.
    shown: String,
    /// The driver's configuration for each host. If the driver tried all hosts itself, one host
    /// that accepts and stays silent would use up the time of the others.
    pub hosts: Vec<Config>,
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl PostgresUrl {
    /// Parses a URL. Returns `None` if the text does not name a database.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (_, user_and_hosts) = address.split_once("://")?;
        // The user ends at the first `@`, as in the driver.
        let end_of_user = user_and_hosts.find('@').map_or(0, |at| at + 1);
        let (user, hosts_and_database) = user_and_hosts.split_at(end_of_user);
        let (hosts, database) = hosts_and_database.split_once('/')?;
        let config = |host: &str| {
            let parameters = format!("{DEFAULTS}&{parameters}");
            let one = format!("postgres://{user}{host}/{database}?{parameters}");
            let config = one.parse::<Config>().ok()?;
            let is_whole = !config.get_hosts().is_empty() && !database.is_empty();
            // An unescaped password was split, and this is the rest of it.
            let has_password_rest = host.contains('@') || database.contains(['@', '/']);
            (is_whole && !has_password_rest).then_some(config)
        };
        let name = user.split([':', '@']).next().filter(|name| !name.is_empty());
        let shown_user = name.map(|name| format!("{name}@")).unwrap_or_default();
        let shown = format!("postgres://{shown_user}{hosts}/{database}");
        Some(Self { shown, hosts: hosts.split(',').map(config).collect::<Option<_>>()? })
    }
}

/// Whether a connection to the host stays on this machine.
fn is_local(host: &Config) -> bool {
    let is_loopback = |name: &str| name.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || is_loopback(name),
        Host::Unix(_) => true,
    };
    host.get_hosts().iter().all(is_here) && host.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// The timeout for connecting to one host. The driver's own timeout covers only the TCP connect,
/// and a listener may accept and then stay silent.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reading, on any host, including a standby.
    Read,
    /// Writing, on the host that takes writes, if its settings make each commit durable.
    Write,
}

/// Opens sessions with a database.
#[derive(Clone)]
pub struct Connector {
    names: &'static Names,
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
    pub fn new(
        names: &'static Names,
        url: &PostgresUrl,
        ca: Option<&Path>,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let mut hosts = url.hosts.clone();
        for host in &mut hosts {
            if host.get_application_name().is_none() {
                host.application_name(names.program);
            }
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
        let tls = tls(ca).map_err(|cause| Error::new(Kind::Other, format!("{cause:#}")))?;
        Ok(Self { names, hosts, tls, purpose, first: Arc::default() })
    }

    /// Opens a session. Tries the host of the last session first, then the other hosts in order.
    /// The session is bound to the current runtime.
    ///
    /// # Cancellation
    ///
    /// A caller with less time than [`HOST_TIMEOUT`] may drop this future while a host is silent.
    /// The next call then begins with the host after the silent one.
    pub async fn connect(&self) -> Result<Session, Failure> {
        let first = self.first.load(Relaxed);
        let mut last_failure = None;
        let mut messages = Vec::new();
        for at in (first..self.hosts.len()).chain(0..first) {
            self.first.store((at + 1) % self.hosts.len(), Relaxed);
            let mut host = self.hosts[at].clone();
            if self.purpose == Purpose::Write {
                host.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            let session =
                timeout(HOST_TIMEOUT, Session::open(self.names, &host, self.tls.clone())).await;
            match session.unwrap_or(Err(Failure::timeout())) {
                Ok(session) => {
                    self.first.store(at, Relaxed);
                    // This host takes writes, so no other host of the database does.
                    if self.purpose == Purpose::Write {
                        schema::require_safe_settings(&session).await?;
                    }
                    return Ok(session);
                }
                Err(failure) => {
                    messages.push(failure.error.to_string());
                    // One host that may come back soon is enough to wait for.
                    last_failure = last_failure.filter(Failure::is_transient).or(Some(failure));
                }
            }
        }
        let mut failure = last_failure.unwrap_or_else(Failure::timeout);
        failure.error = Error::new(failure.error.kind, messages.join("; "));
        Err(failure)
    }
}

/// Returns the TLS configuration of a connection. The server's certificate and its name are always
/// verified: against the authorities in the PEM file `ca`, or else against the authorities that the
/// system trusts.
fn tls(ca: Option<&Path>) -> anyhow::Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        add_authorities(&mut roots, file).with_context(|| file.display().to_string())?;
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Adds the certificates of a PEM file (RFC 7468).
fn add_authorities(roots: &mut RootCertStore, file: &Path) -> anyhow::Result<()> {
    for certificate in CertificateDer::pem_file_iter(file)? {
        roots.add(certificate?)?;
    }
    if roots.is_empty() {
        bail!("it contains no certificate: name a PEM file with the authority's certificate");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> PostgresUrl {
        PostgresUrl::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn password_is_never_shown() {
        for text in [
            "postgres://ada:secret@db.example:5433/books",
            "postgresql://ada@db.example:5433/books?password=secret",
        ] {
            let url = parsed(text);
            assert_eq!(url.shown, "postgres://ada@db.example:5433/books");
            assert!(!format!("{url:?} {:?}", url.hosts).contains("secret"));
            assert_eq!(url.hosts[0].get_password(), Some(&b"secret"[..]));
        }
        for wrong in [
            "postgres://ada:sec@secret@db.example/books",
            "postgres://ada:secret@db.example/books?port=secret",
            "postgres://ada:secret@db.example/books?secret",
            "postgres://ada:se?secret@db.example/books",
            "postgres://ada@db.example/books?password=first&secret=2",
            "postgres://ada:secret/books",
            "postgres://ada@db.example/books?sslrootcert=secret",
        ] {
            assert_eq!(PostgresUrl::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn several_hosts_keep_their_ports_and_order() {
        let url = parsed("postgres://ada@a:1,[::1]:2,c/books?target_session_attrs=read-write");
        assert_eq!(url.shown, "postgres://ada@a:1,[::1]:2,c/books");
        assert_eq!(
            url.hosts.iter().map(|host| host.get_ports()[0]).collect::<Vec<_>>(),
            [1, 2, 5432]
        );
    }

    #[test]
    fn host_is_local_only_if_its_connections_stay_on_this_machine() {
        for (text, expected) in [
            ("postgres://127.0.0.1/books", true),
            ("postgres://localhost,[::1]/books", true),
            ("postgres:///books?host=%2Frun%2Fpostgresql", true),
            ("postgres://db.example/books", false),
            ("postgres://localhost/books?hostaddr=192.0.2.1", false),
        ] {
            assert!(parsed(text).hosts.iter().all(|host| is_local(host) == expected), "{text}");
        }
    }

    #[test]
    fn host_and_database_have_no_default() {
        for text in
            ["postgres://", "postgres://db.example", "postgres://db.example/", "postgres:///books"]
        {
            assert_eq!(PostgresUrl::parse(text), None, "{text}");
        }
    }
}
