//! The answers for operators and their programs: `/metrics`, `/live` and `/ready`. They have a
//! listener of their own, and are never on that of the API.
//!
//! The listener has a thread of its own, so a scrape does not wait for requests, and requests do
//! not wait while the samples of a busy second are sorted. Dropshot's listener has no bound on
//! connections and no time-out for them; hyper alone needs few lines for both.
//!
//! Each module registers its own series once, as it starts, and keeps the handles. So a request
//! looks up nothing and allocates nothing, and a series that has counted nothing yet is there as 0.
//! Without [`Admin`] the handles do nothing and cost a branch each. This module knows only how
//! names end: a histogram of seconds in `_seconds`, a histogram of sizes in `_size`.
//!
//! Everybody who can reach the address may ask. So a label must never hold what a client sent, and
//! nothing may count plants or tokens by their content. The values of labels are words of this
//! crate, or the names of tokens. The exporter keeps a series until the process ends.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{interval, timeout};

/// How many connections are served at a time; the next ones wait.
const CONNECTIONS: usize = 64;

/// How long a connection may last, from its first byte to its last.
const TIME: Duration = Duration::from_secs(5);

/// How often the samples are sorted into buckets. A busy second has a megabyte of them.
const UPKEEP: Duration = Duration::from_secs(1);

/// The bounds of the buckets: from the fsync of a fast disk to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The bounds of the buckets: from a create that is alone in its commit to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

const BUILD_INFO: &str = "plant_store_build_info";
const READY: &str = "plant_store_ready";

/// Prometheus' text format, which has to say its version
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). The other answers are text,
/// too.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why the service would take no create now, in words for operators.
pub type NotReady = Box<dyn Error + Send + Sync>;

/// Says whether the service would take a create now.
pub type Readiness = Box<dyn Fn() -> Result<(), NotReady> + Send + Sync>;

/// The service has not started yet.
#[derive(Debug, thiserror::Error)]
#[error("the service starts")]
struct Starts;

/// The listener for operators, and what its answers come from.
pub struct Admin {
    /// Where it listens, with the port that port 0 became.
    pub address: SocketAddr,
    metrics: PrometheusHandle,
    /// What `/ready` answers. Empty until the service has started.
    pub readiness: OnceLock<Readiness>,
}

impl Admin {
    /// Serves until the process ends; counts what is registered from now on. There can be one.
    pub fn start(address: SocketAddr) -> io::Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let metrics = count().map_err(io::Error::other)?;
        let admin = Arc::new(Self { address, metrics, readiness: OnceLock::new() });
        let answers = Arc::clone(&admin);
        thread::Builder::new()
            .name("admin".into())
            .spawn(move || runtime.block_on(run(listener, answers)))?;
        Ok(admin)
    }

    fn answer<B>(&self, request: &Request<B>) -> Response<String> {
        let readiness = self.readiness.get().map_or(Err(Starts.into()), |ask| ask());
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        match request.uri().path() {
            "/metrics" | "/live" | "/ready" if !is_read => {
                let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD\n".into());
                refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                refusal
            }
            "/metrics" => {
                gauge!(READY).set(u8::from(readiness.is_ok()));
                text(StatusCode::OK, self.metrics.render())
            }
            "/live" => text(StatusCode::OK, "live\n".into()),
            "/ready" => match readiness {
                Ok(()) => text(StatusCode::OK, "ready\n".into()),
                Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
            },
            _ => text(StatusCode::NOT_FOUND, "there are /metrics, /live and /ready\n".into()),
        }
    }
}

fn text(status: StatusCode, body: String) -> Response<String> {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, TEXT);
    answer.body(body).expect("the header is valid")
}

async fn run(listener: TcpListener, admin: Arc<Admin>) {
    let upkeep = Arc::clone(&admin);
    tokio::spawn(async move {
        let mut ticks = interval(UPKEEP);
        loop {
            ticks.tick().await;
            upkeep.metrics.run_upkeep();
        }
    });
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // It may fail again at once, such as for want of a descriptor.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let admin = Arc::clone(&admin);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let answer = admin.answer(&request);
                async { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).keep_alive(false);
            // A client that is too slow, or broken, has its connection closed.
            let _ = timeout(TIME, server.serve_connection(TokioIo::new(stream), answer)).await;
            drop(permit);
        });
    }
}

/// Counts what is registered from now on, until the process ends.
fn count() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".into()), &SIZES)?
        .install_recorder()?;
    describe_gauge!(BUILD_INFO, "Always 1; the labels say which release and which commit serve.");
    describe_gauge!(READY, "Whether the service would take a create: 1 or 0, as /ready says.");
    gauge!(
        BUILD_INFO,
        "version" => env!("CARGO_PKG_VERSION"),
        "commit" => env!("PLANT_STORE_COMMIT")
    )
    .set(1);
    Ok(handle)
}
