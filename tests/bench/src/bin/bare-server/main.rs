//! What the service is compared with, over the same store: `bare-server hyper`,
//! `bare-server dropshot` and `bare-server axum` answer a create with the plant, once the plant is
//! durable.
//!
//! They have the service's store, its allocator and its one thread for HTTP. They have no
//! credentials, no limits, no strict reader and no log: what the service costs more is the price of
//! these.

mod axum;
mod dropshot;
mod hyper;

use std::time::Duration;

use mimalloc::MiMalloc;
use plant_store_store::{self as store, GroupCommit, Start, StoreUrl};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// As the service's default.
const TIMEOUT: Duration = Duration::from_secs(5);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url: StoreUrl = "sqlite:plant-store.db".parse().expect("a store URL");
    let start = Start { make: true, ..Start::default() };
    let engine = store::open_to_serve(&url, None, start).expect("a new store").store;
    let log = slog::Logger::root(slog::Discard, slog::o!());
    let (plants, _end) = GroupCommit::start(engine, TIMEOUT, log.clone()).expect("a thread");
    match std::env::args().nth(1).as_deref() {
        Some("axum") => axum::serve(plants).await,
        Some("dropshot") => dropshot::serve(plants, &log).await,
        _ => hyper::serve(plants).await,
    }
}
