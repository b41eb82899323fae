//! The walk: it obeys ignore files as git does, and follows no links.
//!
//! Owns both ways to list: the whole tree, and only some paths of it. Both decide about entries by the same code, so
//! that they agree. Does not own what is ignored (`ignored`), the rules by path (`rules`), nor what git tracks
//! (`tracked`, `with_tracked`).

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::bare;
use super::ignored::{FolderRules, RULE_FILES, Tree};
use super::rules::{PRIVATE_NAMES, Rules, is_private_name};
use super::{Entering, FoundFile, Listing, SkippedEntry};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::git_layout::{Worktrees, is_repository};
use crate::locked::locked;
use crate::model::{RepoPath, SkipReason, Stat, printable};
use crate::platform::files::stat_of;
use crate::platform::paths::of_git;
use crate::threads::cores;

/// Entities live here and are listed even where git ignores them.
const ENTITIES: &str = ".ixchel";

/// Below the entities' folder, for other programs' models and databases.
const NOT_ENTITIES: &[&str] = &["data", "models"];

/// More threads than this only wait for each other in the kernel.
const MOST_THREADS: usize = 8;

pub(super) fn list(root: &Path, rules: &Rules, entering: Option<&Entering>, budget: &Budget) -> Result<Listing> {
    let walk = Walk::new(root, rules, entering, budget)?;
    let mut found = walk.found();
    let main = walk.main.clone();
    if !main.is_ignored {
        walk.run(vec![Folder { path: Vec::new(), rules: main }], cores().min(MOST_THREADS), &mut found)?;
    }
    let mut known = Known::default();
    for named in rules.named() {
        walk.add_named(named.as_str(), named.as_str(), &mut known, &mut found)?;
    }
    walk.add_entities(ENTITIES, &mut found)?;
    walk.add_tracked(None, &mut found)?;
    Ok(found.into_listing())
}

pub(super) fn at(root: &Path, paths: &[RepoPath], rules: &Rules, budget: &Budget) -> Result<Listing> {
    let walk = Walk::new(root, rules, None, budget)?;
    let mut found = walk.found();
    let mut known = Known::default();
    for path in paths {
        budget.check()?;
        let Some(metadata) = metadata_under(root, Path::new(path.as_str())) else { continue };
        if path.as_str().split('/').any(|part| PRIVATE_NAMES.contains(&part)) || walk.is_metadata(path) {
            continue;
        }
        if metadata.is_dir() {
            walk.add_folder(path.as_str(), &mut known, &mut found)?;
        } else {
            walk.add_file(path, &metadata, &mut known, &mut found);
        }
    }
    walk.add_tracked(Some(paths), &mut found)?;
    Ok(found.into_listing())
}

/// Whether the main walk does not enter that folder, so that nothing in it is listed but what was asked for.
pub(super) fn ignores(root: &Path, folder: &RepoPath, rules: &Rules) -> bool {
    let budget = Budget::unlimited();
    Walk::new(root, rules, None, &budget)
        .is_ok_and(|walk| walk.rules_of(folder.as_str(), &mut Known::default(), &mut walk.found()).is_ignored)
}

/// Rules of the folders on the way to the listed paths.
type Known = HashMap<Vec<u8>, FolderRules>;

/// A listing in the making.
#[derive(Default)]
pub(super) struct Found {
    pub listing: Listing,
    /// The work trees that were entered.
    pub trees: Vec<Arc<Tree>>,
}

impl Found {
    fn append(&mut self, other: &mut Self) {
        let (all, part) = (&mut self.listing, &mut other.listing);
        all.files.append(&mut part.files);
        all.skipped.append(&mut part.skipped);
        all.folders.append(&mut part.folders);
        all.warnings.append(&mut part.warnings);
        all.is_shaky |= part.is_shaky;
        self.trees.append(&mut other.trees);
    }

    fn into_listing(mut self) -> Listing {
        let nested = self.trees.iter().filter(|tree| !tree.folder.is_empty());
        self.listing.rule_files.extend(nested.flat_map(|tree| tree.files.iter().cloned()));
        self.listing.sorted()
    }

    pub(super) fn skip(&mut self, path: &Path, reason: SkipReason) {
        self.listing.skipped.push(SkippedEntry { path: shown(path), reason, stat: Stat::default() });
    }
}

/// A folder to read, by its path relative to the root.
pub(super) struct Folder {
    pub path: Vec<u8>,
    pub rules: FolderRules,
}

/// Folders that wait for a thread, and how many threads may still add some.
struct Queue {
    waiting: Vec<Folder>,
    busy: usize,
}

/// The state that all threads of a walk share.
pub(super) struct Walk<'a> {
    pub root: &'a Path,
    pub rules: &'a Rules,
    pub budget: &'a Budget,
    entering: Option<&'a Entering>,
    /// Other worktrees of the repository. What the user indexes outside it is read as it is.
    worktrees: Worktrees,
    /// The rules of the root.
    main: FolderRules,
    /// Why files of rules were passed over.
    problems: Vec<String>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        root: &'a Path,
        rules: &'a Rules,
        entering: Option<&'a Entering>,
        budget: &'a Budget,
    ) -> Result<Self> {
        // A root that is gone must never look like a repository without files.
        fs::read_dir(root).map_err(|error| Error::io("read the repository", root, error))?;
        let worktrees = if rules.is_outside() { Worktrees::default() } else { Worktrees::find(root) };
        let mut problems = Vec::new();
        let main = FolderRules::of_root(root, rules, &mut problems);
        Ok(Self { root, rules, budget, entering, worktrees, main, problems })
    }

    fn found(&self) -> Found {
        let listing = Listing { warnings: self.problems.clone(), ..Listing::default() };
        Found { listing, trees: vec![Arc::clone(&self.main.tree)] }
    }

    pub(super) fn main(&self) -> &FolderRules {
        &self.main
    }

    /// A path as rules decide on it.
    pub(super) fn full(&self, path: &[u8]) -> Vec<u8> {
        [&self.main.tree.inside, path].concat()
    }

    /// Reads folders and all below them.
    pub(super) fn run(&self, folders: Vec<Folder>, threads: usize, found: &mut Found) -> Result<()> {
        let queue = (Mutex::new(Queue { waiting: folders, busy: 0 }), Condvar::new());
        let gathered = Mutex::new(Found::default());
        let work = || {
            let mut part = Found::default();
            self.work(&queue, &mut part);
            // Each thread its own part; sorting sorted parts together is cheap.
            part.listing.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            locked(&gathered).append(&mut part);
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        found.append(&mut locked(&gathered));
        self.budget.check()
    }

    fn work(&self, (queue, changed): &(Mutex<Queue>, Condvar), part: &mut Found) {
        let mut next = Vec::new();
        let mut state = locked(queue);
        loop {
            state = changed
                .wait_while(state, |state| state.waiting.is_empty() && state.busy > 0)
                .unwrap_or_else(PoisonError::into_inner);
            let Some(folder) = state.waiting.pop() else { break };
            state.busy += 1;
            drop(state);
            if !self.budget.is_spent() {
                self.read(folder, part, &mut next);
            }
            state = locked(queue);
            state.busy -= 1;
            state.waiting.append(&mut next);
            changed.notify_all();
        }
    }

    fn read(&self, mut folder: Folder, found: &mut Found, next: &mut Vec<Folder>) {
        let relative = of_git(&folder.path);
        let absolute = if folder.path.is_empty() { self.root.to_owned() } else { self.root.join(relative) };
        let entries: Vec<fs::DirEntry> = match fs::read_dir(&absolute) {
            Ok(entries) => entries.filter_map(std::result::Result::ok).collect(),
            Err(error) if error.kind() == IoErrorKind::NotFound => return,
            Err(_) => return found.skip(relative, SkipReason::UnreadableFolder),
        };
        if !folder.path.is_empty() {
            self.add_rule_files(&mut folder.rules, &folder.path, &entries, found);
        }
        let mut path = self.full(&folder.path);
        let start = self.main.tree.inside.len();
        if !folder.path.is_empty() {
            path.push(b'/');
        }
        let length = path.len();
        for entry in entries {
            let name = entry.file_name();
            if is_private_name(&name) || bare::is_metadata(&absolute, &name) {
                continue;
            }
            path.truncate(length);
            path.extend_from_slice(name.as_encoded_bytes());
            let relative = of_git(&path[start..]);
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) if error.kind() == IoErrorKind::NotFound => continue,
                Err(_) => {
                    found.skip(relative, SkipReason::Unreadable);
                    continue;
                }
            };
            if self.rules.excludes_entry(&path[start..], kind.is_dir()) || folder.rules.ignores(&path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                next.extend(self.enter(&path[start..], &folder.rules, found));
                continue;
            }
            match entry.metadata() {
                Ok(metadata) => judge(relative, &metadata, self.rules, &mut found.listing),
                Err(error) if error.kind() == IoErrorKind::NotFound => {}
                Err(_) => found.skip(relative, SkipReason::Unreadable),
            }
        }
    }

    fn add_rule_files(&self, rules: &mut FolderRules, path: &[u8], entries: &[fs::DirEntry], found: &mut Found) {
        let is_one = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            RULE_FILES.iter().find(|known| name == **known).copied()
        };
        let names: Vec<&str> = entries.iter().filter_map(is_one).collect();
        if !names.is_empty() || rules.tree.has_absent() {
            rules.add_files(self.root, path, self.main.tree.inside.len(), &names, &mut found.listing.warnings);
        }
    }

    /// The folder with the rules for it, before its own ignore files; `None` if it is another worktree. A repository in the tree
    /// has rules of its own.
    pub(super) fn enter(&self, path: &[u8], above: &FolderRules, found: &mut Found) -> Option<Folder> {
        let relative = of_git(path);
        let mut rules = above.clone();
        let absolute = self.root.join(relative);
        if fs::symlink_metadata(absolute.join(".git")).is_ok() {
            if self.worktrees.include(&absolute) {
                found.skip(relative, SkipReason::Worktree);
                return None;
            }
            rules = self.nested(path, above, found).unwrap_or(rules);
        }
        match relative.to_str().and_then(RepoPath::new) {
            Some(folder) => {
                if let Some(entering) = self.entering {
                    entering(&folder);
                }
                found.listing.folders.push(folder);
            }
            None => found.listing.is_shaky = true,
        }
        Some(Folder { path: path.to_vec(), rules })
    }

    /// The rules of the repository at a path below the root, if there is one.
    pub(super) fn nested(&self, path: &[u8], above: &FolderRules, found: &mut Found) -> Option<FolderRules> {
        let absolute = self.root.join(of_git(path));
        if !is_repository(&absolute) || self.worktrees.include(&absolute) {
            return None;
        }
        let position = (self.root, self.main.tree.inside.as_slice());
        let rules = above.of_repository(position, path, self.rules, &mut found.listing.warnings);
        found.trees.push(Arc::clone(&rules.tree));
        Some(rules)
    }

    /// The rules of a folder, with its ignore files; those of the root for an empty path.
    pub(super) fn rules_of(&self, folder: &str, known: &mut Known, found: &mut Found) -> FolderRules {
        self.rules_below("", self.main.clone(), folder, known, found)
    }

    /// Rules of a folder at or below `from`, whose rules are `start`.
    fn rules_below(
        &self,
        from: &str,
        start: FolderRules,
        folder: &str,
        known: &mut Known,
        found: &mut Found,
    ) -> FolderRules {
        let mut rules = start;
        let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        for end in ends.filter(|end| *end > from.len()) {
            let path = &folder.as_bytes()[..end];
            let key = [from.as_bytes(), b"\0", path].concat();
            if let Some(of_folder) = known.get(&key) {
                rules = of_folder.clone();
                continue;
            }
            let is_ignored = rules.is_ignored || rules.ignores(&self.full(path), true);
            let nested =
                if !is_ignored || self.is_submodule(path, &rules) { self.nested(path, &rules, found) } else { None };
            rules = nested.unwrap_or_else(|| rules.below(is_ignored));
            if !rules.is_ignored {
                let before = self.main.tree.inside.len();
                rules.add_files(self.root, path, before, &RULE_FILES, &mut found.listing.warnings);
            }
            known.insert(key, rules.clone());
        }
        rules
    }

    /// Lists a folder that is asked for, and what is below it.
    fn add_folder(&self, path: &str, known: &mut Known, found: &mut Found) -> Result<()> {
        let (above, _) = path.rsplit_once('/').unwrap_or(("", path));
        if self.worktrees.hold(self.root, Path::new(above)) {
            return Ok(());
        }
        let rules = self.rules_of(above, known, found);
        let full = self.full(path.as_bytes());
        let is_excluded = self.rules.excludes(Path::new(path), true);
        if !rules.is_ignored && !rules.ignores(&full, true) && !is_excluded {
            let folder = self.enter(path.as_bytes(), &rules, found);
            self.run(folder.into_iter().collect(), 1, found)?;
        } else if !is_excluded && self.is_submodule(path.as_bytes(), &rules) {
            self.add_submodule(path.as_bytes(), &rules, found)?;
        }
        for named in self.rules.named().iter().map(RepoPath::as_str) {
            if is_within(named, path) {
                self.add_named(named, named, known, found)?;
            } else if is_within(path, named) {
                self.add_named(named, path, known, found)?;
            }
        }
        if is_within(ENTITIES, path) {
            self.add_entities(ENTITIES, found)?;
        } else if is_within(path, ENTITIES) {
            self.add_entities(path, found)?;
        }
        Ok(())
    }

    /// Lists a submodule that the rules of its superproject ignore.
    pub(super) fn add_submodule(&self, path: &[u8], above: &FolderRules, found: &mut Found) -> Result<()> {
        let Some(rules) = self.nested(path, above, found) else { return Ok(()) };
        if let Some(folder) = of_git(path).to_str().and_then(RepoPath::new) {
            if let Some(entering) = self.entering {
                entering(&folder);
            }
            found.listing.folders.push(folder);
        }
        self.run(vec![Folder { path: path.to_vec(), rules }], 1, found)
    }

    /// Lists `path`, which is the folder `named` by the user or a folder in it, if the main walk does not enter `named`.
    fn add_named(&self, named: &str, path: &str, known: &mut Known, found: &mut Found) -> Result<()> {
        let Some(start) = self.rules_of_named(named, known, found) else { return Ok(()) };
        if !metadata_under(self.root, Path::new(path)).is_some_and(|found| found.is_dir()) {
            return Ok(());
        }
        if path == named {
            let folder = self.enter(path.as_bytes(), &start, found);
            return self.run(folder.into_iter().collect(), 1, found);
        }
        let (above, _) = path.rsplit_once('/').unwrap_or(("", path));
        let rules = self.rules_in_named(named, start, above, known, found);
        if rules.is_ignored || rules.ignores(&self.full(path.as_bytes()), true) {
            return Ok(());
        }
        let folder = self.enter(path.as_bytes(), &rules, found);
        self.run(folder.into_iter().collect(), 1, found)
    }

    /// The rules that a named folder starts from, before its own ignore files, if it needs a walk of its own.
    fn rules_of_named(&self, named: &str, known: &mut Known, found: &mut Found) -> Option<FolderRules> {
        let path = Path::new(named);
        let is_private = named.split('/').any(|part| PRIVATE_NAMES.contains(&part));
        let is_folder = metadata_under(self.root, path).is_some_and(|found| found.is_dir());
        if is_private || !is_folder || self.rules.excludes(path, true) || self.worktrees.hold(self.root, path) {
            return None;
        }
        self.rules_of(named, known, found).is_ignored.then(|| self.main.of_named())
    }

    fn rules_in_named(
        &self,
        named: &str,
        start: FolderRules,
        folder: &str,
        known: &mut Known,
        found: &mut Found,
    ) -> FolderRules {
        let mut rules = self.nested(named.as_bytes(), &start, found).unwrap_or(start);
        let before = self.main.tree.inside.len();
        rules.add_files(self.root, named.as_bytes(), before, &RULE_FILES, &mut found.listing.warnings);
        self.rules_below(named, rules, folder, known, found)
    }

    /// Lists a file that is asked for.
    fn add_file(&self, path: &RepoPath, metadata: &Metadata, known: &mut Known, found: &mut Found) {
        let relative = Path::new(path.as_str());
        if self.worktrees.hold(self.root, relative) {
            return;
        }
        let is_entity = !self.rules.is_outside() && is_entity(path.as_str());
        let is_listed = is_entity || (!self.rules.excludes(relative, false) && self.lists(path, known, found));
        if is_listed {
            judge(relative, metadata, self.rules, &mut found.listing);
        }
    }

    /// Whether a walk would come to this file, which is not an entity.
    fn lists(&self, path: &RepoPath, known: &mut Known, found: &mut Found) -> bool {
        let (above, _) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
        let full = self.full(path.as_str().as_bytes());
        let rules = self.rules_of(above, known, found);
        if !rules.is_ignored && !rules.ignores(&full, false) {
            return true;
        }
        let named = self.rules.named().iter().map(RepoPath::as_str).filter(|named| is_within(path.as_str(), named));
        named.into_iter().any(|named| {
            let Some(start) = self.rules_of_named(named, known, found) else { return false };
            let rules = self.rules_in_named(named, start, above, known, found);
            !rules.is_ignored && !rules.ignores(&full, false)
        })
    }

    /// Whether the path is metadata of a bare repository or below it.
    fn is_metadata(&self, path: &RepoPath) -> bool {
        bare::holds(self.root, Path::new(path.as_str()))
    }

    /// Whether a path is private, or in another worktree: it is not listed even if it is tracked.
    pub(super) fn is_hidden(&self, path: &Path) -> bool {
        path.iter().any(is_private_name) || bare::holds(self.root, path) || self.worktrees.hold(self.root, path)
    }

    /// Lists the entities at or below a folder, which is theirs or in it, whatever ignores them.
    fn add_entities(&self, folder: &str, found: &mut Found) -> Result<()> {
        let is_folder = metadata_under(self.root, Path::new(folder)).is_some_and(|found| found.is_dir());
        if self.rules.is_outside() || !is_folder || self.worktrees.hold(self.root, Path::new(folder)) {
            return Ok(());
        }
        let is_other = |path: &str| {
            let first = path.strip_prefix(ENTITIES).and_then(|rest| rest.strip_prefix('/'));
            first.and_then(|rest| rest.split('/').next()).is_some_and(|first| NOT_ENTITIES.contains(&first))
        };
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            self.budget.check()?;
            let Some(path) = RepoPath::new(folder.as_str()) else { continue };
            let absolute = path.to_path(self.root);
            if is_other(&folder) || self.worktrees.include(&absolute) {
                continue;
            }
            if let Some(entering) = self.entering {
                entering(&path);
            }
            found.listing.folders.push(path);
            for entry in fs::read_dir(&absolute).into_iter().flatten().flatten() {
                let Some(path) = RepoPath::under(self.root, &entry.path()) else { continue };
                match entry.metadata() {
                    _ if is_private_name(&entry.file_name()) => {}
                    Ok(metadata) if metadata.is_dir() => folders.push(path.as_str().to_owned()),
                    Ok(metadata) if is_entity(path.as_str()) => {
                        judge(Path::new(path.as_str()), &metadata, self.rules, &mut found.listing);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// At or below a folder.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the file is listed whatever ignores it.
fn is_entity(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(ENTITIES).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let first = rest.split('/').next().unwrap_or_default();
    rest.ends_with(".md") && (first == rest || !NOT_ENTITIES.contains(&first))
}

/// A relative path as people see it: exact where it is UTF-8.
pub(super) fn shown(relative: &Path) -> String {
    relative.to_str().map_or_else(|| printable(&relative.to_string_lossy()), str::to_owned)
}

/// Decides whether an entry is a file to be read.
pub(super) fn judge(relative: &Path, metadata: &Metadata, rules: &Rules, listing: &mut Listing) {
    let stat = stat_of(metadata);
    let kind = metadata.file_type();
    let reason = match relative.to_str().and_then(RepoPath::new) {
        None => SkipReason::NonUtf8Path,
        Some(_) if kind.is_symlink() => SkipReason::Symlink,
        Some(_) if !kind.is_file() => SkipReason::Special,
        Some(path) => match rules.skip(&path, stat.size) {
            None => return listing.files.push(FoundFile { path, stat }),
            Some(reason) => reason,
        },
    };
    listing.skipped.push(SkippedEntry { path: shown(relative), reason, stat });
}

/// Metadata of `path`; `None` when a symbolic link, or a file, is on the way to it.
pub(super) fn metadata_under(root: &Path, path: &Path) -> Option<Metadata> {
    let mut full: PathBuf = root.to_path_buf();
    let mut parts = path.iter().peekable();
    while let Some(part) = parts.next() {
        full.push(part);
        let metadata = fs::symlink_metadata(&full).ok()?;
        if parts.peek().is_none() {
            return Some(metadata);
        }
        if !metadata.is_dir() {
            return None;
        }
    }
    None
}
