//! TLS of `ixmcp http`: the certificate and its key.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{DEFAULT_VERSIONS, ServerConfig};

use crate::error::{Error, Result};

/// Reads the certificate, with those of its issuers, and its key. Both are PEM files.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let wrong = |what: &str, path: &Path, error: &dyn std::fmt::Display| {
        Error::invalid_path(format!("{} does not contain {what}: {error}", path.display()))
            .hint("Give PEM files: the certificate with its chain, and its private key.")
    };
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| wrong("a certificate", certificate, &error))?;
    if chain.is_empty() {
        return Err(wrong("a certificate", certificate, &"it has no section CERTIFICATE"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong("a private key", key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(DEFAULT_VERSIONS)
        .map_err(|error| Error::internal("TLS is not available").caused_by(error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| wrong("the key of the certificate", key, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
