//! The files of TLS: read at the start, and again at each SIGHUP.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Context, Result};
use dropshot::{ConfigTls, HttpServer};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::http::service::Service;
use crate::http::tls::{TlsError, TlsFiles};

/// How long the files may take to be read.
const LOAD: Duration = Duration::from_secs(10);

/// Reads the files.
pub fn load(files: &TlsFiles, log: &Logger) -> Result<ConfigTls, TlsError> {
    let config = files.load()?;
    if files.is_key_open() {
        warn!(log, "everybody on this machine may read the private key: chmod o-r";
            "file" => %files.key.display());
    }
    Ok(config)
}

/// At each SIGHUP reads the files for the connections that come then; those that are open go on. If
/// the files cannot be used, the last ones stay. Never ends.
pub async fn reload(
    server: &HttpServer<Service>,
    tls: Option<&TlsFiles>,
    hangup: &mut Signal,
    log: &Logger,
) -> Infallible {
    loop {
        hangup.recv().await;
        let Some(files) = tls else {
            info!(log, "SIGHUP: there is nothing to read");
            continue;
        };
        match load_in_time(files.clone(), log.clone()).await {
            Ok(config) => {
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Err(error) => {
                error!(log, "SIGHUP: the last files of TLS stay"; "cause" => format!("{error:#}"));
            }
        }
    }
}

/// Reads the files on another thread. A pipe or a disk that does not answer keeps only that thread.
async fn load_in_time(files: TlsFiles, log: Logger) -> Result<ConfigTls> {
    let loading = spawn_blocking(move || load(&files, &log));
    let loaded = timeout(LOAD, loading).await;
    Ok(loaded.with_context(|| format!("they were not read within {LOAD:?}"))???)
}
