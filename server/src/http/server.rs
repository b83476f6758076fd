//! Starts the service in a Dropshot server, and runs the tasks that belong to no request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use slog::warn;

use crate::http::service::{PlantStore, Service};
use crate::listener::door::Records;
use plant_store_api::api::plant_store_api_mod;

/// The server that runs the service.
pub type Server = HttpServer<Arc<Service>>;

/// How often the metric of the bytes that bodies take is updated.
const REPORT: Duration = Duration::from_secs(1);

/// Starts a Dropshot server for the service on that address, over TLS if that is configured.
/// `connections` bounds the connections; to do so, the server sets the limit on open files of the
/// whole process. `records` takes Dropshot's own records.
///
/// A request runs in its connection's own task and is dropped with it, which saves a task for each
/// request. It is safe, because a queued create is committed whether or not a client waits.
pub fn listen(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    connections: Option<NonZeroU32>,
    service: Service,
    records: Records,
) -> Result<Server, BuildError> {
    let failed = |error| {
        let context = "cannot limit the connections".to_owned();
        BuildError::SystemError { context, error }
    };
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .expect("the API trait is a valid API description");
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    let door = service.connections().door.clone();
    if let Some(asked) = connections.map(|it| it.get() as usize) {
        // Before clients come.
        let places = door.limit(asked).map_err(failed)?;
        if places < asked {
            warn!(service.log, "the hard limit on open files allows fewer than --max-connections";
                "connections" => places);
        }
    }
    let log = door.logger(records);
    let server = ServerBuilder::new(api, Arc::new(service), log).config(config).tls(tls).start()?;
    if connections.is_some() {
        door.guard(server.local_addr()).map_err(failed)?;
    }
    Ok(server)
}

impl Service {
    /// Looks after the connections, and updates the metric of the bodies. Never ends.
    pub async fn look_after(&self, idle_timeout: Duration) -> Infallible {
        let report = async {
            let mut ticks = tokio::time::interval(REPORT);
            loop {
                ticks.tick().await;
                self.bodies.report();
            }
        };
        tokio::select! {
            never = self.connections.look_after(idle_timeout, &self.log) => never,
            never = report => never,
        }
    }
}
