//! What a newcomer learns about a repository first: its largest folders, its central symbols, its latest changes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::graph::is_open;
use crate::error::Result;
use crate::store::{DefinitionNode, Snapshot, StoredEntity};

/// A folder with everything below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Folder {
    /// With a slash at its end; empty for the files next to the folders.
    pub path: String,
    pub files: u64,
    pub lines: u64,
}

/// A definition that many files reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Central {
    pub name: String,
    pub kind: String,
    pub file: String,
    pub line: u32,
    /// Files that reference the name.
    pub files: u64,
}

const FOLDERS: usize = 14;
const CENTRAL: usize = 14;
/// Names that are looked up to find that many definitions.
const NAMES: u32 = 400;
/// A name with more definitions than this does not mean one of them.
const MAX_DEFINITIONS: usize = 2;

/// The largest folders, by lines. A folder that has most of the repository is shown by the folders in it.
pub fn folders(snapshot: &Snapshot) -> Result<Vec<Folder>> {
    let files = snapshot.lines_of_files()?;
    let total: u64 = files.iter().map(|(_, lines)| lines).sum();
    let mut depth_of: Vec<(String, Vec<&(String, u64)>)> = vec![(String::new(), files.iter().collect())];
    let mut found: Vec<Folder> = Vec::new();
    while let Some((prefix, files)) = depth_of.pop() {
        let mut inner: BTreeMap<&str, Vec<&(String, u64)>> = BTreeMap::new();
        for file in files {
            let rest = &file.0[prefix.len()..];
            inner.entry(rest.find('/').map_or("", |end| &rest[..=end])).or_default().push(file);
        }
        for (name, files) in inner {
            let lines: u64 = files.iter().map(|(_, lines)| lines).sum();
            let path = format!("{prefix}{name}");
            if !name.is_empty() && lines * 3 > total && path.matches('/').count() < 4 {
                depth_of.push((path, files));
            } else {
                found.push(Folder { path, files: files.len() as u64, lines });
            }
        }
    }
    found.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    found.truncate(FOLDERS);
    Ok(found)
}

/// The definitions that most files reference.
pub fn central(snapshot: &Snapshot) -> Result<Vec<Central>> {
    const KINDS: &[&str] = &[
        "class",
        "struct",
        "enum",
        "interface",
        "trait",
        "function",
        "method",
        "macro",
        "type",
        "protocol",
        "object",
        "record",
        "module",
    ];
    let mut found = Vec::new();
    for (name, files) in snapshot.most_referenced(NAMES)? {
        if found.len() == CENTRAL {
            break;
        }
        let defined = snapshot.declared_as(&name, MAX_DEFINITIONS + 1)?;
        let is_of_kind = |node: &&DefinitionNode| KINDS.contains(&node.definition.kind.as_str());
        if defined.len() <= MAX_DEFINITIONS
            && let Some(node) = defined.iter().find(is_of_kind)
        {
            let definition = &node.definition;
            let (kind, file, line) = (definition.kind.clone(), definition.path.clone(), definition.line);
            found.push(Central { name, kind, file, line, files });
        }
    }
    Ok(found)
}

/// The decisions, issues and other entities that are still open, the latest first, and how many there are.
pub fn open_entities(snapshot: &Snapshot, limit: usize) -> Result<(Vec<StoredEntity>, usize)> {
    let mut open = snapshot.entities(None)?;
    open.retain(|entity| entity.status.as_deref().is_some_and(|status| is_open(Some(status))));
    open.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.key.cmp(&b.key)));
    let total = open.len();
    open.truncate(limit);
    Ok((open, total))
}
