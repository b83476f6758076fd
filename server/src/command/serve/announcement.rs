//! What a start prints to standard output: how to use a new store, and where the service listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, Result};
use plant_store_api::answer::JsonText;
use plant_store_api::types::NewPlant;
use plant_store_store::Engine;
use plant_store_store::token::TokenName;
use slog::{Logger, warn};

use crate::command::shared::output::print;
use crate::token::{self, Token};

/// Where the service listens.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// Whether it speaks TLS.
    pub is_tls: bool,
    pub address: SocketAddr,
}

/// Prints the first token of a new store, in a command that uses it, and then stores the token. So
/// a token that could not be printed was never in force.
pub fn issue_first_token(endpoint: Endpoint, store: &dyn Engine) -> Result<()> {
    let first = token::issue(TokenName::first(), None);
    print(&first_request(endpoint, &first.token)).context(
        "the first token was not printed, so it is not in force (`plant-store token create NAME` \
         makes one)",
    )?;
    store.add_token(&first.stored).context(
        "the first token was printed and could not be stored (`plant-store token list` shows \
         whether it is in force)",
    )
}

/// Prints where the service listens. If that fails, it is a warning: the service works without it.
pub fn print_address(endpoint: Endpoint, log: &Logger) {
    if let Err(cause) = print(&format!("plant-store listening on {}\n", endpoint.url())) {
        warn!(log, "the address was not printed"; "cause" => format!("{cause:#}"));
    }
}

fn first_request(endpoint: Endpoint, token: &Token) -> String {
    format!(
        "curl {}/plants -H 'Authorization: Bearer {}' \
         -H 'Content-Type: application/json' \
         -d '{}'\n",
        endpoint.reachable().url(),
        token.reveal(),
        JsonText::of(&NewPlant::example()).share(),
    )
}

impl Endpoint {
    fn url(self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// One that a client on this machine can connect to: it cannot connect to "any address".
    fn reachable(mut self) -> Self {
        match self.address.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => self.address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => self.address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        self
    }
}
