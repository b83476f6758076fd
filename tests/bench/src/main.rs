//! The server with which the benchmark compares the plant store. It is written as in the
//! documentation of Dropshot, with its default configuration, tokio's default runtime and the
//! system's allocator, over the store and the group commit of the plant store.
//!
//! It must have no credentials, limits, metrics or log.

use std::sync::Arc;
use std::time::Duration;

use dropshot::{
    ApiDescription, HttpError, HttpResponseOk, RequestContext, ServerBuilder, TypedBody, endpoint,
};
use groundwork_store::{self as store, GroupCommit, Mode, Names, Row, StoreUrl};
use plant_store_server::types::{NewPlant, Plant};
use slog::{Discard, Logger, o};

static NAMES: Names = Names { program: "bench", table: "plants", application_id: *b"BNC" };

/// The default of the service's `--store-timeout`.
const TIMEOUT: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() {
    let log = Logger::root(Discard, o!());
    let url: StoreUrl = "sqlite:plant-store.db".parse().expect("a store URL");
    let opened = store::open(&NAMES, &url, None, Mode::ServeOrCreate);
    let engine = opened.expect("a new store").store;
    let (commits, _end) = GroupCommit::start(engine, TIMEOUT, log.clone()).expect("a thread");
    let mut api = ApiDescription::new();
    api.register(create_plant).expect("an endpoint");
    let server = ServerBuilder::new(api, commits, log).start().expect("a free port");
    println!("listening on http://{}", server.local_addr());
    server.await.expect("it never ends");
}

#[endpoint { method = POST, path = "/plants" }]
async fn create_plant(
    context: RequestContext<GroupCommit>,
    body: TypedBody<NewPlant>,
) -> Result<HttpResponseOk<Plant>, HttpError> {
    let (id, plant) = body.into_inner().into_parts();
    let json = serde_json::to_string(&plant).expect("a plant is JSON").into();
    let created = context.context().create(Row { id, json }, Arc::new(())).await;
    created.expect("a free id");
    Ok(HttpResponseOk(plant))
}
