//! Which worktree an answer is about, in repositories that have more than one, and which one a path belongs to.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::git_layout;
use crate::model::printable;

/// Tools whose answers name the worktree.
const NAMED_BY: &[&str] = &["query", "get_symbol", "find_references", "search_documents", "stats"];
/// Arguments that are the path of a file.
const PATHS: &[&str] = &["file_path", "filePath", "file"];

/// Whether answers of that tool name the worktree.
pub(super) fn is_named_by(tool: &str) -> bool {
    NAMED_BY.contains(&tool)
}

/// Adds `{root, branch}` of the worktree at `root` to an answer if the repository has others; without `branch` if none is checked out.
pub fn name_worktree(answer: &mut Value, root: &Path, branch: impl FnOnce() -> Option<String>) {
    let Some(fields) = answer.as_object_mut().filter(|_| git_layout::is_one_of_several(root)) else { return };
    let mut described = json!({ "root": root.to_string_lossy() });
    if let Some(branch) = branch() {
        described["branch"] = Value::String(printable(&branch));
    }
    fields.insert("worktree".to_owned(), described);
}

/// The other worktree of the repository at `root` that an absolute path among the arguments belongs to, if it is trusted: see
/// [`git_layout::siblings`].
pub fn worktree_of_path(root: impl FnOnce() -> Result<PathBuf>, arguments: &Map<String, Value>) -> Option<PathBuf> {
    let given = PATHS.iter().find_map(|name| arguments.get(*name)?.as_str())?;
    let path = PathBuf::from(given);
    let is_plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::RootDir | Component::Prefix(_)));
    if !path.is_absolute() || !is_plain {
        return None;
    }
    let root = &*root().ok()?;
    // Most paths are in the repository, and in no folder with a `.git` of its own.
    let mut around = path.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root));
    let is_nested = around.any(|folder| folder.join(".git").symlink_metadata().is_ok());
    if path.starts_with(root) && !is_nested {
        return None;
    }
    let holding = git_layout::siblings(root).into_iter().filter(|sibling| path.starts_with(sibling));
    let nearest = holding.max_by_key(|sibling| sibling.as_os_str().len())?;
    Some(nearest).filter(|nearest| !path.starts_with(root) || nearest.starts_with(root))
}
