//! The reasons why a repository, or a folder of it, lists no files: the rules that ignore its entries.
//!
//! Owns the search for the rules and the count of ignored entries. Does not own whether an entry is ignored
//! (`ignored`).

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::Rules;
use super::ignored::{FolderRules, RULE_FILES};
use super::rules::is_private_name;
use super::walk::{Folder, Found, Walk};
use crate::budget::Budget;
use crate::git_settings::MAX_BYTES;
use crate::model::{RepoPath, printable};
use crate::platform::files::read_regular;
use crate::platform::paths::of_git;

/// Entries that are looked at in folders that are not ignored: the first ones show the rule.
const MAX_ENTRIES: usize = 2_000;
/// Files that are counted, and the entries that are looked at for it.
const MAX_COUNTED: usize = 20_000;
const MAX_PATTERN_CHARS: usize = 80;

/// A rule that ignores files or folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoringRule {
    pub pattern: String,
    /// The file that contains it, relative to the repository if it is in there; or the name of the setting.
    pub source: String,
    /// How many files it ignores of those that were looked at, also in folders.
    pub files: usize,
    /// There are more.
    pub is_more: bool,
}

/// A rule's file and line; none of the setting `index.exclude`.
type RulePosition = Option<(PathBuf, usize)>;

/// The rules that ignore files of the repository, those that ignore most first.
pub fn ignoring_rules(root: &Path, rules: &Rules) -> Vec<IgnoringRule> {
    let budget = Budget::unlimited();
    let Ok(walk) = Walk::new(root, rules, None, &budget) else { return Vec::new() };
    let mut search = Search { walk: &walk, counts: BTreeMap::new(), counted: 0 };
    search.read_all();
    let shown = |file: &Path| printable(&file.strip_prefix(root).unwrap_or(file).to_string_lossy());
    let named = |(position, (files, is_more)): (RulePosition, (usize, bool))| match position {
        None => IgnoringRule { pattern: String::new(), source: "index.exclude".to_owned(), files, is_more },
        Some((file, line)) => IgnoringRule { pattern: pattern_at(&file, line), source: shown(&file), files, is_more },
    };
    let mut found: Vec<IgnoringRule> = search.counts.into_iter().map(named).collect();
    found.retain(|rule| rule.files > 0 || rule.is_more);
    found.sort_by_key(|rule| std::cmp::Reverse(rule.files));
    found
}

fn pattern_at(file: &Path, line: usize) -> String {
    let bytes = read_regular(file, MAX_BYTES).unwrap_or_default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let pattern = bytes.split(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default();
    printable(String::from_utf8_lossy(pattern).trim_end()).chars().take(MAX_PATTERN_CHARS).collect()
}

struct Search<'a, 'w> {
    walk: &'a Walk<'w>,
    /// The number of files by rule, and whether there are more.
    counts: BTreeMap<RulePosition, (usize, bool)>,
    counted: usize,
}

impl Search<'_, '_> {
    fn read_all(&mut self) {
        let (root, walk) = (self.walk.root, self.walk);
        let main = walk.main();
        if main.is_ignored {
            // A rule of a folder above names the root.
            let position = main.decision_on_root().map(|(decision, file)| (file.to_owned(), decision.line));
            return self.count(position, root, true);
        }
        let mut folders = VecDeque::from([Folder { path: Vec::new(), rules: main.clone() }]);
        let mut looked_at = 0;
        while let Some(mut folder) = folders.pop_front() {
            let mut found = Found::default();
            if !folder.path.is_empty() {
                let before = main.tree.inside.len();
                folder.rules.add_files(root, &folder.path, before, &RULE_FILES, &mut found.listing.warnings);
            }
            for entry in fs::read_dir(root.join(of_git(&folder.path))).into_iter().flatten().flatten() {
                if looked_at == MAX_ENTRIES {
                    break;
                }
                let Some(path) = RepoPath::under(root, &entry.path()) else { continue };
                if is_private_name(&entry.file_name()) {
                    continue;
                }
                looked_at += 1;
                let path = path.as_str().as_bytes();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if walk.rules.excludes_entry(path, is_folder) {
                    self.count(None, &entry.path(), is_folder);
                } else if let Some(position) = ignoring(&folder.rules, &walk.full(path), is_folder) {
                    self.count(Some(position), &entry.path(), is_folder);
                } else if is_folder {
                    folders.extend(walk.enter(path, &folder.rules, &mut found));
                }
            }
        }
    }

    /// Counts the files at and below an ignored path.
    fn count(&mut self, position: RulePosition, path: &Path, is_folder: bool) {
        let mut files = usize::from(!is_folder);
        let mut folders: Vec<PathBuf> = is_folder.then(|| path.to_owned()).into_iter().collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if self.counted == MAX_COUNTED {
                    break;
                }
                self.counted += 1;
                if is_private_name(&entry.file_name()) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else {
                    files += 1;
                }
            }
        }
        let count = self.counts.entry(position).or_default();
        count.0 += files;
        count.1 |= self.counted == MAX_COUNTED;
    }
}

fn ignoring(rules: &FolderRules, path: &[u8], is_folder: bool) -> Option<(PathBuf, usize)> {
    let (decision, file) = rules.decision(path, is_folder)?;
    decision.ignores.then(|| (file.to_owned(), decision.line))
}
