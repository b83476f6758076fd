//! Dropshot alone: one endpoint, as its documentation writes them.

use std::sync::Arc;

use dropshot::{
    ApiDescription, ConfigDropshot, HandlerTaskMode, HttpError, HttpResponseOk, RequestContext,
    ServerBuilder, TypedBody, endpoint,
};
use plant_store_api::types::{NewPlant, Plant};
use plant_store_store::{GroupCommit, Row};
use slog::Logger;

pub async fn serve(plants: GroupCommit, log: &Logger) {
    let mut api = ApiDescription::new();
    api.register(create).expect("an endpoint");
    let config = ConfigDropshot {
        bind_address: ([127, 0, 0, 1], 0).into(),
        // As the service's.
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    let server = ServerBuilder::new(api, plants, log.clone()).config(config).start();
    let server = server.expect("a free port");
    println!("listening on http://{}", server.local_addr());
    server.await.expect("it never ends");
}

#[endpoint { method = POST, path = "/plants" }]
async fn create(
    rqctx: RequestContext<GroupCommit>,
    body: TypedBody<NewPlant>,
) -> Result<HttpResponseOk<Plant>, HttpError> {
    let (id, plant) = body.into_inner().into_parts();
    let text = serde_json::to_string(&plant).expect("a plant is JSON");
    let row = Row { id, plant: text.into() };
    rqctx.context().create(row, Arc::new(())).await.expect("a free id");
    Ok(HttpResponseOk(plant))
}
