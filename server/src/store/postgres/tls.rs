//! TLS to the database: the server's certificate is always verified, with its name.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::error::Cause;

/// Trusts the authorities of that PEM file, else those of the system.
///
/// # Errors
///
/// There is no authority to trust.
pub fn connector(ca: Option<&Path>) -> Result<MakeRustlsConnect, Cause> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        let named = |cause: Cause| format!("{}: {cause}", file.display());
        for root in CertificateDer::pem_file_iter(file).map_err(|cause| named(cause.into()))? {
            let root = root.map_err(|cause| named(cause.into()))?;
            roots.add(root).map_err(|cause| named(cause.into()))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
