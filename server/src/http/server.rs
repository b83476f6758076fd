//! Starts the service in a Dropshot server.

use std::net::SocketAddr;
use std::sync::Arc;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use plant_store_api::api::plant_store_api_mod;
use slog::Logger;

use crate::http::operations::PlantStore;
use crate::http::service::Service;

/// The server that runs the service.
pub type Server = HttpServer<Arc<Service>>;

/// Starts a Dropshot server for the service on that address, over TLS if that is configured.
/// `log` takes Dropshot's own records.
///
/// A request runs in its connection's own task and is dropped with it, which saves a task for each
/// request. It is safe, because a queued create is committed whether or not a client waits. The
/// record of the request is written when it is dropped.
pub fn start_server(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    service: Arc<Service>,
    log: Logger,
) -> Result<Server, BuildError> {
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .expect("the API trait is a valid API description");
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, service, log).config(config).tls(tls).start()
}
