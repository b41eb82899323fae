//! Which certificates of a server are accepted, and what this side shows of its own.
//!
//! Owns the verification: a known authority must have issued the certificate for the host. A certificate that the user names itself
//! is accepted without an authority, as PostgreSQL's own clients do: one that was made by the recipes of its manual is its own
//! authority, or has no extensions, and has its host in the common name.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::error::{Error, Result};
use crate::model::printable;

/// The protocol that servers expect where a connection begins with TLS.
const PROTOCOL: &[u8] = b"postgresql";
/// Where systems keep the certificates of authorities: Debian, Fedora, openSUSE, Alpine and macOS.
const OF_THE_SYSTEM: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// The object identifier of a common name.
const COMMON_NAME: &str = "2.5.4.3";

/// The TLS settings of an address.
#[derive(Debug, Default)]
pub(super) struct Tls {
    /// The authorities: the public ones, those of the system, or those of a file.
    pub authorities: Option<String>,
    /// The certificate of this side and its key.
    pub own: Option<(String, String)>,
    pub without_name: bool,
    pub at_least_13: bool,
    pub at_most_12: bool,
}

impl Tls {
    /// The TLS of connections.
    pub fn connect(&self) -> Result<MakeRustlsConnect> {
        let provider = Arc::new(ring::default_provider());
        let not_there = |error: &dyn std::error::Error| Error::internal(format!("TLS is not available: {error}"));
        let (roots, named) = self.roots()?;
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let authorities = authorities.map_err(|error| not_there(&error))?;
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Verifier { authorities, named, algorithms };
        let versions: &[&SupportedProtocolVersion] = match (self.at_least_13, self.at_most_12) {
            (false, false) => &[&TLS13, &TLS12],
            (true, false) => &[&TLS13],
            (false, true) => &[&TLS12],
            (true, true) => {
                return Err(Error::invalid_argument("ssl_min_protocol_version exceeds ssl_max_protocol_version"));
            }
        };
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions);
        let builder = builder.map_err(|error| not_there(&error))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate, "sslcert")?;
                let unreadable = || {
                    Error::invalid_argument(format!("sslkey: {} is not the key of sslcert", printable(key)))
                        .hint("Name a readable file in PEM format, without a password.")
                };
                let key = PrivateKeyDer::from_pem_file(key).map_err(|_| unreadable())?;
                builder.with_client_auth_cert(chain, key).map_err(|_| unreadable())?
            }
        };
        config.enable_sni = !self.without_name;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    /// The authorities, and the certificates that the user names.
    fn roots(&self) -> Result<(RootCertStore, Vec<CertificateDer<'static>>)> {
        let (file, is_named) = match self.authorities.as_deref() {
            None => return Ok((RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }, Vec::new())),
            Some("system") => {
                let found = OF_THE_SYSTEM.iter().find(|file| Path::new(file).is_file());
                let file = found.copied().ok_or_else(|| {
                    Error::invalid_argument("sslrootcert=system: the certificates of this system are not known")
                        .hint("Leave it out for the public authorities, or name a file in PEM format.")
                })?;
                (file, false)
            }
            Some(file) => (file, true),
        };
        let known = certificates(file, "sslrootcert")?;
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(known.iter().cloned()).0 == 0 {
            return Err(unreadable(file, "sslrootcert"));
        }
        Ok((roots, if is_named { known } else { Vec::new() }))
    }
}

fn certificates(file: &str, parameter: &str) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    read.ok().filter(|found| !found.is_empty()).ok_or_else(|| unreadable(file, parameter))
}

fn unreadable(file: &str, parameter: &str) -> Error {
    Error::invalid_argument(format!("{parameter}: {} has no certificates", printable(file)))
        .hint("Name a readable file in PEM format.")
}

/// Accepts certificates of the authorities, and those that the user names.
#[derive(Debug)]
struct Verifier {
    authorities: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.authorities.verify_server_cert(certificate, intermediates, host, ocsp, now) {
            Err(_) if self.named.contains(certificate) => {
                check_named(certificate, host, now).map_err(TlsError::InvalidCertificate)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        if !self.named.contains(certificate) {
            return self.authorities.verify_tls13_signature(message, certificate, signature);
        }
        // The key is enough, in whatever version of the format the certificate is.
        let key = Certificate::from_der(certificate)
            .and_then(|read| read.tbs_certificate.subject_public_key_info.to_der())
            .map_err(|_| TlsError::InvalidCertificate(CertificateError::BadEncoding))?;
        verify_tls13_signature_with_raw_key(message, &SubjectPublicKeyInfoDer::from(key), signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Whether a certificate is for the host, and valid now. Without alternative names, the common name counts.
fn check_named(certificate: &CertificateDer<'_>, host: &ServerName<'_>, now: UnixTime) -> Result<(), CertificateError> {
    let read = Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?.tbs_certificate;
    if now.as_secs() < read.validity.not_before.to_unix_duration().as_secs() {
        return Err(CertificateError::NotValidYet);
    }
    if now.as_secs() > read.validity.not_after.to_unix_duration().as_secs() {
        return Err(CertificateError::Expired);
    }
    let alternatives = read.get::<SubjectAltName>().map_err(|_| CertificateError::BadEncoding)?;
    let mut names: Vec<String> = Vec::new();
    let mut addresses: Vec<Vec<u8>> = Vec::new();
    for name in alternatives.map(|(_, names)| names.0).unwrap_or_default() {
        match name {
            GeneralName::DnsName(name) => names.push(name.as_str().to_owned()),
            GeneralName::IpAddress(address) => addresses.push(address.as_bytes().to_vec()),
            _ => {}
        }
    }
    if names.is_empty() && addresses.is_empty() {
        let attributes = read.subject.0.iter().flat_map(|part| part.0.iter());
        let common = attributes.filter(|attribute| attribute.oid.to_string() == COMMON_NAME);
        names.extend(common.filter_map(|name| String::from_utf8(name.value.value().to_vec()).ok()));
    }
    let is_for = match host {
        ServerName::DnsName(host) => names.iter().any(|name| is_name_of(name, host.as_ref())),
        ServerName::IpAddress(address) => {
            let address = IpAddr::from(*address);
            let bytes = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            addresses.contains(&bytes) || names.contains(&address.to_string())
        }
        _ => false,
    };
    if is_for { Ok(()) } else { Err(CertificateError::NotValidForName) }
}

/// Whether a name of a certificate is that of a host. `*.` matches one label.
fn is_name_of(name: &str, host: &str) -> bool {
    let rest = name.strip_prefix("*.").zip(host.split_once('.'));
    name.eq_ignore_ascii_case(host) || rest.is_some_and(|(name, (_, host))| name.eq_ignore_ascii_case(host))
}

/// Why a certificate of a server was refused, if that is why a connection failed.
pub(super) fn refused(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        let within = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = within.and_then(|error| error.downcast_ref::<TlsError>()).or_else(|| error.downcast_ref());
        if let Some(TlsError::InvalidCertificate(why)) = found {
            return Some(match why {
                CertificateError::UnknownIssuer => "no known authority issued it".to_owned(),
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    "it is for another host".to_owned()
                }
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    "it is not valid yet".to_owned()
                }
                why => printable(&why.to_string()),
            });
        }
        next = error.source();
    }
    None
}
