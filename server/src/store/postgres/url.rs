//! `postgres://…`: which database, and how it is reached.
//!
//! The password must never be shown: not by `Display`, not by `Debug`, and not in an error.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// A host that does not answer is left for the next one after this time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a silent connection is probed; after three probes without an answer it ends (tcp(7)).
const PROBE_EVERY: Duration = Duration::from_secs(3);

/// The parameters that a URL may have: those of the driver, and three of libpq's.
const PARAMETERS: &str = "application_name, channel_binding, connect_timeout, dbname, host, \
    hostaddr, keepalives, keepalives_idle, keepalives_interval, keepalives_retries, options, \
    passfile, password, port, sslmode, sslnegotiation, sslrootcert, target_session_attrs, user";

/// A database, as libpq's URIs name it
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS>).
///
/// Off this machine the connection is encrypted and the server's certificate is verified, unless
/// the URL says `sslmode=disable`. On this machine it is plain, unless the URL asks for TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    /// What the driver reads of the URL, for each host. If the driver tried them itself, one silent
    /// host would use up the time-out of all.
    hosts: Vec<Config>,
    /// `sslrootcert`: a PEM file with the authorities that are trusted instead of the system's.
    roots: Option<PathBuf>,
    /// `passfile`, see `password.rs`.
    passfile: Option<PathBuf>,
}

/// The text names no database, or one that must not be reached that way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPostgresUrl {
    /// What the driver says of it, which never repeats the password.
    #[error("{0}; expected `postgres://USER@HOST:PORT/DATABASE`")]
    Driver(String),
    /// A host and a database have no defaults here.
    #[error("it must name a host and a database: `postgres://USER@HOST:PORT/DATABASE`")]
    NoHostOrDatabase,
    /// The driver ends the password at the first `@`.
    #[error("a `@`, `/`, `?` or `#` in a user name or password is written as %40, %2F, %3F or %23")]
    Unescaped,
    /// What is not known is not repeated: it may be the rest of a password with a `&`.
    #[error("it has a parameter that is not one of {PARAMETERS}")]
    UnknownParameter,
    /// libpq falls back to plain text with these, or verifies nothing.
    #[error(
        "sslmode={0} may send in plain text: say `require`, which verifies the server's \
         certificate, or `disable`"
    )]
    OpportunisticTls(String),
    /// No mode of libpq.
    #[error("sslmode is one of disable, require, verify-ca and verify-full")]
    UnknownSslMode,
}

impl FromStr for PostgresUrl {
    type Err = InvalidPostgresUrl;

    fn from_str(text: &str) -> Result<Self, InvalidPostgresUrl> {
        let (place, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut roots, mut passfile) = (None, None, None);
        // The driver knows neither these files nor all of the modes.
        let mut rest = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => mode = Some(value()),
                "sslrootcert" => roots = Some(value()),
                "passfile" => passfile = Some(value().into()),
                name if PARAMETERS.split(", ").any(|known| known == name) => rest.push(parameter),
                _ => return Err(InvalidPostgresUrl::UnknownParameter),
            }
        }
        let config = |place: String| {
            let config = format!("{place}?{}", rest.join("&")).parse::<Config>();
            config.map_err(|error| InvalidPostgresUrl::Driver(said(&error)))
        };
        let mut hosts = one_by_one(place).into_iter().map(config).collect::<Result<Vec<_>, _>>()?;
        hosts.iter().try_for_each(check_place)?;
        let mode = match mode.as_deref() {
            None if roots.is_none() && hosts.iter().all(is_local) => SslMode::Disable,
            Some("disable") => SslMode::Disable,
            // What is weaker in libpq verifies here as well.
            None | Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            Some(mode @ ("allow" | "prefer")) => {
                return Err(InvalidPostgresUrl::OpportunisticTls(mode.to_owned()));
            }
            Some(_) => return Err(InvalidPostgresUrl::UnknownSslMode),
        };
        for host in &mut hosts {
            set_defaults(host.ssl_mode(mode), parameters);
        }
        let roots = roots.filter(|file| file != "system").map(PathBuf::from);
        Ok(Self { hosts, roots, passfile })
    }
}

impl PostgresUrl {
    /// What the driver needs for each host, without a password that is not in the URL.
    pub fn hosts(&self) -> &[Config] {
        &self.hosts
    }

    /// Whether connections are encrypted.
    pub fn has_tls(&self) -> bool {
        self.hosts.iter().any(|host| host.get_ssl_mode() == SslMode::Require)
    }

    /// The authorities to trust, if they are not the system's.
    pub fn roots(&self) -> Option<&PathBuf> {
        self.roots.as_ref()
    }

    /// The passfile that the URL names.
    pub fn passfile(&self) -> Option<&PathBuf> {
        self.passfile.as_ref()
    }
}

/// The host that a configuration names first, and its port.
pub fn host_of(config: &Config) -> (String, u16) {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => String::new(),
    };
    (host, config.get_ports().first().copied().unwrap_or(5432))
}

/// The URL once for each of its hosts.
fn one_by_one(place: &str) -> Vec<String> {
    let (scheme, rest) = place.split_once("://").unwrap_or((place, ""));
    // As the driver reads it: the user ends at the first `@`.
    let (user, rest) = rest.split_once('@').map_or(("", rest), |(user, rest)| (user, rest));
    let at = if user.is_empty() { "" } else { "@" };
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let one = |host| format!("{scheme}://{user}{at}{host}/{database}");
    hosts.split(',').map(one).collect()
}

/// Without a password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        let first = self.hosts.first();
        if let Some(user) = first.and_then(Config::get_user) {
            write!(f, "{user}@")?;
        }
        for (at, (host, port)) in self.hosts.iter().map(host_of).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match host.contains(':') {
                true => write!(f, "{comma}[{host}]:{port}")?,
                false => write!(f, "{comma}{}:{port}", host.replace('/', "%2F"))?,
            }
        }
        write!(f, "/{}", first.and_then(Config::get_dbname).unwrap_or_default())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

/// The driver's error and its cause, which names the parameter.
fn said(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn check_place(config: &Config) -> Result<(), InvalidPostgresUrl> {
    if config.get_hosts().is_empty() || config.get_dbname().is_none() {
        return Err(InvalidPostgresUrl::NoHostOrDatabase);
    }
    let is_escaped = |host: &Host| !matches!(host, Host::Tcp(name) if name.contains('@'));
    let database = config.get_dbname().unwrap_or_default();
    if config.get_hosts().iter().all(is_escaped) && !database.contains(['@', '/']) {
        Ok(())
    } else {
        Err(InvalidPostgresUrl::Unescaped)
    }
}

/// Whether nothing leaves this machine.
fn is_local(config: &Config) -> bool {
    let is_loopback = |name: &String| match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name == "localhost",
    };
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => is_loopback(name),
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// What the URL does not say, so that no call waits for minutes.
fn set_defaults(config: &mut Config, parameters: &str) {
    let says = |name: &str| parameters.contains(name);
    if !says("connect_timeout=") {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if !says("keepalives") {
        config.keepalives_idle(PROBE_EVERY).keepalives_interval(PROBE_EVERY).keepalives_retries(3);
    }
    if !says("application_name=") {
        config.application_name("plant-store");
    }
}

#[cfg(test)]
mod tests;
