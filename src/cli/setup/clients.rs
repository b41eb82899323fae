//! The MCP clients: where each keeps its settings, in which form, what an entry looks like there, and which file it reads
//! for instructions.
//!
//! Owns facts about other programs. Nothing is read or written here.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Scope;
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
    /// Files and folders that exist if a person uses it.
    pub traces: &'static [&'static str],
    /// Settings in addition to the entry, for a new file.
    pub head: fn() -> Value,
    entry: fn(&str, &Path) -> Value,
    /// Whether its entry names the repository.
    pub names_repository: bool,
    /// Whether it has the PATH of a shell. Programs that are started from a menu often lack folders of it.
    pub is_started_from_shell: bool,
    /// The file that it reads for instructions.
    pub rules: fn(Scope, &ConfigFolders) -> Option<RulesFile>,
    /// A further step that a person must take before it starts servers that a project's settings name.
    pub trust: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Format {
    /// With comments and trailing commas, which most clients accept.
    Json,
    Toml,
}

/// A file of instructions for a model.
pub(in crate::cli) struct RulesFile {
    pub path: PathBuf,
    /// Beginning of a new file.
    pub head: &'static str,
}

/// Folders that settings are found in.
pub(in crate::cli) struct ConfigFolders {
    pub root: PathBuf,
    pub home: Option<PathBuf>,
    /// `~/.config`.
    pub config: Option<PathBuf>,
    pub environment: Environment,
}

impl ConfigFolders {
    pub fn new(root: &Path, environment: &Environment) -> Self {
        let home = environment.home().map(Path::to_owned);
        let config = environment.config_folder().and_then(|folder| folder.parent().map(Path::to_owned));
        Self { root: root.to_owned(), home, config, environment: environment.clone() }
    }

    /// A file in the folder that a variable names, or else in a folder of the user's home.
    fn named(&self, variable: &str, folder: &str, file: &str) -> Option<PathBuf> {
        let named = self.environment.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
        Some(named.or_else(|| self.home(folder))?.join(file))
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

/// The variable that editors replace by the folder.
const WORKSPACE: &str = "${workspaceFolder}";

/// Settings that most clients have in common.
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
    is_started_from_shell: true,
    rules: |_, _| None,
    trust: None,
};

pub(in crate::cli) static CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        project: Some(|config_files| config_files.root.join(".mcp.json")),
        user: |config_files| config_files.named("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        traces: &[".mcp.json", ".claude", "~/.claude.json"],
        entry: |command, _| stdio(command, &["mcp"]),
        rules: |scope, config_files| match scope {
            Scope::Project => Some(claude_rules(&config_files.root)),
            Scope::User => config_files.named("CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md").map(plain),
        },
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
        is_started_from_shell: false,
        ..PLAIN
    },
    Client {
        name: "cursor",
        project: Some(|config_files| config_files.root.join(".cursor/mcp.json")),
        user: |config_files| config_files.home(".cursor/mcp.json"),
        traces: &[".cursor", "~/.cursor"],
        entry: |command, _| stdio(command, &["mcp", "--repo", WORKSPACE]),
        is_started_from_shell: false,
        // The user's own rules are in the settings of the program, not in a file.
        rules: |scope, config_files| {
            let path = config_files.root.join(".cursor/rules/ixmcp.mdc");
            (scope == Scope::Project).then_some(RulesFile { path, head: "---\nalwaysApply: true\n---\n\n" })
        },
        ..PLAIN
    },
    Client {
        name: "vscode",
        servers: "servers",
        project: Some(|config_files| config_files.root.join(".vscode/mcp.json")),
        user: |config_files| config_files.application("Code/User/mcp.json"),
        traces: &[".vscode", "~/.config/Code", "~/Library/Application Support/Code"],
        entry: |command, _| stdio(command, &["mcp", "--repo", WORKSPACE]),
        is_started_from_shell: false,
        rules: |scope, config_files| match scope {
            Scope::Project => Some(plain(copilot_rules(&config_files.root))),
            Scope::User => {
                let path = config_files.application("Code/User/prompts/ixmcp.instructions.md")?;
                Some(RulesFile { path, head: "---\napplyTo: \"**\"\n---\n\n" })
            }
        },
        ..PLAIN
    },
    Client {
        name: "codex",
        format: Format::Toml,
        servers: "mcp_servers",
        project: Some(|config_files| config_files.root.join(".codex/config.toml")),
        user: |config_files| config_files.named("CODEX_HOME", ".codex", "config.toml"),
        traces: &[".codex", "~/.codex"],
        rules: |scope, config_files| match scope {
            Scope::Project => Some(plain(config_files.root.join("AGENTS.md"))),
            Scope::User => config_files.named("CODEX_HOME", ".codex", "AGENTS.md").map(plain),
        },
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
        is_started_from_shell: false,
        rules: |scope, config_files| match scope {
            // Zed reads the first of these, and no other.
            Scope::Project => Some(plain(first_of(
                &config_files.root,
                &[
                    ".rules",
                    ".cursorrules",
                    ".windsurfrules",
                    ".github/copilot-instructions.md",
                    "AGENT.md",
                    "AGENTS.md",
                    "CLAUDE.md",
                    "GEMINI.md",
                ],
                "AGENTS.md",
            ))),
            Scope::User => config_files.config.as_ref().map(|config| plain(config.join("zed/AGENTS.md"))),
        },
        ..PLAIN
    },
    Client {
        name: "gemini",
        project: Some(|config_files| config_files.root.join(".gemini/settings.json")),
        user: |config_files| config_files.home(".gemini/settings.json"),
        traces: &[".gemini", "~/.gemini"],
        rules: |scope, config_files| match scope {
            Scope::Project => Some(plain(config_files.root.join("GEMINI.md"))),
            Scope::User => config_files.home(".gemini/GEMINI.md").map(plain),
        },
        trust: Some("Gemini CLI starts servers in trusted folders: /permissions there"),
        ..PLAIN
    },
    Client {
        name: "opencode",
        servers: "mcp",
        project: Some(|config_files| first_of(&config_files.root, &["opencode.jsonc"], "opencode.json")),
        user: |config_files| {
            let folder = config_files.config.as_ref()?.join("opencode");
            Some(first_of(&folder, &["opencode.jsonc"], "opencode.json"))
        },
        traces: &["opencode.json", "opencode.jsonc", "~/.config/opencode"],
        head: || json!({ "$schema": "https://opencode.ai/config.json" }),
        entry: |command, _| json!({ "type": "local", "command": [command, "mcp"], "enabled": true }),
        rules: |scope, config_files| match scope {
            // OpenCode reads CLAUDE.md where there is no AGENTS.md, which a new AGENTS.md would end.
            Scope::Project => Some(plain(first_of(&config_files.root, &["AGENTS.md", "CLAUDE.md"], "AGENTS.md"))),
            Scope::User => config_files.config.as_ref().map(|config| plain(config.join("opencode/AGENTS.md"))),
        },
        ..PLAIN
    },
    Client {
        name: "qwen",
        project: Some(|config_files| config_files.root.join(".qwen/settings.json")),
        user: |config_files| config_files.home(".qwen/settings.json"),
        traces: &[".qwen", "~/.qwen"],
        rules: |scope, config_files| match scope {
            Scope::Project => Some(plain(config_files.root.join("QWEN.md"))),
            Scope::User => config_files.home(".qwen/QWEN.md").map(plain),
        },
        trust: Some("Qwen Code asks once whether it may start what a project's settings name"),
        ..PLAIN
    },
    Client {
        name: "copilot",
        project: Some(|config_files| config_files.root.join(".github/mcp.json")),
        user: |config_files| config_files.named("COPILOT_HOME", ".copilot", "mcp-config.json"),
        traces: &[".github/mcp.json", "~/.copilot"],
        entry: |command, _| json!({ "type": "local", "command": command, "args": ["mcp"], "tools": ["*"] }),
        rules: |scope, config_files| match scope {
            Scope::Project => Some(plain(copilot_rules(&config_files.root))),
            Scope::User => config_files.named("COPILOT_HOME", ".copilot", "copilot-instructions.md").map(plain),
        },
        trust: Some("Copilot CLI starts servers in trusted folders, which it asks when it starts there"),
        ..PLAIN
    },
    Client {
        name: "cline",
        user: |config_files| config_files.named("CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json"),
        traces: &[".clinerules", "~/.cline"],
        // Its editor extension reads the same file.
        is_started_from_shell: false,
        rules: |scope, config_files| {
            let folder = match scope {
                Scope::Project => Some(config_files.root.join(".clinerules")),
                Scope::User => config_files.named("CLINE_DIR", ".cline", "rules"),
            };
            // Older versions have one file of that name instead of a folder.
            folder.map(|folder| plain(if folder.is_file() { folder } else { folder.join("ixmcp.md") }))
        },
        ..PLAIN
    },
    Client {
        name: "continue",
        project: Some(|config_files| config_files.root.join(".continue/mcpServers/ixmcp.json")),
        user: |config_files| config_files.home(".continue/mcpServers/ixmcp.json"),
        traces: &[".continue", "~/.continue"],
        is_started_from_shell: false,
        rules: |scope, config_files| {
            let file = match scope {
                Scope::Project => Some(config_files.root.join(".continue/rules/ixmcp.md")),
                Scope::User => config_files.home(".continue/rules/ixmcp.md"),
            };
            Some(RulesFile { path: file?, head: "---\nname: ixmcp\nalwaysApply: true\n---\n\n" })
        },
        ..PLAIN
    },
];

/// The first of these files that exists, or else `new`.
fn first_of(folder: &Path, files: &[&str], new: &str) -> PathBuf {
    let mut paths = files.iter().map(|file| folder.join(file));
    paths.find(|path| path.exists()).unwrap_or_else(|| folder.join(new))
}

fn plain(path: PathBuf) -> RulesFile {
    RulesFile { path, head: "" }
}

/// A new copilot-instructions.md would end that Zed reads AGENTS.md.
fn copilot_rules(root: &Path) -> PathBuf {
    first_of(root, &[".github/copilot-instructions.md"], "AGENTS.md")
}

/// Claude Code reads AGENTS.md, if at all, only where there is no CLAUDE.md: a new CLAUDE.md includes it.
fn claude_rules(root: &Path) -> RulesFile {
    let path = first_of(root, &["CLAUDE.md", ".claude/CLAUDE.md"], "CLAUDE.md");
    RulesFile { path, head: if root.join("AGENTS.md").exists() { "@AGENTS.md\n\n" } else { "" } }
}

impl Client {
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// The entry of a server that is started by `command`.
    pub fn entry(&self, command: &str, root: &Path) -> Value {
        (self.entry)(command, root)
    }

    /// Whether the person seems to use it, here or at all.
    pub fn is_used(&self, config_files: &ConfigFolders) -> bool {
        let has_settings = (self.user)(config_files).is_some_and(|file| file.exists());
        let has_trace = |trace: &&str| match trace.strip_prefix("~/") {
            Some(below) => config_files.home(below).is_some_and(|path| path.exists()),
            None => config_files.root.join(trace).exists(),
        };
        has_settings || self.traces.iter().any(has_trace)
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

/// The entry with words between its program and what follows that.
pub(super) fn with_words(mut entry: Value, words: &[&str]) -> Value {
    let list = if entry["command"].is_array() { "command" } else { "args" };
    // Of a list of both, the program is the first.
    let at = usize::from(list == "command");
    if let Some(list) = entry[list].as_array_mut() {
        list.splice(at..at, words.iter().map(|word| json!(word)));
    }
    entry
}

/// The fields of an entry as people write them: what starts it first.
pub(super) fn ordered(entry: &Value) -> Vec<(&str, &Value)> {
    const FIRST: &[&str] = &["type", "command", "args"];
    let mut fields: Vec<(&str, &Value)> =
        entry.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect();
    fields.sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
    fields
}
