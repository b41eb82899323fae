//! Whether an index is sound: no faults, and the dump of a fresh build of the same tree.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ixmcp::budget::{Budget, Progress};
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::error::Result;
use ixmcp::repository::Thoroughness;
use ixmcp::store::Snapshot;
use ixmcp::update::Freshness;
use ixmcp::workspace::Workspace;

/// Settings of no one's, but that the smallest tree has trigrams.
pub fn sources(root: &Path) -> Arc<Sources> {
    let trigrams = ("IXMCP_TRIGRAMS_FROM".to_owned(), "0".to_owned());
    let environment = Environment::new([trigrams], root.join("../no-home"), root.to_owned());
    Arc::new(Sources { flags: Flags::default(), environment })
}

pub fn open(root: &Path) -> Arc<Workspace> {
    Arc::new(Workspace::open(root, sources(root)).unwrap())
}

/// A workspace that notices changes, after its first sweep.
pub fn watched(root: &Path) -> Arc<Workspace> {
    let workspace = open(root);
    workspace.watch();
    freshen(&workspace);
    workspace
}

/// Brings the index up to date as every read does, with a longer timeout than a user would accept.
pub fn freshen(workspace: &Arc<Workspace>) {
    let freshness = workspace.freshen(Some(Duration::from_secs(120)), &Budget::unlimited()).unwrap();
    assert_eq!(freshness, Freshness::Fresh);
}

pub fn sync(workspace: &Workspace) {
    workspace.sync(Thoroughness::Changed, &Arc::<Progress>::default(), &Budget::unlimited()).unwrap();
}

/// Dumps the index after the pending vectors are made.
pub fn dump(workspace: &Workspace) -> Vec<String> {
    workspace.embeddings.embed(&Budget::unlimited()).unwrap();
    workspace.read(&Budget::unlimited(), rows).unwrap()
}

/// The rows of a snapshot, without the history of the repository: a copy of a worktree has none.
pub fn rows(snapshot: &Snapshot) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    snapshot.dump(|line| lines.push(line.to_owned()))?;
    lines.retain(|line| !line.starts_with("[\"commit"));
    Ok(lines)
}

/// The dump of a new index of a copy of the tree.
pub fn fresh_dump(root: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<_> = names.filter(|path| path.file_name().is_some_and(|name| name != ".ixmcp")).collect();
    let copied = Command::new("cp").arg("-a").args(names).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    let workspace = open(copy.path());
    sync(&workspace);
    dump(&workspace)
}

pub fn assert_same(found: &[String], fresh: &[String], context: &str) {
    if found != fresh {
        let only = |these: &[String], others: &[String]| -> Vec<String> {
            let others: std::collections::HashSet<&String> = others.iter().collect();
            these.iter().filter(|line| !others.contains(line)).take(5).cloned().collect()
        };
        panic!(
            "{context}\nthe index differs from a fresh build.\nonly in the index: {:#?}\nonly fresh: {:#?}",
            only(found, fresh),
            only(fresh, found)
        );
    }
}

/// The index has no faults and holds what a fresh build would.
pub fn assert_sound(workspace: &Workspace, context: &str) {
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
    assert_same(&dump(workspace), &fresh_dump(workspace.root()), context);
}

/// A number from the environment, for loops that a soak runs whole.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
