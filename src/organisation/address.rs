//! The address of a server: hosts, role, database, and how the connection is encrypted.
//!
//! Owns what each parameter of it does: those of `libpq` (PostgreSQL 18) that have a meaning here; the others are refused by their names.
//! Over TCP the certificate and the host name are verified. `sslmode=disable` in the address is the only way around that. Sockets of
//! this machine are not encrypted.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::certificates::Tls;
use super::password_file::{Login, password};
use crate::config::ServerAddress;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::socket::folder_of_socket;

/// The time in which a server must accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const PORT: u16 = 5432;

/// The address as libpq writes it.
const EXAMPLE: &str = "Write it as postgresql://ROLE@HOST:PORT/DATABASE.";
const SCHEMES: &[&str] = &["postgresql://", "postgres://"];

/// Parameters that the client library reads.
const OF_LIBRARY: &[&str] = &[
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "options",
    "application_name",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "channel_binding",
    "load_balance_hosts",
    "sslnegotiation",
];
/// Parameters that change nothing here: there is neither Kerberos nor compression, and the program has a name.
const WITHOUT_EFFECT: &[&str] =
    &["fallback_application_name", "gssdelegation", "gsslib", "krbsrvname", "sslcompression"];
/// Parameters, with the values that describe what this program does anyway.
const AS_IT_IS: &[(&str, &[&str])] = &[
    ("client_encoding", &["auto", "UTF8", "UTF-8", "utf8", "utf-8"]),
    ("gssencmode", &["disable", "prefer"]),
    ("max_protocol_version", &["3.0", "3.2", "latest"]),
    ("min_protocol_version", &["3.0"]),
    ("sslcertmode", &["allow"]),
];
/// Parameters that are supported only with some values.
const WITH_VALUES: &[&str] = &["sslsni", "ssl_min_protocol_version", "ssl_max_protocol_version"];
/// Parameters that are not supported, and what to do instead.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("oauth_ca_file", NO_OAUTH),
    ("oauth_client_id", NO_OAUTH),
    ("oauth_client_secret", NO_OAUTH),
    ("oauth_issuer", NO_OAUTH),
    ("oauth_scope", NO_OAUTH),
    ("replication", "Leave it out: nothing here replicates."),
    ("require_auth", "Leave it out. `channel_binding=require` accepts no login but SCRAM over TLS."),
    ("requirepeer", "Leave it out, and name a socket in a folder that only the server's user can write."),
    ("requiressl", "Leave it out: connections over TCP are encrypted unless sslmode=disable is set."),
    ("scram_client_key", NO_KEYS),
    ("scram_server_key", NO_KEYS),
    ("service", NO_SERVICE),
    ("servicefile", NO_SERVICE),
    ("sslcrl", NO_REVOCATION),
    ("sslcrldir", NO_REVOCATION),
    ("sslkeylogfile", "Leave it out: no keys of connections are written."),
    ("sslpassword", "Leave it out, and name a key without a password in sslkey."),
];
const NO_OAUTH: &str = "Log in with a password or a certificate of the client instead.";
const NO_KEYS: &str = "Log in with the password instead.";
const NO_SERVICE: &str = "Write what the service file says for it: host, port, database, role and other parameters.";
const NO_REVOCATION: &str =
    "Leave it out, and name in sslrootcert only the authorities and certificates that are still valid.";

/// An address as connections need it.
pub(super) struct Target {
    /// All that the address says.
    pub config: Config,
    /// Its servers, in the order in which they are tried.
    pub servers: Vec<Server>,
    pub session: Session,
    pub tls: MakeRustlsConnect,
}

/// One of the servers of an address.
#[derive(Clone)]
pub(super) struct Server {
    pub config: Config,
    /// Where it is reached over TCP; `None` for a socket of this machine.
    pub peer: Option<Peer>,
}

/// A server over TCP.
#[derive(Clone)]
pub(super) struct Peer {
    /// The name that its certificate must have.
    pub name: String,
    pub address: String,
    pub port: u16,
}

/// Which of its servers an address wants, as in `target_session_attrs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Session {
    #[default]
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

impl Session {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "any" => Self::Any,
            "read-write" => Self::ReadWrite,
            "read-only" => Self::ReadOnly,
            "primary" => Self::Primary,
            "standby" => Self::Standby,
            "prefer-standby" => Self::PreferStandby,
            _ => return None,
        })
    }
}

/// Reads an address. Errors do not quote it, because it may contain a password.
pub(super) fn target(address: &ServerAddress) -> Result<Target> {
    let name = printable(&address.name);
    let of = |what: &str| Error::invalid_argument(format!("the address of the organisation {name:?}{what}"));
    if !SCHEMES.iter().any(|scheme| address.url.starts_with(scheme)) {
        return Err(of(" cannot be read").hint(EXAMPLE));
    }
    let (url, own) = without_own_parameters(&address.url, &of)?;
    let mut config: Config = url.parse().map_err(|_| of(" cannot be read").hint(EXAMPLE))?;
    for host in &own.hosts {
        config.host(host);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(of(" has no host")
            .hint("Name a host, or the folder of a socket: postgresql:///DATABASE?host=/var/run/postgresql."));
    }
    let mode = match own.mode.as_deref() {
        None | Some("verify-full" | "verify-ca" | "require") => SslMode::Require,
        Some("disable") => SslMode::Disable,
        Some(_) => {
            return Err(of(": sslmode is not supported")
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
    if config.get_application_name().is_none() {
        config.application_name("ixmcp");
    }
    let mut servers = servers(&config);
    if let (None, Some(file)) = (config.get_password(), &own.password_file) {
        for server in &mut servers {
            if let Some(password) = password(Path::new(file), &login(server))? {
                server.config.password(password);
            }
        }
    }
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        // Each state hashes with other keys.
        servers.sort_by_cached_key(|_| RandomState::new().hash_one(0));
    }
    Ok(Target { config, servers, session: own.session, tls: own.tls.connect()? })
}

/// The servers that an address names, each with what is said of all.
fn servers(config: &Config) -> Vec<Server> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let server = |at: usize| {
        let mut one = Config::new();
        config.get_user().map(|user| one.user(user));
        config.get_password().map(|password| one.password(password));
        config.get_dbname().map(|database| one.dbname(database));
        config.get_options().map(|options| one.options(options));
        config.get_application_name().map(|name| one.application_name(name));
        config.get_connect_timeout().map(|timeout| one.connect_timeout(*timeout));
        one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
        one.channel_binding(config.get_channel_binding());
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(PORT);
        one.port(port);
        let address = addresses.get(at);
        address.map(|address| one.hostaddr(*address));
        let address = address.map(ToString::to_string);
        let peer = |name: &str| {
            Some(Peer { name: name.to_owned(), address: address.clone().unwrap_or_else(|| name.to_owned()), port })
        };
        let peer = match (hosts.get(at), &address) {
            (Some(Host::Tcp(name)), _) => {
                one.host(name);
                peer(name)
            }
            (Some(socket), _) => {
                one.host(folder_of_socket(socket)).ssl_mode(SslMode::Disable);
                None
            }
            (None, Some(name)) => peer(name),
            (None, None) => None,
        };
        Server { config: one, peer }
    };
    (0..hosts.len().max(addresses.len())).map(server).collect()
}

fn login(server: &Server) -> Login<'_> {
    let role = server.config.get_user().unwrap_or_default();
    Login {
        // As PostgreSQL's own clients look for a server behind a socket.
        host: server.peer.as_ref().map_or("localhost", |peer| &peer.name),
        port: server.config.get_ports().first().copied().unwrap_or(PORT),
        database: server.config.get_dbname().unwrap_or(role),
        role,
    }
}

/// Parameters that this module reads.
#[derive(Default)]
struct Own {
    /// Hosts that are not before the database, such as folders of sockets.
    hosts: Vec<String>,
    mode: Option<String>,
    password_file: Option<String>,
    session: Session,
    tls: Tls,
}

/// The address without the parameters that this module reads, and those. `of` makes an error about the address.
fn without_own_parameters(url: &str, of: &dyn Fn(&str) -> Error) -> Result<(String, Own)> {
    let mut own = Own::default();
    let Some((base, query)) = url.split_once('?') else { return Ok((url.to_owned(), own)) };
    let mut rest = Vec::new();
    let (mut certificate, mut key_file, mut shows_certificate) = (None, None, true);
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
        let unsupported = || {
            of(&format!(": the parameter {key} is not supported with this value"))
                .hint("The documentation of an organisation's index lists what addresses may have.")
        };
        if let Some((_, instead)) = UNSUPPORTED.iter().find(|(known, _)| *known == key) {
            return Err(of(&format!(": the parameter {key} is not supported")).hint(*instead));
        }
        match (key, value.as_str()) {
            ("host", _) => own.hosts = value.split(',').map(str::to_owned).collect(),
            ("sslmode", _) => own.mode = Some(value),
            ("sslrootcert", _) => own.tls.authorities = Some(value),
            ("sslcert", _) => certificate = Some(value),
            ("sslkey", _) => key_file = Some(value),
            ("sslcertmode", "disable") => shows_certificate = false,
            ("sslsni", "0" | "1") => own.tls.without_name = value == "0",
            ("ssl_min_protocol_version", "" | "TLSv1" | "TLSv1.1" | "TLSv1.2")
            | ("ssl_max_protocol_version", "" | "TLSv1.3") => {}
            ("ssl_min_protocol_version", "TLSv1.3") => own.tls.at_least_13 = true,
            ("ssl_max_protocol_version", "TLSv1.2") => own.tls.at_most_12 = true,
            ("passfile", _) => own.password_file = Some(value),
            ("target_session_attrs", _) => own.session = Session::named(&value).ok_or_else(unsupported)?,
            ("keepalives_count", _) => rest.push(format!("keepalives_retries={value}")),
            _ if OF_LIBRARY.contains(&key) => rest.push(parameter.to_owned()),
            _ if WITHOUT_EFFECT.contains(&key) => {}
            _ if AS_IT_IS.iter().any(|(known, values)| *known == key && values.contains(&value.as_str())) => {}
            _ if WITH_VALUES.contains(&key) || AS_IT_IS.iter().any(|(known, _)| *known == key) => {
                return Err(unsupported());
            }
            // It is not quoted: it may be a part of a password.
            _ => {
                return Err(of(" has a parameter that PostgreSQL does not have")
                    .hint("Correct it. A `?` or `&` in a password is written %3F or %26."));
            }
        }
    }
    if shows_certificate {
        own.tls.own = match (certificate, key_file) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            _ => return Err(of(": sslcert and sslkey need each other").hint("Give both, or none.")),
        };
    }
    Ok((if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) }, own))
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
        let mode = |url: &str| parsed(url).unwrap().servers[0].config.get_ssl_mode();
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp"), SslMode::Require);
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgresql://team@db.example.com/ixmcp?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgresql://team@/ixmcp?host=%2Ftmp%2Fx"), SslMode::Disable);
        for weaker in ["prefer", "allow", "no"] {
            let error = parsed(&format!("postgresql://team@db.example.com/x?sslmode={weaker}")).err().unwrap();
            let expected = r#"the address of the organisation "work": sslmode is not supported"#;
            assert_eq!(error.message.to_string(), expected, "{weaker}");
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

    #[test]
    fn each_host_of_an_address_is_a_server_of_its_own() {
        let target = parsed("postgresql://team:own@db1:6432,db2,db3:7/x?target_session_attrs=prefer-standby").unwrap();
        let peers: Vec<_> = target.servers.iter().map(|one| one.peer.as_ref().unwrap()).collect();
        let reached: Vec<_> = peers.iter().map(|peer| (peer.name.as_str(), peer.port)).collect();
        assert_eq!(reached, [("db1", 6432), ("db2", 5432), ("db3", 7)]);
        assert_eq!(target.session, Session::PreferStandby);
        let mixed = parsed("postgresql://team@/x?host=%2Ftmp%2Fx,db&hostaddr=127.0.0.1,127.0.0.2&port=1,2").unwrap();
        assert!(mixed.servers[0].peer.is_none());
        assert_eq!(mixed.servers[0].config.get_ssl_mode(), SslMode::Disable);
        let second = mixed.servers[1].peer.as_ref().unwrap();
        assert_eq!((second.name.as_str(), second.address.as_str(), second.port), ("db", "127.0.0.2", 2));
        let names = |url: &str| -> Vec<String> {
            parsed(url).unwrap().servers.iter().map(|one| one.peer.as_ref().unwrap().name.clone()).collect()
        };
        let hosts: Vec<String> = (0..8).map(|number| format!("db{number}")).collect();
        let url = format!("postgresql://team@{}/x", hosts.join(","));
        assert_eq!(names(&url), hosts);
        let random = format!("{url}?load_balance_hosts=random");
        assert!((0..20).any(|_| names(&random) != hosts), "always in the same order");
    }

    #[test]
    fn parameters_of_libpq_are_read_or_refused_by_their_names() {
        for parameter in [
            "application_name=ci&connect_timeout=3&keepalives=1&keepalives_count=3&tcp_user_timeout=1000",
            "client_encoding=UTF8&gssencmode=prefer&gssdelegation=0&krbsrvname=postgres&gsslib=gssapi",
            "channel_binding=require&sslnegotiation=direct&sslsni=0&sslcompression=0&sslcertmode=allow",
            "ssl_min_protocol_version=TLSv1.2&ssl_max_protocol_version=TLSv1.3&max_protocol_version=latest",
            "fallback_application_name=x&options=-c%20role%3Dteam&load_balance_hosts=random&target_session_attrs=any",
        ] {
            let read = parsed(&format!("postgresql://team@db/x?{parameter}"));
            assert!(read.is_ok(), "{parameter}: {}", read.err().unwrap());
        }
        for (parameter, instead) in UNSUPPORTED {
            let error = parsed(&format!("postgresql://team@db/x?{parameter}=hunter2")).err().unwrap();
            let shown = format!("{error} {error:?}");
            assert!(
                error.message.to_string().contains(parameter) && !shown.contains("hunter2"),
                "{parameter}: {shown}"
            );
            assert!(shown.contains(instead), "{parameter}: {shown}");
        }
        for (parameter, value) in [
            ("client_encoding", "LATIN1"),
            ("gssencmode", "require"),
            ("min_protocol_version", "3.2"),
            ("sslcertmode", "require"),
            ("sslsni", "maybe"),
            ("ssl_min_protocol_version", "TLSv9"),
            ("target_session_attrs", "fastest"),
        ] {
            let error = parsed(&format!("postgresql://team@db/x?{parameter}={value}")).err().unwrap().to_string();
            assert!(error.contains(parameter), "{parameter}: {error}");
        }
        // What is not a parameter may be the rest of a password.
        let error = parsed("postgresql://team:hun?ter2@db/x").err().unwrap();
        assert!(!format!("{error} {error:?}").contains("ter2"), "{error:?}");
    }

    #[test]
    fn a_file_of_passwords_is_asked_for_each_host() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        std::fs::write(&file, "db1:5432:x:team:first\n*:7:*:*:second\n").unwrap();
        let url = format!("postgresql://team@db1,db2:7,db3/x?passfile={}", file.display());
        let target = target(&ServerAddress { name: "work".to_owned(), url, password: None }).unwrap();
        let passwords: Vec<_> = target.servers.iter().map(|one| one.config.get_password()).collect();
        assert_eq!(passwords, [Some(b"first".as_slice()), Some(b"second"), None]);
    }
}
