//! `ixmcp ui`: a page in the browser, for people to look at what agents see.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;

use super::{Outcome, Session, output, runtime};
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::platform::process::TerminationSignal;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::serve::page::{Page, PageSettings};

/// Explore the index in a browser: search, files, graph, tags and the calls of agents
///
/// Serves a page on 127.0.0.1 until Ctrl-C and prints its address. The token in the address grants read access to this
/// repository's index, or with several --repo, --group or --org to those of all of them. Uses running daemons and starts none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ixmcp ui\n  ixmcp ui --group payments\n  ixmcp ui --port 7780 --no-open")]
pub(super) struct Arguments {
    /// The port to listen on; 0 selects a free port
    #[arg(long, default_value_t = 0, value_name = "N")]
    port: u16,
    /// Search the repositories on your organisation's server that match GLOB and that you may read [default: all of them]
    #[arg(long, value_name = "GLOB", num_args = 0..=1, default_missing_value = "*")]
    org: Option<String>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
}

/// Leads a browser to the page. Its name is the same for every page, so that what a killed one left goes with the next.
const LEAD: &str = ".ixmcp/ui.html";

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    session.stay();
    let (root, repositories) = shown(session, typed)?;
    let settings = PageSettings {
        root,
        repositories,
        start: session.start.clone(),
        port: typed.port,
        environment: session.sources.environment.clone(),
        workspaces: Arc::clone(&session.workspaces),
    };
    let root = settings.root.clone();
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let mut ending =
            TerminationSignal::new().map_err(|error| Error::internal("cannot listen for signals").caused_by(error))?;
        let page = Page::open(settings).await?;
        let address = page.address();
        output::line(&address);
        output::note("Ctrl-C ends it.");
        if !typed.no_open {
            open(&root, &address, &session.sources.environment);
        }
        tokio::select! {
            never = page.serve() => match never {},
            _ = ending.recv() => Ok(Outcome::Found),
        }
    });
    runtime.shutdown_background();
    let _none_left = fs::remove_file(root.join(LEAD));
    served
}

/// The repository that is shown first, and all that are searched if those are several.
fn shown(session: &Session, typed: &Arguments) -> Result<(PathBuf, Vec<String>)> {
    let published = typed.org.iter().map(|glob| format!("org:{glob}"));
    let named: Vec<String> = session.named.iter().cloned().chain(published).collect();
    let own = session.workspaces.root(&session.start);
    if named.is_empty() {
        return Ok((own?, Vec::new()));
    }
    let members = session.workspaces.members(&named, &session.start, &Budget::unlimited())?;
    for (name, error) in &members.failed {
        output::note(&format!("{name}: {error}"));
    }
    let own = own.ok().filter(|own| members.roots.contains(own));
    let first = members.roots.iter().find(|root| !members.published.contains_key(*root)).or(members.roots.first());
    match own.or_else(|| first.cloned()) {
        Some(root) => Ok((root, members.names())),
        None => Err(Error::invalid_argument("none of the repositories can be read").hint("Name other repositories.")),
    }
}

/// Opens the page where there is a browser to open it in. The address goes there by a private file: every user of the machine
/// can read a command line.
fn open(root: &Path, address: &str, environment: &Environment) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| environment.get(name).is_some());
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if !(cfg!(target_os = "macos") || has_display) {
        return;
    }
    let lead = root.join(LEAD);
    let text = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={address}\">");
    // A repository that is only read has the printed address.
    if replace(&lead, text.as_bytes(), Permissions::Private, Durability::Unsynced).is_err() {
        return;
    }
    let started =
        Command::new(opener).arg(&lead).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = started {
        tracing::debug!(%error, "no browser was opened");
    }
}
