//! The endpoints of the admin listener: `/live`, `/ready`, `/metrics` and `/openapi.json`.

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

/// The media type of Prometheus' text format, which includes its version
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). `/live` and `/ready` also
/// answer in plain text.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The reason why the service does not accept creates now. The text is for operators.
pub type NotReady = Box<dyn Error + Send + Sync>;

/// A check whether the service accepts creates now.
pub type Readiness = Box<dyn Fn() -> Result<(), NotReady> + Send + Sync>;

/// The service has not started yet.
#[derive(Debug, thiserror::Error)]
#[error("the service is starting")]
struct Starting;

/// The service answers its last requests.
#[derive(Debug, thiserror::Error)]
#[error("the service is stopping")]
struct Stopping;

/// The state that the endpoints share.
pub struct State {
    exporter: PrometheusHandle,
    /// The check behind `/ready`. Empty until the service has started.
    pub readiness: OnceLock<Readiness>,
    pub is_stopping: AtomicBool,
}

impl State {
    /// Creates the state of a service that is starting. The recorder of `exporter` must be
    /// installed.
    pub fn new(exporter: PrometheusHandle) -> Self {
        describe_gauge!(READY, "1 if the service accepts creates (/ready answers 200), else 0.");
        Self { exporter, readiness: OnceLock::new(), is_stopping: AtomicBool::new(false) }
    }

    fn readiness(&self) -> Result<(), NotReady> {
        if self.is_stopping.load(Relaxed) {
            return Err(Stopping.into());
        }
        self.readiness.get().map_or(Err(Starting.into()), |check| check())
    }
}

/// Returns the API of the admin listener. No published document describes it.
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

/// Serves the published document of the contract, byte for byte.
#[endpoint { method = GET, path = "/openapi.json" }]
async fn openapi(_: Context) -> Answer {
    Ok(answer(StatusCode::OK, "application/json", document_text()))
}

fn answer(status: StatusCode, media_type: &str, body: impl Into<Body>) -> Response<Body> {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, media_type);
    answer.body(body.into()).expect("the header is valid")
}
