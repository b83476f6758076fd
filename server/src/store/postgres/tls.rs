//! TLS to the database: the server's certificate is always verified, with its name.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::error::Cause;
use crate::store::postgres::url::PostgresUrl;

/// How a connection to that database is encrypted, if its URL asks for it.
///
/// # Errors
///
/// There is no authority to trust.
pub fn connector(url: &PostgresUrl) -> Result<MakeRustlsConnect, Cause> {
    let roots = match url.roots() {
        _ if !url.has_tls() => RootCertStore::empty(),
        Some(file) => {
            let named = |cause: &dyn std::fmt::Display| format!("{}: {cause}", file.display());
            let mut roots = RootCertStore::empty();
            for root in CertificateDer::pem_file_iter(file).map_err(|cause| named(&cause))? {
                let root = root.map_err(|cause| named(&cause))?;
                roots.add(root).map_err(|cause| named(&cause))?;
            }
            if roots.is_empty() {
                return Err(named(&"there is no certificate in it").into());
            }
            roots
        }
        None => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("this machine has no certificates to trust: name a file in \
                            sslrootcert"
                    .into());
            }
            roots
        }
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
