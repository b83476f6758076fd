//! TLS for the API listener: loads a certificate chain and its private key from PEM files
//! (RFC 7468).
//!
//! Dropshot implements TLS 1.2 and 1.3 with rustls.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use dropshot::ConfigTls;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use slog::{Logger, error, info};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;

use crate::http::Server;

/// The paths of the TLS files. The certificate file contains the certificate of the server,
/// followed by the intermediate certificates. The key file contains the private key in PKCS #8,
/// PKCS #1 or SEC 1.
#[derive(clap::Args, Clone, Debug)]
pub struct TlsFiles {
    /// PEM file with the certificate chain; needs --tls-key, and serves the API over TLS
    #[arg(long = "tls-cert", value_name = "FILE", required = false, requires = "key")]
    cert: PathBuf,

    /// PEM file with the private key of the certificate
    #[arg(long = "tls-key", value_name = "FILE", required = false, requires = "cert")]
    key: PathBuf,
}

impl TlsFiles {
    /// Loads both files.
    pub fn load(&self) -> Result<ConfigTls> {
        let chain = self.read_chain()?;
        let key = self.read_key()?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .with_context(|| {
                let Self { cert, key } = self;
                format!("{} and {} cannot be used together", cert.display(), key.display())
            })?;
        // ALPN (RFC 7301) does not offer HTTP/2. There, a refusal before the end of a small body is
        // followed by RST_STREAM, and curl reports the reset instead of the refusal.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Dropshot does not set TCP_NODELAY. With tickets, the first answer of a connection would
        // wait 40 ms until the client acknowledges the tickets.
        config.send_tls13_tickets = 0;
        Ok(ConfigTls::Dynamic(config))
    }

    /// Reads the certificates, at least one.
    fn read_chain(&self) -> Result<Vec<CertificateDer<'static>>> {
        let text = read(&self.cert)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        chain
            .ok()
            .filter(|chain| !chain.is_empty())
            .with_context(|| format!("{} contains no PEM certificate", self.cert.display()))
    }

    fn read_key(&self) -> Result<PrivateKeyDer<'static>> {
        let text = read(&self.key)?;
        PrivateKeyDer::from_pem_slice(&text).ok().with_context(|| {
            let file = self.key.display();
            format!(
                "{file} contains no unencrypted PEM private key: if the key is encrypted, decrypt \
                 it with `openssl pkey -in {file} -out FILE`"
            )
        })
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Reloads the TLS files on each SIGHUP, for new connections. Open connections are not affected. If
/// the new files cannot be used, the old ones stay in use. Never returns.
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
        // On another thread, because a disk that does not respond would block this one.
        let loaded = spawn_blocking(move || files.load()).await;
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
