//! TLS for the API's listener: a certificate chain and its private key, from PEM files (RFC 7468).
//!
//! Dropshot speaks it, by rustls: TLS 1.2 and 1.3. ALPN (RFC 7301) offers HTTP/2 and HTTP/1.1.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dropshot::ConfigTls;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// A certificate that ends within this time is one to renew.
const SOON: TimeDelta = TimeDelta::days(14);

/// The two files.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's own certificate first, then those that lead to the authority's.
    pub cert: PathBuf,
    /// Its private key, in PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
}

/// What the files hold.
pub struct Tls {
    /// For Dropshot.
    pub config: ConfigTls,
    /// When the server's own certificate is valid.
    pub validity: Validity,
}

/// From when until when a certificate is valid (RFC 5280, section 4.1.2.5).
#[derive(Clone, Copy, Debug)]
pub struct Validity {
    /// `notBefore`.
    pub from: DateTime<Utc>,
    /// `notAfter`.
    pub until: DateTime<Utc>,
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
        "{file} is encrypted, and nobody is there to type its passphrase: write it without one by \
         `openssl pkey -in {file} -out FILE`",
        file = .file.display()
    )]
    Encrypted { file: PathBuf },
    #[error(
        "{} and {} cannot be used together: {cause}",
        .files.cert.display(),
        .files.key.display()
    )]
    Unusable { files: TlsFiles, cause: rustls::Error },
}

impl TlsFiles {
    /// Reads both files.
    pub fn load(&self) -> Result<Tls, TlsError> {
        let (cert, key) = (read(&self.cert)?, read(&self.key)?);
        let malformed = |file: &Path, what| TlsError::Malformed { file: file.to_owned(), what };
        let chain = CertificateDer::pem_slice_iter(&cert).collect::<Result<Vec<_>, pem::Error>>();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| malformed(&self.cert, "certificate"))?;
        // PKCS #8 says it in its first line, PKCS #1 in its second (RFC 1421, section 4.6.1.1).
        if String::from_utf8_lossy(&key).contains("ENCRYPTED") {
            return Err(TlsError::Encrypted { file: self.key.clone() });
        }
        let key = PrivateKeyDer::from_pem_slice(&key);
        let key = key.map_err(|_| malformed(&self.key, "private key"))?;
        let validity = Validity::of(&chain[0]);
        let unusable = |cause| TlsError::Unusable { files: self.clone(), cause };
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(unusable)?
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { config: ConfigTls::Dynamic(config), validity })
    }

    /// Whether everybody on the machine may read the key.
    #[must_use]
    pub fn is_key_open(&self) -> bool {
        fs::metadata(&self.key).is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
    }
}

impl Validity {
    /// If rustls can use a certificate that cannot be read here, it counts as valid for ever.
    fn of(certificate: &CertificateDer<'_>) -> Self {
        let validity = Certificate::from_der(certificate).map(|it| it.tbs_certificate.validity);
        let (from, until) = validity
            .map_or((DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC), |it| {
                (it.not_before.to_system_time().into(), it.not_after.to_system_time().into())
            });
        Self { from, until }
    }

    /// Whether it is valid now.
    #[must_use]
    pub fn holds(&self) -> bool {
        (self.from..=self.until).contains(&Utc::now())
    }

    /// What is wrong with it now, or will be soon.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        match Utc::now() {
            now if now < self.from => Some("the certificate is not valid yet"),
            now if now > self.until => Some("the certificate has expired"),
            now if now > self.until - SOON => Some("the certificate expires within 14 days"),
            _ => None,
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|cause| TlsError::Unreadable { file: file.to_owned(), cause })
}
