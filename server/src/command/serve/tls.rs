//! The files of TLS: read at the start, and again at each SIGHUP. A certificate that is valid is not
//! replaced by one that is not.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use metrics::{Unit, describe_gauge, gauge};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::http::server::Server;
use crate::http::tls::{Tls, TlsError, TlsFiles, Validity};

/// How long the files may take to be read.
const LOAD: Duration = Duration::from_secs(10);

const END: &str = "plant_store_tls_not_after_timestamp_seconds";

/// Reads the files.
pub fn load(files: &TlsFiles, log: &Logger) -> Result<Tls, TlsError> {
    let tls = files.load()?;
    if files.is_key_open() {
        warn!(log, "everybody on this machine may read the private key: chmod o-r";
            "file" => %files.key.display());
    }
    if let Some(fault) = tls.validity.fault() {
        warn!(log, "{fault}"; "file" => %files.cert.display(),
            "valid_from" => %tls.validity.from, "valid_until" => %tls.validity.until);
    }
    Ok(tls)
}

/// Sets the metric of the certificate that connections are shown from now on.
pub fn report(validity: Validity) {
    describe_gauge!(END, Unit::Seconds, "When the certificate of TLS expires, in Unix time.");
    #[expect(clippy::cast_precision_loss, reason = "an f64 counts the seconds of a calendar")]
    gauge!(END).set(validity.until.timestamp() as f64);
}

/// At each SIGHUP reads the files for the connections that come then; those that are open go on. If
/// the files cannot be used, the old ones stay in use. `tls` are the files, and what they held at the
/// start. Never ends.
pub async fn reload(
    server: &Server,
    mut tls: Option<(TlsFiles, Validity)>,
    hangup: &mut Signal,
    log: &Logger,
) -> Infallible {
    loop {
        hangup.recv().await;
        let Some((files, last)) = &mut tls else {
            info!(log, "SIGHUP: there is nothing to read");
            continue;
        };
        match load_in_time(files.clone(), *last, log.clone()).await {
            Ok(loaded) => {
                *last = loaded.validity;
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&loaded.config).await;
                report(*last);
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Err(error) => {
                error!(log, "SIGHUP: the old TLS files stay in use"; "cause" => format!("{error:#}"));
            }
        }
    }
}

/// Reads the files on another thread. A pipe or a disk that does not answer keeps only that thread.
async fn load_in_time(files: TlsFiles, last: Validity, log: Logger) -> Result<Tls> {
    let loading = spawn_blocking(move || load(&files, &log));
    let loaded = timeout(LOAD, loading).await;
    let tls = loaded.with_context(|| format!("they were not read within {LOAD:?}"))???;
    ensure!(
        tls.validity.holds() || !last.holds(),
        "the certificate in use is valid, and this one is not"
    );
    Ok(tls)
}
