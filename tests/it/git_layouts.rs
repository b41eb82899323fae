//! Random repositories in every layout that git allows, compared with git: which files are indexed, which branch is checked out,
//! and which files differ from the last commit. `.ci/soak git` makes hundreds, `IXMCP_LAYOUTS` says how many, and `IXMCP_SEED`
//! repeats one.
//!
//! Owns what is asked of git and of ixmcp, and how the answers compare. Does not own how repositories are made ([`made`]).

mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::{Value, json};

use self::made::{Layout, is_source};
use crate::support::sound::number;

/// Folders that git does not list, or whose files ixmcp lists by a rule of its own.
const OWN: &[&str] = &[".ixmcp", ".flashgrep", ".ixchel"];

#[test]
fn files_branches_and_changes_are_those_of_git_in_every_layout() {
    let seed = std::env::var("IXMCP_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or(0..number("IXMCP_LAYOUTS", 6), |seed: u64| seed..seed + 1);
    let mut differing = Vec::new();
    for seed in seeds {
        let layout = Layout::new(seed);
        let compare = || layout.roots.iter().flat_map(|root| differences(&layout, root)).collect();
        let found: Vec<String> =
            catch_unwind(AssertUnwindSafe(compare)).unwrap_or_else(|_| vec!["  see above".to_owned()]);
        if !found.is_empty() {
            differing.push(format!("seed {seed}\n{}\n  {}", found.join("\n"), layout.log.join("\n  ")));
        }
    }
    assert!(differing.is_empty(), "{} layouts differ\n{}", differing.len(), differing.join("\n\n"));
}

/// Lists the differences between ixmcp and git about the work tree at `root`.
fn differences(layout: &Layout, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let name = root.strip_prefix(layout.repo.path()).unwrap().display().to_string();
    let mut compare = |what: &str, ours: BTreeSet<String>, gits: BTreeSet<String>| {
        for path in ours.difference(&gits) {
            found.push(format!("  {name}: {what}: only ixmcp has {path:?}"));
        }
        for path in gits.difference(&ours) {
            found.push(format!("  {name}: {what}: only git has {path:?}"));
        }
    };
    let mut listed = BTreeSet::new();
    list(layout, root, root, "", &mut listed);
    let (files, special) = indexed_and_skipped(layout, root);
    // Git lists no pipe that it does not track.
    let special = special.into_iter().filter(|path| listed.contains(path));
    compare("files", files.into_iter().chain(special).collect(), listed.clone());
    let branch = |branch: Option<&str>| branch.into_iter().map(str::to_owned).collect();
    let stats = call(layout, root, "stats", &json!({}));
    let gits = layout.is_one_of_several(root).then(|| layout.git(root, &["branch", "--show-current"]));
    let gits = gits.as_deref().map(str::trim).filter(|name| !name.is_empty());
    compare("branch", branch(stats["worktree"]["branch"].as_str()), branch(gits));
    if layout.is_linked_in_return(root) {
        let answer = call(layout, root, "changes", &json!({ "limit": 1000 }));
        let gits = changed(layout, root);
        let count = format!("{} files", gits.len());
        compare("changes", reported(&answer), gits);
        compare("changes", BTreeSet::from([format!("{} files", answer["files"])]), BTreeSet::from([count]));
        compare("problems", answer.get("problems").map(Value::to_string).into_iter().collect(), BTreeSet::new());
    } else {
        let refused = layout.repo.fails(&["--repo", root.to_str().unwrap(), "call", "changes"]);
        assert!(refused.contains("does not name this folder in return"), "{refused}");
    }
    found
}

fn call(layout: &Layout, root: &Path, tool: &str, arguments: &Value) -> Value {
    let root = root.to_str().unwrap();
    serde_json::from_str(&layout.repo.ok(&["--repo", root, "call", tool, "--args", &arguments.to_string()])).unwrap()
}

/// Files that are indexed or skipped, and skipped ones that are no files for git.
fn indexed_and_skipped(layout: &Layout, root: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let root = root.to_str().unwrap();
    // It exits with 1 if there are none.
    let read = |arguments: &[&str]| -> Value { serde_json::from_slice(&layout.repo.run(arguments).stdout).unwrap() };
    let files = read(&["--repo", root, "files", "--json"]);
    let skipped = read(&["--repo", root, "files", "--skipped", "--json"]);
    let files = files["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    let (special, skipped): (Vec<&Value>, Vec<&Value>) =
        skipped["skipped"].as_array().unwrap().iter().partition(|file| file["reason"] == "special");
    let path = |file: &'_ Value| file["path"].as_str().unwrap().to_owned();
    let skipped = skipped.into_iter().map(path);
    let files = files.map(str::to_owned).chain(skipped).filter(|path| !is_own(path)).collect();
    (files, special.into_iter().map(path).collect())
}

fn is_own(path: &str) -> bool {
    path.split('/').any(|part| OWN.contains(&part))
}

/// Adds what `git ls-files` lists in the work tree at `folder`, and in the work trees inside it that are not of the repository at
/// `root`: of those, only the folder is listed.
fn list(layout: &Layout, root: &Path, folder: &Path, prefix: &str, listed: &mut BTreeSet<String>) {
    let output = layout.git(folder, &["ls-files", "-z", "-co", "--exclude-standard"]);
    for path in output.split('\0').filter(|path| !path.is_empty() && !is_own(path)) {
        let path = path.trim_end_matches('/');
        let full = folder.join(path);
        match kind(folder, path) {
            // Git lists what is gone, too.
            None => {}
            Some(found) if !found.is_dir() => drop(listed.insert(format!("{prefix}{path}"))),
            Some(_) if !full.join(".git").exists() || layout.is_ignored_folder(folder, path) => {}
            Some(_) if layout.common(&full) == layout.common(root) => drop(listed.insert(format!("{prefix}{path}"))),
            Some(_) => list(layout, root, &full, &format!("{prefix}{path}/"), listed),
        }
    }
}

/// Type of the file at a path, unless a link is on the way.
fn kind(root: &Path, path: &str) -> Option<fs::FileType> {
    let kind = |path: &str| fs::symlink_metadata(root.join(path)).ok().map(|found| found.file_type());
    let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders.all(|folder| kind(folder).is_some_and(|kind| kind.is_dir())).then(|| kind(path))?
}

/// The source files that `git status` lists and whose content differs from that of the last commit: what is only staged
/// and was changed back in the work tree does not. A file that git no longer tracks and ignores is gone.
fn changed(layout: &Layout, root: &Path) -> BTreeSet<String> {
    let status = ["status", "--porcelain", "-z", "-uall", "--no-renames", "--ignore-submodules=all"];
    let status = layout.git(root, &status);
    let committed: BTreeMap<String, String> = match layout.has_commit(root) {
        true => layout.git(root, &["ls-tree", "-r", "-z", "HEAD"]).split('\0').filter_map(regular).collect(),
        false => BTreeMap::new(),
    };
    let listed: BTreeSet<(&str, &str)> = status.split('\0').filter_map(|line| line.split_at_checked(3)).collect();
    let is_changed = |path: &&str| {
        if listed.contains(&("D  ", path)) && !listed.contains(&("?? ", path)) {
            return committed.contains_key(*path);
        }
        let is_file = kind(root, path).is_some_and(|found| found.is_file());
        match committed.get(*path) {
            None => is_file,
            Some(id) => !is_file || layout.git(root, &["hash-object", "--no-filters", path]).trim() != id,
        }
    };
    let paths = status.split('\0').filter_map(|line| line.get(3..)).filter(|path| is_source(path));
    paths.filter(is_changed).map(str::to_owned).collect()
}

/// The path and id of a regular file in a listing of a tree.
fn regular(line: &str) -> Option<(String, String)> {
    let (entry, path) = line.split_once('\t')?;
    entry.starts_with("100").then(|| (path.to_owned(), entry.rsplit(' ').next().unwrap().to_owned()))
}

/// The files of the definitions that differ.
fn reported(answer: &Value) -> BTreeSet<String> {
    let changes = answer["changes"].as_array().unwrap();
    let paths = changes.iter().flat_map(|change| [&change["file_path"], &change["old_path"]]);
    paths.filter_map(Value::as_str).map(str::to_owned).collect()
}
