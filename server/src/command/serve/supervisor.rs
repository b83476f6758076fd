//! Notifications to the supervisor of the service, such as systemd (sd_notify(3)).

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The service accepts requests.
pub const READY: &str = "READY=1";

/// The service answers its last requests.
pub const STOPPING: &str = "STOPPING=1";

/// Notifies the supervisor, if there is one. Errors are ignored, because the supervisor also
/// watches the process.
pub fn notify_supervisor(state: &str) {
    let _ = send(state);
}

fn send(state: &str) -> io::Result<()> {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let address = match socket.as_bytes().strip_prefix(b"@") {
        // An address in the abstract namespace (unix(7)).
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(&socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}
