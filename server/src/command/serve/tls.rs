//! TLS for the API's listener: a certificate chain and its private key, from PEM files (RFC 7468).
//! They are read at the start, and again at each SIGHUP. A certificate that is valid is not replaced
//! by one that is not.
//!
//! Dropshot speaks it, by rustls: TLS 1.2 and 1.3. ALPN (RFC 7301) offers HTTP/2 and HTTP/1.1.

use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Error, Result, ensure};
use chrono::{DateTime, TimeDelta, Utc};
use dropshot::ConfigTls;
use metrics::{Unit, describe_gauge, gauge};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::http::server::Server;

/// A certificate that ends within this time is one to renew.
const SOON: TimeDelta = TimeDelta::days(14);

const END: &str = "plant_store_tls_not_after_timestamp_seconds";

/// The two files: the server's own certificate first, then those that lead to the authority's; and its
/// private key, in PKCS #8, PKCS #1 or SEC 1.
#[derive(clap::Args, Clone, Debug)]
pub struct TlsFiles {
    /// PEM file with the certificate chain: with it and --tls-key the API is served over TLS
    #[arg(long = "tls-cert", value_name = "FILE", required = false, requires = "key")]
    cert: PathBuf,

    /// PEM file with the private key of the certificate
    #[arg(long = "tls-key", value_name = "FILE", required = false, requires = "cert")]
    key: PathBuf,
}

/// From when until when a certificate is valid (RFC 5280, section 4.1.2.5).
#[derive(Clone, Copy)]
pub struct Validity {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl TlsFiles {
    /// Reads both files. What is wrong with them, although they can be used, is a warning.
    pub fn load(&self, log: &Logger) -> Result<(ConfigTls, Validity)> {
        let read = |file: &PathBuf| {
            fs::read(file).with_context(|| format!("cannot read {}", file.display()))
        };
        let (chain, key) = (read(&self.cert)?, read(&self.key)?);
        let (cert, file) = (self.cert.display(), self.key.display());
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&chain).collect();
        let chain = chain.unwrap_or_default();
        let own = chain.first().with_context(|| format!("{cert} holds no certificate in PEM"))?;
        let validity = Validity::of(own);
        let key = PrivateKeyDer::from_pem_slice(&key).ok().with_context(|| {
            format!(
                "{file} holds no private key in PEM that needs no passphrase: if it is encrypted, \
                 `openssl pkey -in {file} -out FILE` writes one"
            )
        })?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .with_context(|| format!("{cert} and {file} cannot be used together"))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];

        if fs::metadata(&self.key).is_ok_and(|key| key.permissions().mode() & 0o004 != 0) {
            warn!(log, "everybody on this machine may read the private key: chmod o-r";
                "file" => %file);
        }
        if let Some(fault) = validity.fault() {
            warn!(log, "{fault}"; "file" => %cert,
                "valid_from" => %validity.from, "valid_until" => %validity.until);
        }
        Ok((ConfigTls::Dynamic(config), validity))
    }
}

impl Validity {
    /// If rustls can use a certificate that cannot be read here, it counts as valid for ever.
    fn of(certificate: &CertificateDer<'_>) -> Self {
        let Ok(certificate) = Certificate::from_der(certificate) else {
            return Self { from: DateTime::<Utc>::MIN_UTC, until: DateTime::<Utc>::MAX_UTC };
        };
        let it = certificate.tbs_certificate.validity;
        let (from, until) = (it.not_before.to_system_time(), it.not_after.to_system_time());
        Self { from: from.into(), until: until.into() }
    }

    /// Sets the metric of the certificate that connections are shown from now on.
    pub fn report(self) {
        describe_gauge!(END, Unit::Seconds, "When the certificate of TLS expires, in Unix time.");
        #[expect(clippy::cast_precision_loss, reason = "an f64 counts the seconds of a calendar")]
        gauge!(END).set(self.until.timestamp() as f64);
    }

    fn holds(self) -> bool {
        (self.from..=self.until).contains(&Utc::now())
    }

    /// What is wrong with it now, or will be soon.
    fn fault(self) -> Option<&'static str> {
        match Utc::now() {
            now if now < self.from => Some("the certificate is not valid yet"),
            now if now > self.until => Some("the certificate has expired"),
            now if now > self.until - SOON => Some("the certificate expires within 14 days"),
            _ => None,
        }
    }
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
        let (files, was_valid, logger) = (files.clone(), last.holds(), log.clone());
        let load = move || {
            let tls = files.load(&logger)?;
            let is_better = tls.1.holds() || !was_valid;
            ensure!(is_better, "the certificate in use is valid, and this one is not");
            Ok(tls)
        };
        // On another thread: a pipe or a disk that does not answer keeps only that one.
        match spawn_blocking(load).await.map_err(Error::from).flatten() {
            Ok((config, validity)) => {
                *last = validity;
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                validity.report();
                info!(log, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Err(error) => {
                error!(log, "SIGHUP: the old TLS files stay in use"; "cause" => format!("{error:#}"));
            }
        }
    }
}
