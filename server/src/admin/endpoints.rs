//! The endpoints: `/live`, `/ready`, `/metrics` and `/openapi.json`.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use dropshot::{ApiDescription, Body, HttpError, RequestContext, endpoint};
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::PrometheusHandle;
use plant_store_api::document::document_text;

const READY: &str = "ready";

/// Prometheus' text format, which has to say its version
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). `/live` and `/ready` answer
/// with text, too.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why the service would take no create now, in words for operators.
pub type WhyNot = Box<dyn Error + Send + Sync>;

/// Says whether the service would take a create now.
pub type Readiness = Box<dyn Fn() -> Result<(), WhyNot> + Send + Sync>;

/// The service has not started yet.
#[derive(Debug, thiserror::Error)]
#[error("the service starts")]
struct Starts;

/// The service answers its last requests.
#[derive(Debug, thiserror::Error)]
#[error("the service stops")]
struct Stops;

/// What the answers come from.
pub struct State {
    exporter: PrometheusHandle,
    /// What `/ready` answers. Empty until the service has started.
    pub readiness: OnceLock<Readiness>,
    pub is_stopping: AtomicBool,
}

impl State {
    /// The state before the service has started. The recorder of `exporter` is installed.
    pub fn new(exporter: PrometheusHandle) -> Self {
        describe_gauge!(READY, "Whether the service would take a create: 1 or 0, as /ready says.");
        Self { exporter, readiness: OnceLock::new(), is_stopping: AtomicBool::new(false) }
    }

    fn readiness(&self) -> Result<(), WhyNot> {
        if self.is_stopping.load(Relaxed) {
            return Err(Stops.into());
        }
        self.readiness.get().map_or(Err(Starts.into()), |ask| ask())
    }
}

/// All of them. No published document describes them.
pub fn description() -> ApiDescription<Arc<State>> {
    let mut api = ApiDescription::new();
    api.register(live)
        .and_then(|()| api.register(ready))
        .and_then(|()| api.register(scrape))
        .and_then(|()| api.register(openapi))
        .expect("no two endpoints have the same path");
    api
}

type Context = RequestContext<Arc<State>>;
type Answer = Result<Response<Body>, HttpError>;

#[endpoint { method = GET, path = "/live" }]
async fn live(_: Context) -> Answer {
    Ok(answer(StatusCode::OK, TEXT, "live\n"))
}

#[endpoint { method = GET, path = "/ready" }]
async fn ready(context: Context) -> Answer {
    Ok(match context.context().readiness() {
        Ok(()) => answer(StatusCode::OK, TEXT, "ready\n"),
        Err(reason) => answer(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{reason}\n")),
    })
}

#[endpoint { method = GET, path = "/metrics" }]
async fn scrape(context: Context) -> Answer {
    let state = context.context();
    gauge!(READY).set(u8::from(state.readiness().is_ok()));
    Ok(answer(StatusCode::OK, TEXT, state.exporter.render()))
}

/// The published document of the contract, byte for byte.
#[endpoint { method = GET, path = "/openapi.json" }]
async fn openapi(_: Context) -> Answer {
    Ok(answer(StatusCode::OK, "application/json", document_text()))
}

fn answer(status: StatusCode, media_type: &str, body: impl Into<Body>) -> Response<Body> {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, media_type);
    answer.body(body.into()).expect("the header is valid")
}
