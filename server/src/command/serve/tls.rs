//! The files of TLS: read at the start, and again at each SIGHUP.

use std::convert::Infallible;

use dropshot::{ConfigTls, HttpServer};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;

use crate::descriptors;
use crate::http::service::Service;
use crate::http::tls::{TlsError, TlsFiles};

/// Reads the files.
pub fn load(files: &TlsFiles, log: &Logger) -> Result<ConfigTls, TlsError> {
    let config = descriptors::beyond_limit(|| files.load())?;
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
        match tls.map(|files| load(files, log)) {
            Some(Ok(config)) => {
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Some(Err(error)) => {
                error!(log, "SIGHUP: the last files of TLS stay"; "cause" => %error);
            }
            None => info!(log, "SIGHUP: there is nothing to read"),
        }
    }
}
