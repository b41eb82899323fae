//! The settings as data: one row per key, and the values that it accepts.
//!
//! Owns names, variables, defaults and bounds, also those of a repository's file. The table in `docs/settings.md` is generated from
//! `KEYS`. Does not own where values come from; the parent module does.

use std::fmt;
use std::time::Duration;

use toml::Table;

/// One setting. Files and variables are parsed by it, and the table in `docs/settings.md` is generated from it.
#[derive(Debug)]
pub struct Key {
    /// `section.name`, as in the files.
    pub name: &'static str,
    pub variable: &'static str,
    pub kind: Kind,
    /// The default as it is written in a file.
    pub default: &'static str,
    pub in_repository: InRepository,
    pub about: &'static str,
}

/// The values that a repository's file may set. A clone must not cost its reader gigabytes; the user's own file may set more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InRepository {
    /// Nothing: it starts a program, loads a library, opens a port or widens access.
    Refused,
    Any,
    /// A number up to this one.
    UpTo(u64),
    /// A list of this many entries.
    Entries(usize),
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag,
    /// An integer between these bounds, inclusive.
    Number(u64, u64),
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Lines of an ignore file. The lists of all sources are combined.
    Globs,
    /// Folders of the repository, relative to it.
    Folders,
    /// `ADDRESS:PORT` on this machine, or `off`.
    Address,
    /// A number of minutes, or a number with the suffix s, m or h.
    Duration,
    /// A number of bytes, or a number with the suffix M or G, or `auto`.
    Memory,
}

pub static KEYS: &[Key] = &[
    Key {
        name: "index.max_file_size",
        variable: "IXMCP_MAX_FILE_SIZE",
        kind: Kind::Number(1024, 1 << 30),
        default: "2097152",
        in_repository: InRepository::UpTo(4 << 20),
        about: "Files above this many bytes are skipped.",
    },
    Key {
        name: "index.max_document_size",
        variable: "IXMCP_MAX_DOCUMENT_SIZE",
        kind: Kind::Number(1024, 1 << 30),
        default: "33554432",
        in_repository: InRepository::UpTo(64 << 20),
        about: "PDF, DOCX, ODT, EPUB, notebooks and mail above this many bytes are skipped: little of them is text.",
    },
    Key {
        name: "index.chunk_size",
        variable: "IXMCP_CHUNK_SIZE",
        kind: Kind::Number(200, 20_000),
        default: "1500",
        in_repository: InRepository::Any,
        about: "The maximum size of a chunk in bytes.",
    },
    Key {
        name: "index.skip_minified",
        variable: "IXMCP_SKIP_MINIFIED",
        kind: Kind::Flag,
        default: "true",
        in_repository: InRepository::Any,
        about: "Skip minified scripts and style sheets.",
    },
    Key {
        name: "index.skip_generated",
        variable: "IXMCP_SKIP_GENERATED",
        kind: Kind::Flag,
        default: "true",
        in_repository: InRepository::Any,
        about: "Skip generated files and lock files.",
    },
    Key {
        name: "index.skip_secrets",
        variable: "IXMCP_SKIP_SECRETS",
        kind: Kind::Flag,
        default: "true",
        in_repository: InRepository::Refused,
        about: "Skip private keys, `.env` files and similar files, by name and by content, and refuse to show them.",
    },
    Key {
        name: "secrets.mask",
        variable: "IXMCP_MASK_SECRETS",
        kind: Kind::Flag,
        default: "false",
        in_repository: InRepository::Refused,
        about: "Mask tokens and private keys in the files that are shown, `*` for each of their characters: in the index, and in slices of files on disk. A change rebuilds the index.",
    },
    Key {
        name: "index.exclude",
        variable: "IXMCP_EXCLUDE",
        kind: Kind::Globs,
        default: "[]",
        in_repository: InRepository::Entries(1000),
        about: "Additional files to ignore, as lines of a `.gitignore`. The lists of all sources are combined. In the variable, commas separate the lines.",
    },
    Key {
        name: "index.trigrams_from",
        variable: "IXMCP_TRIGRAMS_FROM",
        kind: Kind::Number(0, 1 << 50),
        default: "4194304",
        in_repository: InRepository::UpTo(64 << 20),
        about: "If the text of the index has at least this many bytes, a trigram index speeds up literal and regex search. It takes a fifth of the text's size. For less text, reading all of it is fast enough.",
    },
    Key {
        name: "entities.notes",
        variable: "IXMCP_NOTES",
        kind: Kind::Folders,
        default: "[]",
        in_repository: InRepository::Entries(100),
        about: "Folders of Markdown notes (Obsidian, Logseq, zk) whose files are entities: `[[wiki links]]` become edges. In the variable, commas separate the folders.",
    },
    Key {
        name: "deps.cache",
        variable: "IXMCP_DEPS_CACHE",
        kind: Kind::Memory,
        default: "\"5G\"",
        in_repository: InRepository::Refused,
        about: "The bytes that the indexes of dependencies may take; the least recently used ones are removed.",
    },
    Key {
        name: "scip.files",
        variable: "IXMCP_SCIP_FILES",
        kind: Kind::Folders,
        default: "[]",
        in_repository: InRepository::Entries(20),
        about: "SCIP files of the repository in addition to `index.scip`. In the variable, commas separate the paths.",
    },
    Key {
        name: "log.filter",
        variable: "IXMCP_LOG",
        kind: Kind::Text,
        default: "\"warn\"",
        in_repository: InRepository::Refused,
        about: "What is logged, in the syntax of `RUST_LOG`: `info`, `ixmcp::index=debug`.",
    },
    Key {
        name: "daemon.tcp",
        variable: "IXMCP_TCP",
        kind: Kind::Address,
        default: "\"localhost:7777\"",
        in_repository: InRepository::Refused,
        about: "The loopback address and port on which the daemon also listens, or `off`.",
    },
    Key {
        name: "daemon.idle",
        variable: "IXMCP_IDLE",
        kind: Kind::Duration,
        default: "\"30m\"",
        in_repository: InRepository::Refused,
        about: "The daemon exits after this time without a connection: minutes, or a number with s, m or h.",
    },
    Key {
        name: "mcp.tools",
        variable: "IXMCP_TOOLS",
        kind: Kind::Text,
        default: "\"all\"",
        in_repository: InRepository::Refused,
        about: "The tools that `tools/list` returns: `all`, `core`, or names separated by commas.",
    },
    Key {
        name: "model.gpu",
        variable: "IXMCP_GPU",
        kind: Kind::Choice(&["off", "auto", "required"]),
        default: "\"auto\"",
        in_repository: InRepository::Refused,
        about: "Where an embedding model runs: `off` on the CPU, `auto` on a GPU if one works and otherwise on the CPU, `required` on a GPU or not at all.",
    },
    Key {
        name: "model.onnxruntime",
        variable: "ORT_DYLIB_PATH",
        kind: Kind::Text,
        default: "\"\"",
        in_repository: InRepository::Refused,
        about: "The full path of ONNX Runtime's library (1.17 or later), which runs embedding models faster, and on a GPU. Without it, rten runs them, which is built into ixmcp.",
    },
    Key {
        name: "model.rerank_ms",
        variable: "IXMCP_RERANK_MS",
        kind: Kind::Number(0, 10_000),
        default: "200",
        in_repository: InRepository::Refused,
        about: "The time for reranking, in milliseconds from the start of a query. Hits that the embedding model has not embedded by then keep their rank. 0: use only vectors that are already stored.",
    },
    Key {
        name: "python.engine",
        variable: "IXMCP_PYTHON_ENGINE",
        kind: Kind::Choice(&["embedded", "ty", "ty-server"]),
        default: "\"embedded\"",
        in_repository: InRepository::Refused,
        about: "What checks Python types: `embedded`, the type engine that is built into ixmcp, or `ty` (formerly `ty-server`), an installed ty. The built-in engine answers everything else.",
    },
    Key {
        name: "python.ty",
        variable: "IXMCP_PYTHON_TY",
        kind: Kind::Text,
        default: "\"ty\"",
        in_repository: InRepository::Refused,
        about: "The program that `python.engine = \"ty\"` runs, ty 0.0.94 or newer: a full path, or a name on PATH outside of the repository.",
    },
    Key {
        name: "python.idle",
        variable: "IXMCP_PYTHON_IDLE",
        kind: Kind::Duration,
        default: "\"10m\"",
        in_repository: InRepository::Refused,
        about: "The process of the Python type engine exits after this time without a request, which frees its memory.",
    },
    Key {
        name: "python.memory",
        variable: "IXMCP_PYTHON_MEMORY",
        kind: Kind::Memory,
        default: "\"auto\"",
        in_repository: InRepository::Refused,
        about: "The memory that all your Python type engines share, in all repositories: bytes, a number with M or G, or `auto`, a quarter of the RAM and at most 2 GB. Beyond it, the engine that has been idle longest exits. The one that was used last stays.",
    },
    Key {
        name: "python.longest",
        variable: "IXMCP_PYTHON_LONGEST",
        kind: Kind::Duration,
        default: "\"10m\"",
        in_repository: InRepository::Refused,
        about: "The timeout of a request to the Python type engine, such as a check of the whole repository. The engine is killed when it expires.",
    },
];

/// A loopback address; `localhost` means both 127.0.0.1 and ::1.
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

/// A value that its key accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Flag(bool),
    Number(u64),
    Text(String),
    Globs(Vec<String>),
    Address(Option<Address>),
    Duration(Duration),
    /// `None`: `auto`.
    Memory(Option<u64>),
}

/// The bytes of an entry of a list in a repository's file. A thousand patterns of this length fit into one matcher.
const MAX_ENTRY: usize = 256;

impl InRepository {
    /// Describes what a repository may set, for the documentation and for warnings.
    pub fn described(self) -> String {
        match self {
            Self::Refused => "no".to_owned(),
            Self::Any => "yes".to_owned(),
            Self::UpTo(most) => format!("up to {most}"),
            Self::Entries(most) => format!("up to {most} entries"),
        }
    }

    /// The part of a value that a repository may set, and whether that is less.
    pub(super) fn cut(self, value: Value) -> (Value, bool) {
        match (self, value) {
            (Self::UpTo(most), Value::Number(number)) => (Value::Number(number.min(most)), number > most),
            (Self::Entries(most), Value::Globs(mut entries)) => {
                let before = entries.len();
                entries.retain(|entry| entry.len() <= MAX_ENTRY);
                entries.truncate(most);
                let is_cut = entries.len() < before;
                (Value::Globs(entries), is_cut)
            }
            (_, value) => (value, false),
        }
    }
}

impl Key {
    pub(super) fn default_value(&self) -> Value {
        let written: Table = format!("value = {}", self.default).parse().expect("defaults are TOML");
        self.kind.take(written["value"].clone()).expect("keys accept their defaults")
    }
}

impl Kind {
    /// Describes the accepted values, to follow "… must be ".
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number(min, max) => format!("an integer from {min} to {max}"),
            Self::Text => "a string".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Globs => "a list of strings, each a line of a .gitignore".to_owned(),
            Self::Folders => "a list of folders inside the repository, such as \"notes\"".to_owned(),
            Self::Address => "a loopback address with a port, such as \"localhost:7777\", or \"off\"".to_owned(),
            Self::Memory => "from 64 MB to 1 TB, such as \"800M\" or \"4G\", or \"auto\"".to_owned(),
            Self::Duration => "a time from 1 second to 30 days, such as 30 (minutes), \"90s\" or \"2h\"".to_owned(),
        }
    }

    /// Moves a number into the range of accepted ones, and returns whether it was outside.
    pub(super) fn within_range(self, value: toml::Value) -> (toml::Value, bool) {
        match (self, value) {
            (Self::Number(min, max), toml::Value::Integer(number)) => {
                let [min, max] = [min, max].map(|bound| i64::try_from(bound).unwrap_or(i64::MAX));
                (toml::Value::Integer(number.clamp(min, max)), !(min..=max).contains(&number))
            }
            (_, value) => (value, false),
        }
    }

    /// Parses the value of a variable or an option. The error describes the accepted values.
    pub(super) fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(Value::Flag(true)),
                "false" | "0" | "no" | "off" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Number(min, max) => {
                text.parse().ok().filter(|number| (min..=max).contains(number)).map(Value::Number)
            }
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Globs => {
                let globs = text.split(',').map(|glob| glob.trim().to_owned()).filter(|glob| !glob.is_empty());
                Some(Value::Globs(globs.collect()))
            }
            Self::Folders => {
                let folders = text.split(',').map(str::trim).filter(|folder| !folder.is_empty());
                folders.map(folder).collect::<Option<Vec<_>>>().map(Value::Globs)
            }
            Self::Address => address(text).map(Value::Address),
            Self::Duration => duration(text).map(Value::Duration),
            Self::Memory => memory(text).map(Value::Memory),
        };
        value.ok_or_else(|| self.expected())
    }

    /// Converts a value of a file. The error describes the accepted values.
    pub(super) fn take(self, value: toml::Value) -> Result<Value, String> {
        let value = match (self, value) {
            (Self::Flag, toml::Value::Boolean(flag)) => Some(Value::Flag(flag)),
            (Self::Number(min, max), toml::Value::Integer(number)) => {
                u64::try_from(number).ok().filter(|number| (min..=max).contains(number)).map(Value::Number)
            }
            (Self::Text, toml::Value::String(text)) => Some(Value::Text(text)),
            (Self::Choice(words), toml::Value::String(text)) => {
                words.contains(&text.as_str()).then_some(Value::Text(text))
            }
            (Self::Address, toml::Value::String(text)) => address(&text).map(Value::Address),
            (Self::Duration, toml::Value::String(text)) => duration(&text).map(Value::Duration),
            (Self::Duration, toml::Value::Integer(minutes)) => duration(&minutes.to_string()).map(Value::Duration),
            (Self::Memory, toml::Value::String(text)) => memory(&text).map(Value::Memory),
            (Self::Memory, toml::Value::Integer(bytes)) => memory(&bytes.to_string()).map(Value::Memory),
            (Self::Globs, toml::Value::Array(globs)) => {
                let texts = globs.iter().map(|glob| glob.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(Value::Globs)
            }
            (Self::Folders, toml::Value::Array(folders)) => {
                let texts = folders.iter().map(|text| text.as_str().and_then(folder));
                texts.collect::<Option<Vec<_>>>().map(Value::Globs)
            }
            _ => None,
        };
        value.ok_or_else(|| self.expected())
    }
}

/// A folder in the repository, without leading `./` and trailing slashes; the repository itself is `.`.
fn folder(text: &str) -> Option<String> {
    let bare = text.trim().trim_start_matches("./").trim_end_matches('/');
    let is_inside = !bare.starts_with('/') && bare.split('/').all(|part| part != ".." && !part.is_empty());
    match bare {
        "" | "." => (!text.trim().is_empty()).then(|| ".".to_owned()),
        bare => is_inside.then(|| bare.to_owned()),
    }
}

/// The outer `None` means that the text is not accepted, the inner one `off`.
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

/// From 64 MB to 1 TB. The outer `None` means that the text is not accepted, the inner one `auto`.
fn memory(text: &str) -> Option<Option<u64>> {
    if text == "auto" {
        return Some(None);
    }
    let (number, unit) = match text.strip_suffix(['M', 'G']) {
        Some(number) if text.ends_with('M') => (number, 1 << 20),
        Some(number) => (number, 1 << 30),
        None => (text, 1),
    };
    let bytes = number.trim().parse::<u64>().ok()?.checked_mul(unit)?;
    (64 << 20..=1 << 40).contains(&bytes).then_some(Some(bytes))
}

/// From 1 second to 30 days.
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
