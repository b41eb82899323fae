//! `search_documents`: chunks that answer a query, each with a score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::incomplete::Needs;
use super::index_files::MOST_TYPES;
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, ErrorKind, Result};
use crate::extract;
use crate::model::{first_of, printable};
use crate::query::PathFilter;
use crate::query::documents::{self, Answer as Found};
use crate::store::Snapshot;
use crate::update::{DocumentFolder, unread_types};
use crate::wording::{Argument, Command, Tool, Wording};

pub(super) static SEARCH_DOCUMENTS: Declaration = declare! {
    run;
    name: "search_documents",
    title: "Search documents",
    about: "Find passages of documents and code that answer a query in prose, each whole and with a relevance \
        score from 0 to 1. belowMinScore counts the results that minScore dropped. Read around a passage with \
        get_file_details; for lines, names and patterns use query.",
    access: Access::Read,
    core: false,
    list: Some("results"),
    example: r#"{"query": "incremental update of the index", "options": {"minScore": 0.1, "limit": 3}}"#,
};

/// Arguments of `search_documents`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Query in words.
    query: String,
    options: Option<Options>,
    /// Results to skip (default 0).
    offset: Option<u64>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    /// Results to return (default 10, at most 100).
    limit: Option<u64>,
    /// Least score, 0 to 1 (default 0.7).
    min_score: Option<f64>,
    /// Add file and position (default true).
    include_metadata: Option<bool>,
    /// Only this folder (default: all).
    folder_path: Option<String>,
    /// Only these types: ".md", "markdown", … (default: all).
    file_types: Option<Vec<String>>,
    /// Add the vector (default false).
    include_embedding: Option<bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub results: Vec<Hit>,
    #[serde(rename = "belowMinScore")]
    pub below_min_score: usize,
    /// Absent where more chunks were found than could be judged: then there may be more than all pages have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Chunks that are found by their words alone until their vectors come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_pending: Option<u64>,
    /// Unknown types, why the selected model was not used, and which indexed folders are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hit {
    pub id: String,
    pub file_path: String,
    pub chunk_index: u64,
    pub content: String,
    pub score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<i8>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub file_size: u64,
    pub last_modified: String,
    pub chunk_offset: u64,
    pub start_line: u32,
    pub end_line: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Lines and chunkOffset are those of the text that was taken out of the file; on disk there are others, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extracted: bool,
}

const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 100;
const DEFAULT_SCORE: f64 = 0.7;

/// There is no file to search, though folders may be known.
fn nothing(folders: &[DocumentFolder]) -> Error {
    let error = |message: String| Error::new(ErrorKind::IndexNotFound, message);
    let Some(first) = folders.first() else {
        return error("nothing is indexed".to_owned()).hint(("Index a folder with ", Tool("index_files"), "."));
    };
    let more = if folders.len() > 1 { format!(" and {} more", folders.len() - 1) } else { String::new() };
    error(format!("nothing is indexed: no file can be read in {}{more}", printable(&first.folder_path))).hint(
        Wording::from("Check whether it was moved.").then((Command("documents remove"), " stops indexing a folder.")),
    )
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let none = Options::default();
    let options = arguments.options.as_ref().unwrap_or(&none);
    if arguments.query.trim().is_empty() {
        return Err(Error::invalid_argument((Argument("query"), " is empty")).hint("Give a query."));
    }
    let least = options.min_score.unwrap_or(DEFAULT_SCORE);
    if !(0.0..=1.0).contains(&least) {
        return Err(Error::invalid_argument((Argument("options.minScore"), " is not between 0 and 1"))
            .hint("0 shows everything that was found, 1 only what is certain."));
    }
    let filter = filter(call, options)?;
    let (offset, limit) = super::page(arguments.offset, options.limit, DEFAULT_LIMIT, MAX_LIMIT);
    let with_metadata = options.include_metadata.unwrap_or(true);
    let with_embedding = options.include_embedding.unwrap_or(false);
    let space = call.workspace().embeddings.space();
    let (found, below, results, pending, unknown) =
        call.read_deeply(Needs::Search(&arguments.query, &filter), |snapshot, deep| {
            if snapshot.file_count()? == 0 && call.incomplete.borrow().is_none() {
                return Err(nothing(&call.workspace().documents.folders(snapshot)?));
            }
            let unknown = unknown_types(snapshot, options.file_types.as_deref().unwrap_or_default())?;
            let (found, below) = documents::search(
                &call.corpus(snapshot),
                deep,
                &arguments.query,
                &filter,
                least,
                (offset, limit),
                call.budget(),
            )?;
            let id = snapshot.space(&space)?;
            let results = found.items.iter().map(|answer| {
                let vector =
                    id.filter(|_| with_embedding).map(|id| snapshot.vector_of(id, answer.piece.id)).transpose()?;
                Ok(shown(call, answer, with_metadata, vector.flatten()))
            });
            let results = results.collect::<Result<Vec<_>>>()?;
            let pending = super::vectors_pending(call, snapshot)?;
            Ok((found, below, results, pending, unknown))
        })?;
    Ok(Answer {
        results,
        below_min_score: below,
        total: found.total,
        truncated: found.is_cut,
        next_offset: found.next_offset(),
        vectors_pending: pending,
        warning: super::joined([unknown, call.warning(), gone(call)]),
    })
}

/// Which folders nothing can be found in.
fn gone(call: &Call) -> Option<String> {
    let gone = call.workspace().documents.gone_folders();
    let message =
        || format!("Of the indexed folders these are gone, and nothing in them is found: {}.", first_of(&gone, 5));
    (!gone.is_empty()).then(message)
}

fn filter(call: &Call, options: &Options) -> Result<PathFilter> {
    let folder =
        options.folder_path.as_deref().map(|folder| call.workspace().files.indexed_path(folder)).transpose()?;
    let types = options.file_types.as_ref();
    if types.is_some_and(|types| types.is_empty() || types.len() > MOST_TYPES) {
        return Err(Error::invalid_argument((Argument("options.fileTypes"), " is empty or too long"))
            .hint("Name some, or omit it."));
    }
    let extensions = types.map(|types| types.iter().flat_map(|typed| extract::extensions(typed)).collect());
    Ok(PathFilter::from_folder(folder, extensions))
}

/// The message about unknown types: an error if no known type is given. A file may be of a type that no reader
/// knows by name, and be in the index as text.
fn unknown_types(snapshot: &Snapshot, types: &[String]) -> Result<Option<String>> {
    let unread: Vec<&String> = types.iter().filter(|typed| !extract::reads_type(typed)).collect();
    if unread.is_empty() {
        return Ok(None);
    }
    let indexed = snapshot.paths(None)?;
    let is_there = |typed: &str| {
        let of_type = PathFilter::from_folder(None, Some(extract::extensions(typed)));
        indexed.iter().any(|(path, _)| of_type.admits(path))
    };
    let unknown: Vec<String> =
        unread.into_iter().filter(|typed| !is_there(typed)).map(|typed| format!("{:?}", printable(typed))).collect();
    if unknown.len() == types.len() {
        return Err(unread_types(types, "search all that is indexed"));
    }
    let message = || format!("No reader takes files of these types: {}.", unknown.join(", "));
    Ok((!unknown.is_empty()).then(message))
}

fn shown(call: &Call, found: &Found, with_metadata: bool, embedding: Option<Vec<i8>>) -> Hit {
    let piece = &found.piece;
    let lead = u64::try_from(piece.lead.chars().count()).unwrap_or(0);
    let metadata = with_metadata.then(|| Metadata {
        file_size: piece.file_size,
        last_modified: super::stats::instant(piece.modified_ns),
        chunk_offset: piece.start_offset.saturating_sub(lead),
        start_line: piece.first_line(),
        end_line: piece.end_line,
        headings: piece.headings.lines().map(str::to_owned).collect(),
        page: piece.page,
        extracted: call.workspace().documents.shows_extracted(&piece.path),
    });
    Hit {
        id: found.id.clone(),
        file_path: piece.path.clone(),
        chunk_index: piece.index,
        content: format!("{}{}", piece.lead, piece.text),
        score: found.score,
        metadata,
        embedding,
    }
}
