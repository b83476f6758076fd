//! From what was opened to a service that listens: the writer, the HTTP server, and what a start
//! says of itself.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context, Result};
use plant_store_listener::connections::Connections;
use plant_store_store::{GroupCommit, LAYOUT};
use sd_notify::NotifyState;
use slog::{Logger, info};
use tokio::task::spawn_blocking;

use crate::admin::{Admin, Readiness};
use crate::command::rescue_advice::with_rescue_advice;
use crate::command::serve::announcement::{Endpoint, announce};
use crate::command::serve::args::Args;
use crate::command::serve::opening::{Opened, open};
use crate::command::serve::running::Running;
use crate::command::serve::tls::Validity;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::server::listen;
use crate::http::service::Service;
use crate::log::Log;

/// Starts the service. It waits for a database that is not there yet. A start that waits may be
/// dropped.
pub async fn start(args: &Args, logs: &Log, admin: Option<&Admin>) -> Result<Running> {
    let log = logs.logger.clone();
    let accepted = KnownTokens::new(args.max_rate, args.max_creates);
    let opened = spawn_blocking({
        let args = args.clone();
        let accepted = accepted.clone();
        let log = log.clone();
        move || open(&args, &accepted, &log)
    });
    let Opened { tls, store, is_new, first_token } =
        opened.await?.map_err(with_rescue_advice(&args.store.url))?;
    let validity = tls.as_ref().map(|tls| tls.validity);
    validity.into_iter().for_each(Validity::report);

    let (plants, writer_end) =
        GroupCommit::start(Arc::clone(&store), *args.store_timeout, log.clone())
            .context("cannot start the writer")?;
    let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
    let bodies = BodyLimits { size, time: *args.body_timeout };
    let service =
        Service::new(accepted.clone(), plants.clone(), args.max_creates, bodies, log.clone());
    let connections = Arc::clone(&service.connections);
    let config = tls.map(|tls| tls.config);
    let records = Arc::clone(&logs.dropshot);
    let server = listen(args.listen, config, args.max_connections, service, records)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    if let Some(admin) = admin {
        let ready = readiness(Arc::clone(&connections), accepted.clone(), plants.clone());
        admin.set_readiness(ready);
    }
    let scheme = if validity.is_some() { "https" } else { "http" };
    let address = server.local_addr();
    announce(Endpoint { scheme, address }, first_token.as_ref(), &log)?;
    info!(log, "listening"; "address" => %address, "version" => env!("PLANT_STORE_VERSION"),
        "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
    log_limits(args, &log);
    // A supervisor that cannot be told (sd_notify(3)) sees what happens to the process.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    let tokens = tokio::spawn(accepted.watch(Arc::clone(&store), log.clone()));
    Ok(Running { server, connections, store, plants, writer_end, tokens, validity, log })
}

/// Says which limits are in force. The listener says if it allows fewer connections.
fn log_limits(args: &Args, log: &Logger) {
    info!(log, "limits";
        "max_connections" => args.max_connections.get(),
        "max_creates" => args.max_creates.get(),
        "max_body" => args.max_body.as_u64(),
        "max_rate" => args.max_rate.map(NonZeroU32::get),
        "idle_timeout" => %args.idle_timeout,
        "body_timeout" => %args.body_timeout,
        "store_timeout" => %args.store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
}

/// Why `/ready` says that the service takes no creates.
#[derive(Debug, thiserror::Error)]
#[error("the service stops")]
struct Stops;

/// What `/ready` answers from now on.
fn readiness(
    connections: Arc<Connections>,
    accepted: KnownTokens,
    plants: GroupCommit,
) -> Readiness {
    Box::new(move || {
        if connections.are_ending() {
            return Err(Stops.into());
        }
        accepted.readiness()?;
        plants.readiness()?;
        Ok(())
    })
}
