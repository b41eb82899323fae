//! `ixchel_sync`: bring the knowledge graph up to date, and say what changed and what is wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::query::Page;

pub(super) static IXCHEL_SYNC: Declaration = declare! {
    long run;
    name: "ixchel_sync",
    title: "Sync the knowledge graph",
    about: "Bring the graph of .ixchel/**/*.md up to date and count what changed since this was last asked, with every \
        problem by path and line: broken front matter, missing or doubled ids, links to nothing. The other tools need no \
        sync before them: they are always up to date. Example: {}.",
    access: Access::Write,
    core: false,
    list: Some("problems"),
    example: "{}",
};

/// Arguments of `ixchel_sync`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Read every entity anew, changed or not (default false).
    #[serde(default)]
    force: Option<bool>,
    /// Most problems to list (default: all that fit).
    #[serde(default)]
    limit: Option<u64>,
    /// Problems to leave out at the start (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

/// Either the counts, or how far work is that goes on.
#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scanned: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unchanged: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<Vec<Problem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_problems: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Problem {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    reason: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let Some(report) = call.sync_entities(arguments.force.unwrap_or(false))? else {
        let (done, total) = call.progress();
        return Ok(Answer { status: Some("running"), done: Some(done), total: Some(total), ..Answer::default() });
    };
    let problems = Page::of(report.problems, offset, limit);
    Ok(Answer {
        scanned: Some(report.scanned),
        added: Some(report.added),
        modified: Some(report.modified),
        deleted: Some(report.deleted),
        unchanged: Some(report.unchanged),
        total_problems: problems.total,
        truncated: problems.next_offset.map(|_| true),
        next_offset: problems.next_offset,
        problems: Some(
            problems
                .items
                .into_iter()
                .map(|problem| Problem { path: problem.path, line: problem.line, reason: problem.reason })
                .collect(),
        ),
        ..Answer::default()
    })
}
