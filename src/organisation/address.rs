//! The address of a server: host, role, database, and how the connection is encrypted.
//!
//! Over TCP the certificate and the host name are verified. `sslmode=disable` in the address is the only way around that. Sockets of
//! this machine are not encrypted.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::config::ServerAddress;
use crate::error::{Error, Result};
use crate::model::printable;

/// The time in which a server must accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address as libpq writes it.
const EXAMPLE: &str = "Write it as postgresql://ROLE@HOST:PORT/DATABASE.";

/// Settings of a connection to a server.
pub(super) struct Target {
    pub config: Config,
    pub tls: MakeRustlsConnect,
}

/// Reads an address. Errors do not quote it, because it may contain a password.
pub(super) fn target(address: &ServerAddress) -> Result<Target> {
    let name = printable(&address.name);
    let (url, own) = without_own_parameters(&address.url);
    let mut config: Config = url.parse().map_err(|_| {
        Error::invalid_argument(format!("the address of the organisation {name:?} cannot be read")).hint(EXAMPLE)
    })?;
    let is_local =
        !config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_))) && config.get_hostaddrs().is_empty();
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(Error::invalid_argument(format!("the address of the organisation {name:?} has no host"))
            .hint("Name a host, or the folder of a socket: postgresql:///DATABASE?host=/var/run/postgresql."));
    }
    let mode = match own.mode.as_deref() {
        // A socket of this machine.
        _ if is_local => SslMode::Disable,
        None | Some("verify-full" | "verify-ca" | "require") => SslMode::Require,
        Some("disable") => SslMode::Disable,
        Some(_) => {
            return Err(Error::invalid_argument(format!(
                "the address of the organisation {name:?}: sslmode is not supported"
            ))
            .hint("Leave it out to verify the certificate and the host name, or set sslmode=disable."));
        }
    };
    config.ssl_mode(mode);
    if let (None, Some(password)) = (config.get_password(), &address.password) {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.application_name("ixmcp");
    Ok(Target { config, tls: tls(own.root_certificate.as_deref())? })
}

/// Parameters that this module reads.
#[derive(Default)]
struct Own {
    mode: Option<String>,
    root_certificate: Option<String>,
}

/// The address without the parameters of TLS, and those.
fn without_own_parameters(url: &str) -> (String, Own) {
    let mut own = Own::default();
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), own) };
    let mut rest = Vec::new();
    for parameter in query.split('&') {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = || Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned());
        match key {
            "sslmode" => own.mode = value(),
            "sslrootcert" => own.root_certificate = value(),
            _ => rest.push(parameter),
        }
    }
    (if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) }, own)
}

/// TLS with the public certificate authorities, or those in a file instead.
fn tls(root_certificate: Option<&str>) -> Result<MakeRustlsConnect> {
    let roots = match root_certificate {
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
        Some(file) => {
            let unreadable = || {
                Error::invalid_argument(format!("sslrootcert: {} has no certificates", printable(file)))
                    .hint("Name a readable file in PEM format.")
            };
            let certificates: Vec<CertificateDer> =
                CertificateDer::pem_file_iter(file).and_then(Iterator::collect).map_err(|_| unreadable())?;
            let mut roots = RootCertStore::empty();
            if roots.add_parsable_certificates(certificates).0 == 0 {
                return Err(unreadable());
            }
            roots
        }
    };
    let builder =
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider())).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::internal("TLS is not available").caused_by(error))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<Target> {
        target(&ServerAddress {
            name: "work".to_owned(),
            url: url.to_owned(),
            password: Some("from outside".to_owned()),
        })
    }

    #[test]
    fn connections_over_tcp_are_verified_unless_the_address_says_otherwise() {
        let mode = |url: &str| parsed(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp"), SslMode::Require);
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgresql://team@/ixmcp?host=%2Ftmp%2Fx"), SslMode::Disable);
        for weaker in ["prefer", "allow", "no"] {
            let error = parsed(&format!("postgresql://team@db.example.com/x?sslmode={weaker}")).err().unwrap();
            assert!(error.message.to_string().contains("sslmode"), "{error}");
        }
    }

    #[test]
    fn errors_about_an_address_do_not_contain_its_password() {
        for url in [
            "postgresql://team:secret@db:port/x",
            "postgresql://team:secret@/x",
            "postgresql://team:secret@h/?nope=secret",
        ] {
            let error = parsed(url).err().unwrap();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn a_password_of_the_address_precedes_that_of_the_environment() {
        let password =
            |url: &str| String::from_utf8(parsed(url).unwrap().config.get_password().unwrap().to_vec()).unwrap();
        assert_eq!(password("postgresql://team:own@db/x"), "own");
        assert_eq!(password("postgresql://team@db/x"), "from outside");
    }
}
