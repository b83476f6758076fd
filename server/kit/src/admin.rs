//! The admin listener: serves `/metrics`, `/live` and `/ready` to operators and their tools. It is
//! a second Dropshot server. The API server never serves these endpoints, and no published document
//! describes them.
//!
//! The listener runs on a dedicated thread. A scrape does not wait for requests, and requests do
//! not wait while the samples of a busy second are sorted into buckets.
//!
//! The metrics of requests and commits are registered at the start, with the value 0. Without
//! [`Admin`], nothing is recorded.
//!
//! Everybody who can reach the address may read the metrics. Therefore a label must never contain
//! data that a client sent, and no metric may count rows or tokens by their content. A histogram
//! of seconds ends in `_seconds`, and a histogram of sizes ends in `_size`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use dropshot::{
    ApiDescription, Body, ConfigDropshot, HandlerTaskMode, HttpError, RequestContext,
    ServerBuilder, endpoint,
};
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::layers::{Layer, PrefixLayer};
use parking_lot::RwLock;
use slog::Logger;
use tokio::runtime::Builder;
use tokio::time::interval;

use crate::service::Service;

const READY: &str = "ready";
const BUILD_INFO: &str = "build_info";

/// How often samples are sorted into buckets. A busy second produces a megabyte of samples.
const UPKEEP: Duration = Duration::from_secs(1);

/// The bucket bounds: from the fsync of a fast disk to the default deadline of a body.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The bucket bounds: from a single create to the largest batch.
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// The media type of Prometheus' text format, which includes its version
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). `/live` and `/ready` also
/// answer in plain text.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A check whether the service accepts creates now. The error is for operators.
pub type Readiness = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// A running admin listener.
pub struct Admin {
    /// The address of the listener. If port 0 was requested, this contains the actual port.
    pub address: SocketAddr,
    state: Arc<Shared>,
}

/// The state that the endpoints share.
struct Shared {
    exporter: PrometheusHandle,
    /// The check behind `/ready`.
    readiness: RwLock<Readiness>,
}

impl Admin {
    /// Starts the listener, which runs until the process ends, and installs the metrics recorder.
    /// Only metrics that are registered after this call are counted. There can be only one listener
    /// per process. `log` receives Dropshot's own records.
    pub fn start(service: &Service, address: SocketAddr, log: Logger) -> Result<Self> {
        let exporter = install_recorder(service)?;
        let starting: Readiness = Box::new(|| bail!("the service is starting"));
        let state = Arc::new(Shared { exporter, readiness: RwLock::new(starting) });
        let config = ConfigDropshot {
            bind_address: address,
            default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
            ..ConfigDropshot::default()
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = {
            let _context = runtime.enter();
            let builder = ServerBuilder::new(description(), Arc::clone(&state), log);
            builder.config(config).start()?
        };
        let admin = Self { address: server.local_addr(), state: Arc::clone(&state) };
        let serve = async move {
            let _server = server;
            sort_samples(&state.exporter).await
        };
        thread::Builder::new().name("admin".into()).spawn(move || runtime.block_on(serve))?;
        Ok(admin)
    }

    /// Replaces the check behind `/ready`.
    pub fn set_readiness(&self, readiness: Readiness) {
        *self.state.readiness.write() = readiness;
    }
}

/// Installs the recorder of the process. It records all metrics that are registered from now on.
///
/// # Errors
///
/// Fails if a recorder is already installed.
fn install_recorder(service: &Service) -> Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".into()), &SIZES)?
        .build_recorder();
    let exporter = recorder.handle();
    // The layer joins prefix and name with a dot, which the exporter renders as an underscore.
    metrics::set_global_recorder(PrefixLayer::new(service.metrics_prefix()).layer(recorder))?;
    describe_gauge!(READY, "1 if the service accepts creates (/ready answers 200), else 0.");
    describe_gauge!(BUILD_INFO, "Always 1. The labels are the release and commit of this server.");
    let Service { version, commit, .. } = *service;
    gauge!(BUILD_INFO, "version" => version, "commit" => commit).set(1);
    Ok(exporter)
}

/// Sorts samples into buckets periodically. Never returns.
async fn sort_samples(exporter: &PrometheusHandle) -> Infallible {
    let mut ticks = interval(UPKEEP);
    loop {
        ticks.tick().await;
        exporter.run_upkeep();
    }
}

fn description() -> ApiDescription<Arc<Shared>> {
    let mut api = ApiDescription::new();
    api.register(live)
        .and_then(|()| api.register(ready))
        .and_then(|()| api.register(scrape))
        .expect("no two endpoints have the same path");
    api
}

type Request = RequestContext<Arc<Shared>>;
type EndpointResult = Result<Response<Body>, HttpError>;

#[endpoint { method = GET, path = "/live" }]
async fn live(_: Request) -> EndpointResult {
    Ok(response(StatusCode::OK, "live\n"))
}

#[endpoint { method = GET, path = "/ready" }]
async fn ready(request: Request) -> EndpointResult {
    Ok(match (request.context().readiness.read())() {
        Ok(()) => response(StatusCode::OK, "ready\n"),
        Err(reason) => response(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    })
}

#[endpoint { method = GET, path = "/metrics" }]
async fn scrape(request: Request) -> EndpointResult {
    let Shared { exporter, readiness, .. } = &**request.context();
    gauge!(READY).set(u8::from((readiness.read())().is_ok()));
    Ok(response(StatusCode::OK, exporter.render()))
}

fn response(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, TEXT);
    response.body(body.into()).expect("the header is valid")
}
