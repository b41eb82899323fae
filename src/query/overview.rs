//! A first look at a repository: its largest folders, its central symbols, its latest changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::graph::is_open;
use super::relations::{Resolution, ResolutionRule, Resolver};
use crate::error::Result;
use crate::store::{DefinitionNode, Reference, Snapshot, StoredEntity};

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
    /// About how many files reference it.
    pub files: u64,
}

const FOLDERS: usize = 14;
const CENTRAL: usize = 14;
/// Names that are looked up to find that many definitions.
const NAMES: u32 = 400;
/// A name with more definitions than this does not mean one of them.
const MAX_DEFINITIONS: usize = 4;
/// Names whose references are resolved.
const EXAMINED: usize = 45;
/// References of a name that are resolved, of different files, and of how many they are taken.
const SAMPLE: usize = 24;
const SAMPLED_FROM: usize = 5_000;
/// Definitions of qualified names that end in one name.
const MAX_QUALIFIED: usize = 40;
/// After this time, only what was found until then is listed.
const MAX_TIME: Duration = Duration::from_secs(2);

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

/// The definitions that most files reference. Names by themselves say little: in Rust, `map` is an iterator's in most files. So
/// some references of each name are resolved.
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
    let end = Instant::now() + MAX_TIME;
    let mut resolver = Resolver::new(snapshot);
    let mut found: Vec<Central> = Vec::new();
    // A reference has the last part of such a name.
    let mut qualified: HashMap<String, Vec<String>> = HashMap::new();
    for name in snapshot.qualified_modules()? {
        let last = name.rsplit('.').next().unwrap_or_default().to_owned();
        qualified.entry(last).or_default().push(name);
    }
    let mut examined = 0;
    for (name, uses) in snapshot.most_referenced(NAMES)? {
        let least = found.get(CENTRAL - 1).map_or(0, |last| last.files);
        // The names that follow are in fewer files than this one has uses.
        if uses <= least || examined == EXAMINED || Instant::now() > end {
            break;
        }
        let mut defined = snapshot.declared_as(&name, MAX_DEFINITIONS + 1)?;
        if defined.len() > MAX_DEFINITIONS {
            continue;
        }
        for name in qualified.get(&name).into_iter().flatten().take(MAX_QUALIFIED) {
            defined.extend(snapshot.declared_as(name, MAX_DEFINITIONS)?);
        }
        defined.retain(|node| KINDS.contains(&node.definition.kind.as_str()));
        if defined.is_empty() {
            continue;
        }
        examined += 1;
        let Some((best, files)) = referenced(&mut resolver, snapshot, &name, &defined)? else { continue };
        let definition = &defined[best].definition;
        let (name, kind) = (definition.name.clone(), definition.kind.clone());
        found.push(Central { name, kind, file: definition.path.clone(), line: definition.line, files });
        found.sort_by_key(|one| Reverse(one.files));
    }
    found.truncate(CENTRAL);
    Ok(found)
}

/// Which of some definitions of a name the references in other files refer to most, and in about how many files.
fn referenced(
    resolver: &mut Resolver,
    snapshot: &Snapshot,
    name: &str,
    defined: &[DefinitionNode],
) -> Result<Option<(usize, u64)>> {
    let (mut references, total) = snapshot.references(name, 0, SAMPLED_FROM)?;
    let read = references.len().max(1);
    references.dedup_by(|one, before| one.path == before.path);
    let files = references.len() * total / read;
    let step = references.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&Reference> = references.iter().step_by(step).collect();
    let mut hits = vec![0_u64; defined.len()];
    for used in &sample {
        let is_it = |found: &Resolution| found.how != ResolutionRule::Ambiguous;
        let Some(resolution) = resolver.resolve(used)?.filter(is_it) else { continue };
        let is_target = |node: &DefinitionNode| {
            node.definition.path != used.path && resolution.targets.iter().any(|target| target.id == node.id)
        };
        if let Some(at) = defined.iter().position(is_target) {
            hits[at] += 1;
        }
    }
    let best = (0..hits.len()).rev().max_by_key(|at| hits[*at]).filter(|best| hits[*best] > 0);
    Ok(best.map(|best| (best, (files as u64 * hits[best] / sample.len() as u64).max(1))))
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
