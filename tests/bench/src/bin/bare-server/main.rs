//! The lower limits of the benchmark: `bare-server hyper` and `bare-server dropshot` answer a create
//! with the plant, once the plant is durable.
//!
//! They have the service's store, its allocator and its one thread for HTTP. They have no
//! credentials, no limits, no strict reader and no log: what the service costs more is the price of
//! these.

mod dropshot;
mod hyper;

use std::time::Duration;

use mimalloc::MiMalloc;
use plant_store_api::types::{NewPlant, Plant};
use plant_store_server::store::{self, CreateLimits, GroupCommit, Start, StoreUrl};
use schemars::JsonSchema;
use serde::Deserialize;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A NewPlant, as serde's derived reader takes it.
#[derive(Deserialize, JsonSchema)]
struct Sent {
    id: i64,
    name: String,
    tag: Option<String>,
}

impl From<Sent> for NewPlant {
    fn from(Sent { id, name, tag }: Sent) -> Self {
        Self { id, plant: Plant { name, tag } }
    }
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
    let (plants, _end) = GroupCommit::start(writer, LIMITS, log.clone()).expect("a thread");
    match std::env::args().nth(1).as_deref() {
        Some("dropshot") => dropshot::serve(plants, &log).await,
        _ => hyper::serve(plants).await,
    }
}
