//! `ixchel_search`: entities by what they are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::incomplete::Needs;
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::query::entities::{self, FoundEntity};
use crate::wording::Argument;

pub(super) static IXCHEL_SEARCH: Declaration = declare! {
    run;
    name: "ixchel_search",
    title: "Search the knowledge graph",
    about: "Search the knowledge graph: decisions, issues, ideas, reports and notes. Use it to learn why something \
        is as it is or what is known to be wrong. Then ixchel_context or ixchel_show; for code use query.",
    access: Access::Read,
    core: true,
    list: Some("hits"),
    example: r#"{"query": "storage decision", "limit": 5}"#,
};

/// Arguments of `ixchel_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Words or an id.
    query: String,
    /// decision, issue, idea, report, …; document: other Markdown files (default: all).
    kind: Option<String>,
    /// Only entities with this tag.
    tag: Option<String>,
    /// Hits to return (default 10, at most 100).
    limit: Option<u64>,
    /// Hits to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub hits: Vec<FoundEntity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Chunks in the search that are found by their words alone until their vectors are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_pending: Option<u64>,
    /// Filters that matched nothing, with near values; why the chosen model was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    if arguments.query.trim().is_empty() {
        return Err(Error::invalid_argument((Argument("query"), " is empty")).hint("Give a query."));
    }
    let page = super::page(arguments.offset, arguments.limit, 10, 100);
    let narrowed = (arguments.kind.as_deref(), arguments.tag.as_deref());
    let budget = call.budget();
    let space = call.workspace().embeddings.space();
    let (found, pending) = call.read_deeply(Needs::Entities, |snapshot, deep| {
        let found = entities::search(snapshot, deep, &arguments.query, narrowed, page, budget)?;
        Ok((found, entities::vectors_pending(snapshot, narrowed, &space)?))
    })?;
    Ok(Answer {
        vectors_pending: Some(pending).filter(|pending| *pending > 0),
        warning: super::joined([found.warning, call.warning()]),
        total: found.page.total,
        truncated: found.page.is_cut,
        next_offset: found.page.next_offset(),
        hits: found.page.items,
    })
}
