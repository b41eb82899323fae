//! The walk: ignore files obeyed as git and ripgrep obey them, links not followed.
//!
//! Owns both ways to list: the whole tree, and only some paths of it. Both put every entry before the same
//! judge, so that they agree. Does not own the rules by path (`rules`) nor git's tracked list (`tracked`).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::rules::Rules;
use super::tracked::Tracked;
use super::{Entering, FoundFile, Listing, SkippedEntry};
use super::{bare, guard};
use crate::budget::Budget;
use crate::error::Result;
use crate::git_layout::Worktrees;
use crate::locked::locked;
use crate::model::{RepoPath, SkipReason, Stat, printable};
use crate::platform::files::stat_of;
use crate::platform::paths::below;
use crate::threads::cores;

/// Folders (or files) of these names are never looked into, at any depth: git's own, and ours.
const PRIVATE_NAMES: &[&str] = &[".git", ".ixmcp", ".flashgrep"];

/// Entities live here and are listed even where git ignores them.
const ENTITIES: &str = ".ixchel";

/// Below the entities' folder, for other programs' models and databases.
const NOT_ENTITIES: &[&str] = &["data", "models"];

/// More threads than this only wait for each other in the kernel.
const MOST_THREADS: usize = 8;

/// Whether a file or folder of this name is never listed and never walked.
pub fn is_private_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| PRIVATE_NAMES.contains(&name))
}

pub(super) fn list(root: &Path, rules: &Rules, entering: Option<&Entering>, budget: &Budget) -> Result<Listing> {
    // A root that is gone must never look like a repository without files.
    guard::check_root(root)?;
    let mut listing = Listing::default();
    let scope = Scope::Everything(entering.cloned());
    walk_parallel(root, &scope, rules, budget, &mut listing)?;
    let matchers = Matchers::new(root, rules);
    for folder in rules.named().iter().filter(|folder| matchers.walk_named(folder, rules)) {
        scope.enter(folder.as_str());
        walk_serial(root, &named_walk(root, folder), &scope, rules, budget, &mut listing)?;
    }
    walk_serial_entities(root, &scope, rules, budget, &mut listing)?;
    add_tracked(root, &scope, rules, budget, &mut listing)?;
    Ok(listing.sorted())
}

pub(super) fn at(root: &Path, paths: &[RepoPath], rules: &Rules, budget: &Budget) -> Result<Listing> {
    // A root that is gone must never look like a repository without files.
    guard::check_root(root)?;
    let mut listing = Listing::default();
    let matchers = Matchers::new(root, rules);
    let mut folders = Vec::new();
    for path in paths {
        budget.check()?;
        let Some(metadata) = metadata_without_links(root, path) else { continue };
        let is_private = path.as_str().split('/').any(|part| PRIVATE_NAMES.contains(&part));
        if is_private || bare::holds(root, Path::new(path.as_str())) {
            continue;
        }
        if metadata.is_dir() {
            folders.push(path.as_str().to_owned());
        } else if !matchers.worktrees.hold(root, Path::new(path.as_str()))
            && ((!rules.is_outside() && is_entity(path.as_str()))
                || (guard::is_way_safe(root, Path::new(path.as_str())) && matchers.list(path, rules)))
        {
            judge(Path::new(path.as_str()), &metadata, rules, &mut listing);
        }
    }
    if !folders.is_empty() {
        let scope = Scope::Below(Arc::new(folders.into_iter().collect()));
        walk_serial(root, &main_walk(root, rules), &scope, rules, budget, &mut listing)?;
        for folder in rules.named() {
            if scope.leads_to(folder.as_str()) && matchers.walk_named(folder, rules) {
                walk_serial(root, &named_walk(root, folder), &scope, rules, budget, &mut listing)?;
            }
        }
        walk_serial_entities(root, &scope, rules, budget, &mut listing)?;
    }
    let asked = Scope::Below(Arc::new(paths.iter().map(|path| path.as_str().to_owned()).collect()));
    add_tracked(root, &asked, rules, budget, &mut listing)?;
    Ok(listing.sorted())
}

/// Whether the main walk does not enter that folder, so that nothing in it is listed but what was asked for.
pub(super) fn ignores(root: &Path, folder: &RepoPath, rules: &Rules) -> bool {
    Matchers::new(root, rules).ignores(folder, true)
}

/// Which part of the tree is asked for.
#[derive(Clone)]
enum Scope {
    /// All of it; each folder is reported before it is read.
    Everything(Option<Entering>),
    Below(Arc<HashSet<String>>),
}

impl Scope {
    /// At or below one of the paths asked for.
    fn holds(&self, path: &str) -> bool {
        let Self::Below(asked) = self else { return true };
        let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
        parents.chain([path]).any(|prefix| asked.contains(prefix))
    }

    /// A folder is going to be read.
    fn enter(&self, folder: &str) {
        if let Self::Everything(Some(entering)) = self
            && let Some(folder) = RepoPath::new(folder)
        {
            entering(&folder);
        }
    }

    /// Holds `path`, or something below it.
    fn leads_to(&self, path: &str) -> bool {
        let Self::Below(asked) = self else { return true };
        self.holds(path) || asked.iter().any(|asked| is_below(asked, path))
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Everything as `rg --files --hidden --no-require-git` has it.
fn main_walk(root: &Path, rules: &Rules) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).require_git(false).add_custom_ignore_filename(".rgignore").current_dir(root);
    if rules.is_outside() {
        walk.parents(false).git_global(false);
    }
    walk
}

/// A folder that the user named: what ignores it from above does not count, its own ignore files do.
fn named_walk(root: &Path, folder: &RepoPath) -> WalkBuilder {
    let mut walk = WalkBuilder::new(folder.to_path(root));
    walk.hidden(false).require_git(false).add_custom_ignore_filename(".rgignore").current_dir(root);
    walk.parents(false).git_global(false);
    walk
}

fn walk_parallel(root: &Path, scope: &Scope, rules: &Rules, budget: &Budget, listing: &mut Listing) -> Result<()> {
    let threads = cores().min(MOST_THREADS);
    let mut walk = main_walk(root, rules);
    walk.threads(threads);
    let blocked = keep(&mut walk, root, scope, rules);

    let gathered = Mutex::new(Listing::default());
    walk.build_parallel().run(|| {
        let mut part = WalkPart { listing: Listing::default(), gathered: &gathered };
        Box::new(move |entry| {
            if budget.is_spent() {
                return WalkState::Quit;
            }
            take(root, entry, scope, rules, &mut part.listing);
            WalkState::Continue
        })
    });
    budget.check()?;
    *listing = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    listing.skipped.append(&mut locked(&blocked));
    Ok(())
}

/// What one thread of a walk found; handed over when the thread ends.
struct WalkPart<'a> {
    listing: Listing,
    gathered: &'a Mutex<Listing>,
}

impl Drop for WalkPart<'_> {
    fn drop(&mut self) {
        // Each thread its own part; sorting sorted parts together is cheap.
        self.listing.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut all = locked(self.gathered);
        all.files.append(&mut self.listing.files);
        all.skipped.append(&mut self.listing.skipped);
        all.folders.append(&mut self.listing.folders);
        all.warnings.append(&mut self.listing.warnings);
        all.is_shaky |= self.listing.is_shaky;
    }
}

fn walk_serial(
    root: &Path,
    walk: &WalkBuilder,
    scope: &Scope,
    rules: &Rules,
    budget: &Budget,
    listing: &mut Listing,
) -> Result<()> {
    let mut walk = walk.clone();
    let blocked = keep(&mut walk, root, scope, rules);
    for entry in walk.build() {
        budget.check()?;
        take(root, entry, scope, rules, listing);
    }
    listing.skipped.append(&mut locked(&blocked));
    Ok(())
}

/// The entities' folder once more, without any ignore file.
fn walk_serial_entities(
    root: &Path,
    scope: &Scope,
    rules: &Rules,
    budget: &Budget,
    listing: &mut Listing,
) -> Result<()> {
    let folder = root.join(ENTITIES);
    if rules.is_outside()
        || !scope.leads_to(ENTITIES)
        || !std::fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir())
    {
        return Ok(());
    }
    let worktrees = worktrees(root, rules);
    if worktrees.include(&folder) {
        return Ok(());
    }
    let mut walk = WalkBuilder::new(&folder);
    scope.enter(ENTITIES);
    let (above, entered) = (root.to_path_buf(), scope.clone());
    walk.standard_filters(false).filter_entry(move |entry| {
        let not_entity =
            entry.depth() == 1 && entry.file_name().to_str().is_some_and(|name| NOT_ENTITIES.contains(&name));
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_worktree = is_folder && worktrees.include(entry.path());
        if not_entity || is_private_name(entry.file_name()) || is_worktree {
            return false;
        }
        if is_folder {
            below(&above, entry.path()).to_str().inspect(|folder| entered.enter(folder));
        }
        true
    });
    let of_entities = listing.files.iter().map(|found| found.path.as_str()).filter(|path| is_entity(path));
    let known: HashSet<String> = of_entities.map(str::to_owned).collect();
    for entry in walk.build() {
        budget.check()?;
        if let Ok(folder) = &entry
            && folder.file_type().is_some_and(|kind| kind.is_dir())
        {
            take_folder(root, folder, scope, listing);
            continue;
        }
        let Some(path) = entry.as_ref().ok().and_then(|entry| RepoPath::under(root, entry.path())) else { continue };
        if is_entity(path.as_str()) && !known.contains(path.as_str()) {
            take(root, entry, scope, rules, listing);
        }
    }
    Ok(())
}

/// Whether the file is listed whatever ignores it.
fn is_entity(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(ENTITIES).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let first = rest.split('/').next().unwrap_or_default();
    rest.ends_with(".md") && (first == rest || !NOT_ENTITIES.contains(&first))
}

/// Other worktrees of the repository. What the user indexes outside it is read as it is.
fn worktrees(root: &Path, rules: &Rules) -> Worktrees {
    if rules.is_outside() { Worktrees::default() } else { Worktrees::of(root) }
}

/// Limits `walk` to what is asked for, and never lets it into private or excluded folders. The list that it gives back
/// fills with folders that are not entered because they are other worktrees, or their ignore files cannot be read safely.
fn keep(walk: &mut WalkBuilder, root: &Path, scope: &Scope, rules: &Rules) -> Arc<Mutex<Vec<SkippedEntry>>> {
    let blocked = Arc::new(Mutex::new(Vec::new()));
    let (root, scope, exclude, blocking) =
        (root.to_path_buf(), scope.clone(), rules.exclude().cloned(), Arc::clone(&blocked));
    let worktrees = worktrees(&root, rules);
    walk.filter_entry(move |entry| {
        let is_metadata = || {
            entry.depth() > 0 && entry.path().parent().is_some_and(|above| bare::is_metadata(above, entry.file_name()))
        };
        if is_private_name(entry.file_name()) || is_metadata() {
            return false;
        }
        let relative = below(&root, entry.path());
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if exclude.as_ref().is_some_and(|exclude| exclude.matched(&relative, is_folder).is_ignore()) {
            return false;
        }
        let is_asked = match &scope {
            Scope::Everything(_) => true,
            Scope::Below(_) if is_folder => scope.leads_to(&relative.to_string_lossy()),
            Scope::Below(_) => scope.holds(&relative.to_string_lossy()),
        };
        if !is_asked || !is_folder {
            return is_asked;
        }
        let reason = if worktrees.include(entry.path()) {
            SkipReason::Worktree
        } else if guard::is_safe(&root, entry.path()) {
            relative.to_str().inspect(|folder| scope.enter(folder));
            return true;
        } else {
            SkipReason::UnreadableFolder
        };
        if scope.holds(&relative.to_string_lossy()) {
            locked(&blocking).push(SkippedEntry { path: shown(&relative), reason, stat: Stat::default() });
        }
        false
    });
    blocked
}

fn take(
    root: &Path,
    entry: std::result::Result<DirEntry, ignore::Error>,
    scope: &Scope,
    rules: &Rules,
    listing: &mut Listing,
) {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return take_failure(root, &error, listing),
    };
    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
        take_folder(root, &entry, scope, listing);
        return;
    }
    let relative = below(root, entry.path());
    if !scope.holds(&relative.to_string_lossy()) {
        return;
    }
    match entry.metadata() {
        Ok(metadata) => judge(&relative, &metadata, rules, listing),
        Err(error) => take_failure(root, &error, listing),
    }
}

fn take_folder(root: &Path, entry: &DirEntry, scope: &Scope, listing: &mut Listing) {
    match below(root, entry.path()).to_str().map(RepoPath::new) {
        Some(folder) => listing.folders.extend(folder.filter(|folder| scope.holds(folder.as_str()))),
        None => listing.is_shaky = true,
    }
}

/// An entry that could not be looked at is reported, unless it has merely gone since its folder was read.
fn take_failure(root: &Path, error: &ignore::Error, listing: &mut Listing) {
    if error.io_error().is_some_and(|error| error.kind() == IoErrorKind::NotFound) {
        return;
    }
    match path_of(error).and_then(|path| path.strip_prefix(root).ok()).filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => {
            let is_folder = std::fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_dir());
            let reason = if is_folder { SkipReason::UnreadableFolder } else { SkipReason::Unreadable };
            listing.skipped.push(SkippedEntry { path: shown(path), reason, stat: Stat::default() });
        }
        None => listing.warnings.push(printable(&error.to_string())),
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// A relative path as people see it: exact where it is UTF-8.
fn shown(relative: &Path) -> String {
    relative.to_str().map_or_else(|| printable(&relative.to_string_lossy()), str::to_owned)
}

/// Decides whether an entry is a file to be read.
fn judge(relative: &Path, metadata: &Metadata, rules: &Rules, listing: &mut Listing) {
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

/// Adds what git tracks although an ignore file names it.
fn add_tracked(root: &Path, scope: &Scope, rules: &Rules, budget: &Budget, listing: &mut Listing) -> Result<()> {
    let tracked = match rules.tracked(root) {
        Ok(Some(tracked)) if !rules.is_outside() => tracked,
        Ok(_) => return Ok(()),
        Err(warning) => {
            listing.warnings.push(warning);
            return Ok(());
        }
    };
    // Both lists are in order: what is in both is passed over without a look-up for each.
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut files = listing.files.iter().peekable();
    let skipped: HashSet<&str> = listing.skipped.iter().map(|left| left.path.as_str()).collect();
    let is_skipped = |path: &Path| match path.to_str() {
        Some(path) => skipped.contains(path),
        None => skipped.contains(&*shown(path)),
    };
    let mut ignored = Listing::default();
    let worktrees = worktrees(root, rules);
    // The paths are sorted, so that most files are in the same folder as the previous one, whose parents were checked.
    let mut known_parent = None;
    for path in asked_of(&tracked, scope) {
        budget.check()?;
        let bytes = path.as_os_str().as_encoded_bytes();
        while files.next_if(|found| found.path.as_str().as_bytes() < bytes).is_some() {}
        let is_listed = files.peek().is_some_and(|found| found.path.as_str().as_bytes() == bytes);
        let is_private = || path.iter().any(is_private_name) || bare::holds(root, path) || worktrees.hold(root, path);
        if is_listed || is_skipped(path) || is_private() || rules.excludes(path, false) {
            continue;
        }
        let metadata = if known_parent.is_some() && known_parent == path.parent() {
            std::fs::symlink_metadata(root.join(path)).ok()
        } else {
            metadata_under(root, path)
        };
        let Some(metadata) = metadata.filter(|metadata| !metadata.is_dir()) else {
            ignored.is_shaky = true;
            continue;
        };
        known_parent = path.parent();
        judge(path, &metadata, rules, &mut ignored);
    }
    listing.is_shaky |= ignored.is_shaky;
    listing.files.append(&mut ignored.files);
    listing.skipped.append(&mut ignored.skipped);
    Ok(())
}

fn asked_of<'a>(tracked: &'a Tracked, scope: &'a Scope) -> Box<dyn Iterator<Item = &'a Path> + 'a> {
    match scope {
        Scope::Everything(_) => Box::new(tracked.all()),
        Scope::Below(asked) => {
            let mut asked: Vec<&String> = asked.iter().collect();
            asked.sort_unstable();
            // In the order of the whole list, which the look for what is listed already relies on.
            let mut paths: Vec<&Path> = asked.into_iter().flat_map(|path| tracked.below(path)).collect();
            paths.sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
            Box::new(paths.into_iter())
        }
    }
}

/// What is at `path`; nothing when a symbolic link, or no folder, is on the way to it.
fn metadata_without_links(root: &Path, path: &RepoPath) -> Option<Metadata> {
    metadata_under(root, Path::new(path.as_str()))
}

fn metadata_under(root: &Path, path: &Path) -> Option<Metadata> {
    let mut full = root.to_path_buf();
    let mut parts = path.iter().peekable();
    while let Some(part) = parts.next() {
        full.push(part);
        let metadata = std::fs::symlink_metadata(&full).ok()?;
        if parts.peek().is_none() {
            return Some(metadata);
        }
        if !metadata.is_dir() {
            return None;
        }
    }
    None
}

/// Answers for single paths, by the ignore files of their parents alone.
pub(super) struct Matchers {
    root: PathBuf,
    worktrees: Worktrees,
    main: Mutex<Vec<ignore::IncrementalIgnore>>,
}

impl Matchers {
    pub(super) fn new(root: &Path, rules: &Rules) -> Self {
        let main = Mutex::new(main_walk(root, rules).build_matchers());
        Self { root: root.to_path_buf(), worktrees: worktrees(root, rules), main }
    }

    pub(super) fn ignores(&self, path: &RepoPath, is_folder: bool) -> bool {
        let mut main = locked(&self.main);
        main.iter_mut().any(|matcher| matcher.matched(path.as_str(), is_folder).is_ignore())
    }

    /// Whether the folder that the user named needs a walk of its own, because the main one does not enter it.
    fn walk_named(&self, folder: &RepoPath, rules: &Rules) -> bool {
        let is_private = folder.as_str().split('/').any(|part| PRIVATE_NAMES.contains(&part));
        let is_folder = metadata_without_links(&self.root, folder).is_some_and(|found| found.is_dir());
        let excluded = rules.excludes(Path::new(folder.as_str()), true);
        let is_safe = guard::is_way_safe(&self.root, &Path::new(folder.as_str()).join("in"));
        let is_other = || self.worktrees.hold(&self.root, Path::new(folder.as_str()));
        is_folder && is_safe && !is_private && !excluded && !is_other() && self.ignores(folder, true)
    }

    /// Whether a walk would come to this file, which is not an entity.
    fn list(&self, path: &RepoPath, rules: &Rules) -> bool {
        if rules.excludes(Path::new(path.as_str()), false) {
            return false;
        }
        !self.ignores(path, false) || rules.named().iter().any(|folder| self.list_in_named(path, folder, rules))
    }

    fn list_in_named(&self, path: &RepoPath, folder: &RepoPath, rules: &Rules) -> bool {
        if !is_below(path.as_str(), folder.as_str()) || !self.walk_named(folder, rules) {
            return false;
        }
        let relative = &path.as_str()[folder.as_str().len() + 1..];
        let mut matchers = named_walk(&self.root, folder).build_matchers();
        !matchers.iter_mut().any(|matcher| matcher.matched(relative, false).is_ignore())
    }
}
