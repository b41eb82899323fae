//! The paths of a call by a client that may reach only files below the root of one repository.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::platform::paths::canonical;
use crate::wording::{Argument, Name};

/// Arguments that are the path of a file or folder, also inside `options`.
const PATHS: &[&str] = &["file", "file_path", "filePath", "folderPath", "changes"];

/// Rejects a call with a path that leads out of `root`, in the same words whether or not the path exists.
pub fn check_paths_below(root: &Path, arguments: &Value) -> Result<()> {
    let Some(fields) = arguments.as_object() else { return Ok(()) };
    let is_own = match fields.get("repo") {
        None | Some(Value::Null) => true,
        // A name of several repositories is not a path.
        Some(Value::String(repo)) => repo.is_empty() || (root.join(repo).exists() && is_below(root, repo)),
        Some(_) => false,
    };
    if !is_own {
        return Err(outside("repo"));
    }
    if let Some(options) = fields.get("options") {
        check_paths_below(root, options)?;
    }
    for name in PATHS {
        let given = match fields.get(*name) {
            Some(Value::String(path)) => vec![path.as_str()],
            Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        if !given.iter().all(|path| is_below(root, path)) {
            return Err(outside(name));
        }
    }
    Ok(())
}

/// The error for an argument that leads out of the repository.
pub fn outside(argument: &str) -> Error {
    Error::invalid_path((Argument(argument), ": this connection reaches only files of its own repository")).hint((
        "Use paths relative to the repository, and omit ",
        Name("repo"),
        ".",
    ))
}

fn is_below(root: &Path, given: &str) -> bool {
    let joined = root.join(given);
    // Folders that do not exist cannot be links, so only `..` leads out of them.
    let existing = joined.ancestors().find_map(|folder| canonical(folder).ok().map(|real| (folder, real)));
    let Some((folder, mut real)) = existing else { return false };
    let rest = joined.strip_prefix(folder).map(PathBuf::from).unwrap_or_default();
    for part in rest.components() {
        match part {
            Component::Normal(name) => real.push(name),
            Component::CurDir => {}
            _ => return false,
        }
    }
    real.starts_with(root)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_that_leads_out_is_rejected_whether_or_not_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonical(folder.path()).unwrap().join("repo");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir(root.with_file_name("repository")).unwrap();
        let is_allowed = |arguments: Value| check_paths_below(&root, &arguments).is_ok();
        for path in ["", ".", "src", "src/new.py", "src/../src", "none/at/all.py", &*root.to_string_lossy()] {
            assert!(is_allowed(json!({ "file_path": path })), "{path}");
            assert!(is_allowed(json!({ "changes": [path] })), "{path}");
        }
        let sibling = root.with_file_name("repository").to_string_lossy().into_owned();
        for path in
            ["..", "../repository", "src/../../x", "none/../../x", "/", "/etc/passwd", "/none", "@deps", &sibling]
        {
            let repos = [json!({ "repo": path }), json!({ "repo": [".", path] })];
            let paths = [json!({ "changes": ["src", path] }), json!({ "options": { "folderPath": path } })];
            for arguments in repos.into_iter().chain(paths.into_iter().filter(|_| path != "@deps")) {
                assert!(!is_allowed(arguments.clone()), "{arguments}");
            }
        }
        assert!(is_allowed(json!({ "repo": "src" })) && is_allowed(json!({ "repo": "" })));
    }
}
