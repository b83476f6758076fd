//! What `serve` prints to stdout once it listens: a command that uses the first token of a new
//! store, and the address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;

use crate::command::serve::args::Args;
use crate::command::shared::print;
use crate::service::{Example, Service};

/// Prints where the server listens, after a command that uses the first token if there is one.
pub fn print_address(
    service: &Service,
    args: &Args,
    address: SocketAddr,
    has_first_token: bool,
) -> Result<()> {
    let scheme = if args.tls.is_some() { "https" } else { "http" };
    let request = if has_first_token { request(service, scheme, address) } else { String::new() };
    print(&format!("{request}{} listening on {scheme}://{address}\n", service.names.program))
}

/// Returns a command that uses the first token.
fn request(service: &Service, scheme: &str, mut address: SocketAddr) -> String {
    // An address to which a client on this machine can connect.
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    let Example { path, body, .. } = service.example;
    format!(
        "curl {scheme}://{address}{path} -H \"Authorization: Bearer $TOKEN\" \
         -H 'Content-Type: application/json' -d '{}'\n",
        body(),
    )
}
