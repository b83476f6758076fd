//! The HTTP side of a service: the state that requests share, their limits, and the server that
//! serves them. The other files contain everything that happens to a request.
//!
//! Nothing here depends on which engine stores the rows.

mod access_log;
mod body;
mod headers;
pub(crate) mod request;
pub(crate) mod typed;

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::TypedValueParser;
use clap::value_parser;
use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use groundwork_store::{Engine, GroupCommit, WriterEnd};
use slog::Logger;
use tokio::sync::{Mutex, Semaphore};

use crate::http::access_log::AccessLog;
use crate::service::Service;
use crate::tokens::KnownTokens;

/// The Dropshot context of a service's operations. [`respond`](crate::respond) uses it.
pub type Context = Arc<State>;

/// The state that requests share.
pub struct State {
    service: &'static Service,
    store: Arc<dyn Engine>,
    tokens: Arc<KnownTokens>,
    /// The queue of creates that wait for a commit.
    pub(crate) commits: GroupCommit,
    /// Locked while a row is read. An engine reads one row at a time, and requests that wait here
    /// take no blocking thread.
    reading: Arc<Mutex<()>>,
    /// Each request whose token is accepted holds a permit while it is in the service. The permits
    /// bound the memory of requests.
    permits: Arc<Semaphore>,
    limits: Limits,
    access_log: Arc<AccessLog>,
}

impl State {
    /// Starts the writer of `store` and the thread that reads its `tokens`, and creates the state
    /// of a service that logs each request to `log`. Registers the metrics of requests.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot start a thread.
    pub(crate) fn start(
        service: &'static Service,
        store: Arc<dyn Engine>,
        tokens: Arc<KnownTokens>,
        limits: Limits,
        log: &Logger,
    ) -> io::Result<(Self, WriterEnd)> {
        let (commits, writer_end) =
            GroupCommit::start(Arc::clone(&store), *limits.store_timeout, log.clone())?;
        tokens.start_reading(&store)?;
        let state = Self {
            service,
            store,
            tokens,
            commits,
            reading: Arc::default(),
            permits: Arc::new(Semaphore::new(limits.max_creates.get() as usize)),
            limits,
            access_log: Arc::new(AccessLog::new(service, log.clone())),
        };
        Ok((state, writer_end))
    }
}

/// A running Dropshot server.
pub(crate) type Server = HttpServer<Context>;

/// Starts a Dropshot server for the service on `address`, over TLS if `tls` is set. `log` receives
/// Dropshot's own records.
///
/// A request runs in the task of its connection and is dropped with it, which saves one task per
/// request. Dropping a request is safe, because a queued create is committed whether or not the
/// client still waits. The access record of a request is written when the request is dropped.
pub(crate) fn start_server(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    state: Context,
    log: Logger,
) -> Result<Server, BuildError> {
    let api = (state.service.api)();
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, state, log).config(config).tls(tls).start()
}

/// Bodies are held in memory, which a larger limit could exhaust. A store holds a text of at most
/// 1 GB.
const MAX_BODY: ByteSize = ByteSize::mib(128);

/// A limit of 0 would refuse every request. A limit that is much longer would overflow the clock
/// when its deadline is computed.
const TIME_LIMITS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_hours(366 * 24);

/// The limits of requests, as flags of `serve`.
#[derive(clap::Args, Clone, Debug)]
pub struct Limits {
    /// Maximum size of a request body, at most 128MiB
    #[arg(long, value_name = "SIZE", value_parser = body_size, default_value = "64KiB")]
    pub max_body: ByteSize,

    /// Maximum number of requests with an accepted token at a time; one token may have half of
    /// them. Further requests are refused with `error` 503
    #[arg(long, value_name = "CREATES", value_parser = positive(), default_value = "1024")]
    pub max_creates: NonZeroU32,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "10s")]
    pub body_timeout: humantime::Duration,

    /// How long a request may wait for the store before it is refused with `error` 503; the
    /// {resource} may or may not be stored
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "5s")]
    pub store_timeout: humantime::Duration,
}

fn body_size(text: &str) -> Result<ByteSize, String> {
    let size = text.parse()?;
    let sizes = ByteSize::b(1)..=MAX_BODY;
    if sizes.contains(&size) { Ok(size) } else { Err(format!("expected 1B to {MAX_BODY}")) }
}

fn time_limit(text: &str) -> Result<humantime::Duration, String> {
    let time: humantime::Duration = text.parse().map_err(|error| format!("{error}"))?;
    if TIME_LIMITS.contains(&*time) { Ok(time) } else { Err("expected 1ms to 1y".into()) }
}

/// Parses an integer that is at least 1.
fn positive() -> impl TypedValueParser<Value = NonZeroU32> {
    value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
}
