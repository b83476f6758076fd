//! A database, as a URL names it.
//!
//! A password must never be shown: not by `Display`, not by `Debug`, and not in an error.

use std::fmt;
use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::names::APPLICATION;

/// In front of the parameters of the URL, which take precedence: no call waits for minutes for a
/// host that does not answer, or on a connection that is dead.
const DEFAULTS: &str = "connect_timeout=1&tcp_user_timeout=10\
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

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
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
            let parameters = format!("application_name={APPLICATION}&{DEFAULTS}&{parameters}");
            let one = format!("postgres://{user}{host}/{database}?{parameters}");
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
