//! `ixchel_search`: entities by what they are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::index::Part;
use crate::query::entities::{self, FoundEntity};

pub(super) static IXCHEL_SEARCH: Declaration = declare! {
    run;
    name: "ixchel_search",
    title: "Search the knowledge graph",
    about: "Decisions, issues, ideas, reports and notes of this repository that answer a query, best first: why \
        something is as it is, what is known to be wrong, what was tried. Narrow with kind and tag. Example: {\"query\": \
        \"why sqlite\"}. Then read one with ixchel_show, or all around it with ixchel_context. For code, use query.",
    access: Access::Read,
    core: true,
    list: Some("hits"),
    example: r#"{"query": "storage decision", "limit": 5}"#,
};

/// Arguments of `ixchel_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What to look for: words, or an id.
    #[serde(alias = "text")]
    query: String,
    /// Only this kind: decision, issue, idea, report, source, citation, agent, session, note; or document, for the other
    /// Markdown files, whose ids are their paths.
    #[serde(default)]
    kind: Option<String>,
    /// Only what carries this tag.
    #[serde(default)]
    tag: Option<String>,
    /// Most hits to return (default 10; more than 100 count as 100).
    #[serde(default)]
    limit: Option<u64>,
    /// Hits to leave out at the start (default 0).
    #[serde(default)]
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
    /// Pieces of what was searched that are found by their words alone until their vectors come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_pending: Option<u64>,
    /// Filters that matched nothing, with near values; why the chosen model was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    if arguments.query.trim().is_empty() {
        return Err(Error::invalid_argument("argument `query` is empty").hint("Give a query."));
    }
    let page = super::page(arguments.offset, arguments.limit, 10, 100);
    let narrowed = (arguments.kind.as_deref(), arguments.tag.as_deref());
    let budget = call.budget();
    let space = call.workspace().embeddings.space();
    let (found, pending) = call.read_deeply(Part::Entities, |snapshot, deep| {
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
