//! What a starting service prints: where it listens, and a command that uses the first token of a new
//! store.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::command::stdout::stdout;
use crate::token::Token;

/// Says where the service listens.
pub fn announce(scheme: &str, address: SocketAddr) -> io::Result<()> {
    let mut stdout = stdout();
    writeln!(stdout, "plant-store listening on {scheme}://{address}")?;
    stdout.flush()
}

/// Prints, once, a command that uses the first token of a new store.
pub fn show(scheme: &str, mut address: SocketAddr, token: &Token) -> io::Result<()> {
    match address.ip() {
        ip if !ip.is_unspecified() => {}
        ip if ip.is_ipv4() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        _ => address.set_ip(Ipv6Addr::LOCALHOST.into()),
    }
    let mut stdout = stdout();
    writeln!(
        stdout,
        "curl {scheme}://{address}/plants -H 'Authorization: Bearer {}' \
         -H 'Content-Type: application/json' \
         -d '{{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}}'",
        token.reveal(),
    )?;
    stdout.flush()
}
