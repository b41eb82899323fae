//! `update_index`: bring a folder of documents up to date, and report what changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index_files::{LeftOut, Partial};
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::wording::{Argument, Name};

pub(super) static UPDATE_INDEX: Declaration = declare! {
    long run;
    name: "update_index",
    title: "Update a folder of documents",
    about: "Update an indexed folder: count what changed since the last call, and list what was skipped. Searches \
        are up to date without it. forget removes the folder from the index.",
    access: Access::Write,
    core: false,
    list: Some("skipped"),
    example: r#"{"folderPath": "src", "changes": ["src/missing.rs"]}"#,
};

/// Arguments of `update_index`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// An indexed folder, or one in it.
    #[serde(rename = "folderPath")]
    folder_path: String,
    /// Changed files or folders (default: all of the folder).
    changes: Option<Vec<String>>,
    /// Remove the folder from the index; its files may remain as part of the repository (default false).
    forget: Option<bool>,
    /// Skipped files to return (default: all that fit).
    limit: Option<u64>,
    /// Skipped files to leave out at the start (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Path in the index: relative to the repository, which is `.`; absolute if outside.
    pub folder_path: String,
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
        return Err(Error::invalid_argument((Argument("changes"), format!(": more than {MOST_CHANGES} paths")))
            .hint("Omit it to update the whole folder."));
    }
    let workspace = call.workspace();
    if arguments.forget == Some(true) {
        if !changes.is_empty() {
            return Err(Error::invalid_argument((Argument("changes"), ": a folder that is to be forgotten has none"))
                .hint(("Leave out ", Name("changes"), ", or ", Name("forget"), ".")));
        }
        let report = workspace.documents.remove_folder(&arguments.folder_path, call.progress(), call.budget())?;
        return Ok(Answer {
            folder_path: report.folder,
            added: 0,
            updated: 0,
            removed: report.removed,
            unchanged: report.stayed,
            total_chunks: report.total_chunks,
            index_size_bytes: workspace.index_size(),
            partial: Partial::new(Vec::new()),
            left: LeftOut::page(Vec::new(), arguments.offset, arguments.limit),
        });
    }
    let report = workspace.documents.update_folder(&arguments.folder_path, changes, call.progress(), call.budget())?;
    Ok(Answer {
        folder_path: report.folder,
        added: report.added,
        updated: report.updated,
        removed: report.removed,
        unchanged: report.unchanged,
        total_chunks: report.total_chunks,
        index_size_bytes: workspace.index_size(),
        partial: Partial::new(report.problems),
        left: LeftOut::page(report.skipped, arguments.offset, arguments.limit),
    })
}
