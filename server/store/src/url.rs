//! Which store, as a URL names it.
//!
//! A password must never be shown: not by `Display`, not by `Debug`, and not in an error.

use std::fmt;
use std::net::IpAddr;
use std::path::{PathBuf, absolute};
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Where a store is, and by which engine it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`: a file, taken literally, without parameters; `PATH` is relative to the
    /// working directory unless it begins with `/`, and does not begin with exactly two of them.
    Sqlite(PathBuf),
    /// `postgres://…` or `postgresql://…`: a database.
    Postgres(PostgresUrl),
}

/// Why a text does not name a durable store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// No engine has that scheme.
    #[error(
        "expected `sqlite:PATH`, such as `sqlite:/folder/x.db`, or \
         `postgres://USER@HOST:PORT/DATABASE`"
    )]
    UnknownEngine,
    /// SQLite takes an empty path and `:memory:` for a database that is not kept. Some tools read
    /// parameters after a `?`. Some read `sqlite://x.db` as a file here, others as one in the root.
    #[error(
        "a plant store is a file that outlives the process, with no parameters, and no `?` in its \
         path: expected `sqlite:x.db`, which is relative to the working directory, or \
         `sqlite:/folder/x.db`"
    )]
    NotAFile,
    /// What is wrong is not repeated: it may be the rest of a password.
    #[error(
        "expected `postgres://USER@HOST:PORT/DATABASE`, which has a host and a database, and only \
         the parameters of tokio-postgres; a `@`, `/`, `?` or `#` in a password is written as \
         %40, %2F, %3F or %23"
    )]
    NotADatabase,
}

impl FromStr for StoreUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        match text.split_once(':') {
            Some(("sqlite", path)) => {
                let has_two_slashes = path.starts_with("//") && !path.starts_with("///");
                let is_file = !matches!(path, "" | ":memory:") && !path.contains('?');
                if is_file && !has_two_slashes {
                    Ok(Self::Sqlite(path.into()))
                } else {
                    Err(InvalidUrl::NotAFile)
                }
            }
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                PostgresUrl::parse(text).map(Self::Postgres).ok_or(InvalidUrl::NotADatabase)
            }
            _ => Err(InvalidUrl::UnknownEngine),
        }
    }
}

impl StoreUrl {
    /// The same store, whatever the working directory.
    #[must_use]
    pub fn absolute(&self) -> Self {
        match self {
            Self::Sqlite(path) => Self::Sqlite(absolute(path).unwrap_or_else(|_| path.clone())),
            Self::Postgres(_) => self.clone(),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&url.shown),
        }
    }
}

/// In front of the parameters of the URL, which take precedence: no call waits for minutes for a
/// host that does not answer, or on a connection that is dead.
const DEFAULTS: &str = "application_name=plant-store&connect_timeout=1&tcp_user_timeout=10\
    &keepalives_idle=3&keepalives_interval=3&keepalives_retries=3";

/// A database, as the driver reads its URL. The driver's `Debug` has no password either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresUrl {
    /// Without a password and parameters.
    shown: String,
    /// What the driver reads for each host. If the driver tried them itself, one host that accepts
    /// and stays silent would use up the time of all.
    pub hosts: Vec<Config>,
}

impl PostgresUrl {
    /// None if the text names no database.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (_, user_and_hosts) = address.split_once("://")?;
        // As the driver reads it: the user ends at the first `@`.
        let end_of_user = user_and_hosts.find('@').map_or(0, |at| at + 1);
        let (user, hosts_and_database) = user_and_hosts.split_at(end_of_user);
        let (hosts, database) = hosts_and_database.split_once('/')?;
        let config = |host: &str| {
            let one = format!("postgres://{user}{host}/{database}?{DEFAULTS}&{parameters}");
            let config = one.parse::<Config>().ok()?;
            let is_whole = !config.get_hosts().is_empty() && !database.is_empty();
            // The rest of a password.
            let is_cut = host.contains('@') || database.contains(['@', '/']);
            (is_whole && !is_cut).then_some(config)
        };
        let name = user.split([':', '@']).next().filter(|name| !name.is_empty());
        let shown_user = name.map(|name| format!("{name}@")).unwrap_or_default();
        let shown = format!("postgres://{shown_user}{hosts}/{database}");
        Some(Self { shown, hosts: hosts.split(',').map(config).collect::<Option<_>>()? })
    }
}

/// Whether nothing leaves this machine.
pub fn is_local(host: &Config) -> bool {
    let is_loopback = |name: &str| name.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || is_loopback(name),
        Host::Unix(_) => true,
    };
    host.get_hosts().iter().all(is_here) && host.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests;
