//! `serve`: the life of a server process, from its flags to its exit.
//!
//! Nothing here handles a request. That is the task of [`crate::http`].
//!
//! # Threads
//!
//! `--http-threads` threads serve HTTP. One thread commits, one inspects the store once a second,
//! one reads the tokens, one writes the log, and one runs the admin listener if `--metrics` is set.
//! Tokio starts further threads for blocking work on a disk or a database.
//!
//! The main thread starts the server, and until it listens, a signal ends the process. From then on
//! the HTTP threads also wait for signals, so they must never open a file or a store: while a disk
//! does not respond, they would miss signals.

mod args;
mod stdout;
mod tls;

use std::cell::OnceCell;
use std::env;
use std::io::{self, ErrorKind, IsTerminal};
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{self as unix, UnixDatagram};
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use groundwork_store::{self as store, Kind, LAYOUT, Mode, Opened, WriterEnd};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use parking_lot::Mutex;
use slog::{Logger, error, info, warn};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use crate::admin::Admin;
use crate::command::serve::args::unknown_variables;
use crate::command::serve::stdout::{first_token, print_address};
use crate::command::serve::tls::reload_at_hangup;
use crate::command::shared::StoreArgs;
use crate::http::limits::Limits;
use crate::http::{Context as Shared, Server, State, start_server};
use crate::log::{Log, LogFormat};
use crate::service::Service;

pub use crate::command::serve::args::Args;

/// The pause between two attempts to reach a database.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The maximum number of threads if `--http-threads` is not set. Larger numbers were not measured.
const MAX_DEFAULT_THREADS: usize = 4;

/// The threads that the service starts after the runtime, at least.
const OTHER_THREADS: usize = 4;

/// How long a shutdown waits for the last commits and for closing the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the process waits for blocking threads before it exits.
const THREADS_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates the error of a writer that ended without being told to, for example by a panic.
fn writer_died() -> store::Error {
    store::Error::new(Kind::Other, "the writer died")
}

/// Serves until a signal arrives, the store is lost or the writer dies.
pub fn run(service: &'static Service, args: &Args) -> Result<()> {
    let default = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let log = Log::start(args.log_format.unwrap_or(default), args.log_level)
        .context("cannot start the log")?;
    warn_of_flags(service, args, &log.logger);
    let admin = args.metrics.map(|address| start_admin(service, address, &log)).transpose()?;
    // Before the store is created, so that an address in use leaves no new store behind.
    drop(TcpListener::bind(args.listen).map_err(bind_error("listen", "--listen", args.listen))?);
    let tls = args.tls.as_ref().map(|files| files.load(&log.logger)).transpose()?;
    let open_files = raise_open_files()?;
    let runtime = http_runtime(args.http_threads).context("cannot start the runtime")?;
    // After most of the steps that may fail, because this prints the token of a new store.
    let printed = OnceCell::new();
    let first_token = || first_token(service, args, &printed);
    let mode = if args.no_create { Mode::Serve } else { Mode::ServeOrCreate(&first_token) };
    let StoreArgs { url, ca } = &args.store;
    let open = || store::open(&service.names, url, ca.as_deref(), mode);
    let opened = once_reachable(args, &log.logger, open);
    let Opened { store, is_new } = match printed.get() {
        Some(_) => opened.with_context(|| {
            let program = service.names.program;
            format!(
                "the first token was printed, but the start failed (`{program} token list` shows \
                 whether the token is accepted)"
            )
        })?,
        None => opened?,
    };

    let entered = runtime.enter();
    let (state, writer_end) = State::start(service, store, args.limits.clone(), &log.logger)
        .context("cannot start the threads of the service")?;
    let state = Arc::new(state);
    // Before the server listens, because without tokens it would answer 503.
    let program = service.names.program;
    let read_tokens = || state.tokens.read(&*state.store);
    if once_reachable(args, &log.logger, read_tokens)? == 0 {
        let log = &log.logger;
        warn!(log, "the store has no token: create one with `{program} token create NAME`");
    }
    // Before the server listens, so that a signal lets the first requests end, too.
    let signals = Signals::register().context("cannot handle signals")?;
    let server = start_server(args.listen, tls, Arc::clone(&state), log.dropshot.clone())
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    if let Some(admin) = &admin {
        // Clone only these parts of the state. With the whole state, the admin listener would keep
        // the store open until the process exits.
        let (tokens, commits) = (Arc::clone(&state.tokens), state.commits.clone());
        admin.set_readiness(Box::new(move || {
            tokens.readiness()?;
            Ok(commits.readiness()?)
        }));
    }
    let address = server.local_addr();
    print_address(service, args, address, printed.get().is_some(), &log.logger);
    info!(log.logger, "listening"; "address" => %address, "version" => service.release(),
        "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
    let Limits { max_body, max_creates, body_timeout, store_timeout } = &args.limits;
    info!(log.logger, "limits";
        "open_files" => open_files,
        "max_creates" => max_creates.get(),
        "max_body" => max_body.as_u64(),
        "body_timeout" => %body_timeout,
        "store_timeout" => %store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
    let _ = notify_supervisor("READY=1");

    let serving = serve(args, server, state, writer_end, signals, admin, &log.logger);
    let result = runtime.block_on(serving);
    drop(entered);
    // Blocking threads may still use the store. If one of them waits for a disk that does not
    // respond, the process exits without it.
    runtime.shutdown_timeout(THREADS_TIMEOUT);
    result
}

/// Logs warnings about flags and variables that are valid, but may be a mistake.
fn warn_of_flags(service: &Service, args: &Args, log: &Logger) {
    if args.tls.is_none() && !args.listen.ip().is_loopback() {
        warn!(log, "without --tls-cert, tokens travel in plain text: put a proxy that terminates \
            TLS in front, on a network that you trust"; "address" => args.listen);
    }
    let unknown = unknown_variables(service);
    if !unknown.is_empty() {
        warn!(log, "unknown environment variables are ignored"; "variables" => unknown.join(", "));
    }
}

fn start_admin(service: &'static Service, address: SocketAddr, log: &Log) -> Result<Admin> {
    let started = Admin::start(service, address, log.dropshot.clone());
    let admin = started.map_err(bind_error("serve metrics", "--metrics", address))?;
    info!(log.logger, "serving metrics"; "address" => %admin.address);
    Ok(admin)
}

/// Explains why the address of `flag` cannot be bound. A permission error can only mean a low port
/// (ip(7), `ip_unprivileged_port_start`).
fn bind_error(doing: &str, flag: &str, address: SocketAddr) -> impl Fn(io::Error) -> Error {
    move |cause| {
        let advice = match cause.kind() {
            ErrorKind::PermissionDenied => {
                ": low ports need root or CAP_NET_BIND_SERVICE; use a port from 1024 up".to_owned()
            }
            ErrorKind::AddrInUse => {
                format!(": stop the program that listens there, or set another address with {flag}")
            }
            _ => String::new(),
        };
        anyhow!("cannot {doing} on {address}: {cause}{advice}")
    }
}

/// Attempts something with the store. Retries every second while a database cannot be reached, and
/// logs one warning.
fn once_reachable<T>(
    args: &Args,
    log: &Logger,
    attempt: impl Fn() -> Result<T, store::Error>,
) -> Result<T, store::Error> {
    let mut has_warned = false;
    loop {
        match attempt() {
            Err(cause) if cause.kind == Kind::Unavailable && args.store.url.is_on_a_server() => {
                if !has_warned {
                    warn!(log, "waiting for the database: the server listens once it can be \
                        reached"; "cause" => %cause);
                }
                has_warned = true;
            }
            result => return result,
        }
        thread::sleep(RETRY_PAUSE);
    }
}

/// Raises the soft limit on open files to the hard limit, because each connection takes a file.
/// Returns the limit.
fn raise_open_files() -> Result<u64> {
    let (_, open_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)
        .context("cannot raise the soft limit on open files to the hard limit")?;
    Ok(open_files)
}

/// Creates a runtime with `threads` threads, by default half as many as there are cores. A runtime
/// with one thread saves the system calls that wake other threads.
fn http_runtime(threads: Option<u16>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let count = threads.map_or((cores / 2).clamp(1, MAX_DEFAULT_THREADS), usize::from);
    if count == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    require_threads(count + OTHER_THREADS)?;
    Builder::new_multi_thread().worker_threads(count).enable_all().build()
}

/// Fails if the operating system cannot start this many threads at a time. A runtime of tokio whose
/// threads cannot be started panics and then waits for them.
fn require_threads(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        for _ in 0..count {
            thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()))?;
        }
        Ok(())
    })
}

/// Notifies the supervisor, such as systemd (sd_notify(3)), if there is one. Callers ignore errors,
/// because the supervisor also watches the process.
fn notify_supervisor(state: &str) -> io::Result<()> {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let address = match socket.as_bytes().strip_prefix(b"@") {
        // An address in the abstract namespace (unix(7)).
        Some(name) => unix::SocketAddr::from_abstract_name(name)?,
        None => unix::SocketAddr::from_pathname(&socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

/// The signals that the server handles. Once they are registered, none of them ends the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Reloads the TLS files.
    hangup: Signal,
}

impl Signals {
    fn register() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

/// Serves until a signal arrives, the store is lost or the writer dies. Then answers the requests
/// in flight within the grace period (`--shutdown-timeout`), and closes the store. If the service
/// ended with an error, the store is left as after a crash.
async fn serve(
    args: &Args,
    server: Server,
    state: Shared,
    mut writer_end: WriterEnd,
    mut signals: Signals,
    admin: Option<Admin>,
    log: &Logger,
) -> Result<()> {
    let State { commits, tokens, .. } = &*state;
    let ended = tokio::select! {
        _ = signals.terminate.recv() => Ok(()),
        _ = signals.interrupt.recv() => Ok(()),
        never = tokens.warn_of_faults(log) => match never {},
        end = &mut writer_end => end.unwrap_or_else(|_| Err(writer_died())).map(drop),
        never = reload_at_hangup(&server, args.tls.as_ref(), &mut signals.hangup, log) => {
            match never {}
        }
    };
    info!(log, "stopping");
    let _ = notify_supervisor("STOPPING=1");
    if let Some(admin) = admin {
        admin.set_readiness(Box::new(|| bail!("the service is stopping")));
    }
    // Dropshot also waits for clients that have sent half of a head or do not read an answer.
    if timeout(*args.shutdown_timeout, server.close()).await.is_err() {
        warn!(log, "the grace period is over: some requests are left unfinished");
    }
    tokens.end();
    if let Err(cause) = ended {
        info!(log, "stopped");
        return Err(cause.into());
    }
    commits.end();
    let Ok(end) = timeout(CLOSE_TIMEOUT, writer_end).await else {
        warn!(log, "the store could not be closed in time: the next start recovers it");
        return Ok(());
    };
    match end.unwrap_or_else(|_| Err(writer_died())) {
        Ok(Some(bytes)) => {
            warn!(log, "stopped; the WAL stays, because another program reads the store: the next \
                start checkpoints it, which takes longer (to find the program, run `fuser -v` on \
                the -wal file)"; "wal_bytes" => bytes);
            Ok(())
        }
        Ok(None) => {
            info!(log, "stopped");
            Ok(())
        }
        Err(cause) => {
            error!(log, "stopped with an error"; "cause" => %cause);
            Err(cause.into())
        }
    }
}
