//! A server as in the documentation of axum, with tokio's default runtime and the system's
//! allocator.

use std::sync::Arc;

use axum::extract::{Json, State};
use axum::{Router, routing::post};
use plant_store_bench::types::{NewPlant, Plant};
use plant_store_bench::{Store, announce};

#[tokio::main]
async fn main() {
    let store = Store::create_in_current_folder();
    let app = Router::new().route("/plants", post(create_plant)).with_state(store);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    announce(listener.local_addr().expect("an address"));
    axum::serve(listener, app).await.expect("it never ends");
}

async fn create_plant(
    State(store): State<Arc<Store>>,
    Json(new_plant): Json<NewPlant>,
) -> Json<Plant> {
    Json(store.create(new_plant).await)
}
