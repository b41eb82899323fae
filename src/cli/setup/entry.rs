//! The entry of ixmcp in a client's settings: added, fixed and removed.
//!
//! Owns the guarantee that nothing else in the settings changes: a text is returned only if its value equals the old
//! one except for the entry. `json` and `toml` own how a text is changed.

use std::path::Path;

use serde_json::Value;

use super::clients::{self, Client, Format};
use super::{NAME, json, toml};
use crate::error::{Error, Result};

/// Parses a client's settings.
pub(in crate::cli) fn value(client: &Client, text: &str) -> Option<Value> {
    match client.format {
        Format::Json => json::value(text),
        Format::Toml => toml::value(text),
    }
}

/// Whether an entry starts this program already, perhaps with words that the person chose.
pub(in crate::cli) fn is_ours(entry: &Value) -> bool {
    let words = clients::words(entry);
    let Some((program, rest)) = words.split_first() else { return false };
    let program = Path::new(program);
    let is_there = !program.is_absolute() || program.exists();
    let name = program.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let of_package = |word: &String| word.split('@').next() == Some(NAME);
    let is_named = name == NAME || (LAUNCHERS.contains(&name) && rest.iter().any(of_package));
    is_there && is_named && rest.iter().any(|word| word == "mcp")
}

/// Programs that fetch a package and start it: `npx -y ixmcp@latest mcp`.
const LAUNCHERS: &[&str] = &["npx", "cmd", "bunx", "pnpm", "yarn", "uvx", "uv", "pipx"];

/// Whether the text has an entry of that name.
pub(super) fn is_in(client: &Client, text: &str) -> bool {
    value(client, text).is_some_and(|settings| !settings[client.servers][NAME].is_null())
}

/// The text with the entry. `needs_path`: the client finds no program by its name.
pub(super) fn added(client: &Client, before: Option<&str>, entry: &Value, needs_path: bool) -> Result<String> {
    let text = before.unwrap_or_default();
    let old = value(client, text).ok_or_else(|| not_read(client))?;
    if !old.is_object() || !matches!(old[client.servers], Value::Null | Value::Object(_)) {
        return Err(not_read(client));
    }
    let there = &old[client.servers][NAME];
    let is_path = there["command"].as_str().is_none_or(|command| Path::new(command).is_absolute());
    let mut wanted = there.as_object().cloned().unwrap_or_default();
    if is_ours(there) {
        // The words after the program are for that program.
        let name = |entry: &Value| {
            clients::words(entry).first().map(|word| Path::new(word).file_name().map(ToOwned::to_owned))
        };
        if is_path || !needs_path || name(there) != name(entry) {
            return Ok(text.to_owned());
        }
        wanted.insert("command".to_owned(), entry["command"].clone());
    } else {
        // What the person added to an entry stays there; what starts it is ours to say.
        let fields = entry.as_object().into_iter().flatten();
        let fresh = wanted.is_empty();
        wanted.extend(
            fields.filter(|(name, _)| fresh || STARTS.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())),
        );
    }
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

/// The text without the entry, and without the object of the servers if that is empty then; `None` if there is no entry.
pub(super) fn removed(client: &Client, text: &str) -> Result<Option<String>> {
    let mut expected = value(client, text).ok_or_else(|| not_read(client))?;
    let servers = expected.get_mut(client.servers).and_then(Value::as_object_mut);
    if servers.and_then(|servers| servers.remove(NAME)).is_none() {
        return Ok(None);
    }
    let after = match client.format {
        Format::Toml => toml::remove(text, client.servers, NAME),
        Format::Json => json::remove(text, client.servers, NAME)?,
    };
    let result = value(client, &after);
    let is_left = result.as_ref().is_some_and(|settings| !settings[client.servers].is_null());
    let is_empty = expected[client.servers].as_object().is_some_and(serde_json::Map::is_empty);
    if let (true, false, Some(settings)) = (is_empty, is_left, expected.as_object_mut()) {
        settings.remove(client.servers);
    }
    if result == Some(expected) { Ok(Some(after)) } else { Err(not_read(client)) }
}

/// Whether settings without the entry say nothing more than new ones.
pub(super) fn is_stub(client: &Client, text: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('\u{feff}').split_whitespace().collect::<String>();
    match client.format {
        Format::Toml => bare(text).is_empty(),
        Format::Json => ["{}".to_owned(), bare(&(client.head)().to_string())].contains(&bare(text)),
    }
}

fn not_read(client: &Client) -> Error {
    Error::invalid_argument(format!(
        "the settings of {} are written in a way that cannot be changed safely",
        client.name
    ))
    .hint(format!("Add a server named {NAME} by hand, which is started by `{NAME} mcp`; docs/mcp-clients.md shows its entry for each client."))
}
