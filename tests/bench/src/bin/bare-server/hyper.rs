//! hyper alone: any `POST`, on any path.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use plant_store_api::types::NewPlant;
use plant_store_store::{GroupCommit, Row};

pub async fn serve(plants: GroupCommit) {
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
    let new_plant: NewPlant = serde_json::from_slice(&body).expect("a plant");
    let (id, plant) = new_plant.into_parts();
    let plant = serde_json::to_string(&plant).expect("a plant is JSON");
    let row = Row { id, plant: plant.as_str().into() };
    plants.create(row, Arc::new(())).await.expect("a free id");
    let mut response = Response::new(Full::from(plant));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
