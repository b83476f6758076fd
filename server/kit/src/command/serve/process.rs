//! The process and its surroundings: the resources that it takes from the operating system, what it
//! prints to stdout once it listens, and how it notifies its supervisor.

use std::env;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{self as unix, UnixDatagram};
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};

use crate::command::serve::args::Args;
use crate::command::shared::print;
use crate::service::{Example, Service};

/// The maximum number of threads that serve HTTP. Larger numbers were not measured.
const MAX_HTTP_THREADS: usize = 4;

/// Raises the soft limit on open files to the hard limit, because each connection takes a file.
/// Returns the limit.
pub fn raise_open_files() -> Result<u64> {
    let (_, open_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)
        .context("cannot raise the soft limit on open files to the hard limit")?;
    Ok(open_files)
}

/// Creates a runtime with half as many threads as there are cores. A runtime with one thread saves
/// the system calls that wake other threads.
pub fn http_runtime() -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = (cores / 2).clamp(1, MAX_HTTP_THREADS);
    if threads == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    Builder::new_multi_thread().worker_threads(threads).enable_all().build()
}

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

/// Notifies the supervisor, such as systemd (sd_notify(3)), if there is one. Callers ignore errors,
/// because the supervisor also watches the process.
pub fn notify_supervisor(state: &str) -> io::Result<()> {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let address = match socket.as_bytes().strip_prefix(b"@") {
        // An address in the abstract namespace (unix(7)).
        Some(name) => unix::SocketAddr::from_abstract_name(name)?,
        None => unix::SocketAddr::from_pathname(&socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}
