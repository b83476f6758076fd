//! At each SIGHUP the files of TLS are read again, for new connections. Open ones go on.

use std::convert::Infallible;

use anyhow::Error;
use slog::{Logger, error, info};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;

use crate::command::serve::tls::TlsFiles;
use crate::http::server::Server;

/// Reads the files at each SIGHUP. If they cannot be used, the old ones stay in use. Never ends.
pub async fn reload_at_hangup(
    server: &Server,
    files: Option<&TlsFiles>,
    hangup: &mut Signal,
    log: &Logger,
) -> Infallible {
    loop {
        hangup.recv().await;
        let Some(files) = files.cloned() else {
            info!(log, "SIGHUP: there is nothing to read");
            continue;
        };
        // On another thread: a pipe or a disk that does not answer keeps only that one.
        let logger = log.clone();
        let loaded = spawn_blocking(move || files.load(&logger)).await;
        match loaded.map_err(Error::from).flatten() {
            Ok(config) => {
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Err(cause) => {
                error!(log, "SIGHUP: the old TLS files stay in use";
                    "cause" => format!("{cause:#}"));
            }
        }
    }
}
