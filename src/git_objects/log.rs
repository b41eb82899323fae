//! The history of a repository: which commits `HEAD` reaches, and what each of them says and changed.
//!
//! Owns how git is asked for it and how its output is read. `log` compares commits with their parents and looks at no work tree; no
//! signature is checked, which would run a program that the settings name. Does not own what is stored of a message (`update`).

use std::collections::{HashMap, HashSet};

use super::{MAX_TREE, Objects, is_id, lines};
use crate::budget::Budget;
use crate::error::Result;
use crate::git_layout;

/// A commit begins with this character, which no other field of the output begins with.
const MARK: u8 = 2;
/// The id, the parents, the time, the author, the subject and the body.
const FORMAT: &str = "--format=%x02%H%x00%P%x00%ct%x00%aN%x00%s%x00%b%x00";
/// A file of names that is larger is not read.
const MAX_MAILMAP: u64 = 1 << 20;

/// A commit as git logs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedCommit {
    pub id: String,
    /// Seconds since 1970.
    pub time: i64,
    pub author: String,
    pub subject: String,
    pub body: String,
    pub is_merge: bool,
    /// Compared with the parent; of a merge, those that differ from every parent.
    pub files: Vec<LoggedFile>,
}

/// A file that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedFile {
    /// Below the root.
    pub path: String,
    /// Letter of git: `A`, `M`, `D`, `R`, `C` or `T`.
    pub status: char,
    /// The path before, if it was renamed or copied.
    pub from: Option<String>,
}

/// A commit that another one reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    pub id: String,
    /// Seconds since 1970: the time of the commit, or one second after the newest of its parents if that is later. Git calls it the
    /// corrected commit date.
    pub corrected_time: i64,
}

impl Objects {
    /// The commit that is checked out; `None` if there is none yet.
    pub fn head(&self, budget: &Budget) -> Result<Option<String>> {
        self.resolved("HEAD", budget)
    }

    /// The commits that a commit reaches, except those that `but` reaches, the newest first. Below a folder of the repository, those
    /// that changed it. `known` has the corrected times of the others.
    pub fn reached(
        &self,
        from: &str,
        but: Option<&str>,
        known: impl Fn(&str) -> Result<Option<i64>>,
        budget: &Budget,
    ) -> Result<Vec<Reached>> {
        // The index of a folder lacks most commits that `but` reaches, and with them their corrected times.
        let but = but.filter(|_| self.prefix.is_empty()).map(|but| format!("^{but}"));
        let mut arguments = vec!["rev-list", "--date-order", "--timestamp", "--parents", from];
        arguments.extend(but.as_deref());
        let listed = self.listed(&arguments, MAX_TREE, budget)?;
        let mut reached = with_corrected_times(&String::from_utf8_lossy(&listed), known)?;
        if !self.prefix.is_empty() {
            let arguments = ["--literal-pathspecs", "rev-list", "--full-history", from, "--", self.prefix.as_str()];
            let listed = self.listed(&arguments, MAX_TREE, budget)?;
            let listed = String::from_utf8_lossy(&listed);
            let changed: HashSet<&str> = listed.lines().collect();
            reached.retain(|commit| changed.contains(commit.id.as_str()));
        }
        Ok(reached)
    }

    /// These commits in their order. Those that git cannot compare with their parents have no files: a partial clone may lack
    /// what is compared.
    pub fn logged(&self, ids: &[&str], budget: &Budget) -> Result<Vec<LoggedCommit>> {
        let mut logged = self.ask_log(ids, &["--diff-merges=off", "--raw", "--no-abbrev"], budget)?;
        if logged.len() < ids.len() {
            let known: HashSet<String> = logged.iter().map(|commit| commit.id.clone()).collect();
            let missing: Vec<&str> = ids.iter().copied().filter(|id| !known.contains(*id)).collect();
            logged.extend(self.ask_log(&missing, &["--no-patch"], budget)?);
        }
        let merges: Vec<&str> =
            logged.iter().filter(|commit| commit.is_merge).map(|commit| commit.id.as_str()).collect();
        if !merges.is_empty() {
            // Git compares trees with all parents at once as long as it looks for no renames.
            let merges =
                self.ask_log(&merges, &["--diff-merges=combined", "--raw", "--no-abbrev", "--no-renames"], budget)?;
            let mut files: HashMap<String, Vec<LoggedFile>> =
                merges.into_iter().map(|merge| (merge.id, merge.files)).collect();
            self.find_renames(&mut files, budget)?;
            for merge in logged.iter_mut().filter(|commit| commit.is_merge) {
                merge.files = files.remove(&merge.id).unwrap_or_default();
            }
        }
        if !self.prefix.is_empty() {
            // `rev-list` names every merge of commits that changed the folder.
            logged.retain(|commit| !commit.is_merge || !commit.files.is_empty());
        }
        let boundary = self.boundary();
        // Its parents are not in the clone, so that everything looks added.
        for commit in logged.iter_mut().filter(|commit| boundary.contains(&commit.id)) {
            commit.files.clear();
        }
        Ok(logged)
    }

    /// Finds the files of merges that no parent has by their name, and one has by another name.
    fn find_renames(&self, merges: &mut HashMap<String, Vec<LoggedFile>>, budget: &Budget) -> Result<()> {
        let is_added = |file: &LoggedFile| file.status == 'A';
        let with_added = merges.iter().filter(|(_, files)| files.iter().any(is_added));
        let ids: Vec<String> = with_added.map(|(id, _)| id.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        // One entry for each parent.
        for of_parent in
            self.ask_log(&ids, &["--diff-merges=separate", "--raw", "--no-abbrev", "--diff-filter=R"], budget)?
        {
            let Some(files) = merges.get_mut(&of_parent.id) else { continue };
            for renamed in of_parent.files {
                if let Some(file) = files.iter_mut().find(|file| is_added(file) && file.path == renamed.path) {
                    *file = renamed;
                }
            }
        }
        Ok(())
    }

    fn ask_log(&self, ids: &[&str], files: &[&'static str], budget: &Budget) -> Result<Vec<LoggedCommit>> {
        let mut arguments = vec!["--literal-pathspecs"];
        for setting in ["log.showSignature=false", "mailmap.file=", "mailmap.blob="] {
            arguments.extend(["-c", setting]);
        }
        arguments.extend(["log", "--stdin", "--no-walk=unsorted", "--no-color", "--no-show-signature"]);
        arguments.extend(["--encoding=UTF-8", "--use-mailmap", "-z", FORMAT]);
        arguments.extend(self.comparison());
        arguments.extend(files);
        if !self.prefix.is_empty() {
            arguments.extend(["--", self.prefix.as_str()]);
        }
        let found = self.run(&arguments, &lines(ids), MAX_TREE, budget)?;
        self.check_trust(&found)?;
        let mut logged = parsed(&found.stdout, &self.prefix);
        if !found.status.is_some_and(|status| status.success()) {
            // The last one may be cut.
            logged.pop();
        }
        Ok(logged)
    }

    /// The path at `HEAD` of a file that was renamed to `path` since then, as git's index has it.
    pub fn renamed_from(&self, path: &str, budget: &Budget) -> Result<Option<String>> {
        let mut arguments = vec!["diff-index", "--cached", "--raw", "-z", "--diff-filter=R"];
        arguments.extend(self.comparison());
        arguments.push("HEAD");
        let found = self.run(&arguments, b"", MAX_TREE, budget)?;
        self.check_trust(&found)?;
        let mut fields = found.stdout.split(|byte| *byte == 0);
        while let Some(field) = fields.next() {
            let file = field.strip_prefix(b":").and_then(|change| changed_file(change, &mut fields, &self.prefix));
            if let Some(file) = file.filter(|file| file.path == path) {
                return Ok(file.from);
            }
        }
        Ok(None)
    }

    /// Options of git about comparing a commit with its parent.
    pub(super) fn comparison(&self) -> [&'static str; 4] {
        // Other renames are found by comparing contents, which a partial clone lacks.
        let renames = if self.is_partial() { "-M100%" } else { "-M50%" };
        // `-O/dev/null`: git must not read the order file that its settings may name.
        ["--no-ext-diff", renames, "-l200", "-O/dev/null"]
    }

    /// Whether the clone leaves out files that it can ask another repository for.
    pub fn is_partial(&self) -> bool {
        let Some(common) = self.common_directory() else { return false };
        let settings = git_layout::format(&common);
        // Git 2.47 marks only the remote, older ones also the repository.
        settings.text("extensions.partialclone").is_some()
            || settings.into_values().any(|(key, _)| key.starts_with(b"remote.") && key.ends_with(b".promisor"))
    }

    /// Whether the root is a folder below the top of git's tree.
    pub fn is_below_top(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// Whether `git replace` has put objects in the place of others; the others are read.
    pub fn has_replacements(&self) -> bool {
        let Some(common) = self.common_directory() else { return false };
        let is_packed = |packed: String| packed.lines().any(|line| line.contains(" refs/replace/"));
        std::fs::read_dir(common.join("refs/replace")).is_ok_and(|mut found| found.next().is_some())
            || std::fs::read_to_string(common.join("packed-refs")).is_ok_and(is_packed)
    }

    /// Commits of a shallow clone whose parents it lacks.
    fn boundary(&self) -> HashSet<String> {
        let Some(common) = self.common_directory() else { return HashSet::new() };
        let listed = std::fs::read_to_string(common.join("shallow"));
        listed.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// A value that changes when commits that were logged before would be logged otherwise: their parents or their authors' names.
    pub fn surroundings(&self) -> String {
        let mut boundary: Vec<String> = self.boundary().into_iter().collect();
        boundary.sort_unstable();
        let mailmap = self.folder.join(".mailmap");
        let is_read =
            std::fs::symlink_metadata(&mailmap).is_ok_and(|found| found.is_file() && found.len() < MAX_MAILMAP);
        let names = if is_read { std::fs::read(&mailmap).unwrap_or_default() } else { Vec::new() };
        let mut hasher = blake3::Hasher::new();
        hasher.update(boundary.join(" ").as_bytes()).update(&[0]).update(&names).update(&[0]);
        hasher.update(self.prefix.as_bytes()).update(&[u8::from(self.is_partial())]);
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// Reads lines of a time, an id and those of the parents, children before their parents.
fn with_corrected_times(listed: &str, known: impl Fn(&str) -> Result<Option<i64>>) -> Result<Vec<Reached>> {
    let mut corrected: HashMap<&str, i64> = HashMap::new();
    for row in listed.lines().rev() {
        let mut fields = row.split(' ');
        let (Some(Ok(time)), Some(id)) = (fields.next().map(str::parse), fields.next().filter(|id| is_id(id))) else {
            continue;
        };
        let mut latest: i64 = time;
        for parent in fields {
            let of_parent = match corrected.get(parent) {
                Some(time) => Some(*time),
                None => known(parent)?,
            };
            latest = latest.max(of_parent.map_or(time, |of_parent| of_parent.saturating_add(1)));
        }
        corrected.insert(id, latest);
    }
    let ids = listed.lines().filter_map(|row| row.split(' ').nth(1));
    Ok(ids.filter_map(|id| Some(Reached { id: id.to_owned(), corrected_time: *corrected.get(id)? })).collect())
}

/// The commits of a log.
fn parsed(output: &[u8], prefix: &str) -> Vec<LoggedCommit> {
    let mut commits: Vec<LoggedCommit> = Vec::new();
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        let text = |field: Option<&[u8]>| String::from_utf8_lossy(field.unwrap_or_default()).into_owned();
        if let [MARK, id @ ..] = field {
            let mut commit = LoggedCommit { id: text(Some(id)), ..LoggedCommit::default() };
            commit.is_merge = text(fields.next()).contains(' ');
            commit.time = text(fields.next()).trim().parse().unwrap_or_default();
            commit.author = text(fields.next());
            commit.subject = text(fields.next());
            commit.body = text(fields.next());
            commits.push(commit);
        } else if let [b':', change @ ..] = field
            && let Some(file) = changed_file(change, &mut fields, prefix)
            && let Some(commit) = commits.last_mut()
        {
            commit.files.push(file);
        }
    }
    commits
}

/// Reads the modes, ids and statuses of a change, and the paths that follow them. `None` above the root.
fn changed_file<'o>(change: &[u8], paths: &mut impl Iterator<Item = &'o [u8]>, prefix: &str) -> Option<LoggedFile> {
    let change = String::from_utf8_lossy(change);
    // A merge has a letter for each parent.
    let (_, statuses) = change.rsplit_once(' ')?;
    let mut letters = statuses.chars().filter(char::is_ascii_uppercase);
    let first = letters.next()?;
    let status = if letters.all(|letter| letter == first) { first } else { 'M' };
    let below = |path: &[u8]| {
        let path = std::str::from_utf8(path).ok()?.strip_prefix(prefix)?;
        (!path.is_empty()).then(|| path.to_owned())
    };
    let from = if matches!(status, 'R' | 'C') { paths.next().and_then(below) } else { None };
    Some(LoggedFile { path: paths.next().and_then(below)?, status, from })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_may_look_like_the_output_around_it() {
        let mut output = Vec::new();
        for (id, body) in [("a", ":100644 100644 1 2 M\n"), ("b", "\u{2}c\n")] {
            let fields = [&format!("\u{2}{id}"), "", "7", "Ann", "subject", body, ""];
            output.extend_from_slice(fields.join("\0").as_bytes());
            output.extend_from_slice(
                b"\0\n:100644 100644 1 2 R090\0in/old.rs\0in/new.rs\0:000000 160000 0 3 A\0other/module\0",
            );
        }
        let file = LoggedFile { path: "new.rs".to_owned(), status: 'R', from: Some("old.rs".to_owned()) };
        let commits = parsed(&output, "in/");
        assert_eq!(commits.iter().map(|commit| commit.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(commits.iter().all(|commit| commit.files == [file.clone()] && commit.time == 7), "{commits:?}");
        assert_eq!(commits[1].body, "\u{2}c\n");
    }
}
