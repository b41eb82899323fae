//! `ixmcp` alone: how things stand in this repository, and what to do next.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::setup::clients::{CLIENTS, Places};
use super::setup::{self, Scope};
use super::{Outcome, Session, output, sync};
use crate::budget::Budget;
use crate::error::{ErrorKind, Result};
use crate::model::printable;
use crate::serve::launch;
use crate::store::{Mode, Store, Totals};

pub(super) fn run(session: &Session) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let environment = &session.sources.environment;
    let mut next: Vec<(&str, &str)> = Vec::new();
    let row = |name: &str, text: &str| output::line(&format!("{name:<11} {}", printable(text)));
    row("repository", &root.to_string_lossy());

    let database = root.join(".ixmcp/index.db");
    let totals = database.exists().then(|| totals(&database));
    match &totals {
        None => row("index", "none yet"),
        Some(Err(error)) => row("index", &error.to_string()),
        Some(Ok((totals, size))) => {
            let changed = totals.last_change_ns.map_or_else(String::new, |ns| format!(", changed {}", ago(ns)));
            row(
                "index",
                &format!("{} files, {} symbols, {}{changed}", totals.files, totals.symbols, sync::size(*size)),
            );
            if totals.entities > 0 {
                row("graph", &format!("{} entities, {} tags", totals.entities, totals.tags));
            }
        }
    }
    match totals {
        None => next.push(("ixmcp sync", "index this repository; the first question does, too")),
        // Of an older version: the next command brings it up.
        Some(Err(error)) if error.kind == ErrorKind::ReadOnly => {
            next.push(("ixmcp sync", "bring the index up to date"));
        }
        Some(Err(_)) => next.push(("ixmcp doctor", "see what is wrong with the index")),
        Some(Ok(_)) => next.push(("ixmcp query WORDS…", "search it")),
    }

    match launch::find(&root, environment) {
        Ok(Some(client)) => row("daemon", &format!("process {} serves", client.about().pid)),
        Ok(None) => row("daemon", "none; a client starts it"),
        Err(error) => {
            row("daemon", &error.to_string());
            next.push(("ixmcp doctor", "see what is wrong with the daemon"));
        }
    }

    let places = Places::of(&root, environment);
    let is_set_up = |scope: Scope, client| {
        let file = setup::file(client, scope, &places);
        let settings = file.and_then(|file| std::fs::read_to_string(file).ok());
        let settings = settings.and_then(|text| setup::value(client, &text));
        settings.is_some_and(|settings| setup::is_ours(&settings[client.servers]["ixmcp"]))
    };
    let clients: Vec<&str> = CLIENTS
        .iter()
        .filter(|client| is_set_up(Scope::Project, client) || is_set_up(Scope::User, client))
        .map(|client| client.name)
        .collect();
    if clients.is_empty() {
        row("clients", "none is set up");
        next.push(("ixmcp setup", "let your agent use it"));
    } else {
        row("clients", &clients.join(", "));
    }
    if !root.join(".ixchel").is_dir() {
        next.push(("ixmcp init", "keep decisions and issues beside the code"));
    }
    next.push(("ixmcp --help", "all commands"));

    output::line("");
    for (command, what) in next {
        output::line(&format!("{command:<20} {what}"));
    }
    Ok(Outcome::Found)
}

fn totals(database: &std::path::Path) -> Result<(Totals, u64)> {
    let store = Store::open(database, Mode::Read)?;
    let totals = store.read(&Budget::unlimited(), |snapshot| snapshot.totals())?;
    Ok((totals, store.size()))
}

fn ago(nanoseconds: i64) -> String {
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
