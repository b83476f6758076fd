//! Starts the service in a Dropshot server.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context, Result};
use dropshot::{ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use plant_store_api::api::plant_store_api_mod;
use plant_store_api::routes::Route;
use plant_store_listener::logger::Records;

use crate::http::operations::PlantStore;
use crate::http::service::Service;

/// The server that runs the service.
pub type Server = HttpServer<Arc<Service>>;

/// Starts a Dropshot server for the service on that address, over TLS if that is configured.
/// `connections` bounds the connections; to do so, the server sets the limit on open files of the
/// whole process. `records` takes Dropshot's own records.
///
/// A request runs in its connection's own task and is dropped with it, which saves a task for each
/// request. It is safe, because a queued create is committed whether or not a client waits.
pub fn listen(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    connections: NonZeroU32,
    service: Service,
    records: Records,
) -> Result<Server> {
    const FAILED: &str = "cannot limit the connections";
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .expect("the API trait is a valid API description");
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    let limit = Arc::clone(&service.connections.limit);
    let service = Arc::new(service);
    // Before clients come: the first call makes the document.
    let _ = Route::all();
    limit.set(connections.get() as usize, &service.log).context(FAILED)?;
    let server = ServerBuilder::new(api, Arc::clone(&service), limit.logger(records));
    let server = server.config(config).tls(tls).start()?;
    limit.adopt(server.local_addr(), &service.log).context(FAILED)?;
    Ok(server)
}
