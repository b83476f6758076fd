//! An address to listen on, as a flag has it, and why it cannot be used.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Error, anyhow};

/// Why a text is no address.
#[derive(Debug, thiserror::Error)]
pub enum InvalidAddress {
    #[error("{0}; expected an address and a port, such as 127.0.0.1:8080")]
    Malformed(#[from] io::Error),
    #[error("the name has no address; expected an address and a port, such as 127.0.0.1:8080")]
    Unknown,
}

/// An address or a name, and a port. A name such as localhost may have several addresses: every
/// client that resolves the name tries its IPv4 address.
pub fn parse_address(text: &str) -> Result<SocketAddr, InvalidAddress> {
    let addresses: Vec<_> = text.to_socket_addrs()?.collect();
    let of_ipv4 = addresses.iter().find(|address| address.is_ipv4());
    of_ipv4.or(addresses.first()).copied().ok_or(InvalidAddress::Unknown)
}

/// Why a start cannot use the address of that flag. A permission that is missing can only be the one
/// for a low port (ip(7), `ip_unprivileged_port_start`).
pub fn cannot(doing: &str, flag: &str, address: SocketAddr) -> impl Fn(io::Error) -> Error {
    move |cause| {
        let advice = match cause.kind() {
            ErrorKind::PermissionDenied => {
                ": a low port needs root or CAP_NET_BIND_SERVICE; take one from 1024 on".to_owned()
            }
            ErrorKind::AddrInUse => {
                format!(": stop what listens there, or take another address by {flag}")
            }
            _ => String::new(),
        };
        anyhow!("cannot {doing} on {address}: {cause}{advice}")
    }
}
