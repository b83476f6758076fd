//! axum, as its documentation writes a route, over the service's store: the same batches, the same
//! commits.

use std::sync::Arc;

use axum::extract::{Json, State};
use axum::{Router, routing::post};
use plant_store_api::types::{NewPlant, Plant};
use plant_store_store::{GroupCommit, Row};

pub async fn serve(plants: GroupCommit) {
    let app = Router::new().route("/plants", post(create)).with_state(plants);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    axum::serve(listener, app).await.expect("it never ends");
}

async fn create(State(plants): State<GroupCommit>, Json(new_plant): Json<NewPlant>) -> Json<Plant> {
    let (id, plant) = new_plant.into_parts();
    let text = serde_json::to_string(&plant).expect("a plant is JSON");
    plants.create(Row { id, plant: text.into() }, Arc::new(())).await.expect("a free id");
    Json(plant)
}
