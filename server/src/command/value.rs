//! What the values of flags may be, beyond what clap checks itself.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use humantime::Duration;

/// A time that is not zero.
pub fn time(text: &str) -> Result<Duration, &'static str> {
    let time: Option<Duration> = text.parse().ok();
    time.filter(|time| !time.is_zero()).ok_or("expected a time longer than 0s, such as 10s")
}

/// An address and a port, or a name and a port. A name such as localhost may have several addresses:
/// every client that knows it tries the one of IPv4.
pub fn address(text: &str) -> io::Result<SocketAddr> {
    let addresses: Vec<_> = text.to_socket_addrs()?.collect();
    let best = addresses.iter().find(|it| it.is_ipv4()).or(addresses.first());
    best.copied().ok_or_else(|| io::Error::other("the name has no address"))
}
