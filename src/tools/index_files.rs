//! `index_files`: index a folder of documents from now on.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::model::first_of;
use crate::query::Page;
use crate::store::FileProblem;
use crate::update::{FolderOptions, FolderReport};
use crate::wording::Argument;

pub(super) static INDEX_FILES: Declaration = declare! {
    long run;
    name: "index_files",
    title: "Index a folder of documents",
    about: "Index a folder of documents inside or outside the repository, and keep it up to date: Markdown, PDF, \
        DOCX, ODT, EPUB, HTML, mail, notebooks, CSV, JSON, source. Then use search_documents. Skipped files are \
        listed with the reason.",
    access: Access::Write,
    core: false,
    list: Some("skipped"),
    example: r#"{"folderPath": "src", "options": {"fileTypes": [".rs", ".xyz"]}}"#,
};

/// Arguments of `index_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Absolute, or relative to the repository.
    #[serde(rename = "folderPath")]
    folder_path: String,
    options: Option<Options>,
    /// Skipped files to return (default: all that fit).
    limit: Option<u64>,
    /// Skipped files to leave out at the start (default 0).
    offset: Option<u64>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    /// Characters of a chunk (default 1000, 50 to 100000).
    chunk_size: Option<u64>,
    /// Characters shared with the chunk before, less than chunkSize (default 200, or a fifth of chunkSize if that is less).
    overlap: Option<u64>,
    /// Files to index, in path order (default 10000; 1 or more).
    max_files: Option<u64>,
    /// Types to read: ".md", "markdown", … (default: all).
    file_types: Option<Vec<String>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Path in the index: relative to the repository, which is `.`; absolute if outside.
    pub folder_path: String,
    pub total_files: usize,
    pub processed_files: usize,
    pub total_chunks: u64,
    #[serde(flatten)]
    pub left: LeftOut,
    #[serde(flatten)]
    pub partial: Partial,
    /// Why there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub time_ms: u64,
    pub index_size_bytes: u64,
}

/// A page of the files that are not in the index.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct LeftOut {
    pub skipped: Vec<Skipped>,
    #[serde(rename = "totalSkipped", skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Skipped {
    pub path: String,
    pub reason: String,
}

impl LeftOut {
    pub(super) fn page(all: Vec<(String, String)>, offset: Option<u64>, limit: Option<u64>) -> Self {
        let (offset, limit) = super::page(offset, limit, usize::MAX, usize::MAX);
        let page = Page::from_list(all, offset, limit);
        let (total, truncated, next_offset) = (page.total, page.is_cut.then_some(true), page.next_offset());
        let skipped = page.items.into_iter().map(|(path, reason)| Skipped { path, reason }).collect();
        Self { skipped, total, truncated, next_offset }
    }
}

/// Documents that are in the index, but not all of their text, and such as have none.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Partial {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FileProblem>,
    /// Where there are more than are shown.
    #[serde(rename = "totalProblems", skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
}

impl Partial {
    pub(super) fn new(all: Vec<(String, String)>) -> Self {
        let total = Some(all.len()).filter(|count| *count > MOST_PROBLEMS);
        let shown = all.into_iter().take(MOST_PROBLEMS);
        Self { problems: shown.map(|(path, reason)| FileProblem { path, line: None, reason }).collect(), total }
    }
}

/// `get_file_details` returns those of each document.
const MOST_PROBLEMS: usize = 40;
const DEFAULT_SIZE: u64 = 1000;
const DEFAULT_OVERLAP: u64 = 200;
const DEFAULT_FILES: u64 = 10_000;
const SIZES: std::ops::RangeInclusive<u64> = 50..=100_000;
/// Entries of one list of types.
pub(super) const MOST_TYPES: usize = 200;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let started = Instant::now();
    let none = Options::default();
    let options = chosen(arguments.options.as_ref().unwrap_or(&none))?;
    let workspace = call.workspace();
    let report = workspace.documents.index_folder(&arguments.folder_path, &options, call.progress(), call.budget())?;
    Ok(Answer {
        warning: emptied(&options.file_types, &report),
        folder_path: report.folder,
        total_files: report.total_files,
        processed_files: report.processed_files,
        total_chunks: report.total_chunks,
        time_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        index_size_bytes: workspace.index_size(),
        partial: Partial::new(report.problems),
        left: LeftOut::page(report.skipped, arguments.offset, arguments.limit),
    })
}

/// That the types which were asked for leave nothing to read.
fn emptied(types: &[String], report: &FolderReport) -> Option<String> {
    let is_empty = report.total_files == 0 && !types.is_empty();
    is_empty.then(|| format!("No file of the folder is of a type that was asked for: {}.", first_of(types, 20)))
}

fn chosen(options: &Options) -> Result<FolderOptions> {
    let size = options.chunk_size.unwrap_or(DEFAULT_SIZE);
    // A small chunk overlaps by its share of the usual, where nothing else is said.
    let overlap = options.overlap.unwrap_or(DEFAULT_OVERLAP.min(size / 5));
    let files = options.max_files.unwrap_or(DEFAULT_FILES);
    if !SIZES.contains(&size) {
        let what = (Argument("options.chunkSize"), format!(" must be from {} to {}", SIZES.start(), SIZES.end()));
        return Err(Error::invalid_argument(what).hint("Give the most characters of a chunk."));
    }
    if overlap >= size {
        let what = (Argument("options.overlap"), format!(" must be from 0 to {}, less than the chunk size", size - 1));
        return Err(Error::invalid_argument(what).hint("Give fewer characters than a chunk has."));
    }
    if files == 0 {
        return Err(
            Error::invalid_argument((Argument("options.maxFiles"), " is 0")).hint("Give 1 or more, or leave it out.")
        );
    }
    let types = options.file_types.clone().unwrap_or_default();
    if types.len() > MOST_TYPES || (types.is_empty() && options.file_types.is_some()) {
        let what = (Argument("options.fileTypes"), format!(": a list of {} types", types.len()));
        return Err(Error::invalid_argument(what).hint("Name some, or leave it out to read all that can be read."));
    }
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    // The state file knows only signed numbers.
    let most = number(files).min(usize::MAX >> 1);
    Ok(FolderOptions { chunk_size: number(size), overlap: number(overlap), max_files: most, file_types: types })
}
