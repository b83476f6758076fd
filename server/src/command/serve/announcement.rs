//! What a start prints to standard output: where the service listens, and how to use a new store.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Result, bail};
use plant_store_api::answer::JsonText;
use plant_store_api::types::NewPlant;
use plant_store_store::Engine;
use plant_store_store::token::TokenName;
use slog::{Logger, warn};

use crate::command::shared::output::print;
use crate::token::Token;

/// Where the service listens.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// Whether it speaks TLS.
    pub is_tls: bool,
    pub address: SocketAddr,
}

/// Prints where the service listens, and a command that uses the first token of a new store. If
/// only the address cannot be printed, that is a warning: the service works without it. A token
/// that cannot be printed is revoked, because nobody has it; that is an error.
pub fn print_announcement(
    endpoint: Endpoint,
    first_token: Option<Token>,
    store: &dyn Engine,
    log: &Logger,
) -> Result<()> {
    let line = format!("plant-store listening on {}\n", endpoint.url());
    if let Some(token) = first_token {
        let Err(cause) = print(&(line + &first_request(endpoint, &token))) else { return Ok(()) };
        store.revoke_token(&TokenName::first())?;
        bail!(
            "{cause:#}; nobody has seen the first token, so it is revoked: `plant-store token \
             create NAME` makes one"
        );
    }
    if let Err(cause) = print(&line) {
        warn!(log, "the address was not printed"; "cause" => format!("{cause:#}"));
    }
    Ok(())
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
