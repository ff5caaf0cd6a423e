//! TLS: certificates and their key from files.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::fault::{Fault, Outcome};
use crate::settings::TlsFiles;

/// Reads the files.
pub fn acceptor(files: &TlsFiles) -> Outcome<TlsAcceptor> {
    let failed = |what: &str, path: &std::path::Path, why: String| {
        Fault::illegal(format!("{what} {}: {why}", path.display()))
    };
    let of_cert = |why: String| failed("--tls-cert", &files.cert, why);
    let certs = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<CertificateDer<'static>>, _>>)
        .map_err(|error| of_cert(error.to_string()))?;
    if certs.is_empty() {
        return Err(of_cert("it has no certificate in PEM".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| failed("--tls-key", &files.key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::internal(format!("TLS cannot be set up: {error}")))?
        .with_no_client_auth()
        .with_single_cert(certs, key)
        .map_err(|error| of_cert(format!("it does not go with --tls-key: {error}")))?;
    let mut config = config;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
