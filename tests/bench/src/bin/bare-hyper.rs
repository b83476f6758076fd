//! A server with hyper alone. It treats every request as a create, uses the allocator of the
//! service, and has one thread for HTTP.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use mimalloc::MiMalloc;
use plant_store_bench::{Store, announce};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let store = Store::create_in_current_folder();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    announce(listener.local_addr().expect("an address"));
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &store));
            // An error means that the client closed the connection.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    store: &Store,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let plant = store.create(serde_json::from_slice(&body).expect("a plant")).await;
    let text = serde_json::to_string(&plant).expect("a plant is JSON");
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
