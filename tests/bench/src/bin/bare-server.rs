//! The floor of the benchmark: hyper alone over the same store.
//!
//! It answers `POST` on any path with the plant, once the plant is durable. It has no credentials,
//! no limits, no strict reader and no log: what the service costs more is the price of these.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use plant_store_server::store::{self, CreateLimits, GroupCommit, Start, StoreUrl};
use plant_store_server::types::{NewPlant, Plant};
use serde::Deserialize;

/// A NewPlant, as serde's derived reader takes it.
#[derive(Deserialize)]
struct Sent {
    id: i64,
    name: String,
    tag: Option<String>,
}

/// As the service's defaults.
const LIMITS: CreateLimits = CreateLimits {
    queue: 1024,
    store_timeout: Duration::from_secs(5),
    commit_timeout: Duration::from_secs(10),
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url: StoreUrl = "sqlite:plant-store.db".parse().expect("a store URL");
    let engine = store::open_to_serve(&url, Start { create: true, ..Start::default() })
        .expect("a new store");
    let writer = engine.writer().expect("the store takes writes");
    let log = slog::Logger::root(slog::Discard, slog::o!());
    let (plants, _end) = GroupCommit::start(writer, LIMITS, log).expect("a thread");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        let plants = plants.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &plants));
            // An error means that the client broke the connection.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    plants: &GroupCommit,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let Sent { id, name, tag } = serde_json::from_slice(&body).expect("a plant");
    let plant = NewPlant { tag, ..NewPlant::new(id, name) };
    let plant = plants.create(plant, Arc::new(())).await.expect("a free id");
    let body = serde_json::to_vec(&Plant::from(plant)).expect("a plant is JSON");
    let mut response = Response::new(Full::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
