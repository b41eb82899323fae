//! `ixmcp` alone: an overview of this repository, and what to do next.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::paint::Paint;
use super::setup::clients::{CLIENTS, Client, ConfigFolders};
use super::setup::{self, Scope};
use super::{Outcome, Session, output, sync};
use crate::budget::Budget;
use crate::error::{ErrorKind, Result};
use crate::model::printable;
use crate::repository;
use crate::serve::launch;
use crate::store::{Mode, Store, Totals};

/// The state of a repository.
struct Overview {
    root: PathBuf,
    /// `None`: there is no index yet.
    index: Option<Result<(Totals, u64)>>,
    /// The process of the daemon, if there is one.
    daemon: Result<Option<u32>>,
    /// Clients that have an entry for ixmcp.
    clients: Vec<&'static str>,
    has_entities: bool,
}

pub(super) fn run(session: &Session) -> Result<Outcome> {
    let overview = look(session)?;
    session.show(&overview.value(), true, || overview.print(&session.paint))
}

fn look(session: &Session) -> Result<Overview> {
    let root = session.workspaces.root(&session.start)?;
    let environment = &session.sources.environment;
    let database = repository::database(&root, environment);
    let places = ConfigFolders::new(&root, environment);
    let is_set_up = |client: &&Client| {
        [Scope::Project, Scope::User].into_iter().any(|scope| setup::is_set_up(client, scope, &places))
    };
    Ok(Overview {
        index: database.exists().then(|| totals(&database)),
        daemon: launch::find(&root, environment).map(|found| found.map(|client| client.about().pid)),
        clients: CLIENTS.iter().filter(is_set_up).map(|client| client.name).collect(),
        has_entities: root.join(".ixchel").is_dir(),
        root,
    })
}

impl Overview {
    /// The next commands, each with its purpose.
    fn next(&self) -> Vec<(&'static str, &'static str)> {
        let mut next = vec![match &self.index {
            None => ("ixmcp sync", "index this repository; the first query also does"),
            // Of an older version: the next command brings it up.
            Some(Err(error)) if error.kind == ErrorKind::ReadOnly => ("ixmcp sync", "bring the index up to date"),
            Some(Err(_)) => ("ixmcp doctor", "see what is wrong with the index"),
            Some(Ok(_)) => ("ixmcp query WORDS…", "search it"),
        }];
        if self.daemon.is_err() {
            next.push(("ixmcp doctor", "see what is wrong with the daemon"));
        }
        if self.clients.is_empty() {
            next.push(("ixmcp setup", "let your agent use it"));
        }
        if !self.has_entities {
            next.push(("ixmcp init", "keep decisions and issues next to the code"));
        }
        if matches!(self.index, Some(Ok(_))) {
            next.push(("ixmcp ui", "explore it and the calls of agents in a browser"));
        }
        next.push(("ixmcp --help", "all commands"));
        next
    }

    fn print(&self, paint: &Paint) {
        let row = |name: &str, text: &str| output::line(&format!("{name:<11} {}", printable(text)));
        row("repository", &self.root.to_string_lossy());
        match &self.index {
            None => row("index", "none yet"),
            Some(Err(error)) => row("index", &error.to_string()),
            Some(Ok((totals, size))) => {
                let changed = totals.last_change_ns.map_or_else(String::new, |ns| format!(", changed {}", ago(ns)));
                let (files, symbols) = (totals.files, totals.symbols);
                let files = output::count(files, "file", "files");
                let symbols = output::count(symbols, "symbol", "symbols");
                row("index", &format!("{files}, {symbols}, {}{changed}", sync::size(*size)));
                if totals.entities > 0 {
                    row("graph", &format!("{} entities, {} tags", totals.entities, totals.tags));
                }
            }
        }
        match &self.daemon {
            Ok(Some(pid)) => row("daemon", &format!("running, process {pid}")),
            Ok(None) => row("daemon", "not running; a client starts it"),
            Err(error) => row("daemon", &error.to_string()),
        }
        let clients = if self.clients.is_empty() { "none set up".to_owned() } else { self.clients.join(", ") };
        row("clients", &clients);
        output::line("");
        for (command, what) in self.next() {
            output::line(&format!("{} {what}", paint.name(&format!("{command:<20}"))));
        }
    }

    fn value(&self) -> Value {
        json!({
            "root": self.root,
            "index": match &self.index {
                None => Value::Null,
                Some(Err(error)) => json!({ "error": error.to_json() }),
                Some(Ok((totals, size))) => json!({
                    "files": totals.files, "symbols": totals.symbols, "entities": totals.entities,
                    "tags": totals.tags, "bytes": size,
                }),
            },
            "daemon": match &self.daemon {
                Ok(pid) => json!({ "pid": pid }),
                Err(error) => json!({ "error": error.to_json() }),
            },
            "clients": self.clients,
            "next": self.next().iter().map(|(command, what)| json!({ "command": command, "what": what })).collect::<Vec<_>>(),
        })
    }
}

pub(super) fn totals(database: &std::path::Path) -> Result<(Totals, u64)> {
    let store = Store::open(database, Mode::Read)?;
    let totals = store.read(&Budget::unlimited(), |snapshot| snapshot.totals())?;
    Ok((totals, store.size()))
}

pub(super) fn ago(nanoseconds: i64) -> String {
    let then = UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    let seconds = SystemTime::now().duration_since(then).unwrap_or_default().as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}
