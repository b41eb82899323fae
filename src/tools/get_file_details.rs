//! `get_file_details`: the text of an indexed file, or of one chunk with the lines around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, render};
use crate::error::{Error, Result};
use crate::extract;
use crate::model::{RepoPath, is_in, printable};
use crate::query::{documents, files};
use crate::store::{FileProblem, SkippedFile};
use crate::wording::{Argument, Command, Tool, Wording};

pub(super) static GET_FILE_DETAILS: Declaration = declare! {
    run;
    name: "get_file_details",
    title: "Read an indexed document",
    about: "Read the text of an indexed document, PDF and DOCX included, or one chunk and the lines around it. Use \
        it after search_documents. A long text continues at next_offset. For lines of a source file use get_slice.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"filePath": "README.md", "chunkIndex": 0, "contextLines": 1}"#,
};

/// Arguments of `get_file_details`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    #[serde(rename = "filePath")]
    file_path: String,
    /// Chunk to read, from 0 (default: the whole file).
    #[serde(rename = "chunkIndex")]
    chunk_index: Option<u64>,
    /// Lines around the chunk (default 3, at most 1000; only with chunkIndex).
    #[serde(rename = "contextLines")]
    context_lines: Option<u64>,
    /// Characters to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    pub file_path: String,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_index: Option<u64>,
    pub total_chunks: usize,
    /// First line of the content without `offset`, in the document's text.
    pub start_line: u32,
    pub end_line: u32,
    pub total_lines: u32,
    pub file_size: u64,
    pub last_modified: String,
    /// Language or format by which the file is read.
    pub language: String,
    /// Detected encoding; absent for a document that is not text on disk, such as a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// content and its lines are those of the text that was taken out of the file: on disk there are others, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extracted: bool,
    /// Parts of the document that are not in the index, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FileProblem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(rename = "next_offset", skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

const DEFAULT_CONTEXT: u32 = 3;
const MAX_CONTEXT: u32 = 1000;
/// Bytes of the answer's other fields, except the path.
const FIELDS: usize = 900;

/// Why there is no such document.
fn absent(call: &Call, path: &str) -> Result<Error> {
    let shown = printable(path);
    let around = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
    let named: Vec<RepoPath> = around.filter_map(RepoPath::stored).collect();
    let left_out = call.read_file(path, |snapshot| snapshot.skipped_at(&named))?;
    let is_closed = |file: &&SkippedFile| file.reason.is_of_folder() && is_in(path, &file.path);
    if let Some(folder) = left_out.iter().find(is_closed) {
        let (folder, why) = (printable(&folder.path), folder.reason.explained());
        return Ok(Error::invalid_path(format!("{shown} is not in the index, as nothing in {folder} is ({why})"))
            .hint("Check the permissions of that folder."));
    }
    if call.workspace().root().join(path).is_dir() {
        return Ok(Error::invalid_path(format!("{shown} is a folder"))
            .hint(Wording::from("Name one of its files.").then((Tool("list_files"), " shows them."))));
    }
    Ok(match left_out.iter().find(|file| file.path == path) {
        Some(file) => Error::invalid_path(format!("{shown} was left out of the index ({})", file.reason.explained()))
            .hint("It is read again when it changes."),
        None => Error::invalid_path(format!("{shown} is not in the index")).hint(
            Wording::from((Command("files --skipped"), " says why a file was left out."))
                .then((Tool("get_slice"), " reads it as it is on disk.")),
        ),
    })
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let context = arguments.context_lines.map_or(DEFAULT_CONTEXT, |lines| u32::try_from(lines).unwrap_or(MAX_CONTEXT));
    let path = call.workspace().files.indexed_path(&arguments.file_path).map_err(|error| {
        let near = || call.read_completed(|snapshot, _| files::near(snapshot, &arguments.file_path)).ok().flatten();
        match error.hint.is_none().then(near).flatten() {
            Some(near) => error.hint(near),
            None => error,
        }
    })?;
    let context = context.min(MAX_CONTEXT);
    let details =
        call.read_file(&path, |snapshot| documents::details(snapshot, &path, arguments.chunk_index, context))?;
    let Some(details) = details else {
        return Err(absent(call, &path)?);
    };
    let offset = arguments.offset.unwrap_or(0);
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let begin = details.content.char_indices().nth(skipped).map_or(details.content.len(), |(at, _)| at);
    let rest = &details.content[begin..];
    if rest.is_empty() && offset > 0 {
        return Err(Error::invalid_argument((Argument("offset"), format!(": the text ends before {offset}")))
            .hint("Give a next_offset of an answer."));
    }
    let budget = call.cap().map_or(usize::MAX, |cap| cap.saturating_sub(FIELDS + path.len()).max(1000));
    let content = rest[..render::fitting(rest, budget)].to_owned();
    let is_cut = content.len() < rest.len();
    let shown = u64::try_from(content.chars().count()).unwrap_or(u64::MAX);
    let chunk = details.chunk.as_ref();
    let headings = chunk.map(|chunk| chunk.headings.lines().map(str::to_owned).collect::<Vec<_>>());
    let extracted = call.workspace().documents.shows_extracted(&path);
    let is_text = extract::documents::is_text_on_disk(&details.file.language);
    Ok(Answer {
        encoding: is_text.then(|| details.file.encoding.unwrap_or_else(|| "UTF-8".to_owned())),
        extracted,
        problems: details.problems,
        file_path: path,
        content,
        chunk_index: chunk.map(|chunk| chunk.index),
        total_chunks: details.total_chunks,
        start_line: details.start_line,
        end_line: details.end_line,
        total_lines: details.total_lines,
        file_size: details.file.size,
        last_modified: super::stats::instant(details.file.modified_ns),
        language: details.file.language,
        headings: headings.filter(|headings| !headings.is_empty()),
        page: chunk.and_then(|chunk| chunk.page),
        truncated: is_cut,
        next_offset: is_cut.then_some(offset + shown),
    })
}
