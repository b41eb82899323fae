//! Document folders: registering one, bringing one up to date, removing one, and the reports.
//!
//! Owns which folder may be registered and how its changes are counted. Does not own which files belong to it (`folders`) nor
//! the update (`schedule`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::Updates;
use crate::budget::{Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::extract;
use crate::model::{ROOT, RepoPath, SkipReason, first_of, is_in, printable};
use crate::platform::paths::canonical;
use crate::repository::{RegisteredFolder, Repository, Thoroughness, UpdateLock, folders};
use crate::scan::{self, HomeFolders};
use crate::store::{Batch, FOLDER_CONSUMER, SkippedFile, Snapshot};
use crate::wording::{Name, Tool, Wording};

/// The options of a document folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderOptions {
    /// In characters, like the overlap, which is smaller.
    pub chunk_size: usize,
    pub overlap: usize,
    pub max_files: usize,
    /// Types as typed: `.md`, `md`, `*.md`, `markdown`. Empty: all readable types.
    pub file_types: Vec<String>,
}

/// A file that is not completely in the index, and the reason.
pub type Skipped = (String, String);

/// The contents of a folder that was indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderReport {
    /// Path in the index: a link that was given leads there.
    pub folder: String,
    pub total_files: usize,
    pub processed_files: usize,
    pub total_chunks: u64,
    pub skipped: Vec<Skipped>,
    /// Documents that are not completely in the index.
    pub problems: Vec<Skipped>,
}

/// A folder of documents.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Folder")]
#[serde(rename_all = "camelCase")]
pub struct DocumentFolder {
    // As in the index: relative to the repository, which is `.`; absolute if outside.
    pub folder_path: String,
    /// Files of it in the index: neither those of another such folder within it, nor of types that it leaves out.
    pub total_files: usize,
    // In characters, like the overlap.
    pub chunk_size: usize,
    pub overlap: usize,
    pub max_files: usize,
    // Lowercase extensions; `None`: all readable types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_types: Option<Vec<String>>,
}

/// Numbers of files and chunks after a folder is no longer a document folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalReport {
    /// Path in the index.
    pub folder: String,
    /// Files that left the index.
    pub removed: usize,
    /// Files that stay, because the repository or a folder above indexes them.
    pub stayed: usize,
    /// Chunks of the files that stay.
    pub total_chunks: u64,
}

/// Changes in a folder since the last report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeReport {
    /// Path in the index.
    pub folder: String,
    pub added: usize,
    pub updated: usize,
    pub removed: usize,
    pub unchanged: usize,
    pub skipped: Vec<Skipped>,
    /// Documents that are not completely in the index.
    pub problems: Vec<Skipped>,
    pub total_chunks: u64,
}

/// Keeps the document folders of one repository.
pub struct Documents {
    repository: Arc<Repository>,
    updates: Arc<Updates>,
}

impl Documents {
    pub(crate) fn new(repository: Arc<Repository>, updates: Arc<Updates>) -> Self {
        Self { repository, updates }
    }

    /// Registers a document folder with these options, and brings the index up to date.
    pub fn index_folder(
        &self,
        given: &str,
        options: &FolderOptions,
        progress: &Arc<Progress>,
        budget: &Budget,
    ) -> Result<FolderReport> {
        let path = self.folder_to_index(given)?;
        self.repository.check_writable()?;
        let (file_types, unread) = read_types(&options.file_types)?;
        let chosen = RegisteredFolder {
            path: path.clone(),
            chunk_size: options.chunk_size,
            overlap: options.overlap,
            max_files: options.max_files,
            file_types,
        };
        {
            // Two processes must not write the state at once.
            let _lock = UpdateLock::take(self.repository.folder(), budget)?;
            let mut state = self.repository.state_to_change()?;
            if state.put(chosen.clone()) {
                self.repository.save_state(&state)?;
                // What was skipped may be indexed with the folder's options.
                self.repository.store()?.write(|batch| batch.unskip_in(&path))?;
            }
        }
        // If this breaks off, the next update reports what was done.
        self.repository.store()?.write(|batch| batch.begin_count(&consumer(&path)))?;
        self.bring_up_to_date(progress, budget)?;
        self.repository.store()?.write(|batch| batch.count_changes(&consumer(&path)))?;
        let mut report = self.report_of(&chosen, budget)?;
        report.skipped.splice(0..0, unread);
        Ok(report)
    }

    /// Brings a folder or the named files in it up to date, and reports what changed since the last report.
    pub fn update_folder(
        &self,
        given: &str,
        changes: &[String],
        progress: &Arc<Progress>,
        budget: &Budget,
    ) -> Result<ChangeReport> {
        if let Some(gone) = self.repository.settings().folders.gone_error(&self.repository.root, given) {
            return Err(gone);
        }
        let asked = self.folder_to_index(given)?;
        let never =
            || {
                Error::new(ErrorKind::IndexNotFound, format!("the folder {} was never indexed", printable(given)))
                    .hint(("Index it with ", Tool("index_files"), " first."))
            };
        let folders = self.repository.reload_settings()?.folders.clone();
        let below = if asked.starts_with('/') { RepoPath::outside(&*asked) } else { RepoPath::new(&*asked) };
        let chosen = folders.all().iter().find(|folder| folder.path == asked);
        let chosen = chosen.or_else(|| folders.of_file(below.as_ref()?)).ok_or_else(never)?.clone();
        // An index that was rebuilt has no count.
        self.repository.store()?.write(|batch| batch.begin_count(&consumer(&chosen.path)))?;
        self.bring_up_to_date(progress, budget)?;
        let report = self.report_of(&chosen, budget)?;
        let base = if asked == ROOT { self.repository.root.clone() } else { self.repository.root.join(&asked) };
        let mut named: Vec<RepoPath> = Vec::new();
        let mut skipped: BTreeMap<String, String> = BTreeMap::new();
        // The repository itself has no path to look for.
        let is_root = |change: &str| {
            let joined = [base.join(change), self.repository.root.join(change)];
            asked == ROOT
                && !change.contains('\0')
                && joined.iter().any(|path| canonical(path).is_ok_and(|path| path == self.repository.root))
        };
        let (all, changes): (Vec<&String>, Vec<&String>) =
            changes.iter().partition(|change| !change.is_empty() && is_root(change));
        let everything = !all.is_empty() || changes.is_empty();
        for change in changes {
            match self.changed_path(change, &base, &asked, budget)? {
                Ok(path) => named.push(path),
                Err(reason) => drop(skipped.insert(change.to_owned(), reason.to_owned())),
            }
        }
        let is_asked = |path: &str| {
            let among = || named.iter().any(|one| is_in(path, one.as_str()));
            is_in(path, &asked) && (everything || among())
        };
        let counted =
            self.repository.store()?.write(|batch| batch.count_changes_of(&consumer(&chosen.path), is_asked))?;
        let indexed = self.repository.read(budget, |snapshot| snapshot.chunks_of_files_in(&asked))?;
        let there = indexed.iter().filter(|(path, _)| is_asked(path)).count();
        let problems = report.problems.into_iter().filter(|(path, _)| is_asked(path)).collect();
        let closed: Vec<Skipped> = report
            .skipped
            .iter()
            .filter(|(_, reason)| {
                [SkipReason::UnreadableFolder, SkipReason::Worktree].iter().any(|of| *reason == of.explained())
            })
            .cloned()
            .collect();
        skipped.extend(report.skipped.into_iter().filter(|(path, _)| is_asked(path)));
        for path in &named {
            let known = |other: &str| RepoPath::stored(other).is_some_and(|other| other.is_in(path.as_str()));
            let is_reported =
                counted.deleted.iter().any(|other| known(other)) || skipped.keys().any(|other| known(other));
            if !is_reported && !indexed.iter().any(|(other, _)| known(other)) {
                let is_there = path.to_path(&self.repository.root).symlink_metadata().is_ok();
                let within = closed.iter().find(|(folder, _)| path.is_in(folder));
                let reason = match within {
                    Some((folder, reason)) if *reason == SkipReason::Worktree.explained() => {
                        format!("in {}, another worktree of this repository", printable(folder))
                    }
                    Some((folder, _)) => format!("in {}, a folder that cannot be read", printable(folder)),
                    None if is_there => "ignored".to_owned(),
                    None => "neither there nor in the index".to_owned(),
                };
                skipped.insert(path.as_str().to_owned(), reason);
            }
        }
        Ok(ChangeReport {
            folder: chosen.path,
            added: counted.added.len(),
            updated: counted.modified.len(),
            removed: counted.deleted.len(),
            unchanged: there.saturating_sub(counted.added.len() + counted.modified.len()),
            skipped: skipped.into_iter().collect(),
            problems,
            total_chunks: indexed.iter().map(|(_, chunks)| chunks).sum(),
        })
    }

    /// Removes a document folder, which may be gone, and brings the index up to date.
    pub fn remove_folder(&self, given: &str, progress: &Arc<Progress>, budget: &Budget) -> Result<RemovalReport> {
        self.repository.check_writable()?;
        if given.is_empty() {
            return Err(no_path(given, "is not a path", "Give the path of a folder."));
        }
        let settings = self.repository.reload_settings()?;
        let known = settings.folders.all();
        let named = self.paths_of_folder(given);
        let known_as = |name: &String| known.iter().find(|folder| folder.path == *name);
        let chosen = named.iter().find_map(known_as).ok_or_else(|| not_among(given, known))?;
        let path = chosen.path.clone();
        let own = |(file, _): &(String, u64)| {
            let nearest = RepoPath::stored(file).and_then(|file| settings.folders.of_file(&file).cloned());
            nearest.is_some_and(|nearest| nearest.path == path)
        };
        let files = |budget: &Budget| -> Result<Vec<(String, u64)>> {
            let mut files = self.repository.read(budget, |snapshot| snapshot.chunks_of_files_in(&path))?;
            files.retain(own);
            Ok(files)
        };
        let before = files(budget)?;
        {
            let _lock = UpdateLock::take(self.repository.folder(), budget)?;
            let mut state = self.repository.state_to_change()?;
            if state.remove(&path) {
                self.repository.save_state(&state)?;
                self.repository.store()?.write(|batch| batch.unskip_in(&path))?;
            }
        }
        self.updates.run_here(Thoroughness::Changed, progress, budget)?;
        self.repository.store()?.write(|batch| batch.end_count(&consumer(&path)))?;
        let stay = files(budget)?;
        let is_there = |file: &str| stay.binary_search_by(|(other, _)| other.as_str().cmp(file)).is_ok();
        Ok(RemovalReport {
            removed: before.iter().filter(|(file, _)| !is_there(file)).count(),
            stayed: stay.len(),
            total_chunks: stay.iter().map(|(_, chunks)| chunks).sum(),
            folder: path.clone(),
        })
    }

    fn bring_up_to_date(&self, progress: &Arc<Progress>, budget: &Budget) -> Result<()> {
        self.updates.run_here(Thoroughness::Changed, progress, budget)?;
        self.updates.model.check_required_gpu()
    }

    /// The possible paths in the index of a folder, the likeliest first: as it is named, for it may be gone by now, and a link to
    /// another one may be in its place; then what links lead to.
    fn paths_of_folder(&self, given: &str) -> Vec<String> {
        if given.is_empty() || given.contains('\0') || given.len() > 4096 {
            return Vec::new();
        }
        let named: PathBuf = self.repository.root.join(given).components().collect();
        let candidates = [Some(named.clone()), without_links(&named), canonical(&named).ok()];
        let mut paths: Vec<String> = candidates
            .into_iter()
            .flatten()
            .filter_map(|folder| {
                if folder == self.repository.root {
                    return Some(ROOT.to_owned());
                }
                let inside = RepoPath::under(&self.repository.root, &folder).map(|path| path.as_str().to_owned());
                inside.or_else(|| folder.to_str().map(str::to_owned))
            })
            .collect();
        paths.dedup();
        paths
    }

    /// Begins to count the changes of each folder, unless they are counted already.
    pub(super) fn begin_counts(&self) -> Result<()> {
        let settings = self.repository.settings();
        let begin = |batch: &mut Batch| {
            settings.folders.all().iter().try_for_each(|folder| batch.begin_count(&consumer(&folder.path)))
        };
        self.repository.store()?.write(begin)
    }

    /// All document folders.
    pub fn folders(&self, snapshot: &Snapshot) -> Result<Vec<DocumentFolder>> {
        let settings = self.repository.settings();
        let described = |folder: &RegisteredFolder| {
            let mut files = snapshot.paths_in(&folder.path)?;
            files.retain(|path| settings.folders.owns(folder, path));
            Ok(DocumentFolder {
                folder_path: folder.path.clone(),
                total_files: files.len().min(folder.max_files),
                chunk_size: folder.chunk_size,
                overlap: folder.overlap,
                max_files: folder.max_files,
                file_types: folder.file_types.clone(),
            })
        };
        settings.folders.all().iter().map(described).collect()
    }

    /// The folders outside the repository that are gone.
    pub fn gone_folders(&self) -> Vec<String> {
        let settings = self.repository.settings();
        settings.folders.gone().iter().map(|folder| folder.to_string_lossy().into_owned()).collect()
    }

    /// Whether answers show text extracted from a file, whose lines are not those on disk.
    pub fn shows_extracted(&self, path: &str) -> bool {
        RepoPath::stored(path).is_some_and(|path| self.repository.settings().folders.takes_text_out(&path))
    }

    /// Which files of a folder are indexed and which are not.
    fn report_of(&self, chosen: &RegisteredFolder, budget: &Budget) -> Result<FolderReport> {
        let settings = self.repository.settings();
        let own = |path: &str| {
            let path = RepoPath::stored(path)?;
            settings.folders.of_file(&path).is_some_and(|folder| folder.path == chosen.path).then_some(path)
        };
        let is_own = |path: &str| settings.folders.owns(chosen, path);
        let (mut indexed, left, said) = self.repository.read(budget, |snapshot| {
            Ok((snapshot.chunks_of_files_in(&chosen.path)?, snapshot.skipped()?, snapshot.problems()?))
        })?;
        indexed.retain(|(path, _)| is_own(path));
        // Source code with problems is completely indexed.
        let is_reported = |language: &str, reason: &str| {
            extract::documents::by_name(language).is_some() || extract::is_of_text(reason)
        };
        let problems =
            said.into_iter().filter(|(path, language, reason)| is_reported(language, reason) && is_own(path));
        let problems: Vec<Skipped> = problems.map(|(path, _, reason)| (path, reason)).collect();
        let concerns =
            |file: &SkippedFile| own(&file.path).is_some_and(|path| folders::concerns(chosen, &path, file.reason));
        let left: Vec<SkippedFile> = left.into_iter().filter(concerns).collect();
        let is_file = |file: &&SkippedFile| !file.reason.is_of_folder();
        let total_files = indexed.len() + left.iter().filter(is_file).count();
        let mut skipped: Vec<Skipped> = left.into_iter().map(|file| (file.path, file.reason.explained())).collect();
        // If the repository lists a folder anyway, the files beyond its maximum stay in the index as the repository's.
        for (path, _) in indexed.drain(chosen.max_files.min(indexed.len())..) {
            skipped.push((path, "max_files: it is indexed as a file of the repository".to_owned()));
        }
        skipped.sort();
        Ok(FolderReport {
            folder: chosen.path.clone(),
            total_files,
            processed_files: indexed.len(),
            total_chunks: indexed.iter().map(|(_, chunks)| chunks).sum(),
            skipped,
            problems,
        })
    }

    /// The path in the index of a folder that may be registered: relative to the repository, which is `.`, or absolute.
    fn folder_to_index(&self, given: &str) -> Result<String> {
        let refused = |what: &str, hint: &str| no_path(given, what, hint);
        if given.is_empty() || given.contains('\0') || given.len() > 4096 {
            return Err(refused("is not a path", "Give the path of a folder."));
        }
        let named = self.repository.root.join(given);
        let folder = canonical(&named)
            .map_err(|error| refused("cannot be read", "Give the path of a folder that exists.").caused_by(error))?;
        if !folder.is_dir() {
            return Err(refused("is not a folder", "Give the path of a folder."));
        }
        HomeFolders::load(self.repository.sources.environment.home()).admit(&folder)?;
        std::fs::read_dir(&folder)
            .map_err(|error| refused("cannot be read", "Give a folder that you may read.").caused_by(error))?;
        if folder.iter().any(scan::is_private_name) {
            return Err(refused("belongs to git or ixmcp", "Name a folder of documents."));
        }
        if folder == self.repository.root {
            return Ok(ROOT.to_owned());
        }
        let path = RepoPath::under(&self.repository.root, &folder).or_else(|| RepoPath::outside(folder.to_str()?));
        let path = path.filter(|path| folder.starts_with(&self.repository.root) || path.is_outside());
        path.map(|path| path.as_str().to_owned()).ok_or_else(|| match folder.to_str() {
            None => refused("is not UTF-8", "Rename the folder."),
            // The index recognizes an outside path by its first character, which is a letter there.
            Some(_) => refused("is outside the repository, which is not supported on Windows", "Name a folder in it."),
        })
    }

    /// The path of a changed file: of the possible paths, one that exists or is in the index.
    fn changed_path(
        &self,
        change: &str,
        base: &Path,
        folder: &str,
        budget: &Budget,
    ) -> Result<std::result::Result<RepoPath, &'static str>> {
        if change.is_empty() || change.contains('\0') || change.len() > 4096 {
            return Ok(Err("not a path"));
        }
        let mut candidates: Vec<RepoPath> = Vec::new();
        for joined in [base.join(change), self.repository.root.join(change)] {
            let Some(path) = without_links(&joined) else { continue };
            let inside = RepoPath::under(&self.repository.root, &path);
            let outside = || RepoPath::outside(path.to_str()?);
            let found = if path.starts_with(&self.repository.root) { inside } else { outside() };
            candidates.extend(found.filter(|path| path.is_in(folder)));
        }
        let is_known = |path: &RepoPath| -> Result<bool> {
            if path.to_path(&self.repository.root).symlink_metadata().is_ok() {
                return Ok(true);
            }
            let stored =
                self.repository.read(budget, |snapshot| snapshot.stored_files_at(std::slice::from_ref(path)))?;
            Ok(!stored.is_empty())
        };
        for path in &candidates {
            if is_known(path)? {
                return Ok(Ok(path.clone()));
            }
        }
        Ok(candidates.into_iter().next().ok_or("outside the folder"))
    }
}

fn no_path(given: &str, what: &str, hint: &str) -> Error {
    Error::invalid_path(format!("{} {what}", shown(given))).hint(hint)
}

/// The given text, shortened for an error.
fn shown(given: &str) -> String {
    if given.is_empty() { "the empty text".to_owned() } else { printable(&given.chars().take(200).collect::<String>()) }
}

/// The error for a folder that is not a document folder; `known` are.
fn not_among(given: &str, known: &[RegisteredFolder]) -> Error {
    let error =
        Error::new(ErrorKind::IndexNotFound, format!("the folder {} is not indexed as documents", shown(given)));
    if known.is_empty() {
        return error.hint(Wording::from("No folder is indexed.").then(("Index one with ", Tool("index_files"), ".")));
    }
    let paths: Vec<&str> = known.iter().map(|folder| folder.path.as_str()).collect();
    error.hint(format!("These are: {}.", first_of(&paths, 20)))
}

/// The name under which the changes of a folder are counted.
fn consumer(folder: &str) -> String {
    format!("{FOLDER_CONSUMER}{folder}")
}

/// The path with the links above its last part resolved. The last part may be gone, or be the link that is named.
fn without_links(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let above = path.parent()?;
    let existing = above.ancestors().find_map(|part| Some((part, canonical(part).ok()?)));
    let (part, resolved) = existing?;
    let rest = above.strip_prefix(part).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain.then(|| resolved.join(rest).join(name))
}

/// The extensions of readable types, and the other types, each with the reason. `UNSUPPORTED_FORMAT` if none is readable.
fn read_types(given: &[String]) -> Result<(Option<Vec<String>>, Vec<Skipped>)> {
    if given.is_empty() {
        return Ok((None, Vec::new()));
    }
    let (mut known, mut unread) = (Vec::new(), Vec::new());
    for given in given {
        if extract::reads_type(given) {
            known.extend(extract::extensions(given));
        } else {
            unread.push((printable(given), "unsupported: no reader takes this type of file".to_owned()));
        }
    }
    if known.is_empty() {
        return Err(unread_types(given, "read all that can be read"));
    }
    known.sort();
    known.dedup();
    Ok((Some(known), unread))
}

/// The error for types that no reader supports; `otherwise` is what leaving them out does.
pub fn unread_types(given: &[String], otherwise: &str) -> Error {
    let types: Vec<String> = given.iter().take(20).map(|one| shown(one)).collect();
    let what = format!("no reader takes any of these types of files: {}", types.join(", "));
    let names = extract::names().join(", ");
    let rest = format!(" out to {otherwise}, or name extensions such as .md, .txt, .pdf, or of these: {names}.");
    Error::new(ErrorKind::UnsupportedFormat, what).hint(("Leave ", Name("fileTypes"), rest))
}
