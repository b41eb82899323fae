//! `ixchel_sync`: bring the knowledge graph up to date, and report changes and problems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::query::Page;
use crate::store::FileProblem;

pub(super) static IXCHEL_SYNC: Declaration = declare! {
    long run;
    name: "ixchel_sync",
    title: "Sync the knowledge graph",
    about: "Bring the knowledge graph in .ixchel up to date; count what changed since the last call and list \
        problems by path and line. Other tools are up to date without it.",
    access: Access::Write,
    core: false,
    list: Some("problems"),
    example: "{}",
};

/// Arguments of `ixchel_sync`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Read unchanged entities again (default false).
    force: Option<bool>,
    /// Problems to return (default: all that fit).
    limit: Option<u64>,
    /// Problems to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub scanned: usize,
    pub added: usize,
    pub modified: usize,
    pub deleted: usize,
    pub unchanged: usize,
    pub problems: Vec<FileProblem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_problems: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let report = call.sync_entities(arguments.force.unwrap_or(false))?;
    let problems = Page::from_list(report.problems, offset, limit);
    Ok(Answer {
        scanned: report.scanned,
        added: report.added,
        modified: report.modified,
        deleted: report.deleted,
        unchanged: report.unchanged,
        total_problems: problems.total,
        truncated: problems.is_cut.then_some(true),
        next_offset: problems.next_offset(),
        problems: problems.items,
    })
}
