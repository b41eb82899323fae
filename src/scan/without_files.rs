//! Why a repository lists no files: the rules that ignore what is there.
//!
//! Owns the search for the rule that ignores an entry, because the crate that walks does not name it. Does not own whether an
//! entry is ignored (`walk`).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::walk::{Matchers, is_private_name};
use super::{Rules, guard, tracked};
use crate::model::{RepoPath, printable};

/// Entries that are looked at: the first ones show the rule.
const MAX_ENTRIES: usize = 2_000;
const MAX_PATTERN_CHARS: usize = 80;

/// A rule that ignores files or folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoringRule {
    pub pattern: String,
    /// The file that contains it, relative to the repository if it is in there; or the name of the setting.
    pub source: String,
    /// How many entries it ignores of those that were looked at.
    pub entries: usize,
}

/// The rules that ignore entries of the repository, those that ignore most first.
pub fn ignoring_rules(root: &Path, rules: &Rules) -> Vec<IgnoringRule> {
    let matchers = Matchers::new(root, rules);
    let mut files = RuleFiles::of(root);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut folders = VecDeque::from([root.to_path_buf()]);
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        if !guard::is_safe(root, &folder) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if looked_at == MAX_ENTRIES {
                break;
            }
            let Some(path) = RepoPath::under(root, &entry.path()) else { continue };
            if is_private_name(&entry.file_name()) {
                continue;
            }
            looked_at += 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let rule = if rules.excludes(Path::new(path.as_str()), is_folder) {
                Some((String::new(), "index.exclude".to_owned()))
            } else if matchers.ignores(&path, is_folder) {
                files.rule_for(&entry.path(), is_folder)
            } else {
                folders.extend(is_folder.then(|| entry.path()));
                None
            };
            if let Some(rule) = rule {
                *counts.entry(rule).or_default() += 1;
            }
        }
    }
    let mut found: Vec<IgnoringRule> =
        counts.into_iter().map(|((pattern, source), entries)| IgnoringRule { pattern, source, entries }).collect();
    found.sort_by_key(|rule| std::cmp::Reverse(rule.entries));
    found
}

/// The ignore files that were read, by path.
struct RuleFiles<'r> {
    root: &'r Path,
    /// Those outside the folders: git's own exclusions and the user's.
    global: Vec<PathBuf>,
    parsed: HashMap<PathBuf, Gitignore>,
}

impl<'r> RuleFiles<'r> {
    fn of(root: &'r Path) -> Self {
        let mut global = tracked::git_rule_files(root);
        global.retain(|file| file.file_name().is_some_and(|name| name != "index"));
        Self { root, global, parsed: HashMap::new() }
    }

    /// The pattern that ignores a file or folder, and where it is. A kind of file has precedence over the next one, and a
    /// deeper folder over the folders above it.
    fn rule_for(&mut self, path: &Path, is_folder: bool) -> Option<(String, String)> {
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        let global = self.global.iter().map(|file| (self.root.to_owned(), file.clone()));
        let names = [".rgignore", ".ignore", ".gitignore"];
        let local =
            names.iter().flat_map(|name| folders.iter().map(move |folder| (folder.to_path_buf(), folder.join(name))));
        let all: Vec<(PathBuf, PathBuf)> = local.chain(global).collect();
        for (base, file) in all {
            let matched = self.parsed(&base, &file).matched(path, is_folder);
            if matched.is_whitelist() {
                return None;
            }
            if let Some(glob) = matched.inner() {
                let pattern: String = printable(glob.original()).chars().take(MAX_PATTERN_CHARS).collect();
                return Some((pattern, self.shown(&file)));
            }
        }
        None
    }

    fn parsed(&mut self, base: &Path, file: &Path) -> &Gitignore {
        self.parsed.entry(file.to_owned()).or_insert_with(|| {
            let mut builder = GitignoreBuilder::new(base);
            if guard::is_plain(file) && file.is_file() {
                // Lines that are not patterns ignore nothing.
                let _ = builder.add(file);
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        })
    }

    fn shown(&self, file: &Path) -> String {
        printable(&file.strip_prefix(self.root).unwrap_or(file).to_string_lossy())
    }
}
