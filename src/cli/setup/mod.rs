//! `ixmcp setup`: puts ixmcp among the servers of MCP clients, and takes it away.
//!
//! Owns what is changed in which file, and that nothing else is: a text is written only when its value is the old one but
//! for the entry. Where clients keep what is `clients`' to know; how a text is changed, `json`'s and `toml`'s.

pub(super) mod clients;
mod json;
mod toml;

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json as value_of};

use self::clients::{CLIENTS, Client, ConfigFolders, Format};
use super::known::Known;
use super::{Outcome, Session, diff, output};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::paths::canonical;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::query::near;

/// Add ixmcp to the settings of MCP clients
///
/// Comments, other servers and the order of entries are preserved. Shows a diff and asks before it writes. Without a
/// terminal, nothing is written unless --yes is given.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ixmcp setup claude-code\n  ixmcp setup cursor vscode --print\n  ixmcp setup --all --scope user --yes"
)]
pub(super) struct Arguments {
    /// claude-code, claude-desktop, cursor, vscode, codex, zed, gemini, opencode [default: the clients that are in use here]
    #[arg(value_name = "CLIENT", value_parser = Known(client_names), hide_possible_values = true)]
    clients: Vec<String>,
    /// Configure all clients that support the scope
    #[arg(long, conflicts_with = "clients")]
    all: bool,
    /// Whether to change the settings of the project or of the user
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
    /// Show what would change without changing it
    #[arg(long)]
    print: bool,
    /// Remove the entry of ixmcp
    #[arg(long)]
    remove: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Print the answer as one JSON object; does not ask, and writes only with --yes
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    #[default]
    Project,
    User,
}

/// The name that clients show.
const NAME: &str = "ixmcp";
/// Settings are a page or two.
const LARGEST: u64 = 16 << 20;

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    // A person's own settings belong to no repository: one is needed only where an entry names it.
    let (root, nowhere) = match (session.workspaces.root(&session.start), typed.scope) {
        (Ok(root), _) => (root, None),
        (Err(error), Scope::User) => (session.start.clone(), Some(error)),
        (Err(error), Scope::Project) => return Err(error),
    };
    let config_files = ConfigFolders::of(&root, &session.sources.environment);
    let command = command(session, typed.scope);
    let mut answers = Vec::new();
    let (mut any, mut declined) = (false, false);
    let (without, chosen): (Vec<_>, Vec<_>) = chosen(typed, &config_files)?
        .into_iter()
        .partition(|client| client.names_repository && nowhere.is_some() && !typed.remove);
    match nowhere {
        Some(error) if !without.is_empty() && !typed.clients.is_empty() => return Err(error),
        Some(error) => without.iter().for_each(|client| output::note(&format!("{}: left out: {error}", client.name))),
        None => {}
    }
    for client in chosen {
        let Some(file) = file(client, typed.scope, &config_files) else {
            if !typed.all {
                return Err(
                    Error::invalid_path(format!("the settings folder of {} is unknown", client.name)).hint("Set HOME.")
                );
            }
            continue;
        };
        let file = real(&file, typed.scope, &root)?;
        let before = read(&file)?;
        let after = match typed.remove {
            true => removed(client, before.as_deref())?,
            false => Some(added(client, before.as_deref(), &client.entry(&command, &root))?),
        };
        let changes = after.as_deref().is_some_and(|after| Some(after) != before.as_deref());
        let after = after.unwrap_or_default();
        if changes && !typed.json {
            let name = file.to_string_lossy();
            let shown = diff::unified((&name, &name), before.as_deref().unwrap_or_default(), &after);
            shown.lines().for_each(|line| output::line(&printable(line)));
        }
        let is_wanted = changes && !typed.print && (typed.yes || (!typed.json && agreed(&file)?));
        if is_wanted {
            write(&file, &after)?;
        }
        any |= is_wanted;
        declined |= changes && !typed.print && !is_wanted;
        if typed.json {
            answers.push(value_of!({ "client": client.name, "file": file, "changes": changes, "written": is_wanted }));
        } else {
            output::note(&format!("{}: {}", client.name, described(typed, changes, is_wanted, &file)));
            if let (Some(trust), true, Scope::Project) = (client.trust, is_wanted && !typed.remove, typed.scope) {
                output::note(&format!("    {trust}"));
            }
        }
    }
    if typed.json {
        output::json(&value_of!({ "clients": answers }));
    } else if any && !typed.remove {
        output::note("start the client again, or reload its servers, and ask it something about this repository");
    }
    Ok(if declined { Outcome::Nothing } else { Outcome::Found })
}

fn described(typed: &Arguments, changes: bool, written: bool, file: &Path) -> String {
    let file = printable(&file.to_string_lossy());
    match (changes, written, typed.remove) {
        (false, _, false) => format!("is set up in {file}"),
        (false, _, true) => format!("is not set up in {file}"),
        (true, true, false) => format!("set up in {file}"),
        (true, true, true) => format!("taken out of {file}"),
        (true, false, _) => "nothing was written".to_owned(),
    }
}

fn client_names() -> Vec<&'static str> {
    CLIENTS.iter().map(|client| client.name).collect()
}

/// The clients that are meant.
fn chosen(typed: &Arguments, config_files: &ConfigFolders) -> Result<Vec<&'static Client>> {
    let has_scope = |client: &&Client| typed.scope == Scope::User || client.project.is_some();
    if typed.all {
        return Ok(CLIENTS.iter().filter(has_scope).collect());
    }
    let names = client_names();
    if typed.clients.is_empty() {
        let used: Vec<_> = CLIENTS.iter().filter(has_scope).filter(|client| client.is_used(config_files)).collect();
        if used.is_empty() {
            return Err(Error::invalid_argument("no client was found here")
                .hint(format!("Name one or more: {}; or --all.", names.join(", "))));
        }
        return Ok(used);
    }
    let named = typed.clients.iter().map(|name| {
        Client::named(name).ok_or_else(|| {
            Error::invalid_argument(format!("there is no client {:?}", printable(name)))
                .hint(near::one_of(name, &names))
        })
    });
    named.collect()
}

/// Where an entry for that scope goes. A client without settings of projects has but the person's own.
pub(super) fn file(client: &Client, scope: Scope, config_files: &ConfigFolders) -> Option<PathBuf> {
    match (scope, client.project) {
        (Scope::Project, Some(project)) => Some(project(config_files)),
        _ => (client.user)(config_files),
    }
}

/// By name where that finds this program for everybody, else by its file. Settings of a project are shared: they name it.
fn command(session: &Session, scope: Scope) -> String {
    let environment = &session.sources.environment;
    let own = environment.program();
    let is_found = environment
        .on_path(NAME)
        .is_some_and(|found| canonical(&found).ok() == own.and_then(|own| canonical(own).ok()));
    match own {
        Some(own) if !is_found && scope == Scope::User => own.to_string_lossy().into_owned(),
        _ => NAME.to_owned(),
    }
}

/// The file behind links. People keep their own settings elsewhere and link them; a project's that lie elsewhere are not
/// the project's.
fn real(file: &Path, scope: Scope, root: &Path) -> Result<PathBuf> {
    let exists = file.symlink_metadata().is_ok();
    let anchor = if exists { Some(file) } else { file.ancestors().skip(1).find(|folder| folder.exists()) };
    let Some(resolved) = anchor.and_then(|anchor| canonical(anchor).ok()) else {
        return Err(Error::invalid_path(format!("{} is a link to nothing", printable(&file.to_string_lossy())))
            .hint("Remove it."));
    };
    if scope == Scope::Project && file.starts_with(root) && !resolved.starts_with(root) {
        return Err(Error::invalid_path(format!("{} leads out of the project", printable(&file.to_string_lossy())))
            .hint("Use --scope user, or make it a file of the project."));
    }
    Ok(if exists { resolved } else { file.to_owned() })
}

/// `None`: there is no file.
fn read(file: &Path) -> Result<Option<String>> {
    let data = match fs::metadata(file) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", file, error)),
    };
    if !data.is_file() || data.len() > LARGEST {
        return Err(Error::invalid_path(format!("{} is not a settings file", file.display())).hint("Move it away."));
    }
    let bytes = fs::read(file).map_err(|error| Error::io("read", file, error))?;
    String::from_utf8(bytes).map(Some).map_err(|_| {
        Error::invalid_argument(format!("{} is not UTF-8", file.display())).hint("Add the entry by hand: see --print.")
    })
}

/// What a client's text says.
pub(super) fn value(client: &Client, text: &str) -> Option<Value> {
    match client.format {
        Format::Json => json::value(text),
        Format::Toml => toml::value(text),
    }
}

/// Whether an entry starts this program already, perhaps with words that the person chose.
pub(super) fn is_ours(entry: &Value) -> bool {
    let words = clients::words(entry);
    let Some((program, rest)) = words.split_first() else { return false };
    let program = Path::new(program);
    let is_there = !program.is_absolute() || program.exists();
    is_there && program.file_stem().is_some_and(|name| name == NAME) && rest.iter().any(|word| word == "mcp")
}

fn added(client: &Client, before: Option<&str>, entry: &Value) -> Result<String> {
    let text = before.unwrap_or_default();
    let old = value(client, text).ok_or_else(|| not_read(client))?;
    if !old.is_object() || !matches!(old[client.servers], Value::Null | Value::Object(_)) {
        return Err(not_read(client));
    }
    let there = &old[client.servers][NAME];
    if is_ours(there) {
        return Ok(text.to_owned());
    }
    // What the person added to an entry stays there; what starts it is ours to say.
    let mut wanted = there.as_object().cloned().unwrap_or_default();
    let fields = entry.as_object().into_iter().flatten();
    let fresh = wanted.is_empty();
    wanted.extend(
        fields.filter(|(name, _)| fresh || STARTS.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())),
    );
    let wanted = Value::Object(wanted);
    let after = match client.format {
        Format::Toml => toml::set(text, client.servers, NAME, entry),
        Format::Json => {
            let mut text = text.to_owned();
            if before.is_none() {
                for (name, value) in (client.head)().as_object().into_iter().flatten() {
                    text = json::set(&text, &[name], value)?;
                }
            }
            json::set(&text, &[client.servers, NAME], &wanted)?
        }
    };
    let mut expected = old;
    if before.is_none() && client.format == Format::Json {
        expected = (client.head)();
    }
    expected[client.servers][NAME] = wanted;
    if value(client, &after) == Some(expected) { Ok(after) } else { Err(not_read(client)) }
}

/// Fields that say how a server is started.
const STARTS: &[&str] = &["type", "command", "args"];

/// `None`: there is nothing to take away.
fn removed(client: &Client, before: Option<&str>) -> Result<Option<String>> {
    let Some(text) = before else { return Ok(None) };
    let mut expected = value(client, text).ok_or_else(|| not_read(client))?;
    let servers = expected.get_mut(client.servers).and_then(Value::as_object_mut);
    if servers.and_then(|servers| servers.remove(NAME)).is_none() {
        return Ok(None);
    }
    let after = match client.format {
        Format::Toml => toml::remove(text, client.servers, NAME),
        Format::Json => json::remove(text, &[client.servers, NAME])?,
    };
    // In TOML a table goes with its last one.
    let is_empty = expected[client.servers].as_object().is_some_and(serde_json::Map::is_empty);
    if let (Format::Toml, true, Some(table)) = (client.format, is_empty, expected.as_object_mut()) {
        table.remove(client.servers);
    }
    if value(client, &after) == Some(expected) { Ok(Some(after)) } else { Err(not_read(client)) }
}

fn not_read(client: &Client) -> Error {
    Error::invalid_argument(format!(
        "the settings of {} are written in a way that cannot be changed safely",
        client.name
    ))
    .hint(format!("Add a server named {NAME} by hand, which is started by `{NAME} mcp`; docs/mcp-clients.md shows its entry for each client."))
}

/// Asks on a terminal. Elsewhere the query cannot be asked, which counts as no: what stdin holds is not read, since an open pipe would block the command.
///
fn agreed(file: &Path) -> Result<bool> {
    let shown = printable(&file.to_string_lossy());
    if !std::io::stdin().is_terminal() {
        output::note(&format!("stdin is not a terminal, so the prompt for {shown} cannot be shown; --yes writes it"));
        return Ok(false);
    }
    let mut stderr = std::io::stderr().lock();
    // Without an answer, nothing is written.
    let asked = write!(stderr, "write {shown}? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    if asked.is_ok() {
        std::io::stdin().read_line(&mut answer).map_err(|error| Error::io("read", Path::new("stdin"), error))?;
    }
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| replace(file, text.as_bytes(), Permissions::Keep, Durability::Synced))
        .map_err(|error| Error::io("write", file, error))
}
