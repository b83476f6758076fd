//! The end of a server: the requests in flight, the last commits, and the store.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use plant_store_store::{Closed, GroupCommit, WriterEnd};
use slog::{Logger, error, info, warn};
use tokio::time::timeout;

use crate::command::serve::args::Args;
use crate::command::serve::running::Running;
use crate::command::serve::signals::Stop;
use crate::command::serve::supervisor::{STOPPING, tell_supervisor};

/// How long a stop waits for the last commits and until the store is closed.
const CLOSE_STORE: Duration = Duration::from_secs(5);

/// Signals that come within this time stop the service once: a supervisor and a terminal may send
/// one each.
const ONE_STOP: Duration = Duration::from_secs(1);

/// The thread that commits ended without an order, such as by a panic.
#[derive(Debug, thiserror::Error)]
#[error("the writer died")]
pub struct WriterDied;

/// Answers the requests in flight, for at most `--shutdown-timeout`, and closes the store. If an
/// error has ended the service, the store stays as after a crash. A signal that comes later than
/// [`ONE_STOP`] ends that early.
pub async fn stop(
    args: &Args,
    running: Running,
    ended: Result<()>,
    signal: &mut Stop,
    log: &Logger,
) -> Result<()> {
    info!(log, "stopping");
    tell_supervisor(STOPPING);
    let Running { server, service, writer_end, tokens_watch, .. } = running;
    let is_sound = ended.is_ok();
    let closing = async {
        // Dropshot also waits for clients that have sent half of a head, or read no answer.
        if timeout(*args.shutdown_timeout, server.close()).await.is_err() {
            warn!(log, "requests are left unfinished");
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
                start copies it into the store's file, which takes longer (`fuser -v` with the \
                path of the -wal file names the program)"; "wal_bytes" => bytes);
        }
        Ok(_) => info!(log, "stopped"),
        Err(cause) => error!(log, "stopped with an error"; "cause" => format!("{cause:#}")),
    }
    ended.and(closed.map(drop))
}

/// Waits for a signal that asks for another stop.
async fn second_stop(signal: &mut Stop) {
    let first = Instant::now();
    while first.elapsed() < ONE_STOP {
        signal.next().await;
    }
}

/// Has the writer commit what is queued and close the store. If that takes too long, such as on a
/// disk that does not answer, the store stays as after a crash.
async fn close_store(commits: &GroupCommit, writer_end: WriterEnd, log: &Logger) -> Result<Closed> {
    commits.end();
    let Ok(end) = timeout(CLOSE_STORE, writer_end).await else {
        warn!(log, "the store is left unclosed: the next start puts it in order");
        return Ok(Closed::Unclean);
    };
    end.unwrap_or_else(|_| Err(WriterDied.into()))
}
