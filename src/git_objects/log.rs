//! The history of a repository: which commits `HEAD` reaches, and what each of them says and changed.
//!
//! Owns how git is asked for it and how its output is read. `log` compares commits with their parents and looks at no work tree; no
//! signature is checked, which would run a program that the settings name. Does not own what is stored of a message (`update`).

use std::collections::HashSet;

use super::{MAX_TREE, Objects, is_id, lines};
use crate::budget::Budget;
use crate::error::Result;
use crate::git_layout;

/// A commit begins with this character, which no other field of the output begins with.
const MARK: u8 = 2;
/// The id, the time, the author, the subject and the body.
const FORMAT: &str = "--format=%x02%H%x00%ct%x00%aN%x00%s%x00%b%x00";
const SUBMODULE: &str = "160000";
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
    /// Compared with the parent; none of a merge.
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

impl Objects {
    /// The commit that is checked out; `None` if there is none yet.
    pub fn head(&self, budget: &Budget) -> Result<Option<String>> {
        self.resolved("HEAD", budget)
    }

    /// The ids of the commits that a commit reaches, except those that `but` reaches, the newest first. Below a folder of the
    /// repository, those that changed it.
    pub fn reached(&self, from: &str, but: Option<&str>, budget: &Budget) -> Result<Vec<String>> {
        let but = but.map(|but| format!("^{but}"));
        let mut arguments = vec!["--literal-pathspecs", "rev-list", from];
        arguments.extend(but.as_deref());
        if !self.prefix.is_empty() {
            arguments.extend(["--full-history", "--no-merges", "--", self.prefix.as_str()]);
        }
        let listed = self.listed(&arguments, MAX_TREE, budget)?;
        let text = String::from_utf8_lossy(&listed);
        Ok(text.lines().filter(|line| is_id(line)).map(str::to_owned).collect())
    }

    /// These commits in their order. Those that git cannot compare with their parents have no files: a partial clone may lack
    /// what is compared.
    pub fn logged(&self, ids: &[&str], budget: &Budget) -> Result<Vec<LoggedCommit>> {
        let mut logged = self.ask_log(ids, true, budget)?;
        if logged.len() < ids.len() {
            let known: HashSet<String> = logged.iter().map(|commit| commit.id.clone()).collect();
            let missing: Vec<&str> = ids.iter().copied().filter(|id| !known.contains(*id)).collect();
            logged.extend(self.ask_log(&missing, false, budget)?);
        }
        let boundary = self.boundary();
        // Its parents are not in the clone, so that everything looks added.
        for commit in logged.iter_mut().filter(|commit| boundary.contains(&commit.id)) {
            commit.files.clear();
        }
        Ok(logged)
    }

    fn ask_log(&self, ids: &[&str], with_files: bool, budget: &Budget) -> Result<Vec<LoggedCommit>> {
        let mut arguments = vec!["--literal-pathspecs"];
        for setting in ["log.showSignature=false", "mailmap.file=", "mailmap.blob="] {
            arguments.extend(["-c", setting]);
        }
        arguments.extend(["log", "--stdin", "--no-walk=unsorted", "--no-color", "--no-show-signature"]);
        arguments.extend(["--encoding=UTF-8", "--use-mailmap", "-z", FORMAT]);
        if with_files {
            arguments.extend(["--diff-merges=off", "--raw", "--no-abbrev"]);
            arguments.extend(self.comparison());
        } else {
            arguments.push("--no-patch");
        }
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

    /// Options of git about comparing a commit with its parent.
    pub(super) fn comparison(&self) -> [&'static str; 4] {
        // Other renames are found by comparing contents, which a partial clone lacks.
        let renames = if self.is_partial() { "-M100%" } else { "-M50%" };
        // `-O/dev/null`: git must not read the order file that its settings may name.
        ["--no-ext-diff", renames, "-l200", "-O/dev/null"]
    }

    /// Whether the clone leaves out files that it can ask another repository for.
    pub fn is_partial(&self) -> bool {
        let Some((_, directory)) = git_layout::directory(&self.folder) else { return false };
        let settings = git_layout::format(&git_layout::common_directory(&directory));
        // Git 2.47 marks the remote alone, and older ones the repository as well.
        settings.text("extensions.partialclone").is_some()
            || settings.into_values().any(|(key, _)| key.starts_with(b"remote.") && key.ends_with(b".promisor"))
    }

    /// Commits of a shallow clone whose parents it lacks.
    fn boundary(&self) -> HashSet<String> {
        let Some((_, directory)) = git_layout::directory(&self.folder) else { return HashSet::new() };
        let listed = std::fs::read_to_string(git_layout::common_directory(&directory).join("shallow"));
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

/// The commits of a log.
fn parsed(output: &[u8], prefix: &str) -> Vec<LoggedCommit> {
    let mut commits: Vec<LoggedCommit> = Vec::new();
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        let text = |field: Option<&[u8]>| String::from_utf8_lossy(field.unwrap_or_default()).into_owned();
        if let [MARK, id @ ..] = field {
            let mut commit = LoggedCommit { id: text(Some(id)), ..LoggedCommit::default() };
            commit.time = text(fields.next()).trim().parse().unwrap_or_default();
            commit.author = text(fields.next());
            commit.subject = text(fields.next());
            commit.body = text(fields.next());
            commits.push(commit);
        } else if let [b':', change @ ..] = field {
            let change = String::from_utf8_lossy(change);
            let [before_mode, after_mode, _, _, status] = change.split(' ').collect::<Vec<_>>()[..] else { continue };
            let status = status.bytes().next();
            let is_submodule = [before_mode, after_mode].contains(&SUBMODULE);
            let from = if matches!(status, Some(b'R' | b'C')) { fields.next() } else { None };
            let below = |path: &[u8]| {
                let path = std::str::from_utf8(path).ok()?.strip_prefix(prefix)?;
                (!path.is_empty()).then(|| path.to_owned())
            };
            let (Some(path), Some(status)) = (fields.next().and_then(below), status) else { continue };
            if let Some(commit) = commits.last_mut().filter(|_| !is_submodule) {
                commit.files.push(LoggedFile { path, status: char::from(status), from: from.and_then(below) });
            }
        }
    }
    commits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_may_look_like_the_output_around_it() {
        let mut output = Vec::new();
        for (id, body) in [("a", ":100644 100644 1 2 M\n"), ("b", "\u{2}c\n")] {
            let fields = [&format!("\u{2}{id}"), "7", "Ann", "subject", body, ""];
            output.extend_from_slice(fields.join("\0").as_bytes());
            output.extend_from_slice(
                b"\0\n:100644 100644 1 2 R090\0in/old.rs\0in/new.rs\0:000000 160000 0 3 A\0in/module\0",
            );
        }
        let file = LoggedFile { path: "new.rs".to_owned(), status: 'R', from: Some("old.rs".to_owned()) };
        let commits = parsed(&output, "in/");
        assert_eq!(commits.iter().map(|commit| commit.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(commits.iter().all(|commit| commit.files == [file.clone()] && commit.time == 7), "{commits:?}");
        assert_eq!(commits[1].body, "\u{2}c\n");
    }
}
