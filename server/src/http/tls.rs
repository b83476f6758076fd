//! TLS for the API's listener: a certificate chain and its private key, from PEM files (RFC 7468).
//!
//! Dropshot speaks it, by rustls: TLS 1.2 and 1.3. ALPN (RFC 7301) offers HTTP/2 and HTTP/1.1.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropshot::ConfigTls;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The two files.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's own certificate first, then those that lead to the authority's.
    pub cert: PathBuf,
    /// Its private key, in PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TlsError {
    #[error("cannot read {}: {cause}", .file.display())]
    Unreadable { file: PathBuf, cause: io::Error },
    #[error("{} holds no {what} in PEM", .file.display())]
    Malformed { file: PathBuf, what: &'static str },
    #[error(
        "{} and {} cannot be used together: {cause}",
        .files.cert.display(),
        .files.key.display()
    )]
    Unusable { files: TlsFiles, cause: rustls::Error },
}

impl TlsFiles {
    /// Reads both files.
    pub fn load(&self) -> Result<ConfigTls, TlsError> {
        let (cert, key) = (read(&self.cert)?, read(&self.key)?);
        let malformed = |file: &Path, what| TlsError::Malformed { file: file.to_owned(), what };
        let chain = CertificateDer::pem_slice_iter(&cert).collect::<Result<Vec<_>, pem::Error>>();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| malformed(&self.cert, "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&key);
        let key = key.map_err(|_| malformed(&self.key, "private key"))?;
        let unusable = |cause| TlsError::Unusable { files: self.clone(), cause };
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(unusable)?
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ConfigTls::Dynamic(config))
    }

    /// Whether everybody on the machine may read the key.
    #[must_use]
    pub fn is_key_open(&self) -> bool {
        fs::metadata(&self.key).is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|cause| TlsError::Unreadable { file: file.to_owned(), cause })
}
