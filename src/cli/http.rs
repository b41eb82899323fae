//! `ixmcp http`: serve agents over Streamable HTTP.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::{Outcome, Session, output, runtime};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::process::TerminationSignal;
use crate::platform::{files, random};
use crate::serve::http::{Host, HttpServer, HttpSettings, Origin};
use crate::serve::launch::Launcher;
use crate::serve::{CallRouter, Hello, Relay, Restriction, Server, ToolListing};

/// Serve the tools over HTTP, for clients in containers, browsers and on other machines
///
/// Streamable HTTP of all MCP revisions. Serves only the named repositories, each through its own daemon, and requires a
/// bearer token. Tools that write are refused unless --allow-write is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ixmcp http
  ixmcp http --repo shop --repo docs=../manual
  ixmcp http --listen 0.0.0.0:7780 --token-file token --tls-cert cert.pem --tls-key key.pem --allow-host ixmcp.example.com")]
pub(super) struct Arguments {
    /// The address to listen on. Other addresses than loopback need --token-file, and TLS or --behind-tls-proxy
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7780")]
    listen: String,
    /// A repository to serve, at /mcp/NAME; can be repeated. The name is that of its folder by default
    #[arg(id = "repo", long = "repo", value_name = "[NAME=]PATH")]
    repositories: Vec<PathBuf>,
    /// A private file with the token that clients must send [default: a new token, which is printed]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate of this server with its chain, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen without TLS, behind a proxy that terminates it
    #[arg(long, conflicts_with = "tls_cert")]
    behind_tls_proxy: bool,
    /// A name of this server that clients use, in addition to its addresses; can be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,
    /// The origin of a web page that may send requests; can be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Allow the tools that write to the index
    #[arg(long)]
    allow_write: bool,
    /// The tools to list: core, all, or names separated by commas [default: setting mcp.tools]
    #[arg(long)]
    tools: Option<String>,
}

/// Characters of a token that a user chose.
const MIN_TOKEN: usize = 32;

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    session.stay();
    let listen = address(&typed.listen)?;
    check_exposure(listen, typed)?;
    let (token, is_new) = match &typed.token_file {
        Some(file) => (read_token(file)?, false),
        None => (random::secret().map_err(Error::no_random_bytes)?, true),
    };
    let hosts = typed.allow_host.iter().map(|host| {
        Host::parse(host).ok_or_else(|| {
            Error::invalid_argument(format!("--allow-host: \"{}\" is not a host", printable(host)))
                .hint("Give a name or an address, with or without a port: ixmcp.example.com:8443.")
        })
    });
    let settings = HttpSettings {
        listen,
        token: token.clone(),
        tls: typed.tls_cert.clone().zip(typed.tls_key.clone()),
        is_behind_tls_proxy: typed.behind_tls_proxy,
        hosts: hosts.collect::<Result<_>>()?,
        origins: typed.allow_origin.iter().map(|origin| Origin::parse(origin)).collect::<Result<_>>()?,
        repositories: repositories(session, typed)?,
    };
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let mut ending =
            TerminationSignal::new().map_err(|error| Error::internal("cannot listen for signals").caused_by(error))?;
        let server = HttpServer::open(settings).await?;
        for (address, root) in server.addresses() {
            output::line(&format!("{address}  {}", printable(&root.to_string_lossy())));
        }
        if is_new {
            output::line(&format!("token  {token}"));
        }
        output::note("Ctrl-C ends it.");
        tokio::select! {
            never = server.serve() => match never {},
            _ = ending.recv() => Ok(Outcome::Found),
        }
    });
    runtime.shutdown_background();
    served
}

fn address(text: &str) -> Result<SocketAddr> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        Error::invalid_argument(format!("--listen: \"{}\" is not an address with a port", printable(text)))
            .hint("Give an IP address of this machine: 127.0.0.1:7780, 0.0.0.0:7780 or [::1]:7780.")
    })
}

/// Requires TLS where other machines can connect: they must not be able to read the token on the wire, and must not
/// depend on a token that is lost with this process.
fn check_exposure(listen: SocketAddr, typed: &Arguments) -> Result<()> {
    if is_loopback(listen.ip()) {
        return Ok(());
    }
    let reachable = format!("--listen {listen}: other machines can reach this address");
    if typed.token_file.is_none() {
        return Err(Error::invalid_argument(format!("{reachable}, so the token must be in a file"))
            .hint("Write one with `openssl rand -hex 32 > token`, make it private, and give --token-file."));
    }
    if typed.tls_cert.is_none() && !typed.behind_tls_proxy {
        return Err(Error::invalid_argument(format!("{reachable}, so the connection must be encrypted"))
            .hint("Give --tls-cert and --tls-key, or --behind-tls-proxy if a proxy in front of it terminates TLS."));
    }
    Ok(())
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn read_token(file: &Path) -> Result<String> {
    let failed = |error| Error::io("read", file, error);
    let data = fs::metadata(file).map_err(failed)?;
    if !data.is_file() || !files::is_private(&data) {
        return Err(Error::invalid_argument(format!("--token-file: {} is not a private file", file.display()))
            .hint("Make it readable for its owner only: `chmod 600 FILE`."));
    }
    let text = fs::read_to_string(file).map_err(failed)?;
    let token = text.trim();
    if token.len() < MIN_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let wrong =
            format!("--token-file: {} must contain one token of {MIN_TOKEN} or more characters", file.display());
        return Err(Error::invalid_argument(wrong).hint("Write one with `openssl rand -hex 32 > FILE`."));
    }
    Ok(token.to_owned())
}

/// The repositories with their names and what connects to their daemons.
fn repositories(session: &Session, typed: &Arguments) -> Result<Vec<(String, Relay)>> {
    let tools = typed.tools.as_deref().unwrap_or(&session.config.tools);
    let mut served: Vec<(String, Relay)> = Vec::new();
    let given = match &typed.repositories[..] {
        [] => vec![(None, session.start.clone())],
        given => given.iter().map(|given| named(session, given)).collect(),
    };
    for (name, path) in given {
        if !path.is_dir() {
            return Err(Error::invalid_path(format!("--repo: {} is not a folder", printable(&path.to_string_lossy())))
                .hint("Give the path of a repository."));
        }
        let root = session.workspaces.root_of(None, &path)?;
        let name = name.unwrap_or_else(|| folder_name(&root));
        if let Some((_, other)) = served.iter().find(|(taken, _)| *taken == name) {
            let (one, other) = (root.to_string_lossy(), other.root.to_string_lossy());
            return Err(Error::invalid_argument(format!(
                "--repo: {} and {} have the same name, {name}",
                printable(&other),
                printable(&one)
            ))
            .hint("Give each a name: --repo NAME=PATH."));
        }
        let relay = relay(session, root, tools, typed.allow_write)?;
        served.push((name, relay));
    }
    Ok(served)
}

/// A repository as it was given: `PATH`, or `NAME=PATH` if no folder has that name.
fn named(session: &Session, given: &Path) -> (Option<String>, PathBuf) {
    let folder = session.sources.environment.working_folder().map(Path::to_owned).unwrap_or_default();
    let path = folder.join(given);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_plain);
    match given.to_str().and_then(|text| text.split_once('=')) {
        Some((name, rest)) if !path.exists() && is_name(name) => (Some(name.to_owned()), folder.join(rest)),
        _ => (None, path),
    }
}

const fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

fn folder_name(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    name.chars().map(|character| if is_plain(character) { character } else { '-' }).collect()
}

fn relay(session: &Session, root: PathBuf, tools: &str, allow_write: bool) -> Result<Relay> {
    let environment = session.sources.environment.clone();
    let (workspaces, own, own_environment) = (Arc::clone(&session.workspaces), root.clone(), environment.clone());
    let alone = move || {
        let router = CallRouter::new(Arc::clone(&workspaces), own_environment.clone(), Some(own.clone()), None);
        Server::new(Arc::new(router))
    };
    let listing = ToolListing::parse(tools);
    if matches!(listing, ToolListing::Only(_)) {
        alone().check(&listing)?;
    }
    let hello = Hello {
        env: environment.python(),
        tools: Some(tools.to_owned()),
        restriction: Some(Restriction { allow_write }),
        ..Hello::ours(root.clone())
    };
    Ok(Relay {
        start: root.clone(),
        root,
        hello,
        listing,
        launcher: Launcher::new(&environment, Vec::new())?,
        environment,
        alone: Box::new(alone),
    })
}
