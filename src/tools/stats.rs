//! `stats`: what the index contains and how it is kept fresh.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::store::{Fact, schema_version};
use crate::update::DocumentFolder;

pub(super) static STATS: Declaration = declare! {
    run;
    name: "stats",
    title: "Index statistics",
    about: "Show what the index contains: files, chunks and symbols per language, its size, when it last changed \
        and how it is kept fresh.",
    access: Access::Read,
    core: false,
    list: None,
    example: "{}",
};

/// Arguments of `stats`: none of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub root: String,
    /// The database of the index.
    pub index_path: String,
    pub total_files: u64,
    pub total_chunks: u64,
    pub total_symbols: u64,
    pub total_references: u64,
    pub index_size_bytes: u64,
    /// RFC 3339: when the index last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update: Option<String>,
    pub languages: BTreeMap<String, Language>,
    pub skipped: BTreeMap<String, u64>,
    pub entities: u64,
    pub tags: u64,
    pub vectors: u64,
    /// Chunks that are found by their words alone until they have a vector.
    pub vectors_pending: u64,
    pub model: Model,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transformer: Option<Transformer>,
    /// Folders that `index_files` was asked to index.
    pub document_folders: Vec<DocumentFolder>,
    pub schema_version: i64,
    /// The worktree of the same repository whose index was copied to begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded_from: Option<String>,
    /// How changes are noticed: sweep is a look at every file's stat before each answer.
    pub watch_mode: String,
}

/// The model that embeds texts.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Model {
    pub name: String,
    pub dimension: usize,
    pub device: String,
}

/// The selected model, in addition to the built-in one.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Transformer {
    pub name: String,
    /// Device that it runs on; absent until a query loads it, and if it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Absent where nothing was ever embedded with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// Chunks that have its vector; until all have, it looks at the best hits alone.
    pub vectors: u64,
    /// Whether its vectors find chunks, too.
    pub answers: bool,
    /// About how long all chunks still take on an idle machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
    /// Why it is not used, or not as it was hoped for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Language {
    pub files: u64,
    pub lines: u64,
}

/// A time as answers tell it: RFC 3339.
pub(crate) fn instant(ns: i64) -> String {
    Timestamp::from_nanosecond(ns.into()).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// The worktree that a database belongs to.
fn worktree_of(database: &str) -> Option<String> {
    Path::new(database).parent()?.parent()?.to_str().map(str::to_owned)
}

/// The state of the selected model.
fn transformer(call: &Call) -> Option<Transformer> {
    let workspace = call.workspace();
    let name = workspace.model.selected()?;
    let state = workspace.model.state(&name, call.budget());
    let warning = state.as_ref().err().map(|error| error.message.to_string());
    let state = state.unwrap_or_default();
    Some(Transformer {
        name,
        device: state.device,
        dimension: state.dimension,
        vectors: state.done,
        answers: state.whole,
        seconds_left: state.seconds_left,
        warning: warning.or(state.warning),
    })
}

fn run(call: &Call, _: &Arguments) -> Result<Answer> {
    let workspace = call.workspace();
    let space = workspace.embeddings.space();
    let (counts, vectors, vectors_pending, folders, seeded_from) = call.read_now(|snapshot, _| {
        let counts = snapshot.totals()?;
        let vectors = snapshot.space(&space)?.map_or(Ok(0), |space| snapshot.vector_count(space))?;
        let folders = workspace.documents.folders(snapshot)?;
        Ok((counts, vectors, snapshot.vectors_pending(&space)?, folders, snapshot.fact(Fact::SeededFrom)?))
    })?;
    let languages = counts.languages.into_iter().map(|(name, files, lines)| (name, Language { files, lines }));
    Ok(Answer {
        root: workspace.root().to_string_lossy().into_owned(),
        index_path: workspace.database().to_string_lossy().into_owned(),
        total_files: counts.files,
        total_chunks: counts.chunks,
        total_symbols: counts.symbols,
        total_references: counts.references,
        index_size_bytes: workspace.index_size(),
        last_update: counts.last_change_ns.map(instant),
        languages: languages.collect(),
        skipped: counts.skipped.into_iter().collect(),
        entities: counts.entities,
        tags: counts.tags,
        vectors,
        vectors_pending,
        model: Model { name: space.model.to_owned(), dimension: space.dimension, device: "cpu".to_owned() },
        transformer: transformer(call),
        document_folders: folders,
        schema_version: schema_version(),
        seeded_from: seeded_from.as_deref().and_then(worktree_of),
        watch_mode: workspace.watch_mode().to_owned(),
    })
}
