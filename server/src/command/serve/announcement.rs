//! What a start prints to standard output: where the service listens, and how to use a new store.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;

use crate::command::common::print;
use crate::token::Token;

/// Where the service listens.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// `http` or `https`.
    pub scheme: &'static str,
    pub address: SocketAddr,
}

/// Prints where the service listens, and a command that uses the first token of a new store.
pub fn announce(endpoint: Endpoint, first_token: Option<&Token>) -> Result<()> {
    let Endpoint { scheme, address } = endpoint;
    let request = first_token.map(|token| first_request(endpoint, token)).unwrap_or_default();
    print(&format!("plant-store listening on {scheme}://{address}\n{request}"))
}

fn first_request(endpoint: Endpoint, token: &Token) -> String {
    let Endpoint { scheme, mut address } = endpoint;
    // A client cannot connect to "any address".
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!(
        "curl {scheme}://{address}/plants -H 'Authorization: Bearer {}' \
         -H 'Content-Type: application/json' \
         -d '{{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}}'\n",
        token.reveal(),
    )
}
