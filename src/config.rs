//! Settings: flags, environment, the user's `config.toml`, then the repository's `.ixmcp.toml`; the first that says wins.
//!
//! Owns the table of keys, its validation, and every look at the environment. Does not own the command line (`cli`
//! hands its flags in) nor what a person chose for one repository (`.ixmcp/state.toml`, kept by `index`).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Table;

use crate::error::{Error, Result};
use crate::model::printable;

/// The repository's own file, in its root.
pub const REPOSITORY_FILE: &str = ".ixmcp.toml";

/// A settings file is a page of text; anything above this is something else.
const LARGEST_FILE: u64 = 1024 * 1024;

/// One setting, as data: the reader of files and variables, and README's table, come from this.
#[derive(Debug)]
pub struct Key {
    /// `section.name`, as in the files.
    pub name: &'static str,
    pub variable: &'static str,
    pub kind: Kind,
    /// As it would be written in a file.
    pub default: &'static str,
    /// Whether a repository's file may set it: nothing that starts a program, opens a port or widens access may.
    pub in_repository: bool,
    pub about: &'static str,
}

/// What fits a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag,
    /// A whole number in these bounds.
    Number(u64, u64),
    Text,
    /// Lines of an ignore file. Those of all sources count together.
    Globs,
    /// `ADDRESS:PORT` on this machine, or `off`.
    Address,
    /// A number of minutes, or with s, m or h behind it.
    Duration,
}

pub static KEYS: &[Key] = &[
    Key {
        name: "index.max_file_size",
        variable: "IXMCP_MAX_FILE_SIZE",
        kind: Kind::Number(1024, 1 << 30),
        default: "2097152",
        in_repository: true,
        about: "Files above this many bytes are skipped.",
    },
    Key {
        name: "index.chunk_size",
        variable: "IXMCP_CHUNK_SIZE",
        kind: Kind::Number(200, 20_000),
        default: "1500",
        in_repository: true,
        about: "The most bytes of a chunk.",
    },
    Key {
        name: "index.skip_minified",
        variable: "IXMCP_SKIP_MINIFIED",
        kind: Kind::Flag,
        default: "true",
        in_repository: true,
        about: "Leave out minified scripts and styles.",
    },
    Key {
        name: "index.skip_generated",
        variable: "IXMCP_SKIP_GENERATED",
        kind: Kind::Flag,
        default: "true",
        in_repository: true,
        about: "Leave out generated files and lock files.",
    },
    Key {
        name: "index.skip_secrets",
        variable: "IXMCP_SKIP_SECRETS",
        kind: Kind::Flag,
        default: "true",
        in_repository: false,
        about: "Leave out private keys, `.env` files and the like, and refuse to show them.",
    },
    Key {
        name: "index.exclude",
        variable: "IXMCP_EXCLUDE",
        kind: Kind::Globs,
        default: "[]",
        in_repository: true,
        about: "More files to ignore, as lines of a `.gitignore`. Those of all sources count together; in the variable, commas separate them.",
    },
    Key {
        name: "log.filter",
        variable: "IXMCP_LOG",
        kind: Kind::Text,
        default: "\"warn\"",
        in_repository: false,
        about: "What is logged, as `RUST_LOG` says it: `info`, `ixmcp::index=debug`.",
    },
    Key {
        name: "daemon.tcp",
        variable: "IXMCP_TCP",
        kind: Kind::Address,
        default: "\"localhost:7777\"",
        in_repository: false,
        about: "Loopback address and port that the daemon also serves, or `off`.",
    },
    Key {
        name: "daemon.idle",
        variable: "IXMCP_IDLE",
        kind: Kind::Duration,
        default: "\"30m\"",
        in_repository: false,
        about: "Time without a connection after which the daemon ends: minutes, or a number with s, m or h.",
    },
    Key {
        name: "mcp.tools",
        variable: "IXMCP_TOOLS",
        kind: Kind::Text,
        default: "\"all\"",
        in_repository: false,
        about: "Tools that `tools/list` shows: `all`, `core`, or names separated by commas.",
    },
];

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
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub max_file_size: u64,
    pub chunk_size: usize,
    pub skip_minified: bool,
    pub skip_generated: bool,
    pub skip_secrets: bool,
    pub exclude: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// `None`: off. Port 0 lets the system choose.
    pub tcp: Option<Address>,
    /// Without a connection for so long, the daemon ends.
    pub idle: Duration,
}

/// A loopback address; `localhost` stands for both 127.0.0.1 and ::1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_v6 = self.host.contains(':');
        if is_v6 { write!(f, "[{}]:{}", self.host, self.port) } else { write!(f, "{}:{}", self.host, self.port) }
    }
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
            Some((name.into_string().ok()?, value.into_string().ok()?))
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
        self.absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
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

    /// `$XDG_RUNTIME_DIR/ixmcp`, for sockets; not every system has it.
    pub fn runtime_folder(&self) -> Option<PathBuf> {
        self.absolute("XDG_RUNTIME_DIR").map(|folder| folder.join("ixmcp"))
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

/// Whose file it is: a repository's is not trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    Repository,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Flag(bool),
    Number(u64),
    Text(String),
    Globs(Vec<String>),
    Address(Option<Address>),
    Duration(Duration),
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
                let nearest = nearest(name, known.iter().copied());
                self.warn(format!("{} in the environment is no setting; the nearest is {nearest}", printable(name)));
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
                let nearest = nearest(&name, KEYS.iter().map(|key| key.name));
                self.warn(format!("{shown}: {} is no setting; the nearest is {nearest}", printable(&name)));
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

    fn text(&self, name: &str) -> String {
        if let Value::Text(text) = self.value(name) { text } else { String::new() }
    }

    fn resolve(&self) -> Config {
        let exclude = if let Value::Globs(globs) = self.value("index.exclude") { globs } else { Vec::new() };
        let idle = if let Value::Duration(time) = self.value("daemon.idle") { time } else { Duration::MAX };
        let tcp = if let Value::Address(address) = self.value("daemon.tcp") { address } else { None };
        Config {
            index: Index {
                max_file_size: self.number("index.max_file_size"),
                chunk_size: usize::try_from(self.number("index.chunk_size")).unwrap_or(usize::MAX),
                skip_minified: self.flag("index.skip_minified"),
                skip_generated: self.flag("index.skip_generated"),
                skip_secrets: self.flag("index.skip_secrets"),
                exclude,
            },
            log_filter: self.text("log.filter"),
            daemon: Daemon { tcp, idle },
            tools: self.text("mcp.tools"),
        }
    }
}

impl Key {
    fn default_value(&self) -> Value {
        let written: Table = format!("value = {}", self.default).parse().expect("defaults in the table are TOML");
        self.kind.take(written["value"].clone()).expect("defaults in the table fit their keys")
    }
}

impl Kind {
    /// Said after "… must be ".
    pub fn fits(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Text => "a text".to_owned(),
            Self::Globs => "a list of texts, each a line of a .gitignore".to_owned(),
            Self::Address => {
                "an address of this machine with its port, such as \"localhost:7777\", or \"off\"".to_owned()
            }
            Self::Duration => "a time from a second to 30 days, such as 30 (minutes), \"90s\" or \"2h\"".to_owned(),
        }
    }

    /// From a variable or a flag; the error says what would fit.
    fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(Value::Flag(true)),
                "false" | "0" | "no" | "off" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Number(least, most) => {
                text.parse().ok().filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Globs => {
                let globs = text.split(',').map(|glob| glob.trim().to_owned()).filter(|glob| !glob.is_empty());
                Some(Value::Globs(globs.collect()))
            }
            Self::Address => address(text).map(Value::Address),
            Self::Duration => duration(text).map(Value::Duration),
        };
        value.ok_or_else(|| self.fits())
    }

    /// From a file; the error says what would fit.
    fn take(self, value: toml::Value) -> Result<Value, String> {
        let value = match (self, value) {
            (Self::Flag, toml::Value::Boolean(flag)) => Some(Value::Flag(flag)),
            (Self::Number(least, most), toml::Value::Integer(number)) => {
                u64::try_from(number).ok().filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            (Self::Text, toml::Value::String(text)) => Some(Value::Text(text)),
            (Self::Address, toml::Value::String(text)) => address(&text).map(Value::Address),
            (Self::Duration, toml::Value::String(text)) => duration(&text).map(Value::Duration),
            (Self::Duration, toml::Value::Integer(minutes)) => duration(&minutes.to_string()).map(Value::Duration),
            (Self::Globs, toml::Value::Array(globs)) => {
                let texts = globs.iter().map(|glob| glob.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(Value::Globs)
            }
            _ => None,
        };
        value.ok_or_else(|| self.fits())
    }
}

/// The outer `None` is what does not fit, the inner one `off`.
fn address(text: &str) -> Option<Option<Address>> {
    if text.eq_ignore_ascii_case("off") {
        return Some(None);
    }
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let port = port.parse().ok()?;
    is_loopback.then(|| Some(Address { host: host.to_owned(), port }))
}

/// From a second to 30 days.
fn duration(text: &str) -> Option<Duration> {
    let (number, seconds) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('s') => (number, 1),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) => (number, 60),
        None => (text, 60),
    };
    let seconds = number.trim().parse::<u64>().ok()?.checked_mul(seconds)?;
    (1..=30 * 24 * 3600).contains(&seconds).then(|| Duration::from_secs(seconds))
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

/// Of `known`, the one with the fewest letters to change.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    let name = &name[..name.char_indices().nth(64).map_or(name.len(), |(at, _)| at)];
    known.min_by_key(|known| distance(name, known)).unwrap_or_default()
}

/// Letters to add, drop or change to make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
