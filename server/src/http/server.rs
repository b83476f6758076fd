//! The Dropshot server that runs the service.

use std::net::SocketAddr;
use std::sync::Arc;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use plant_store_api::api::plant_store_api_mod;
use slog::Logger;

use crate::http::operations::PlantStore;
use crate::http::service::Service;

/// A running Dropshot server.
pub type Server = HttpServer<Arc<Service>>;

/// Starts a Dropshot server for the service on `address`, over TLS if `tls` is set. `log` receives
/// Dropshot's own records.
///
/// A request runs in the task of its connection and is dropped with it, which saves one task per
/// request. Dropping a request is safe, because a queued create is committed whether or not the
/// client still waits. The access record of a request is written when the request is dropped.
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
