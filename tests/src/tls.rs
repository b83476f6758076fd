//! A certificate authority that only the tests trust, and the TLS files that it issues.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

/// The name of the certificate file that [`Authority::issue`] writes.
pub const CERT: &str = "plants.pem";

/// The name of the file with the private key of the certificate.
pub const KEY: &str = "plants.key";

/// The flags of a server that runs in the folder with these files.
pub const TLS: [&str; 4] = ["--tls-cert", CERT, "--tls-key", KEY];

/// A certificate authority with its own key.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Creates an authority with a new key.
    #[expect(clippy::new_without_default, reason = "no two authorities are equal")]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "Plants CA");
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    /// Issues a certificate for 127.0.0.1, and writes [`CERT`] and [`KEY`] to a folder. Only the
    /// owner may read the key.
    pub fn issue(&self, folder: &Path) -> CertificateDer<'static> {
        self.issue_for("127.0.0.1", folder)
    }

    /// Issues a certificate for this name or address, like [`issue`](Self::issue).
    pub fn issue_for(&self, name: &str, folder: &Path) -> CertificateDer<'static> {
        self.sign(&CertificateParams::new([name.to_owned()]).expect("a name"), folder)
    }

    fn sign(&self, params: &CertificateParams, folder: &Path) -> CertificateDer<'static> {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        write(folder, &certificate.pem(), &key);
        certificate.into()
    }

    /// Returns the certificate of the authority in PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Returns the certificate of the authority in DER.
    pub fn der(&self) -> &CertificateDer<'static> {
        self.0.der()
    }

    /// Returns the configuration of a client that trusts only this authority, and offers no ALPN
    /// protocols.
    pub fn client_config(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der().clone()).expect("a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    }

    /// Returns the first message of a handshake (RFC 8446, section 4.1.2).
    pub fn client_hello(&self) -> Vec<u8> {
        let mut client =
            ClientConnection::new(self.client_config(), server_name()).expect("a client");
        let mut hello = Vec::new();
        client.write_tls(&mut hello).expect("a vector takes all bytes");
        hello
    }
}

fn write(folder: &Path, certificate: &str, key: &KeyPair) {
    fs::write(folder.join(CERT), certificate).expect("the folder is writable");
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(folder.join(KEY)).expect("the folder is writable");
    file.write_all(key.serialize_pem().as_bytes()).expect("the folder is writable");
}

/// Returns the name in a certificate of [`Authority::issue`].
fn server_name() -> ServerName<'static> {
    "127.0.0.1".try_into().expect("an address is a name")
}
