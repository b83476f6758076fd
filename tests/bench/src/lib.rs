//! Code that the servers of the benchmark share: the store of the service, and the line that they
//! print when they listen.
//!
//! The servers must have no credentials, limits, metrics or log.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groundwork_store::{self as store, GroupCommit, Mode, Names, Row, StoreUrl};
use slog::{Discard, Logger, o};

// The types of the service without its library, which sets an allocator.
#[path = "../../../server/src/types.rs"]
pub mod types;

use crate::types::{NewPlant, Plant};

static NAMES: Names = Names { program: "bench", table: "plants", application_id: *b"BNC" };

/// The default of the service's `--store-timeout`.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A store with group commit, as in the service.
pub struct Store(GroupCommit);

impl Store {
    /// Creates a store in the current folder.
    pub fn create_in_current_folder() -> Arc<Self> {
        let url: StoreUrl = "sqlite:plant-store.db".parse().expect("a store URL");
        let opened = store::open(&NAMES, &url, None, Mode::ServeOrCreate(&|| Ok(None)));
        let engine = opened.expect("a new store").store;
        let log = Logger::root(Discard, o!());
        let (plants, _end) = GroupCommit::start(engine, TIMEOUT, log).expect("a thread");
        Arc::new(Self(plants))
    }

    /// Creates a plant durably, and returns it.
    pub async fn create(&self, new_plant: NewPlant) -> Plant {
        let (id, plant) = new_plant.into_parts();
        let text = serde_json::to_string(&plant).expect("a plant is JSON");
        self.0.create(Row { id, json: text.into() }, Arc::new(())).await.expect("a free id");
        plant
    }
}

/// Prints the address at which a server listens, as the service does.
pub fn announce(address: SocketAddr) {
    println!("listening on http://{address}");
}
