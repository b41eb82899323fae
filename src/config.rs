//! Settings: flags, environment, the user's `config.toml`, then the repository's `.ixmcp.toml`; the first that says wins.
//!
//! Owns every look at the environment, and (in `keys`) the table of settings. Does not own the command line (`cli`
//! hands its flags in) nor what a person chose for one repository (`.ixmcp/state.toml`, kept by `index`).

mod keys;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use toml::Table;

use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::printable;
use crate::platform::process;

use keys::Value;
pub use keys::{Address, KEYS, Key, Kind};

/// The repository's own file, in its root.
pub const REPOSITORY_FILE: &str = ".ixmcp.toml";

/// A settings file is a page of text; anything above this is something else.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Different warnings that go to the log.
const MOST_TOLD: usize = 1000;

/// Variables of ours that are no settings.
const OTHER_VARIABLES: &[&str] = &["IXMCP_TOKEN"];

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
}

/// How a model that a person chose is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `off`, `auto` or `required`.
    pub gpu: String,
    /// The library of ONNX Runtime.
    pub runtime: Option<PathBuf>,
    /// What a question may spend on the vectors of its best hits.
    pub time: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// The program whose language server is asked instead of the embedded engine.
    pub server: Option<PathBuf>,
    /// Nobody asked for so long: the type engine is let go.
    pub idle: Duration,
    /// A question that takes so long is given up, and the engine ended.
    pub longest: Duration,
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
    /// Bytes of text from which on there are trigrams.
    pub trigrams_from: u64,
    /// Folders whose notes are entities.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// `None`: off. Port 0 lets the system choose.
    pub tcp: Option<Address>,
    /// Without a connection for so long, the daemon ends.
    pub idle: Duration,
}

/// Something in a settings source that was not taken. Shown once, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub String);

/// What the command line said.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--repo`.
    pub repository: Option<PathBuf>,
    /// Keys of [`KEYS`] and their values, written as in a variable.
    pub settings: Vec<(&'static str, String)>,
}

/// The environment as it was when the process started.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    working_folder: Option<PathBuf>,
    program: Option<PathBuf>,
}

impl Environment {
    /// Variables that are not UTF-8 are left out: none of ours can be.
    pub fn of_process() -> Self {
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

    /// The same with the program that processes are to be started of.
    #[must_use]
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { program: Some(program), ..self }
    }

    /// An empty variable counts as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The file of this very program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The variables by which a client's Python environment is known.
    pub fn python(&self) -> BTreeMap<String, String> {
        let known = ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"].into_iter();
        known.filter_map(|name| Some((name.to_owned(), self.get(name)?.to_owned()))).collect()
    }

    /// Where anybody may put what need not last.
    pub fn temporary_folder(&self) -> PathBuf {
        // The second is what Windows calls it.
        let named = self.absolute("TMPDIR").or_else(|| self.absolute("TEMP").filter(|_| cfg!(windows)));
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// Where the person stands.
    pub fn working_folder(&self) -> Option<&Path> {
        self.working_folder.as_deref()
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
            (_, None) => Err(Error::invalid_path("the working folder is gone").hint("Name the repository by --repo.")),
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

    /// `$XDG_DATA_HOME/ixmcp`, for models.
    pub fn data_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_DATA_HOME", ".local/share")
    }

    /// `$XDG_RUNTIME_DIR/ixmcp`, for sockets; not every system has it. On Windows `%LOCALAPPDATA%\ixmcp`.
    pub fn runtime_folder(&self) -> Option<PathBuf> {
        let base = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_RUNTIME_DIR" };
        self.absolute(base).map(|folder| folder.join("ixmcp"))
    }

    pub fn user_file(&self) -> Option<PathBuf> {
        self.config_folder().map(|folder| folder.join("config.toml"))
    }

    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let base = self.absolute(variable).or_else(|| self.home.as_ref().map(|home| home.join(below_home)))?;
        Some(base.join("ixmcp"))
    }

    /// The XDG rules: a relative path there is to be ignored.
    fn absolute(&self, variable: &str) -> Option<PathBuf> {
        self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }
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
    /// The settings that hold for the repository at `root`, or (`None`) before one is known.
    pub fn load(flags: &Flags, environment: &Environment, root: Option<&Path>) -> Result<(Self, Vec<Warning>)> {
        let mut settings = Settings::default();
        for (name, value) in &flags.settings {
            let key = KEYS.iter().find(|key| key.name == *name);
            let key = key.ok_or_else(|| Error::internal(format!("the command line sets {name}, which is no key")))?;
            settings.set(key, key.kind.parse(value).map_err(|fits| unfit("the command line", key.name, &fits))?);
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

/// Where settings come from, kept so that they can be read again when a file of them changes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub flags: Flags,
    pub environment: Environment,
}

impl Sources {
    /// As [`Config::load`]; warnings go to the log.
    pub fn load(&self, root: &Path) -> Result<Config> {
        let (config, warnings) = Config::load(&self.flags, &self.environment, Some(root))?;
        for Warning(warning) in warnings {
            warn_once(warning);
        }
        Ok(config)
    }
}

/// What is wrong with settings goes to the log once a process: a daemon reads them again and again.
pub fn warn_once(warning: String) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = locked(&TOLD);
    if told.len() < MOST_TOLD && !told.contains(&warning) {
        tracing::warn!("{warning}");
        told.insert(warning);
    }
}

/// Whose file it is: a repository's is not trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    Repository,
}

/// What the sources said so far.
#[derive(Default)]
struct Settings {
    values: BTreeMap<&'static str, Value>,
    warnings: Vec<Warning>,
}

impl Settings {
    /// Sources come in order of their weight: what is set stays, but lists grow.
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
                self.set(key, key.kind.parse(text).map_err(|fits| unfit("the environment", key.variable, &fits))?);
            }
        }
        let known: Vec<&str> = KEYS.iter().map(|key| key.variable).chain(OTHER_VARIABLES.iter().copied()).collect();
        for name in environment.variables.keys().filter(|name| name.starts_with("IXMCP_")) {
            if !known.contains(&name.as_str()) {
                let meant = unknown::variable(name, known.iter().copied());
                self.warn(format!("{} in the environment is no setting{meant}", printable(name)));
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, owner: Owner) -> Result<()> {
        let Some(text) = text_of(file, owner)? else { return Ok(()) };
        let shown = printable(&file.to_string_lossy());
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            // The parser's own text quotes the line, which may be anybody's.
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Error::invalid_argument(format!("{shown}, line {line}, is not TOML")).hint("Mend it or remove it.")
        })?;
        for (name, value) in flat(table) {
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                self.warn(format!("{shown}: {} is no setting{}", printable(&name), unknown::key(&name)));
                continue;
            };
            if owner == Owner::Repository && !key.in_repository {
                self.warn(format!("{shown}: {name} is ignored there; only your own settings may say it"));
                continue;
            }
            self.set(key, key.kind.take(value).map_err(|fits| unfit(&shown, key.name, &fits))?);
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Value {
        let key = KEYS.iter().find(|key| key.name == name).expect("only keys of the table are asked for");
        self.values.get(name).cloned().unwrap_or_else(|| key.default_value())
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Value::Flag(true))
    }

    fn number(&self, name: &str) -> u64 {
        if let Value::Number(number) = self.value(name) { number } else { 0 }
    }

    fn python_server(&self) -> Option<PathBuf> {
        match self.text("python.engine").as_str() {
            "ty-server" => Some(PathBuf::from(self.text("python.ty"))),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> String {
        if let Value::Text(text) = self.value(name) { text } else { String::new() }
    }

    fn resolve(&self) -> Config {
        let list = |name| if let Value::Globs(texts) = self.value(name) { texts } else { Vec::new() };
        let time = |name| if let Value::Duration(time) = self.value(name) { time } else { Duration::MAX };
        let python =
            Python { server: self.python_server(), idle: time("python.idle"), longest: time("python.longest") };
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
        }
    }
}

fn unfit(source: &str, name: &str, fits: &str) -> Error {
    Error::invalid_argument(format!("{source}: {name} must be {fits}")).hint("Mend it or remove it.")
}

/// The text of a settings file; `None` when there is none.
fn text_of(file: &Path, owner: Owner) -> Result<Option<String>> {
    let metadata = match owner {
        Owner::User => std::fs::metadata(file),
        // A link could make a repository show any file's shape in an error.
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
    if !metadata.is_file() || metadata.len() > LARGEST_FILE {
        let unfit = format!("{shown} is not a settings file: it must be a regular file of at most 1 MiB");
        return Err(Error::invalid_argument(unfit).hint("Mend it or remove it."));
    }
    let bytes = std::fs::read(file).map_err(|error| Error::io("read", file, error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::invalid_argument(format!("{shown} is not UTF-8")).hint("Mend it or remove it."))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// `section.name` and value of every entry, in the file's order of names.
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
