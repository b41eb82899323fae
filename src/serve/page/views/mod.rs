//! Views of the web page, in addition to the answers of tools: one file per view, and one row each in `VIEWS`.
//!
//! Owns the declarations. Models have no use for these, so they are not in `tools/list`, and clients must not call them. Does not own
//! how a call is planned and answered (`tools`), or the queries themselves (`query`).

mod file_chunks;
mod file_highlight;
mod graph_picture;
mod rendered_markdown;
mod repository_overview;
mod symbol_relations;

use crate::error::{Error, ErrorKind, Result};
use crate::tools::{Declaration, history, list_files, symbols};

static VIEWS: &[&Declaration] = &[
    &file_chunks::CHUNKS,
    &graph_picture::GRAPH,
    &history::HISTORY,
    &file_highlight::HIGHLIGHT,
    &file_highlight::SNIPPETS,
    &rendered_markdown::MARKDOWN,
    &repository_overview::OVERVIEW,
    &symbol_relations::RELATIONS,
    &symbols::OUTLINE,
    &list_files::PATHS,
];

/// The names of all views.
pub fn names() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().map(|view| view.name)
}

/// The view of that name.
pub fn find(name: &str) -> Result<&'static Declaration> {
    let view = VIEWS.iter().find(|view| view.name == name).copied();
    view.ok_or_else(|| Error::new(ErrorKind::UnknownTool, "there is no such view"))
}
