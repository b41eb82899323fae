//! The MCP clients: where each keeps its settings, in which form, and what an entry looks like there.
//!
//! Owns facts about other programs. Nothing is read or written here.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::Environment;

/// One client.
pub(in crate::cli) struct Client {
    pub name: &'static str,
    pub format: Format,
    /// The object that holds the servers.
    pub servers: &'static str,
    /// `None`: it has no settings of a project.
    pub project: Option<fn(&ConfigFolders) -> PathBuf>,
    pub user: fn(&ConfigFolders) -> Option<PathBuf>,
    /// What shows that a person uses it.
    pub traces: &'static [&'static str],
    /// What a file that was not there begins with, next to the entry.
    pub head: fn() -> Value,
    entry: fn(&str, &Path) -> Value,
    /// Whether its entry does.
    pub names_repository: bool,
    /// What else a person must do before it starts what a project's settings name.
    pub trust: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Format {
    /// With comments and trailing commas, as most of them admit.
    Json,
    Toml,
}

/// Folders that settings are found in.
pub(in crate::cli) struct ConfigFolders {
    pub root: PathBuf,
    pub home: Option<PathBuf>,
    /// `~/.config`.
    pub config: Option<PathBuf>,
    /// `$CODEX_HOME`.
    pub codex: Option<PathBuf>,
}

impl ConfigFolders {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        let home = environment.home().map(Path::to_owned);
        let config = environment.config_folder().and_then(|folder| folder.parent().map(Path::to_owned));
        let codex = environment.get("CODEX_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        Self { root: root.to_owned(), home, config, codex }
    }

    fn home(&self, path: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(path))
    }

    /// Where programs with windows keep what is theirs.
    fn application(&self, path: &str) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            return self.home(&format!("Library/Application Support/{path}"));
        }
        if cfg!(windows) {
            return self.home(&format!("AppData/Roaming/{path}"));
        }
        self.config.as_ref().map(|config| config.join(path))
    }
}

/// The entry of clients that tell servers they start from those they call.
fn stdio(command: &str, arguments: &[&str]) -> Value {
    json!({ "type": "stdio", "command": command, "args": arguments })
}

/// What editors put the folder instead of.
const WORKSPACE: &str = "${workspaceFolder}";

/// What most of them have.
const PLAIN: Client = Client {
    name: "",
    format: Format::Json,
    servers: "mcpServers",
    project: None,
    user: |_| None,
    traces: &[],
    head: || json!({}),
    entry: |command, _| json!({ "command": command, "args": ["mcp"] }),
    names_repository: false,
    trust: None,
};

pub(in crate::cli) static CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        project: Some(|config_files| config_files.root.join(".mcp.json")),
        user: |config_files| config_files.home(".claude.json"),
        traces: &[".mcp.json", ".claude", "~/.claude.json"],
        entry: |command, _| stdio(command, &["mcp"]),
        trust: Some("Claude Code asks once whether it may start what .mcp.json names"),
        ..PLAIN
    },
    Client {
        name: "claude-desktop",
        user: |config_files| config_files.application("Claude/claude_desktop_config.json"),
        traces: &["~/.config/Claude", "~/Library/Application Support/Claude", "~/AppData/Roaming/Claude"],
        // It belongs to no project: the repository must be named.
        entry: |command, root| json!({ "command": command, "args": ["mcp", "--repo", root.to_string_lossy()] }),
        names_repository: true,
        ..PLAIN
    },
    Client {
        name: "cursor",
        project: Some(|config_files| config_files.root.join(".cursor/mcp.json")),
        user: |config_files| config_files.home(".cursor/mcp.json"),
        traces: &[".cursor", "~/.cursor"],
        entry: |command, _| stdio(command, &["mcp", "--repo", WORKSPACE]),
        ..PLAIN
    },
    Client {
        name: "vscode",
        servers: "servers",
        project: Some(|config_files| config_files.root.join(".vscode/mcp.json")),
        user: |config_files| config_files.application("Code/User/mcp.json"),
        traces: &[".vscode", "~/.config/Code", "~/Library/Application Support/Code"],
        entry: |command, _| stdio(command, &["mcp", "--repo", WORKSPACE]),
        ..PLAIN
    },
    Client {
        name: "codex",
        format: Format::Toml,
        servers: "mcp_servers",
        project: Some(|config_files| config_files.root.join(".codex/config.toml")),
        user: |config_files| {
            config_files
                .codex
                .as_ref()
                .map(|folder| folder.join("config.toml"))
                .or(config_files.home(".codex/config.toml"))
        },
        traces: &[".codex", "~/.codex"],
        trust: Some("Codex reads it once the project is trusted, which it asks when it starts there"),
        ..PLAIN
    },
    Client {
        name: "zed",
        servers: "context_servers",
        project: Some(|config_files| config_files.root.join(".zed/settings.json")),
        user: |config_files| config_files.config.as_ref().map(|config| config.join("zed/settings.json")),
        traces: &[".zed", "~/.config/zed"],
        entry: |command, _| json!({ "command": command, "args": ["mcp"], "env": {} }),
        ..PLAIN
    },
    Client {
        name: "gemini",
        project: Some(|config_files| config_files.root.join(".gemini/settings.json")),
        user: |config_files| config_files.home(".gemini/settings.json"),
        traces: &[".gemini", "~/.gemini"],
        trust: Some("Gemini CLI starts servers in trusted folders: /permissions there"),
        ..PLAIN
    },
    Client {
        name: "opencode",
        servers: "mcp",
        project: Some(|config_files| first_there(&config_files.root, "opencode.jsonc", "opencode.json")),
        user: |config_files| {
            let folder = config_files.config.as_ref()?.join("opencode");
            Some(first_there(&folder, "opencode.jsonc", "opencode.json"))
        },
        traces: &["opencode.json", "opencode.jsonc", "~/.config/opencode"],
        head: || json!({ "$schema": "https://opencode.ai/config.json" }),
        entry: |command, _| json!({ "type": "local", "command": [command, "mcp"], "enabled": true }),
        ..PLAIN
    },
];

fn first_there(folder: &Path, first: &str, second: &str) -> PathBuf {
    let first = folder.join(first);
    if first.exists() { first } else { folder.join(second) }
}

impl Client {
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// What is written for a server that is started by `command`.
    pub fn entry(&self, command: &str, root: &Path) -> Value {
        (self.entry)(command, root)
    }

    /// Whether the person seems to use it, here or at all.
    pub fn is_used(&self, config_files: &ConfigFolders) -> bool {
        self.traces.iter().any(|trace| match trace.strip_prefix("~/") {
            Some(below) => config_files.home(below).is_some_and(|path| path.exists()),
            None => config_files.root.join(trace).exists(),
        })
    }
}

/// The program that an entry starts, and its words.
pub(in crate::cli) fn words(entry: &Value) -> Vec<String> {
    let list = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    match &entry["command"] {
        Value::String(command) => [vec![command.clone()], list(&entry["args"])].concat(),
        command => list(command),
    }
}

/// The fields of an entry as people write them: what starts it first.
pub(super) fn ordered(entry: &Value) -> Vec<(&str, &Value)> {
    const FIRST: &[&str] = &["type", "command", "args"];
    let mut fields: Vec<(&str, &Value)> =
        entry.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect();
    fields.sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
    fields
}
