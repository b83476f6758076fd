//! A certificate authority that only the tests trust, and the TLS files that it issues.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rcgen::{CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};

use crate::Server;

/// The name of the certificate file that [`Authority::issue`] writes.
pub const CERT: &str = "plants.pem";

/// The name of the file with the private key of the certificate.
pub const KEY: &str = "plants.key";

/// The flags of a server that runs in the folder with these files.
pub const TLS: [&str; 4] = ["--tls-cert", CERT, "--tls-key", KEY];

/// Starts a server with TLS. Also returns the authority that issued its certificate.
pub fn serving() -> (Server, Authority) {
    let authority = Authority::new();
    let starting = Server::starting();
    authority.issue(starting.folder());
    (starting.with(&TLS).start(), authority)
}

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
    /// owner may read the key. Returns the certificate in DER.
    pub fn issue(&self, folder: &Path) -> Vec<u8> {
        self.issue_for("127.0.0.1", folder)
    }

    /// Issues a certificate for this name or address, like [`issue`](Self::issue).
    pub fn issue_for(&self, name: &str, folder: &Path) -> Vec<u8> {
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        fs::write(folder.join(CERT), certificate.pem()).expect("the folder is writable");
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(folder.join(KEY)).expect("the folder is writable");
        file.write_all(key.serialize_pem().as_bytes()).expect("the folder is writable");
        certificate.der().to_vec()
    }

    /// Returns the certificate of the authority in PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }
}
