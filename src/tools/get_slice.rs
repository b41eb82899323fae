//! `get_slice`: lines of a file, exactly as they are on disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, ErrorKind, Result};
use crate::extract;
use crate::model::printable;
use crate::query::{files, slice};
use crate::secrets::mask_text;
use crate::wording::{Argument, Tool};

pub(super) static GET_SLICE: Declaration = declare! {
    run;
    name: "get_slice",
    title: "Read lines of a file",
    about: "Read lines of a file, exactly as they are on disk. Use it after query or get_symbol. A long answer \
        continues at next_start_line. For PDF and other documents use get_file_details.",
    access: Access::Read,
    core: true,
    list: None,
    example: r#"{"file_path": "README.md", "start_line": 1, "end_line": 5}"#,
};

/// Arguments of `get_slice`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file_path: String,
    /// First line, from 1.
    start_line: u64,
    /// Last line, inclusive.
    end_line: u64,
    /// Where to continue in a line that was cut: next_column.
    start_column: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub file_path: String,
    pub start_line: u64,
    pub end_line: u64,
    pub content: String,
    pub total_lines: u64,
    /// Encoding of the file, where it is not UTF-8: its lines are decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_column: Option<u64>,
}

/// Bytes of the answer's other fields, except the path.
const FIELDS: usize = 300;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let read = || call.workspace().files.read(&arguments.file_path);
    let found = match read() {
        Err(error) if error.kind == ErrorKind::InvalidPath && engine::admit_libraries(call, &arguments.file_path) => {
            read()
        }
        found => found,
    };
    let (path, bytes) = found.map_err(|error| {
        let missing = error.kind == ErrorKind::InvalidPath && error.hint.is_none();
        let near = || call.read_completed(|snapshot, _| files::near(snapshot, &arguments.file_path)).ok().flatten();
        match missing.then(near).flatten() {
            Some(near) => error.hint(near),
            None if missing => error.hint((Tool("list_files"), " lists the indexed files.")),
            None => error,
        }
    })?;
    let column = arguments.start_column.unwrap_or(1);
    if column == 0 {
        return Err(
            Error::invalid_argument((Argument("start_column"), ": columns are 1-based")).hint("Give 1 or more.")
        );
    }
    if let Some(format) = extract::without_lines(&path, &bytes) {
        let what = format!("{} is a document ({format}) that has no lines on disk", printable(&path));
        return Err(Error::new(ErrorKind::UnsupportedFormat, what).hint((
            "Read its text with ",
            Tool("get_file_details"),
            "; the lines of hits are those of that text.",
        )));
    }
    let cap = call.cap().map(|cap| cap.saturating_sub(FIELDS + path.len()));
    // Lines and columns are those that `query` names, so the text is the one that it searched. UTF-8 stays as it is, its
    // byte order mark included; other bytes are shown as well as possible.
    let masked = |text| if call.workspace().files.masks_secrets() { mask_text(text) } else { text };
    let other = extract::decoded(&bytes).and_then(|(text, encoding)| Some((masked(text), encoding?)));
    let (text, encoding) = match &other {
        Some((text, encoding)) => (text.as_bytes(), Some(*encoding)),
        None => (bytes.as_slice(), None),
    };
    let slice = slice::slice(text, arguments.start_line, arguments.end_line, column, cap)?;
    Ok(Answer {
        file_path: path,
        start_line: slice.start_line,
        end_line: slice.end_line,
        content: slice.content,
        total_lines: slice.total_lines,
        encoding: encoding.map(str::to_owned),
        lossy: slice.lossy,
        truncated: slice.next.is_some(),
        next_start_line: slice.next.map(|(line, _)| line),
        next_column: slice.next.and_then(|(_, column)| column),
    })
}
