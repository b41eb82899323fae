//! `ixmcp setup`: adds ixmcp to the servers of MCP clients, and removes it.
//!
//! ```text
//! clients: which file, which entry ─► entry (json, toml) ─┐
//!                                     rules              ─┴► a text ─► files: write ─► undo: keep what it was
//! ```
//! Owns which changes are made, the prompt, and what is reported.

pub(super) mod clients;
mod entry;
mod files;
mod json;
mod rules;
mod toml;
mod undo;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json as value_of};

use self::clients::{CLIENTS, Client, ConfigFolders, RulesFile};
pub(super) use self::entry::{is_ours, value};
use self::files::Edit;
use self::undo::Undo;
use super::installation::{Installation, on_path};
use super::known::KnownValues;
use super::{Outcome, Session, output};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::query::{near, patch};

/// Add ixmcp to the settings of MCP clients
///
/// Comments, other servers and the order of entries are preserved. Shows a diff and asks before it writes. Without a
/// terminal, nothing is written unless --yes is given.
///
/// --remove restores what the file was before, if it has not changed since; otherwise it removes only what was added.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ixmcp setup claude-code\n  ixmcp setup claude-code --rules\n  ixmcp setup cursor vscode --print\n  ixmcp setup --all --scope user --yes"
)]
pub(super) struct Arguments {
    /// claude-code, claude-desktop, cursor, vscode, codex, zed, gemini, opencode, qwen, copilot, cline, continue [default: the clients that are in use here]
    #[arg(value_name = "CLIENT", value_parser = KnownValues(client_names), hide_possible_values = true)]
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
    /// Also add a section to the file that the client reads for instructions: which tool finds what
    #[arg(long)]
    rules: bool,
    /// Remove the entry of ixmcp and the section that --rules added; with --rules, only the section
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
/// How often a change is made again because the client changed the file at the same moment.
const ATTEMPTS: usize = 20;
/// How long a client may take to write its file, which cannot be read until then.
const SETTLE: Duration = Duration::from_millis(100);

/// A change of one file: an addition or a removal.
enum SettingsChange {
    Entry { client: &'static Client, entry: Value, needs_path: bool },
    Rules(RulesFile),
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    // A person's own settings belong to no repository: one is needed only where an entry names it.
    let (root, nowhere) = match (session.workspaces.root(&session.start), typed.scope) {
        (Ok(root), _) => (root, None),
        (Err(error), Scope::User) => (session.start.clone(), Some(error)),
        (Err(error), Scope::Project) => return Err(error),
    };
    let environment = &session.sources.environment;
    let config_files = ConfigFolders::new(&root, environment);
    let chosen = chosen(typed, &config_files)?;
    let (without, mut clients): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|client| client.names_repository && nowhere.is_some() && !typed.remove);
    match nowhere {
        Some(error) if !without.is_empty() && !typed.clients.is_empty() => return Err(error),
        Some(error) => without.iter().for_each(|client| output::note(&format!("{}: left out: {error}", client.name))),
        None => {}
    }
    if typed.remove {
        // Folders that were created for the first client are empty only without the others.
        clients.reverse();
    }
    let mut answers = Vec::new();
    let (mut any, mut declined) = (false, false);
    let mut seen = BTreeSet::new();
    for &client in &clients {
        for (part, path, scope) in parts(client, typed, &config_files, &clients)? {
            let file = files::real(&path, scope, &root)?;
            // Several clients read the same file of instructions.
            if !seen.insert(file.clone()) {
                continue;
            }
            let plan = || planned(&part, &file, typed.remove, path.is_symlink(), environment);
            let edit = steadily(&plan)?;
            let changes = edit.changes();
            if changes && !typed.json {
                let name = file.to_string_lossy();
                let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
                let shown = patch::diff((&name, &name), before.unwrap_or_default(), after.unwrap_or_default());
                shown.lines().for_each(|line| output::line(&printable(line)));
            }
            let is_wanted = changes && !typed.print && (typed.yes || (!typed.json && agreed(&file)?));
            if is_wanted {
                write(edit, &plan, typed.remove, environment)?;
            }
            any |= is_wanted;
            declined |= changes && !typed.print && !is_wanted;
            if typed.json {
                answers.push(value_of!({
                    "client": client.name, "part": part.name(), "file": file, "changes": changes, "written": is_wanted,
                }));
                continue;
            }
            output::note(&format!("{}: {}", client.name, part.described(typed.remove, changes, is_wanted, &file)));
            let is_entry = matches!(part, SettingsChange::Entry { .. });
            if let (Some(trust), true, Scope::Project) = (client.trust, is_wanted && is_entry && !typed.remove, scope) {
                output::note(&format!("    {trust}"));
            }
        }
    }
    if typed.json {
        output::json(&value_of!({ "clients": answers }));
    } else if any && !typed.remove {
        output::note("start the client again, or reload its servers, and ask it something about this repository");
    }
    Ok(Outcome::found_if(!declined))
}

/// Lists the changes for a client, with their files and scopes.
fn parts(
    client: &'static Client,
    typed: &Arguments,
    config_files: &ConfigFolders,
    chosen: &[&'static Client],
) -> Result<Vec<(SettingsChange, PathBuf, Scope)>> {
    let mut parts = Vec::new();
    // A client without project settings has the user's only.
    let scope = if client.project.is_some() { typed.scope } else { Scope::User };
    match file(client, scope, config_files) {
        _ if typed.remove && typed.rules => {}
        Some(path) => {
            let entry = entry_of(client, scope, config_files);
            let needs_path = scope == Scope::User && !client.is_started_from_shell;
            parts.push((SettingsChange::Entry { client, entry, needs_path }, path, scope));
        }
        None if typed.all => {}
        None => {
            return Err(
                Error::invalid_path(format!("the settings folder of {} is unknown", client.name)).hint("Set HOME.")
            );
        }
    }
    let rules = (client.rules)(typed.scope, config_files);
    match rules {
        Some(rules) if typed.rules || (typed.remove && is_to_remove(&rules, typed.scope, config_files, chosen)) => {
            let path = rules.path.clone();
            parts.push((SettingsChange::Rules(rules), path, typed.scope));
        }
        None if typed.rules && !typed.clients.is_empty() => {
            let message = format!("{} has no file of instructions for this scope", client.name);
            return Err(Error::invalid_argument(message).hint("Leave out --rules, or choose another --scope."));
        }
        _ => {}
    }
    if typed.remove {
        // Folders that were created for the first part are empty only without the second.
        parts.reverse();
    }
    Ok(parts)
}

/// Whether a file has the section, and no other client that is set up reads it.
fn is_to_remove(rules: &RulesFile, scope: Scope, config_files: &ConfigFolders, chosen: &[&'static Client]) -> bool {
    let reads_it = |client: &Client| (client.rules)(scope, config_files).is_some_and(|other| other.path == rules.path);
    let others = || CLIENTS.iter().filter(|client| !chosen.iter().any(|one| one.name == client.name));
    let has_section = files::read(&rules.path).is_ok_and(|text| text.is_some_and(|text| rules::has_section(&text)));
    has_section && !others().any(|client| reads_it(client) && is_set_up(client, scope, config_files))
}

/// Whether a client has the entry in its settings of that scope.
pub(super) fn is_set_up(client: &Client, scope: Scope, config_files: &ConfigFolders) -> bool {
    let text = file(client, scope, config_files).and_then(|file| std::fs::read_to_string(file).ok());
    let settings = text.and_then(|text| value(client, &text));
    settings.is_some_and(|settings| is_ours(&settings[client.servers][NAME]))
}

impl SettingsChange {
    const fn name(&self) -> &'static str {
        match self {
            Self::Entry { .. } => "entry",
            Self::Rules(_) => "rules",
        }
    }

    fn added(&self, before: Option<&str>) -> Result<String> {
        match self {
            Self::Entry { client, entry, needs_path } => entry::added(client, before, entry, *needs_path),
            Self::Rules(file) => rules::added(file, before),
        }
    }

    fn removed(&self, text: &str) -> Result<Option<String>> {
        match self {
            Self::Entry { client, .. } => entry::removed(client, text),
            Self::Rules(_) => rules::removed(text),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Entry { client, .. } => entry::is_in(client, text),
            Self::Rules(_) => rules::has_section(text),
        }
    }

    /// Whether a file with nothing but this text need not be kept.
    fn is_stub(&self, text: &str) -> bool {
        match self {
            Self::Entry { client, .. } => entry::is_stub(client, text),
            Self::Rules(file) => rules::is_stub(file, text),
        }
    }

    fn described(&self, removes: bool, changes: bool, is_written: bool, file: &Path) -> String {
        let file = printable(&file.to_string_lossy());
        let is_entry = matches!(self, Self::Entry { .. });
        match (changes, is_written, removes) {
            (false, _, false) if is_entry => format!("is set up in {file}"),
            (false, _, true) if is_entry => format!("is not set up in {file}"),
            (true, true, false) if is_entry => format!("set up in {file}"),
            (true, true, true) if is_entry => format!("removed from {file}"),
            (false, _, false) => format!("rules are in {file}"),
            (false, _, true) => format!("no rules are in {file}"),
            (true, true, false) => format!("rules added to {file}"),
            (true, true, true) => format!("rules removed from {file}"),
            (true, false, _) => "nothing was written".to_owned(),
        }
    }
}

fn planned(
    part: &SettingsChange,
    file: &Path,
    removes: bool,
    is_link: bool,
    environment: &Environment,
) -> Result<Edit> {
    let before = files::read(file)?;
    let after = match &before {
        before if !removes => Some(part.added(before.as_deref())?),
        Some(text) => without(part, file, text, is_link, environment)?,
        None => None,
    };
    Ok(Edit { file: file.to_owned(), before, after })
}

/// Returns a file's text without the entry or the rules; `None`: nothing is left.
fn without(
    part: &SettingsChange,
    file: &Path,
    text: &str,
    is_link: bool,
    environment: &Environment,
) -> Result<Option<String>> {
    let Some(rest) = part.removed(text)? else { return Ok(Some(text.to_owned())) };
    let undo = Undo::load(file, environment);
    if let Some(previous) = undo.as_ref().and_then(|undo| undo.previous(text))
        && !previous.as_deref().is_some_and(|previous| part.is_in(previous))
    {
        return Ok(previous);
    }
    let is_kept = is_link || undo.is_some_and(|undo| undo.had_file());
    Ok(if part.is_stub(&rest) && !is_kept { None } else { Some(rest) })
}

/// Makes the change; again on what the file is now, if the client changes it at the same moment.
fn write(mut edit: Edit, plan: &dyn Fn() -> Result<Edit>, removes: bool, environment: &Environment) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let earlier = Undo::load(&edit.file, environment);
        let folders = edit.missing_folders();
        if !edit.changes() || edit.write()? {
            match earlier {
                Some(undo) if removes => undo.done(edit.after.is_none(), environment),
                earlier if !removes => Undo::new(&edit, earlier, folders).save(environment),
                _ => {}
            }
            return Ok(());
        }
        edit = steadily(plan)?;
    }
    let file = printable(&edit.file.to_string_lossy());
    Err(Error::new(ErrorKind::Busy, format!("{file} keeps changing")).hint("Close the client, and try again."))
}

/// Makes a plan, a second time if a client may be writing the file.
fn steadily(plan: &dyn Fn() -> Result<Edit>) -> Result<Edit> {
    plan().or_else(|_| {
        std::thread::sleep(SETTLE);
        plan()
    })
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

/// Where an entry for that scope goes. A client without project settings has the user's only.
pub(super) fn file(client: &Client, scope: Scope, config_files: &ConfigFolders) -> Option<PathBuf> {
    match (scope, client.project) {
        (Scope::Project, Some(project)) => Some(project(config_files)),
        _ => (client.user)(config_files),
    }
}

/// The entry for a client's settings. A program that npx or uvx fetched is in their cache: they start it there.
fn entry_of(client: &Client, scope: Scope, config_files: &ConfigFolders) -> Value {
    let environment = &config_files.environment;
    let launcher = Installation::find(environment).and_then(|installation| installation.launcher);
    let Some((program, words)) = launcher.and_then(|launcher| launcher.split_first()) else {
        return client.entry(&command(client, scope, environment), &config_files.root);
    };
    let needs_path = scope == Scope::User && !client.is_started_from_shell;
    let found = environment.on_path(program).filter(|found| needs_path && found.is_absolute());
    let program = found.map_or_else(|| (*program).to_owned(), |found| found.to_string_lossy().into_owned());
    clients::with_words(client.entry(&program, &config_files.root), words)
}

/// By name in settings that are shared, and where a shell finds this program by it; else by its path, the one on PATH if
/// there is one, because an update keeps that.
fn command(client: &Client, scope: Scope, environment: &Environment) -> String {
    let own = environment.program();
    let found = on_path(environment).and_then(|(found, is_own)| is_own.then_some(found));
    let path = match found {
        _ if scope == Scope::Project => None,
        Some(_) if client.is_started_from_shell => None,
        Some(found) if found.is_absolute() => Some(found),
        _ => own.map(Path::to_owned),
    };
    path.map_or_else(|| NAME.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Asks on a terminal. Without a terminal nothing is agreed to: stdin is not read, because an open pipe would block the command.
fn agreed(file: &Path) -> Result<bool> {
    let shown = printable(&file.to_string_lossy());
    if !std::io::stdin().is_terminal() {
        output::note(&format!("stdin is not a terminal, so the prompt for {shown} cannot be shown; --yes writes it"));
        return Ok(false);
    }
    output::is_agreed(&format!("write {shown}?"))
}
