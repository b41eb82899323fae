//! `update_index`: bring a folder of documents up to date, and say what changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index_files::{LeftOut, Partial};
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};

pub(super) static UPDATE_INDEX: Declaration = declare! {
    long run;
    name: "update_index",
    title: "Update a folder of documents",
    about: "Bring an indexed folder up to date and count what changed since this was last asked: all of it, or the files \
        and folders in `changes`, deleted ones too. Searches are always up to date without it; use it to learn what \
        changed, or what was skipped and why. forget takes the folder out of the index. \
        Example: {\"folderPath\": \"docs\", \"changes\": [\"docs/plan.pdf\"]}.",
    access: Access::Write,
    core: false,
    list: Some("skipped"),
    example: r#"{"folderPath": "src", "changes": ["src/missing.rs"]}"#,
};

/// Arguments of `update_index`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// A folder that was indexed, or one in it: absolute, or relative to the repository.
    #[serde(rename = "folderPath", alias = "folder_path", alias = "path")]
    folder_path: String,
    /// Files or folders that changed: absolute, or relative to the folder or the repository (default: all of the folder).
    #[serde(default)]
    changes: Option<Vec<String>>,
    /// Have the folder indexed as documents no longer: removed counts the files that leave the index, unchanged those that
    /// stay because the repository or a folder around has them (default false).
    #[serde(default)]
    forget: Option<bool>,
    /// Most skipped files to list (default: all that fit).
    #[serde(default)]
    limit: Option<u64>,
    /// Skipped files to leave out at the start (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    pub added: usize,
    pub updated: usize,
    pub removed: usize,
    pub unchanged: usize,
    #[serde(flatten)]
    pub left: LeftOut,
    #[serde(flatten)]
    pub partial: Partial,
    pub total_chunks: u64,
    pub index_size_bytes: u64,
}

const MOST_CHANGES: usize = 10_000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let changes = arguments.changes.as_deref().unwrap_or_default();
    if changes.len() > MOST_CHANGES {
        return Err(Error::invalid_argument(format!("argument `changes`: more than {MOST_CHANGES} paths"))
            .hint("Omit it to update the whole folder."));
    }
    let workspace = call.workspace();
    if arguments.forget == Some(true) {
        if !changes.is_empty() {
            return Err(Error::invalid_argument("argument `changes`: a folder that is to be forgotten has none")
                .hint("Leave out `changes`, or `forget`."));
        }
        let report = workspace.documents.remove_folder(&arguments.folder_path, call.progress(), call.budget())?;
        return Ok(Answer {
            added: 0,
            updated: 0,
            removed: report.removed,
            unchanged: report.stayed,
            total_chunks: report.total_chunks,
            index_size_bytes: workspace.index_size(),
            partial: Partial::of(Vec::new()),
            left: LeftOut::page(Vec::new(), arguments.offset, arguments.limit),
        });
    }
    let report = workspace.documents.update_folder(&arguments.folder_path, changes, call.progress(), call.budget())?;
    Ok(Answer {
        added: report.added,
        updated: report.updated,
        removed: report.removed,
        unchanged: report.unchanged,
        total_chunks: report.total_chunks,
        index_size_bytes: workspace.index_size(),
        partial: Partial::of(report.problems),
        left: LeftOut::page(report.skipped, arguments.offset, arguments.limit),
    })
}
