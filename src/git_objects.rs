//! Commits, trees and blobs of a git repository, read with git's plumbing.
//!
//! Owns which commands of git run, and in which environment. `rev-parse`, `rev-list`, `for-each-ref`, `symbolic-ref`, `merge-base`,
//! `ls-tree`, `cat-file`, `log` and `diff-tree` between commits read objects and references and nothing else, and `diff-index --cached`
//! git's index as well; `check-attr` and `config` read rules. None compares a work tree, so that they run no hook, filter, textconv,
//! external diff or fsmonitor that the repository's settings or attributes name. No transport is allowed, whatever the settings say, so a
//! partial clone fetches nothing. Does not own which repository may be read (`git_layout`), or what differs (`repository`).

mod ancestry;
mod conversion;
mod log;
mod patches;
mod work_files;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::child_process::{Finished, run_to_end};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::git_config::{Directories, GitConfig};
use crate::git_layout::{self, Head, PROGRAM};
use crate::model::printable;
use crate::wording::{Argument, Name, Wording};

pub use ancestry::Ancestry;
pub use conversion::{Comparison, is_convertible};
pub use log::{LoggedCommit, Reached};
pub use patches::Patch;
pub use work_files::{Settings, WorkFile};

/// Variables of this process that git gets; all others could change what it reads.
const VARIABLES: &[&str] = &[
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "USERPROFILE",
    "SYSTEMROOT",
    "PATH",
];

/// A command without CPU time for this long is killed.
const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_LINE: u64 = 64 << 10;
const MAX_LATEST: u64 = 1 << 20;
/// Bytes of a tree's listing: a million paths.
const MAX_TREE: u64 = 256 << 20;
/// Bytes of blobs that are read at once.
const MAX_BLOBS: u64 = 64 << 20;
const MAX_REVISION: usize = 256;
/// The default branch, by the names that it may have, likeliest first.
const DEFAULT_BRANCHES: &[&str] = &[
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
    "refs/heads/trunk",
];
/// The base that is the merge base with the default branch.
pub const BRANCH: &str = "branch";

/// Reads the objects of one repository.
pub struct Objects {
    program: PathBuf,
    folder: PathBuf,
    /// The path from the top of the work tree to the root, with a `/` at its end, or empty.
    prefix: String,
    variables: Vec<(String, String)>,
}

/// The branch that is checked out at `root`, if any. It is not known if only git can say and cannot be asked.
pub fn branch(root: &Path, environment: &Environment) -> Option<String> {
    match git_layout::head(root)? {
        Head::Branch(name) => Some(name),
        Head::Detached => None,
        Head::InTables => {
            Objects::open(root, environment).and_then(|objects| objects.branch()).unwrap_or_else(|error| {
                tracing::debug!("the branch of {} is not known: {error}", root.display());
                None
            })
        }
    }
}

/// A commit to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// `None`: nothing is committed yet, so that everything is new.
    pub id: Option<String>,
    /// The branch that the commit is the merge base with.
    pub of: Option<String>,
}

/// Regular files by their path below the root, with the ids of their blobs.
pub type Tree = HashMap<String, String>;

impl Objects {
    /// Opens the objects of the repository at `root`, or around it.
    pub fn open(root: &Path, environment: &Environment) -> Result<Self> {
        let folder = git_layout::with_own_history(root).map_err(|reason| {
            Error::invalid_path(format!("the history cannot be read: {reason}"))
                .hint("Only a git repository, a worktree or a submodule has a base to compare with.")
        })?;
        let program = environment.on_path_outside(PROGRAM, root).ok_or_else(|| {
            Error::invalid_path("the program `git` is not installed").hint("Install git, or add its folder to PATH.")
        })?;
        // Git would read a pipe or a device for ever, and reports some of the other faults as if there were no commit.
        let settings = GitConfig::read(&environment.git_folders(), Directories::around(&folder).as_ref());
        if let Some(problem) = settings.problems.first() {
            return Err(Error::invalid_path(format!("git cannot read its settings: {problem}"))
                .hint("Repair that file, or remove the setting that includes it."));
        }
        let below = root.strip_prefix(&folder).unwrap_or(Path::new(""));
        let mut prefix: String = below.iter().map(|part| format!("{}/", part.to_string_lossy())).collect();
        prefix.shrink_to_fit();
        let variable = |name: &&str| Some(((*name).to_owned(), environment.get(name)?.to_owned()));
        let variables = VARIABLES.iter().filter_map(variable).collect();
        Ok(Self { program, folder, prefix, variables })
    }

    /// The commit that `base` names: a revision, or [`BRANCH`].
    pub fn commit(&self, base: &str, budget: &Budget) -> Result<Commit> {
        let is_plain = base.len() <= MAX_REVISION && !base.starts_with('-') && !base.chars().any(char::is_control);
        if !is_plain || base.trim().is_empty() {
            return Err(Error::invalid_argument((Argument("base"), " is not a commit"))
                .hint("Give a commit, a branch or a tag, or \"branch\" for what this branch changes."));
        }
        if base == BRANCH {
            return self.merge_base(budget);
        }
        if let Some(id) = self.resolved(base, budget)? {
            return Ok(Commit { id: Some(id), of: None });
        }
        if base == "HEAD" && self.is_unborn(budget)? {
            return Ok(Commit { id: None, of: None });
        }
        let shown = printable(base);
        Err(Error::invalid_argument((Argument("base"), format!(": there is no commit \"{shown}\" in this repository")))
            .hint(format!("Give a commit, a branch or a tag.{}", self.what_may_lack())))
    }

    /// Says in a hint that a shallow clone may lack commits.
    fn what_may_lack(&self) -> &'static str {
        if self.is_shallow() {
            " This clone is shallow: `git fetch --unshallow` gets the rest of its history."
        } else {
            ""
        }
    }

    /// Whether the clone lacks older commits.
    pub fn is_shallow(&self) -> bool {
        self.common_directory().is_some_and(|common| common.join("shallow").exists())
    }

    /// Git's directory that all worktrees share.
    fn common_directory(&self) -> Option<PathBuf> {
        git_layout::directory(&self.folder).map(|(_, directory)| git_layout::common_directory(&directory))
    }

    fn resolved(&self, revision: &str, budget: &Budget) -> Result<Option<String>> {
        // Whatever follows `:/` is searched in messages, and the result is a commit.
        let commit = if revision.starts_with(":/") { revision.to_owned() } else { format!("{revision}^{{commit}}") };
        let found = self.run(&["rev-parse", "--verify", "--quiet", &commit], b"", MAX_LINE, budget)?;
        if !found.status.is_some_and(|status| status.success()) {
            self.check_trust(&found)?;
            return Ok(None);
        }
        Ok(first_line(&found.stdout).filter(|id| is_id(id)))
    }

    /// Whether `HEAD` names a branch without a commit.
    fn is_unborn(&self, budget: &Budget) -> Result<bool> {
        let Some(branch) = self.symbolic_head(budget)? else { return Ok(false) };
        let listed = self.run(&["for-each-ref", "--format=%(refname)", &branch], b"", MAX_LINE, budget)?;
        Ok(listed.status.is_some_and(|status| status.success()) && listed.stdout.is_empty())
    }

    /// The reference that `HEAD` names, if it names one.
    fn symbolic_head(&self, budget: &Budget) -> Result<Option<String>> {
        let named = self.run(&["symbolic-ref", "--quiet", "HEAD"], b"", MAX_LINE, budget)?;
        Ok(first_line(&named.stdout).filter(|name| name.starts_with("refs/")))
    }

    fn branch(&self) -> Result<Option<String>> {
        let name = self.symbolic_head(&Budget::lasting(TIMEOUT))?;
        Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    fn merge_base(&self, budget: &Budget) -> Result<Commit> {
        let arguments = [&["for-each-ref", "--format=%(refname)"][..], DEFAULT_BRANCHES].concat();
        let listed = self.run(&arguments, b"", MAX_LINE, budget)?;
        self.check_trust(&listed)?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let known = |name: &&&str| listed.lines().any(|line| line == **name);
        let Some(default) = DEFAULT_BRANCHES.iter().find(known).copied() else {
            return Err(Error::invalid_argument((Argument("base"), ": the default branch is not known")).hint((
                "Give the branch to compare with as ",
                Name("base"),
                ", such as `origin/develop`.",
            )));
        };
        let found = self.run(&["merge-base", "HEAD", default], b"", MAX_LINE, budget)?;
        let of = default.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/").to_owned();
        match first_line(&found.stdout).filter(|id| is_id(id)) {
            Some(id) => Ok(Commit { id: Some(id), of: Some(of) }),
            None => Err(Error::invalid_argument((
                Argument("base"),
                format!(": HEAD and {} have no common ancestor", printable(&of)),
            ))
            .hint((
                "Give a commit, a branch or a tag as ",
                Name("base"),
                format!(".{}", self.what_may_lack()),
            ))),
        }
    }

    /// Whether the clone has a commit.
    pub fn has_commit(&self, id: &str, budget: &Budget) -> Result<bool> {
        Ok(is_id(id) && self.resolved(id, budget)?.is_some())
    }

    /// Whether one commit is an ancestor of another; `None` if the clone lacks one of them.
    pub fn is_ancestor(&self, ancestor: &str, of: &str, budget: &Budget) -> Result<Option<bool>> {
        if !is_id(ancestor) || self.resolved(ancestor, budget)?.is_none() {
            return Ok(None);
        }
        let found = self.run(&["merge-base", "--is-ancestor", ancestor, of], b"", MAX_LINE, budget)?;
        let code = found.status.and_then(|status| status.code());
        Ok(match code {
            Some(0) => Some(true),
            // In a shallow clone, a missing history looks the same.
            Some(1) if !self.is_shallow() => Some(false),
            _ => None,
        })
    }

    /// When the latest commits were made, in seconds since 1970, and their subjects, newest first; none of a root that is a folder
    /// of its repository, because finding those of a folder can take long.
    pub fn latest(&self, count: usize, budget: &Budget) -> Result<Vec<(i64, String)>> {
        if !self.prefix.is_empty() {
            return Ok(Vec::new());
        }
        let most = format!("--max-count={count}");
        let listed = self.run(&["rev-list", &most, "--format=%ct %s", "HEAD", "--"], b"", MAX_LATEST, budget)?;
        let text = String::from_utf8_lossy(&listed.stdout);
        // Before each one, there is a line `commit ID`.
        let noted = |line: &str| {
            let (when, subject) = line.split_once(' ')?;
            Some((when.parse().ok()?, subject.to_owned()))
        };
        Ok(text.lines().filter_map(noted).collect())
    }

    /// The files of a commit below the root.
    pub fn tree(&self, commit: &str, budget: &Budget) -> Result<Tree> {
        let mut arguments = vec!["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit];
        if !self.prefix.is_empty() {
            arguments.extend(["--", self.prefix.as_str()]);
        }
        let listed = self.listed(&arguments, MAX_TREE, budget)?;
        let entry = |line: &[u8]| {
            let (head, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
            let mut fields = head.split(' ');
            let (mode, _, id) = (fields.next()?, fields.next()?, fields.next()?);
            let path = path.strip_prefix(&self.prefix)?;
            // Links and submodules define nothing.
            mode.starts_with("100").then(|| (path.to_owned(), id.to_owned()))
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    /// The paths below the root that the last commits of `HEAD` changed. What a merge or the first commit brought is left out.
    pub fn changed_by_last_commits(&self, commits: usize, budget: &Budget) -> Result<Vec<String>> {
        let most = format!("--max-count={commits}");
        let listed = self.listed(&["rev-list", &most, "HEAD"], MAX_LINE, budget)?;
        let arguments = [
            "--literal-pathspecs",
            "diff-tree",
            "--stdin",
            "-r",
            "-z",
            "--no-commit-id",
            "--name-only",
            "--no-renames",
        ];
        let changed = self.run(&arguments, &listed, MAX_TREE, budget)?;
        let paths = changed.stdout.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
        let below = paths.filter_map(|path| path.strip_prefix(&self.prefix)).filter(|path| !path.is_empty());
        Ok(below.map(str::to_owned).collect())
    }

    /// The blobs of these ids, in their order, each at most `max_size` bytes: `None` for those that are larger, or that the clone
    /// lacks.
    pub fn blobs(&self, ids: &[&str], max_size: u64, budget: &Budget) -> Result<Vec<Option<Vec<u8>>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sizes = self.run(&["cat-file", "--batch-check"], &lines(ids), MAX_TREE, budget)?;
        let size = |line: &str| line.rsplit_once(' ').and_then(|(_, size)| size.parse::<u64>().ok());
        let text = String::from_utf8_lossy(&sizes.stdout);
        let mut sizes: Vec<Option<u64>> =
            text.lines().map(|line| size(line).filter(|size| *size <= max_size)).collect();
        sizes.resize(ids.len(), None);
        let mut blobs = vec![None; ids.len()];
        let mut at = 0;
        while at < ids.len() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while at < ids.len() && (batch.is_empty() || bytes < MAX_BLOBS) {
                if let Some(size) = sizes[at] {
                    batch.push((at, size));
                    bytes += size;
                }
                at += 1;
            }
            budget.check()?;
            self.read_batch(ids, &batch, &mut blobs, budget)?;
        }
        Ok(blobs)
    }

    fn read_batch(
        &self,
        ids: &[&str],
        batch: &[(usize, u64)],
        blobs: &mut [Option<Vec<u8>>],
        budget: &Budget,
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let wanted: Vec<&str> = batch.iter().map(|(at, _)| ids[*at]).collect();
        let most: u64 = batch.iter().map(|(_, size)| size + 256).sum();
        let read = self.run(&["cat-file", "--batch"], &lines(&wanted), most, budget)?;
        let mut rest = read.stdout.as_slice();
        for (at, size) in batch {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let length = usize::try_from(*size).unwrap_or(usize::MAX);
            if !head.ends_with(&format!(" blob {size}")) {
                // An object that is missing has no content.
                continue;
            }
            let Some(blob) = rest.get(..length) else { break };
            blobs[*at] = Some(blob.to_vec());
            rest = rest.get(length + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn run(&self, arguments: &[&str], input: &[u8], most: u64, budget: &Budget) -> Result<Finished> {
        budget.check()?;
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        for (name, value) in [
            ("LC_ALL", "C"),
            // Replaces all that the settings say of transports; an empty list allows none.
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("GIT_PAGER", ""),
        ] {
            command.env(name, value);
        }
        if let Some(above) = self.folder.parent() {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        for setting in
            ["safe.bareRepository=explicit", "protocol.allow=never", "core.fsmonitor=false", "core.hooksPath=/dev/null"]
        {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        let left = budget.deadline().map_or(TIMEOUT, |deadline| deadline.saturating_duration_since(Instant::now()));
        let failed = |error: std::io::Error| Error::io("run", &self.program, error);
        let finished =
            run_to_end(command, input, left.clamp(Duration::from_millis(100), TIMEOUT), most).map_err(failed)?;
        finished.ok_or_else(|| {
            Error::new(ErrorKind::Timeout, "git did not answer in time").hint(Wording::from("Try again.").then((
                "On a slow disk raise ",
                Name("timeout_ms"),
                ".",
            )))
        })
    }

    /// Returns what git prints, or an error if it fails.
    fn listed(&self, arguments: &[&str], most: u64, budget: &Budget) -> Result<Vec<u8>> {
        let finished = self.run(arguments, b"", most, budget)?;
        if !finished.status.is_some_and(|status| status.success()) {
            return Err(self.unreadable(&finished));
        }
        Ok(finished.stdout)
    }

    /// An error if git refuses to read the repository at all. What git says is not shown: it may quote its settings.
    fn check_trust(&self, finished: &Finished) -> Result<()> {
        let said = String::from_utf8_lossy(&finished.stderr);
        tracing::debug!("git: {said}");
        if said.contains("dubious ownership") || said.contains("safe.directory") {
            let folder = printable(&self.folder.to_string_lossy());
            return Err(Error::invalid_path("git does not read this repository: it belongs to another user")
                .hint(format!("If you trust it: `git config --global --add safe.directory {folder}`.")));
        }
        if said.contains("bad config")
            || said.contains("not a git repository")
            || said.contains("repository version")
            || said.contains("Invalid path")
        {
            return Err(Error::invalid_path("git cannot read this repository")
                .hint("`git status` in the repository says what is wrong."));
        }
        Ok(())
    }

    fn unreadable(&self, finished: &Finished) -> Error {
        let hint = "If the clone is partial, it may lack the commit's files, and nothing is fetched from here: run `git fetch`, or \
            give another base. `git fsck` checks the repository.";
        self.check_trust(finished).err().unwrap_or_else(|| {
            Error::invalid_argument((Argument("base"), ": the commit's files cannot be listed")).hint(hint)
        })
    }
}

fn lines(ids: &[&str]) -> Vec<u8> {
    ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect()
}

fn first_line(output: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(output).lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
