//! The error type: a kind, what went wrong, and what to do next.
//!
//! Owns the kinds of errors, and their exit codes and JSON-RPC error codes. Does not own how an error is shown: `serve` and
//! `cli` do, each in its own words (`wording`).

use std::fmt;

use serde::{Deserialize, Serialize};
use strum_macros::{EnumString, IntoStaticStr};

use crate::wording::{Wording, Words};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[repr(i32)]
pub enum ErrorKind {
    InvalidPath = 1001,
    UnsupportedFormat = 1002,
    IndexNotFound = 1003,
    GpuNotAvailable = 1004,
    NotFound = 1005,
    InvalidArgument = 1006,
    Busy = 1007,
    Cancelled = 1008,
    Timeout = 1009,
    CorruptIndex = 1010,
    NewerIndex = 1011,
    ReadOnly = 1012,
    /// A remote server (a model hub, an organisation's PostgreSQL) does not answer, or the connection to it is lost.
    Unreachable = 1013,
    Internal = 1099,
    /// No tool has the requested name: the client violates the protocol.
    #[strum(serialize = "INVALID_PARAMS")]
    UnknownTool = -32602,
}

impl ErrorKind {
    /// Parses a name, such as one from another process.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The kind's name in answers.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The JSON-RPC error code.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The exit code of the program: 1 if nothing was found, 2 for errors.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::NotFound => 1,
            _ => 2,
        }
    }
}

/// An error that is shown to a user or an agent. `message` says what happened, `hint` what to do.
///
/// Neither contains the content of a file.
#[derive(Debug)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: Wording,
    pub hint: Option<Wording>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<Wording>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    pub fn invalid_argument(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub fn invalid_path(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::InvalidPath, message)
    }

    pub fn not_found(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    pub fn internal(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The system's random source failed.
    pub fn no_random_bytes(error: std::io::Error) -> Self {
        Self::internal("the system does not provide random bytes").caused_by(error)
    }

    /// The system did not start a thread.
    pub fn no_thread(error: std::io::Error) -> Self {
        Self::internal("cannot start a thread").caused_by(error)
    }

    /// The error for a call that does not wait for a build.
    pub fn busy_building(done: u64, total: u64) -> Self {
        let how_far = if total == 0 { "looking for files".to_owned() } else { format!("{done} of {total} files") };
        Self::new(ErrorKind::Busy, format!("the index is being built: {how_far}"))
            .hint("Try again in a few seconds; the build continues.")
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Wording>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Puts the subject of the error in front of its message.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self { message: self.message.preceded_by(&format!("{subject}: ")), ..self }
    }

    /// A copy for another caller that waited for the same work. It lacks the source, which cannot be cloned.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { kind: self.kind, message: self.message.clone(), hint: self.hint.clone(), source: None }
    }

    /// Formats message and hint as a warning in an otherwise successful answer.
    pub fn to_warning(&self) -> String {
        let message = self.message.to_string();
        let dot = if message.ends_with(['.', '?', '!']) { "" } else { "." };
        match &self.hint {
            Some(hint) => format!("{message}{dot} {hint}"),
            None => format!("{message}{dot}"),
        }
    }

    /// The error in the words of an edge. What it advises that the edge has no words for is left out.
    #[must_use]
    pub fn in_words(self, words: &Words) -> Self {
        let hint = self.hint.and_then(|hint| hint.advice(words)).map(Wording::from);
        Self { message: self.message.written(words).into(), hint, ..self }
    }

    /// The error as `{code, message, hint}`, for the output of commands and for the web page.
    pub fn to_json(&self) -> serde_json::Value {
        let hint = self.hint.as_ref().map(Wording::to_string);
        serde_json::json!({ "code": self.kind.name(), "message": self.message.to_string(), "hint": hint })
    }

    /// A failed I/O operation on `path`. `what` is its verb.
    pub fn io(what: &str, path: &std::path::Path, error: std::io::Error) -> Self {
        let shown = crate::model::printable(&path.to_string_lossy());
        use std::io::ErrorKind as Io;
        let (kind, hint) = match error.kind() {
            Io::NotFound if what == "write" => {
                (ErrorKind::InvalidPath, "Create its folder first, or choose another path.")
            }
            Io::NotFound => (ErrorKind::InvalidPath, "Check the path: the file does not exist."),
            Io::IsADirectory => (ErrorKind::InvalidPath, "Specify a file: this path is a folder."),
            Io::NotADirectory | Io::InvalidFilename => {
                (ErrorKind::InvalidPath, "Check the path: a file with this path cannot exist.")
            }
            Io::PermissionDenied | Io::ReadOnlyFilesystem => {
                (ErrorKind::ReadOnly, "Check the permissions of the file and its folder.")
            }
            Io::StorageFull => (ErrorKind::ReadOnly, "The disk is full: free some space."),
            Io::QuotaExceeded => (ErrorKind::ReadOnly, "The quota of the disk is used up: free some space."),
            _ => (ErrorKind::Internal, ""),
        };
        let io_error = Self::new(kind, format!("cannot {what} {shown}: {error}")).caused_by(error);
        if hint.is_empty() { io_error } else { io_error.hint(hint) }
    }
}

/// `CODE: what happened. What to do next.`: the complete error on one line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.to_warning())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

/// An error as a message between two processes of this program.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fault {
    kind: String,
    message: Wording,
    hint: Option<Wording>,
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind.name().to_owned(), message: error.message.clone(), hint: error.hint.clone() }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let error = Self::new(ErrorKind::named(&fault.kind).unwrap_or(ErrorKind::Internal), fault.message);
        match fault.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
