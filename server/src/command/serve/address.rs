//! Parses the address of a listener, and explains why it cannot be bound.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Error, anyhow};

/// The error of [`parse_address`].
#[derive(Debug, thiserror::Error)]
pub enum InvalidAddress {
    #[error("{0}; expected an address and a port, such as 127.0.0.1:8080")]
    Malformed(#[from] io::Error),
    #[error(
        "the name resolves to no address; expected an address and a port, such as \
             127.0.0.1:8080"
    )]
    Unknown,
}

/// Parses an IP address or a host name, followed by a port. If a name such as localhost has several
/// addresses, returns an IPv4 address, because every client that resolves the name tries it.
pub fn parse_address(text: &str) -> Result<SocketAddr, InvalidAddress> {
    let addresses: Vec<_> = text.to_socket_addrs()?.collect();
    let ipv4 = addresses.iter().find(|address| address.is_ipv4());
    ipv4.or(addresses.first()).copied().ok_or(InvalidAddress::Unknown)
}

/// Explains why the address of `flag` cannot be bound. A permission error can only mean a low port
/// (ip(7), `ip_unprivileged_port_start`).
pub fn bind_error(doing: &str, flag: &str, address: SocketAddr) -> impl Fn(io::Error) -> Error {
    move |cause| {
        let advice = match cause.kind() {
            ErrorKind::PermissionDenied => {
                ": low ports need root or CAP_NET_BIND_SERVICE; use a port from 1024 up".to_owned()
            }
            ErrorKind::AddrInUse => {
                format!(": stop the program that listens there, or set another address with {flag}")
            }
            _ => String::new(),
        };
        anyhow!("cannot {doing} on {address}: {cause}{advice}")
    }
}
