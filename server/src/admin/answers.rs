//! The answers: `/metrics`, `/live` and `/ready`.

use std::error::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::PrometheusHandle;

const READY: &str = "plant_store_ready";

/// Prometheus' text format, which has to say its version
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). The other answers are text,
/// too.
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
pub struct Answers {
    exporter: PrometheusHandle,
    /// What `/ready` answers. Empty until the service has started.
    pub readiness: OnceLock<Readiness>,
    pub is_stopping: AtomicBool,
}

impl Answers {
    /// The answers before the service has started. The recorder of `exporter` is installed.
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

    /// The answer to a request, whose body is not read.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<String> {
        let readiness = self.readiness();
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        match request.uri().path() {
            "/metrics" | "/live" | "/ready" if !is_read => {
                let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD\n".into());
                refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                refusal
            }
            "/metrics" => {
                gauge!(READY).set(u8::from(readiness.is_ok()));
                text(StatusCode::OK, self.exporter.render())
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
