//! Reloads the TLS files on SIGHUP, for new connections. Open connections are not affected.

use std::convert::Infallible;

use anyhow::Error;
use slog::{Logger, error, info};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;

use crate::command::serve::tls::TlsFiles;
use crate::http::server::Server;

/// Reloads the TLS files on each SIGHUP. If the new files cannot be used, the old ones stay in use.
/// Never returns.
pub async fn reload_at_hangup(
    server: &Server,
    files: Option<&TlsFiles>,
    hangup: &mut Signal,
    log: &Logger,
) -> Infallible {
    loop {
        hangup.recv().await;
        let Some(files) = files.cloned() else {
            info!(log, "SIGHUP: there are no TLS files to reload");
            continue;
        };
        // On another thread, because a pipe or a disk that does not respond would block this one.
        let logger = log.clone();
        let loaded = spawn_blocking(move || files.load(&logger)).await;
        match loaded.map_err(Error::from).flatten() {
            Ok(config) => {
                // The only error is that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                info!(log, "SIGHUP: reloaded the TLS files for new connections");
            }
            Err(cause) => {
                error!(log, "SIGHUP: cannot reload the TLS files, so the old ones stay in use";
                    "cause" => format!("{cause:#}"));
            }
        }
    }
}
