//! The shutdown of a server: finishes the requests in flight and the last commits, and closes the
//! store.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use plant_store_store::{Closed, GroupCommit, WriterEnd};
use slog::{Logger, error, info, warn};
use tokio::time::timeout;

use crate::command::serve::args::Args;
use crate::command::serve::running::Running;
use crate::command::serve::signals::Stop;
use crate::command::serve::supervisor::{STOPPING, notify_supervisor};

/// How long a shutdown waits for the last commits and for closing the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Signals within this time of the first signal are ignored, because a supervisor and a terminal
/// may send one each.
const SIGNAL_WINDOW: Duration = Duration::from_secs(1);

/// The writer ended without being told to, for example because of a panic.
#[derive(Debug, thiserror::Error)]
#[error("the writer died")]
pub struct WriterDied;

/// Shuts the server down: answers the requests in flight within the grace period
/// (`--shutdown-timeout`), and closes the store.
///
/// If the service ended with an error, the store is left as after a crash. Another signal after
/// [`SIGNAL_WINDOW`] aborts the shutdown.
pub async fn stop(
    args: &Args,
    running: Running,
    ended: Result<()>,
    signal: &mut Stop,
    log: &Logger,
) -> Result<()> {
    info!(log, "stopping");
    notify_supervisor(STOPPING);
    let Running { server, service, writer_end, tokens_watch, .. } = running;
    let is_sound = ended.is_ok();
    let closing = async {
        // Dropshot also waits for clients that have sent half of a head or do not read an answer.
        if timeout(*args.shutdown_timeout, server.close()).await.is_err() {
            warn!(log, "the grace period is over: some requests are left unfinished");
        }
        drop(tokens_watch);
        if is_sound {
            close_store(&service.commits, writer_end, log).await
        } else {
            Ok(Closed::Unclean)
        }
    };
    let closed = tokio::select! {
        closed = closing => closed,
        () = second_stop(signal) => bail!("stopped at once by a second signal"),
    };
    match &closed {
        Ok(Closed::WalLeft { bytes }) => {
            warn!(log, "stopped; the WAL stays, because another program reads the store: the next \
                start checkpoints it, which takes longer (to find the program, run `fuser -v` on \
                the -wal file)"; "wal_bytes" => bytes);
        }
        Ok(_) => info!(log, "stopped"),
        Err(cause) => error!(log, "stopped with an error"; "cause" => format!("{cause:#}")),
    }
    ended.and(closed.map(drop))
}

/// Waits for a signal after the [`SIGNAL_WINDOW`].
async fn second_stop(signal: &mut Stop) {
    let first = Instant::now();
    while first.elapsed() < SIGNAL_WINDOW {
        signal.next().await;
    }
}

/// Lets the writer commit the queue and close the store. If this takes too long, for example
/// because a disk does not respond, the store is left as after a crash.
async fn close_store(commits: &GroupCommit, writer_end: WriterEnd, log: &Logger) -> Result<Closed> {
    commits.end();
    let Ok(end) = timeout(CLOSE_TIMEOUT, writer_end).await else {
        warn!(log, "the store could not be closed in time: the next start recovers it");
        return Ok(Closed::Unclean);
    };
    end.unwrap_or_else(|_| Err(WriterDied.into()))
}
