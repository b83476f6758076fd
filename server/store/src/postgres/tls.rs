//! TLS to a database: which certificates are trusted.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Cause;

/// Returns the TLS configuration of a connection. The server's certificate and its name are always
/// verified: against the authorities in the PEM file `ca`, or else against the authorities that the
/// system trusts.
pub fn tls(ca: Option<&Path>) -> Result<MakeRustlsConnect, Cause> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        add_authorities(&mut roots, file)
            .map_err(|cause| format!("{}: {cause}", file.display()))?;
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Adds the certificates of a PEM file (RFC 7468).
fn add_authorities(roots: &mut RootCertStore, file: &Path) -> Result<(), Cause> {
    for certificate in CertificateDer::pem_file_iter(file)? {
        roots.add(certificate?)?;
    }
    if roots.is_empty() {
        return Err(
            "it contains no certificate: name a PEM file with the authority's certificate".into()
        );
    }
    Ok(())
}
