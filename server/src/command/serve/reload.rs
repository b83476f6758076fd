//! At each SIGHUP the files of TLS are read again, for the connections that come then; those that
//! are open go on.
//!
//! A certificate that is valid must never be replaced by one that is not.

use std::convert::Infallible;

use anyhow::{Error, Result, ensure};
use slog::{Logger, error, info};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;

use crate::command::serve::tls::{Tls, TlsFiles, Validity};
use crate::http::server::Server;

/// Reads the files at each SIGHUP. If they cannot be used, the old ones stay in use. Without `tls`
/// there is nothing to read. Never ends.
pub async fn reload_at_hangup(
    server: &Server,
    tls: Option<Tls>,
    hangup: &mut Signal,
    log: &Logger,
) -> Infallible {
    let Some(mut in_use) = tls else {
        loop {
            hangup.recv().await;
            info!(log, "SIGHUP: there is nothing to read");
        }
    };
    loop {
        hangup.recv().await;
        // On another thread: a pipe or a disk that does not answer keeps only that one.
        let loaded = spawn_blocking({
            let files = in_use.files.clone();
            let validity = in_use.validity;
            let log = log.clone();
            move || load_better(&files, validity, &log)
        });
        match loaded.await.map_err(Error::from).flatten() {
            Ok(loaded) => {
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&loaded.config).await;
                loaded.validity.report();
                in_use = loaded;
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Err(cause) => {
                error!(log, "SIGHUP: the old TLS files stay in use";
                    "cause" => format!("{cause:#}"));
            }
        }
    }
}

fn load_better(files: &TlsFiles, in_use: Validity, log: &Logger) -> Result<Tls> {
    let was_valid = in_use.is_now();
    let tls = files.load(log)?;
    ensure!(
        tls.validity.is_now() || !was_valid,
        "the certificate in use is valid, and this one is not"
    );
    Ok(tls)
}
