//! From what was opened to a service that listens: the writer, the HTTP server, and what a start
//! says of itself.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context, Result};
use plant_store_store::{Engine, GroupCommit, LAYOUT};
use sd_notify::NotifyState;
use slog::{Logger, info, o};
use tokio::task::spawn_blocking;

use crate::admin::{Admin, Readiness};
use crate::command::rescue_advice::with_rescue_advice;
use crate::command::serve::announcement::{Endpoint, announce};
use crate::command::serve::args::Args;
use crate::command::serve::opening::{Opened, open};
use crate::command::serve::reload::TlsInUse;
use crate::command::serve::running::Running;
use crate::command::serve::tls::Tls;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::server::start_server;
use crate::http::service::Service;
use crate::log::Log;

/// Starts the service. It waits for a database that is not there yet. A start that waits may be
/// dropped.
pub async fn start(args: &Args, logs: &Log, admin: Option<&Admin>) -> Result<Running> {
    let log = &logs.logger;
    let tokens = KnownTokens::new(args.max_rate, args.max_creates);
    let Opened { tls, store, is_new, first_token } =
        open_on_another_thread(args, &tokens, log).await?;
    let running = serve(args, logs, tls, store, &tokens)?;
    if let Some(admin) = admin {
        admin.set_readiness(readiness(tokens, running.plants.clone()));
    }
    let address = running.server.local_addr();
    let endpoint = Endpoint { is_tls: running.tls.is_some(), address };
    announce(endpoint, first_token.as_ref(), log)?;
    info!(log, "listening"; "address" => %address, "version" => env!("PLANT_STORE_VERSION"),
        "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
    log_limits(args, log);
    // A supervisor that cannot be told (sd_notify(3)) sees what happens to the process.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    Ok(running)
}

/// Opens the files and the store on a thread that may wait for a disk: this one speaks HTTP.
async fn open_on_another_thread(args: &Args, tokens: &KnownTokens, log: &Logger) -> Result<Opened> {
    let opened = spawn_blocking({
        let args = args.clone();
        let tokens = tokens.clone();
        let log = log.clone();
        move || open(&args, &tokens, &log)
    });
    opened.await?.map_err(with_rescue_advice(&args.store.url))
}

/// Starts the writer, the HTTP server, and the task that reads the tokens.
fn serve(
    args: &Args,
    logs: &Log,
    tls: Option<Tls>,
    store: Arc<dyn Engine>,
    tokens: &KnownTokens,
) -> Result<Running> {
    let log = logs.logger.clone();
    let validity = tls.as_ref().map(|tls| tls.validity);
    if let Some(validity) = validity {
        validity.report();
    }
    let (plants, writer_end) =
        GroupCommit::start(Arc::clone(&store), *args.store_timeout, log.clone())
            .context("cannot start the writer")?;
    let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
    let bodies = BodyLimits { size, time: *args.body_timeout };
    let service =
        Service::new(tokens.clone(), plants.clone(), args.max_creates, bodies, log.clone());
    let config = tls.map(|tls| tls.config);
    let records = Logger::root(Arc::clone(&logs.dropshot), o!());
    let server = start_server(args.listen, config, service, records)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let token_reader = tokio::spawn(tokens.clone().watch(Arc::clone(&store), log.clone()));
    let files = args.tls.clone();
    let in_use = files.zip(validity).map(|(files, validity)| TlsInUse { files, validity });
    Ok(Running { server, store, plants, writer_end, token_reader, tls: in_use, log })
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

/// What `/ready` answers from now on.
fn readiness(tokens: KnownTokens, plants: GroupCommit) -> Readiness {
    Box::new(move || {
        tokens.readiness()?;
        plants.readiness()?;
        Ok(())
    })
}
