//! Settings: flags, environment variables, the user's `config.toml`, then the repository's `.ixmcp.toml`. The first source
//! that sets a key wins.
//!
//! Owns all reads of the environment, and (in `keys`) the table of settings. Does not own the command line, whose flags
//! `cli` passes in, or the user's choices for one repository (`.ixmcp/state.toml`, owned by `repository`).

mod groups;
mod keys;
mod organisations;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use toml::Table;

use crate::error::{Error, Result};
use crate::git_config::UserFolders;
use crate::git_layout;
use crate::locked::locked;
use crate::model::printable;
use crate::platform::files::is_own;
use crate::platform::paths::{PATH_SEPARATOR, canonical};
use crate::platform::process;

pub use groups::{DEPENDENCIES, Groups, groups};
use keys::Value;
pub use keys::{Address, InRepository, KEYS, Key};
pub use organisations::{ServerAddress, has_organisation, organisation};

/// The repository's settings file, in its root.
pub const REPOSITORY_FILE: &str = ".ixmcp.toml";

/// A settings file is a page of text. A larger file is something else.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The memory that the type engines share by default, if a quarter of the RAM is more.
const MAX_SHARED: u64 = 2 << 30;

/// The bytes that the indexes of dependencies may take by default.
const DEPENDENCY_CACHE: u64 = 5 << 30;

/// Distinct warnings that are logged.
const MAX_WARNINGS: usize = 1000;

/// Our variables that are not settings.
const OTHER_VARIABLES: &[&str] = &["IXMCP_TOKEN", organisations::VARIABLE];

/// The settings of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub index: Index,
    pub log_filter: String,
    pub daemon: Daemon,
    /// `all`, `core`, or names separated by commas.
    pub tools: String,
    pub python: Python,
    pub model: Model,
    /// The bytes that the indexes of dependencies may take.
    pub dependency_cache: u64,
    /// SCIP files in addition to the one in the root, relative to the repository.
    pub scip_files: Vec<String>,
}

/// How the embedding model runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `off`, `auto` or `required`.
    pub gpu: String,
    /// The library of ONNX Runtime.
    pub runtime: Option<PathBuf>,
    /// The time budget for reranking, from the start of a query.
    pub time: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// The program that checks instead of the embedded engine.
    pub ty: Option<PathBuf>,
    /// The type engine exits after this time without a request.
    pub idle: Duration,
    /// The timeout of a request. The engine is killed when it expires.
    pub timeout: Duration,
    /// The bytes of memory that all type engines of this user share.
    pub memory: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub max_file_size: u64,
    pub max_document_size: u64,
    pub chunk_size: usize,
    pub skip_minified: bool,
    pub skip_generated: bool,
    pub skip_secrets: bool,
    pub mask_secrets: bool,
    pub exclude: Vec<String>,
    /// The size of the text, in bytes, from which trigrams are indexed.
    pub trigrams_from: u64,
    /// Folders whose Markdown files are entities.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// `None`: off. Port 0 lets the system choose.
    pub tcp: Option<Address>,
    /// The daemon exits after this time without a connection.
    pub idle: Duration,
}

/// Something in a settings source that was ignored. Shown once, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub String);

/// Settings from the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--repo`.
    pub repository: Option<PathBuf>,
    /// Keys of [`KEYS`] with their values, which have the syntax of variables.
    pub settings: Vec<(&'static str, String)>,
}

/// The environment at the start of the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    working_folder: Option<PathBuf>,
    program: Option<PathBuf>,
}

impl Environment {
    /// Variables that are not UTF-8 are left out, because no setting can have such a value.
    pub fn from_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((process::variable(name.into_string().ok()?), value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(utf8).collect(),
            home: etcetera::home_dir().ok(),
            working_folder: std::env::current_dir().ok(),
            program: std::env::current_exe().ok(),
        }
    }

    pub fn new(variables: impl IntoIterator<Item = (String, String)>, home: PathBuf, working_folder: PathBuf) -> Self {
        let variables = variables.into_iter().collect();
        Self { variables, home: Some(home), working_folder: Some(working_folder), program: None }
    }

    /// Sets the executable from which child processes are started.
    #[must_use]
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { program: Some(program), ..self }
    }

    /// An empty variable counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The program of that name that the command line would start.
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        let mut programs = self.get("PATH")?.split(PATH_SEPARATOR).map(|folder| Path::new(folder).join(name));
        programs.find(|program| program.is_file())
    }

    /// The program of that name on `PATH`, but outside of `root`: nothing that a repository contains is run, even if
    /// `PATH` leads into it.
    pub fn on_path_outside(&self, name: &str, root: &Path) -> Option<PathBuf> {
        let folders = self.get("PATH")?.split(PATH_SEPARATOR).map(Path::new).filter(|folder| folder.is_absolute());
        let mut programs = folders.map(|folder| folder.join(name)).filter(|program| program.is_file());
        programs
            .find(|program| canonical(program).is_ok_and(|real| !program.starts_with(root) && !real.starts_with(root)))
    }

    /// The program that a setting names: by its full path, or by a name on `PATH` outside of `root`.
    pub fn installed(&self, given: &Path, root: &Path) -> Option<PathBuf> {
        if given.is_absolute() {
            return given.is_file().then(|| given.to_owned());
        }
        let is_name = given.components().count() == 1;
        self.on_path_outside(given.to_str().filter(|_| is_name)?, root)
    }

    /// The path of this program's executable.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The variables that select a client's Python environment.
    pub fn python(&self) -> BTreeMap<String, String> {
        let known = ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"].into_iter();
        known.filter_map(|name| Some((name.to_owned(), self.get(name)?.to_owned()))).collect()
    }

    /// The folder for temporary files, which other users share.
    pub fn temporary_folder(&self) -> PathBuf {
        // Windows uses the second name.
        let named = self.absolute("TMPDIR").or_else(|| self.absolute("TEMP").filter(|_| cfg!(windows)));
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// The folder for temporary files that belongs only to this user.
    pub fn own_temporary_folder(&self) -> PathBuf {
        self.temporary_folder().join(process::own_name())
    }

    /// The current directory at the start of the process.
    pub fn working_folder(&self) -> Option<&Path> {
        self.working_folder.as_deref()
    }

    /// Where git finds this user's settings.
    pub fn git_folders(&self) -> UserFolders {
        let program = self.on_path(git_layout::PROGRAM).and_then(|program| canonical(&program).ok());
        let prefix = program.and_then(|program| Some(program.parent()?.parent()?.to_owned()));
        UserFolders {
            home: self.home.clone(),
            xdg: self.absolute("XDG_CONFIG_HOME"),
            prefix,
            global: self.absolute("GIT_CONFIG_GLOBAL"),
            system: self.absolute("GIT_CONFIG_SYSTEM"),
            has_no_system: self.get("GIT_CONFIG_NOSYSTEM").is_some_and(is_true_for_git),
        }
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where to look for the repository: `--repo`, `CLAUDE_PROJECT_DIR`, the working folder. Absolute, not yet checked.
    pub fn start_folder(&self, flags: &Flags) -> Result<PathBuf> {
        let named = flags.repository.clone().or_else(|| self.get("CLAUDE_PROJECT_DIR").map(PathBuf::from));
        match (named, &self.working_folder) {
            (Some(named), _) if named.is_absolute() => Ok(named),
            (Some(named), Some(working)) => Ok(working.join(named)),
            (None, Some(working)) => Ok(working.clone()),
            (_, None) => Err(Error::invalid_path("the current directory does not exist any more")
                .hint("Specify the repository with --repo.")),
        }
    }

    /// `$XDG_CONFIG_HOME/ixmcp`.
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// `$XDG_STATE_HOME/ixmcp`.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// `$XDG_CACHE_HOME/ixmcp`, for indexes of repositories that cannot hold theirs.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_CACHE_HOME", ".cache")
    }

    /// `$XDG_DATA_HOME/ixmcp`, for models.
    pub fn data_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_DATA_HOME", ".local/share")
    }

    /// `$XDG_RUNTIME_DIR/ixmcp`, or without it this user's own temporary folder, for sockets and what the processes of this
    /// user share. On Windows `%LOCALAPPDATA%\ixmcp`.
    pub fn runtime_folder(&self) -> PathBuf {
        let base = self.absolute(if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_RUNTIME_DIR" });
        let own = base.filter(|base| base.metadata().is_ok_and(|data| data.is_dir() && is_own(&data)));
        own.map_or_else(|| self.own_temporary_folder(), |base| base.join("ixmcp"))
    }

    pub fn user_file(&self) -> Option<PathBuf> {
        self.config_folder().map(|folder| folder.join("config.toml"))
    }

    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let base = self.absolute(variable).or_else(|| self.home.as_ref().map(|home| home.join(below_home)))?;
        Some(base.join("ixmcp"))
    }

    /// The path in a variable. The XDG specification requires that relative paths are ignored.
    fn absolute(&self, variable: &str) -> Option<PathBuf> {
        self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

/// Whether git takes the text of a variable for true.
fn is_true_for_git(text: &str) -> bool {
    !matches!(text.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

impl Default for Index {
    fn default() -> Self {
        Config::default().index
    }
}

impl Default for Config {
    fn default() -> Self {
        Settings::default().resolve()
    }
}

impl Config {
    /// The settings for the repository at `root`, or (`None`) before a repository is known.
    pub fn load(flags: &Flags, environment: &Environment, root: Option<&Path>) -> Result<(Self, Vec<Warning>)> {
        let mut settings = Settings::default();
        for (name, value) in &flags.settings {
            let key = KEYS.iter().find(|key| key.name == *name);
            let key = key.ok_or_else(|| Error::internal(format!("the command line sets the unknown key {name}")))?;
            let value = key.kind.parse(value);
            settings.set(key, value.map_err(|expected| invalid_value("the command line", key.name, &expected))?);
        }
        settings.read_variables(environment)?;
        if let Some(file) = environment.user_file() {
            settings.read_file(&file, Owner::User)?;
        }
        if let Some(root) = root {
            settings.read_file(&root.join(REPOSITORY_FILE), Owner::Repository)?;
        }
        Ok((settings.resolve(), settings.warnings))
    }
}

/// The sources of settings, kept to load them again when a settings file changes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub flags: Flags,
    pub environment: Environment,
}

impl Sources {
    /// Calls [`Config::load`] and logs its warnings.
    pub fn load(&self, root: &Path) -> Result<Config> {
        let (config, warnings) = Config::load(&self.flags, &self.environment, Some(root))?;
        for Warning(warning) in warnings {
            warn_once(warning);
        }
        Ok(config)
    }
}

/// Logs a warning once per process, because a daemon loads settings repeatedly.
pub fn warn_once(warning: String) {
    static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut logged = locked(&LOGGED);
    if logged.len() < MAX_WARNINGS && !logged.contains(&warning) {
        tracing::warn!("{warning}");
        logged.insert(warning);
    }
}

/// The owner of a settings file. A repository's file is not trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    Repository,
}

/// The values of the sources that have been read.
#[derive(Default)]
struct Settings {
    values: BTreeMap<&'static str, Value>,
    warnings: Vec<Warning>,
}

impl Settings {
    /// Sources are read in order of precedence: a value that is set stays, and lists are combined.
    fn set(&mut self, key: &Key, value: Value) {
        match (self.values.get_mut(key.name), value) {
            (Some(Value::Globs(globs)), Value::Globs(more)) => globs.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(self.values.insert(key.name, value)),
        }
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(Warning(text));
    }

    fn read_variables(&mut self, environment: &Environment) -> Result<()> {
        for key in KEYS {
            if let Some(text) = environment.get(key.variable) {
                let value = key.kind.parse(text);
                self.set(key, value.map_err(|expected| invalid_value("the environment", key.variable, &expected))?);
            }
        }
        let known: Vec<&str> = KEYS.iter().map(|key| key.variable).chain(OTHER_VARIABLES.iter().copied()).collect();
        for name in environment.variables.keys().filter(|name| name.starts_with("IXMCP_")) {
            if !known.contains(&name.as_str()) {
                let suggestion = unknown::variable(name, known.iter().copied());
                self.warn(format!("the environment variable {} is not a setting{suggestion}", printable(name)));
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, owner: Owner) -> Result<()> {
        let Some(text) = text_of(file, owner)? else { return Ok(()) };
        let shown = printable(&file.to_string_lossy());
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            // The parser's message quotes the line, which may contain a secret.
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Error::invalid_argument(format!("{shown}, line {line}, is not TOML")).hint(CORRECT_OR_REMOVE)
        })?;
        for (name, value) in flat(table) {
            let (group, server) = (name.strip_prefix(groups::TABLE), name.strip_prefix(organisations::TABLE));
            if group.is_some() || server.is_some() {
                match owner {
                    Owner::User => {
                        group.map(|group| groups::members_of(&shown, group, &value)).transpose()?;
                        server.map(|server| organisations::url_of(&shown, server, &value)).transpose()?;
                    }
                    Owner::Repository => {
                        self.warn(format!(
                            "{shown}: {} is ignored, because a repository may not set it",
                            printable(&name)
                        ));
                    }
                }
                continue;
            }
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                self.warn(format!("{shown}: {} is not a setting{}", printable(&name), unknown::key(&name)));
                continue;
            };
            if owner == Owner::Repository && key.in_repository == InRepository::Refused {
                self.warn(format!("{shown}: {name} is ignored, because a repository may not set it"));
                continue;
            }
            let (value, is_out_of_range) = match owner {
                Owner::Repository => key.kind.within_range(value),
                Owner::User => (value, false),
            };
            let mut value = key.kind.take(value).map_err(|expected| invalid_value(&shown, key.name, &expected))?;
            if owner == Owner::Repository {
                let is_cut;
                (value, is_cut) = key.in_repository.cut(value);
                if is_cut {
                    let most = key.in_repository.described();
                    self.warn(format!(
                        "{shown}: {name} is cut, because a repository may set it {most}; your own settings may set more"
                    ));
                } else if is_out_of_range {
                    self.warn(format!("{shown}: {name} is cut, because it must be {}", key.kind.expected()));
                }
            }
            self.set(key, value);
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Value {
        let key = KEYS.iter().find(|key| key.name == name).expect("callers use keys of the table");
        self.values.get(name).cloned().unwrap_or_else(|| key.default_value())
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Value::Flag(true))
    }

    fn number(&self, name: &str) -> u64 {
        if let Value::Number(number) = self.value(name) { number } else { 0 }
    }

    fn installed_ty(&self) -> Option<PathBuf> {
        match self.text("python.engine").as_str() {
            "ty" | "ty-server" => Some(PathBuf::from(self.text("python.ty"))),
            _ => None,
        }
    }

    fn python_memory(&self) -> u64 {
        match self.value("python.memory") {
            Value::Memory(Some(bytes)) => bytes,
            _ => process::total_memory().map_or(MAX_SHARED, |total| (total / 4).min(MAX_SHARED)),
        }
    }

    fn text(&self, name: &str) -> String {
        if let Value::Text(text) = self.value(name) { text } else { String::new() }
    }

    fn resolve(&self) -> Config {
        let list = |name| if let Value::Globs(texts) = self.value(name) { texts } else { Vec::new() };
        let time = |name| if let Value::Duration(time) = self.value(name) { time } else { Duration::MAX };
        let python = Python {
            ty: self.installed_ty(),
            idle: time("python.idle"),
            timeout: time("python.longest"),
            memory: self.python_memory(),
        };
        let tcp = if let Value::Address(address) = self.value("daemon.tcp") { address } else { None };
        Config {
            index: Index {
                max_file_size: self.number("index.max_file_size"),
                max_document_size: self.number("index.max_document_size"),
                chunk_size: usize::try_from(self.number("index.chunk_size")).unwrap_or(usize::MAX),
                skip_minified: self.flag("index.skip_minified"),
                skip_generated: self.flag("index.skip_generated"),
                skip_secrets: self.flag("index.skip_secrets"),
                mask_secrets: self.flag("secrets.mask"),
                exclude: list("index.exclude"),
                trigrams_from: self.number("index.trigrams_from"),
                notes: list("entities.notes"),
            },
            model: Model {
                gpu: self.text("model.gpu"),
                runtime: Some(self.text("model.onnxruntime")).filter(|path| !path.is_empty()).map(PathBuf::from),
                time: Duration::from_millis(self.number("model.rerank_ms")),
            },
            log_filter: self.text("log.filter"),
            daemon: Daemon { tcp, idle: time("daemon.idle") },
            tools: self.text("mcp.tools"),
            python,
            scip_files: list("scip.files"),
            dependency_cache: match self.value("deps.cache") {
                Value::Memory(Some(bytes)) => bytes,
                _ => DEPENDENCY_CACHE,
            },
        }
    }
}

const CORRECT_OR_REMOVE: &str = "Correct it or remove it.";

fn invalid_value(source: &str, name: &str, expected: &str) -> Error {
    Error::invalid_argument(format!("{source}: {name} must be {expected}")).hint(CORRECT_OR_REMOVE)
}

/// The text of a settings file; `None` if it does not exist.
fn text_of(file: &Path, owner: Owner) -> Result<Option<String>> {
    let metadata = match owner {
        Owner::User => std::fs::metadata(file),
        // Error messages reveal something about a file, which a link in a repository could direct at any file.
        Owner::Repository => std::fs::symlink_metadata(file),
    };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(Error::io("read", file, error)),
    };
    let shown = printable(&file.to_string_lossy());
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        let problem = format!("{shown} is not a settings file: it must be a regular file of at most 1 MiB");
        return Err(Error::invalid_argument(problem).hint(CORRECT_OR_REMOVE));
    }
    let bytes = std::fs::read(file).map_err(|error| Error::io("read", file, error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::invalid_argument(format!("{shown} is not UTF-8")).hint(CORRECT_OR_REMOVE))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// The name (`section.name`) and value of every entry, sorted by name.
fn flat(table: Table) -> Vec<(String, toml::Value)> {
    let mut entries = Vec::new();
    for (section, value) in table {
        match value {
            toml::Value::Table(inner) => {
                entries.extend(inner.into_iter().map(|(name, value)| (format!("{section}.{name}"), value)));
            }
            value => entries.push((section, value)),
        }
    }
    entries
}

#[cfg(test)]
mod tests;
