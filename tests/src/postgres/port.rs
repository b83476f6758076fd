//! Ports that stay free while their server is down.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The ports below the range that Linux uses for outgoing connections (`ip_local_port_range`). A
/// server that restarts could find a port of that range taken by a client.
const PORTS: std::ops::Range<u32> = 10_000..32_768;

/// Returns a port of 127.0.0.1 on which nothing listens, a different one on each call.
pub fn free() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // Processes that run at the same time start far apart.
    let first = process::id().wrapping_mul(97);
    loop {
        let next = first.wrapping_add(CALLS.fetch_add(1, Relaxed));
        let port = PORTS.start + next % (PORTS.end - PORTS.start);
        let port = u16::try_from(port).expect("the port is in the range");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
