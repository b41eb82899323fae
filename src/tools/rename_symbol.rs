//! `rename_symbol`: the edits that rename a symbol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_references::candidates;
use super::target::{Candidate, Subject, has_target};
use super::{Access, Call, Declaration, declare, engine, render};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Span, TextEdit, printable};
use crate::pytypes::values::{Answer as Answered, Query, Refusal};
use crate::query::{Page, patch};
use crate::wording::{Argument, Name, Tool, Wording};

pub(super) static RENAME_SYMBOL: Declaration = declare! {
    long run;
    name: "rename_symbol",
    title: "Rename a Python symbol",
    about: "Compute the edits that rename a Python symbol in the whole project, given by position or symbol_name. \
        It refuses, with reasons, if the rename would break something. `unsure` lists possible further references. \
        Nothing is written.",
    access: Access::Read,
    core: false,
    list: Some("edits"),
    example: r#"{"file": "tests/clients/python_mcp.py", "line": 35, "column": 5, "new_name": "whichever"}"#,
};

/// Arguments of `rename_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The new name.
    new_name: String,
    /// Relative to the repository, or absolute.
    file: Option<String>,
    /// From 1.
    line: Option<u32>,
    /// From 1, in characters.
    column: Option<u32>,
    /// Instead of a position: name, Class.method or module::name; file narrows it.
    symbol_name: Option<String>,
    /// diff: one unified diff instead of edits (default edits).
    format: Option<Format>,
    /// Files to return (default: all that fit).
    limit: Option<u64>,
    /// Files to skip (default 0).
    offset: Option<u64>,
    /// Notebook cell of line, from 1.
    cell: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Edits,
    Diff,
}

has_target!(Arguments);

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// All edits by file, or none if the rename was refused. A file with many edits has several entries.
    pub edits: Vec<FileEdits>,
    /// The edits as a unified diff, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Symbols with that name, if there are several: give one of their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// Not edited; review them: the same name where the type is unknown, or a string that may be looked up at run time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<Refusal>,
    /// If there are more than `refused` and `unsure` list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_refused: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_unsure: Option<usize>,
    /// Entries of `edits` on all pages, and the edits in them.
    pub total: usize,
    pub total_edits: usize,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    pub precision: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct FileEdits {
    pub file: String,
    pub edits: Vec<LineEdit>,
}

/// An edit within one line.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct LineEdit {
    /// For notebooks, the cell that the line is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_column: u32,
    pub new_text: String,
}

/// Edits of one entry.
const MAX_EDITS: usize = 100;
/// Refusals, and uncertain occurrences, that an answer over MCP lists.
const MAX_REFUSALS: usize = 20;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let at = match arguments.target().locate(call, true)? {
        Subject::At(at) => at,
        Subject::OneOf(candidates) => {
            return Ok(Answer { candidates, precision: "name".to_owned(), ..Answer::default() });
        }
    };
    if !at.file.is_python {
        return Err(Error::invalid_argument((Argument("file"), ": only Python symbols can be renamed"))
            .hint((Tool("find_references"), " lists the references in other languages.")));
    }
    let at = at.position()?;
    let new_name = arguments.new_name.clone();
    let Answered::Subject { found } = engine::ask(call, &Query::Subject(at.clone()))? else {
        return Err(engine::unexpected());
    };
    let files = match found {
        Some(subject) if !subject.is_local => Some(candidates(call, &[&subject.name, &new_name])?),
        _ => Some(Vec::new()),
    };
    let Answered::Rename(renamed) = engine::ask(call, &Query::Rename { at, new_name, files })? else {
        return Err(engine::unexpected());
    };
    let total_edits = renamed.edits.len();
    let max = if call.cap().is_some() { MAX_REFUSALS } else { usize::MAX };
    let (refused, total_refused) = first(renamed.refused, max);
    let (unsure, total_unsure) = first(renamed.unsure, max);
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let is_diff = arguments.format.unwrap_or_default() == Format::Diff;
    // One file has one diff.
    let page = Page::from_list(by_file(renamed.edits, if is_diff { usize::MAX } else { MAX_EDITS }), offset, limit);
    let answer = Answer {
        refused,
        unsure,
        total_refused,
        total_unsure,
        total: page.total.unwrap_or(0),
        total_edits,
        truncated: page.is_cut,
        next_offset: page.next_offset(),
        precision: "types".to_owned(),
        ..Answer::default()
    };
    if is_diff {
        return with_diff(call, answer, &page.items, offset);
    }
    Ok(Answer { edits: page.items, ..answer })
}

/// The first of a list, and the number of all if there are more.
fn first(mut all: Vec<Refusal>, max: usize) -> (Vec<Refusal>, Option<usize>) {
    let total = Some(all.len()).filter(|total| *total > max);
    all.truncate(max);
    (all, total)
}

/// The edits in the order of their files and positions, about `max` in one entry: those of one line stay together.
fn by_file(edits: Vec<TextEdit>, max: usize) -> Vec<FileEdits> {
    let mut files: Vec<FileEdits> = Vec::new();
    for TextEdit { span, new_text } in edits {
        let Span { file, cell, line, column, end_column, .. } = span;
        let edit = LineEdit { cell, line, column, end_column, new_text };
        match files.last_mut() {
            Some(FileEdits { file: same, edits }) if *same == file && (edits.len() < max || ends_on(edits, &edit)) => {
                edits.push(edit);
            }
            _ => files.push(FileEdits { file, edits: vec![edit] }),
        }
    }
    files
}

fn ends_on(edits: &[LineEdit], next: &LineEdit) -> bool {
    edits.last().is_some_and(|last| (last.cell, last.line) == (next.cell, next.line))
}

/// Adds the diff of as many entries as fit.
fn with_diff(call: &Call, mut answer: Answer, files: &[FileEdits], offset: usize) -> Result<Answer> {
    let budget = call.cap().map(|cap| cap.saturating_sub(render::json_size(&answer) + FIELDS));
    let (mut diff, mut used) = (String::new(), 0);
    for (at, file) in files.iter().enumerate() {
        let part = unified(call, file)?;
        used += render::json_size(&part);
        if at == 0 && budget.is_some_and(|budget| used > budget) {
            // Half a diff would rename half of a file.
            let message = format!("the diff of {} alone is too large for one answer", printable(&file.file));
            return Err(Error::invalid_argument(message).hint(
                Wording::from(("Leave out ", Name("format"), ": edits are paged within a file.")).then((
                    "With ",
                    Name("limit"),
                    ", an answer may be larger.",
                )),
            ));
        }
        if at > 0 && budget.is_some_and(|budget| used > budget) {
            answer.truncated = true;
            answer.next_offset = Some(offset + at);
            break;
        }
        diff.push_str(&part);
    }
    Ok(Answer { diff: Some(diff), ..answer })
}

/// Bytes of the fields that a diff adds to an answer.
const FIELDS: usize = 64;

fn unified(call: &Call, FileEdits { file, edits }: &FileEdits) -> Result<String> {
    if edits.iter().any(|edit| edit.cell.is_some()) {
        let message = format!("{} is a notebook, for which there is no diff", printable(file));
        return Err(Error::new(ErrorKind::UnsupportedFormat, message).hint(("Leave out ", Name("format"), ".")));
    }
    let (shown, bytes) = call.workspace().files.read_exactly(file)?;
    let edits: Vec<patch::Edit> = edits.iter().map(LineEdit::in_text).collect();
    let text = String::from_utf8_lossy(&bytes);
    patch::unified(&shown, &text, &edits).ok_or_else(|| {
        let message = format!("{} was changed during the rename", printable(&shown));
        Error::new(ErrorKind::Busy, message).hint("Call the tool again.")
    })
}

impl LineEdit {
    pub(crate) fn in_text(&self) -> patch::Edit {
        let (line, column, end_column) = (self.line as usize, self.column as usize, self.end_column as usize);
        patch::Edit { line, column, end_column, text: self.new_text.clone() }
    }
}
