//! `changes`: the definitions that differ from a commit, and what depends on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::history::{self, CommitNote};
use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::query::changes::{self, ChangedDefinition, Difference, OldFile};
use crate::query::history::ChangesWith;
use crate::repository::Version;
use crate::store::FileProblem;

pub(super) static CHANGES: Declaration = declare! {
    run;
    name: "changes",
    title: "Show what a change affects",
    about: "List the definitions that differ from a commit, with callers and implementers outside the change, tests and documents \
        that name them. Use it before a commit; for all references to one symbol use find_references.",
    access: Access::Read,
    core: false,
    list: Some("changes"),
    example: r#"{"base": "HEAD"}"#,
};

/// Arguments of `changes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Commit, branch or tag; "branch": where this branch left the default branch (default HEAD).
    base: Option<String>,
    /// Definitions to return (default: all that fit).
    limit: Option<u64>,
    /// Definitions to skip (default 0).
    offset: Option<u64>,
    /// Add the commits that touched each file last, and files that usually change with these and did not.
    history: Option<bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The commit.
    pub base: Base,
    pub changes: Vec<ChangedDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Source files that differ.
    pub files: usize,
    /// Files of tests to run, the likeliest to notice the change first.
    pub tests: Vec<String>,
    /// Files that could not be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FileProblem>,
    /// With history: the last commits that changed the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<CommitNote>,
    /// With history: files that usually change together with these and are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes_with: Vec<ChangesWith>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Base {
    /// The name as given.
    pub name: String,
    /// Absent if nothing is committed yet: everything is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch that the commit is the merge base with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_base_with: Option<String>,
}

fn before(version: &Version) -> OldFile<'_> {
    OldFile { language: version.language, text: &version.text, symbols: &version.symbols }
}

const MAX_LIMIT: usize = 1000;
/// Files that could not be compared and are listed.
const MAX_PROBLEMS: usize = 20;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let name = arguments.base.clone().unwrap_or_else(|| "HEAD".to_owned());
    let (offset, limit) = super::page(arguments.offset, arguments.limit, MAX_LIMIT, MAX_LIMIT);
    let versions = &call.workspace().history;
    let base = versions.base(&name, call.budget())?;
    call.refresh_scip()?;
    let (found, paths, problems) = call.read_now(|snapshot, _| {
        let differences = versions.differences(&base, snapshot, call.budget())?;
        let compared: Vec<Difference> = differences
            .files
            .iter()
            .map(|file| Difference {
                path: &file.path,
                before: file.before.as_deref().map(before),
                is_gone: file.is_gone,
            })
            .collect();
        let found = changes::list(snapshot, &compared, offset, limit)?;
        let paths: Vec<String> = differences.files.into_iter().map(|file| file.path).collect();
        Ok((found, paths, differences.problems))
    })?;
    let (past, no_history) = match arguments.history {
        Some(true) => call.read_history(|own| {
            call.read_now(|snapshot, _| own.read(snapshot, || history::of_files(snapshot, &paths)))
        })?,
        _ => (None, None),
    };
    let past = past.unwrap_or_default();
    let conflicts = match base.conflicts() {
        0 => None,
        1 => Some("A merge has conflicts in 1 file: its text is compared with its conflict markers.".to_owned()),
        many => {
            Some(format!("A merge has conflicts in {many} files: their text is compared with its conflict markers."))
        }
    };
    let unlisted = problems.len().saturating_sub(MAX_PROBLEMS);
    let unlisted = (unlisted > 0).then(|| format!("{unlisted} more files could not be compared."));
    let warning: Vec<String> = conflicts.into_iter().chain(unlisted).chain(no_history).collect();
    let problem = |(path, reason): (String, &str)| FileProblem { path, line: None, reason: reason.to_owned() };
    Ok(Answer {
        base: Base { name, commit: base.commit.id.clone(), merge_base_with: base.commit.of.clone() },
        total: found.page.total,
        truncated: found.page.is_cut,
        next_offset: found.page.next_offset(),
        changes: found.page.items,
        history: past.commits,
        changes_with: past.changes_with,
        files: paths.len(),
        tests: found.tests,
        problems: problems.into_iter().take(MAX_PROBLEMS).map(problem).collect(),
        warning: Some(warning.join(" ")).filter(|text| !text.is_empty()),
    })
}
