//! A server as in the documentation of Dropshot, with its default configuration, tokio's default
//! runtime and the system's allocator.

use std::sync::Arc;

use dropshot::{
    ApiDescription, HttpError, HttpResponseOk, RequestContext, ServerBuilder, TypedBody, endpoint,
};
use plant_store_bench::types::{NewPlant, Plant};
use plant_store_bench::{Store, announce};
use slog::{Discard, Logger, o};

#[tokio::main]
async fn main() {
    let mut api = ApiDescription::new();
    api.register(create_plant).expect("an endpoint");
    let store = Store::create_in_current_folder();
    let server = ServerBuilder::new(api, store, Logger::root(Discard, o!())).start();
    let server = server.expect("a free port");
    announce(server.local_addr());
    server.await.expect("it never ends");
}

#[endpoint { method = POST, path = "/plants" }]
async fn create_plant(
    rqctx: RequestContext<Arc<Store>>,
    body: TypedBody<NewPlant>,
) -> Result<HttpResponseOk<Plant>, HttpError> {
    Ok(HttpResponseOk(rqctx.context().create(body.into_inner()).await))
}
