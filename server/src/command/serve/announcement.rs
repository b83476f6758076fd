//! The lines that the server prints to stdout when it starts: how to use a new store, and where the
//! server listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, Result};
use plant_store_api::answer::JsonText;
use plant_store_api::types::NewPlant;
use plant_store_store::Engine;
use plant_store_store::token::TokenName;
use slog::{Logger, warn};

use crate::command::shared::output::print;
use crate::token::{self, Token};

/// The address at which the API listens.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// Whether the listener speaks TLS.
    pub is_tls: bool,
    pub address: SocketAddr,
}

/// Prints the first token of a new store, as part of a command that uses it, and then stores it.
/// In this order, a token that could not be printed is never accepted.
pub fn issue_first_token(endpoint: Endpoint, store: &dyn Engine) -> Result<()> {
    let first = token::issue(TokenName::first(), None);
    print(&first_request(endpoint, &first.token)).context(
        "the first token could not be printed, so it was not stored (create a token with \
         `plant-store token create NAME`)",
    )?;
    store.add_token(&first.stored).context(
        "the first token was printed, but could not be stored (`plant-store token list` shows \
         whether it is accepted)",
    )
}

/// Prints where the server listens. A failure is only a warning, because the service works without
/// this line.
pub fn print_address(endpoint: Endpoint, log: &Logger) {
    if let Err(cause) = print(&format!("plant-store listening on {}\n", endpoint.url())) {
        warn!(log, "the address could not be printed"; "cause" => format!("{cause:#}"));
    }
}

fn first_request(endpoint: Endpoint, token: &Token) -> String {
    format!(
        "curl {}/plants -H 'Authorization: Bearer {}' \
         -H 'Content-Type: application/json' \
         -d '{}'\n",
        endpoint.reachable().url(),
        token.reveal(),
        JsonText::new(&NewPlant::example()).share(),
    )
}

impl Endpoint {
    fn url(self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns an endpoint to which a client on this machine can connect: replaces the unspecified
    /// address with the loopback address.
    fn reachable(mut self) -> Self {
        match self.address.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => self.address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => self.address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        self
    }
}
