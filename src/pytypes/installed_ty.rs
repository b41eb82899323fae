//! An installed ty, which checks instead of the embedded checker if the user's settings say so: `ty check` in each project.
//!
//! Owns its command line, its environment, the meaning of its exit codes, and the conversion of what it prints (`printed`). None
//! of its formats has everything (findings/ty-position-in-a-notebook.sh): SARIF has the ranges, `full` the source lines and the
//! cells of notebooks, `github` the notes. Each format that a check needs is a run of its own, at the same time. Does not own
//! which projects there are (`ty`), or how long an answer is valid (`service`).

mod printed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::printed::Printed;
use super::values::{Checked, Diagnostic, PANICKED, ProjectCheck, Projects, Severity};
use crate::budget::Budget;
use crate::child_process::{Finished, run_while};
use crate::error::{Error, ErrorKind, Result};
use crate::git_layout::Worktrees;
use crate::model::{Span, printable};
use crate::platform::process;
use crate::wording::{self, Wording};

/// Bytes that are read of one run.
const MAX_OUTPUT: u64 = 256 << 20;
/// Resident memory in bytes at which a run is killed.
const MAX_MEMORY: u64 = 6 << 30;
/// How often a run is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Characters of its output that are shown when it fails.
const MAX_WORDS: usize = 1000;

fn hint() -> Wording {
    Wording::from("Correct what ty names, or set python.engine = \"embedded\".")
        .then((wording::Command("doctor python"), " shows the environment."))
}

/// One check.
pub(super) struct InstalledTy<'r> {
    pub program: &'r Path,
    /// The repository.
    pub root: &'r Path,
    /// The caller's variables that select a Python environment.
    pub environment: &'r BTreeMap<String, String>,
    pub timeout: Duration,
    pub budget: &'r Budget,
    pub rendered: bool,
    pub notes: bool,
}

/// The output of a run that ended by itself.
struct Output {
    text: String,
    /// 0, 1, 2, or 101 after a panic.
    code: i32,
}

/// Why a run was ended.
enum Stop {
    Budget,
    Timeout,
    Memory,
}

impl InstalledTy<'_> {
    pub fn check(&self, projects: &Projects) -> Result<Checked> {
        let roots: Vec<PathBuf> = projects.roots.iter().map(PathBuf::from).collect();
        let worktrees = Worktrees::find(self.root);
        let mut checked = Checked { warnings_pass: true, ..Checked::default() };
        for project in &projects.checks {
            let (mut found, code) = self.check_project(project)?;
            // What is in a nested project is checked there, and another worktree is not part of the repository.
            found.retain(|one| {
                let path = self.root.join(&one.span.file);
                let of = path.ancestors().find_map(|folder| roots.iter().find(|root| *root == folder));
                let is_of_another = of.is_some_and(|of| of != Path::new(&project.root));
                !is_of_another && !path.strip_prefix(self.root).is_ok_and(|below| worktrees.hold(self.root, below))
            });
            checked.warnings_pass &= code == 0 || found.iter().all(|one| one.severity != Severity::Warning);
            checked.diagnostics.append(&mut found);
            checked.files += project.files;
        }
        checked.diagnostics.sort_by(|a, b| (&a.span, &a.code, &a.message).cmp(&(&b.span, &b.code, &b.message)));
        Ok(checked)
    }

    fn check_project(&self, project: &ProjectCheck) -> Result<(Vec<Diagnostic>, i32)> {
        let printed = Printed { root: self.root };
        let (ranges, full, notes) = std::thread::scope(|scope| {
            let full = self.rendered.then(|| scope.spawn(|| self.run(project, "full")));
            let notes = self.notes.then(|| scope.spawn(|| self.run(project, "github")));
            let ranges = self.run(project, "sarif");
            let join = |run: std::thread::ScopedJoinHandle<'_, Result<Output>>| {
                run.join().unwrap_or_else(|_| Err(Error::internal("a thread of the check panicked")))
            };
            (ranges, full.map(join), notes.map(join))
        });
        let ranges = ranges?;
        if ranges.text.is_empty() {
            // It panicked before it printed anything, and `run` has noted what it said.
            return Ok((vec![self.panic()], ranges.code));
        }
        let mut found = printed.ranges(&ranges.text).ok_or_else(|| {
            Error::invalid_argument(format!("{} printed something other than SARIF", self.shown()))
                .hint("Set python.ty to ty 0.0.94 or newer, or python.engine to \"embedded\".")
        })?;
        let full = match full {
            Some(full) => Some(full?),
            // Only this format names the cell.
            None if found.iter().any(|one| one.span.file.ends_with(".ipynb")) => Some(self.run(project, "full")?),
            None => None,
        };
        if let Some(full) = full {
            printed.add_cells(&mut found, &full.text, self.rendered);
        }
        if let Some(notes) = notes {
            printed.add_notes(&mut found, &notes?.text);
        }
        Ok((found, ranges.code))
    }

    fn run(&self, project: &ProjectCheck, format: &str) -> Result<Output> {
        self.budget.check()?;
        let begun = Instant::now();
        let mut stop = None;
        let goes_on = |id| {
            stop = if self.budget.is_spent() {
                Some(Stop::Budget)
            } else if begun.elapsed() >= self.timeout {
                Some(Stop::Timeout)
            } else if process::resident_memory(id).is_some_and(|memory| memory > MAX_MEMORY) {
                Some(Stop::Memory)
            } else {
                None
            };
            stop.is_none()
        };
        let finished = run_while(self.command(project, format), b"", MAX_OUTPUT, POLL_INTERVAL, goes_on);
        let finished = finished.map_err(|error| {
            Error::invalid_argument(format!("cannot start {}: {error}", self.shown()))
                .hint("Set python.ty to the full path of ty, or python.engine to \"embedded\".")
        })?;
        let narrow = "Check fewer files, or set python.engine = \"embedded\".";
        match (finished, stop) {
            (Some(finished), _) => self.output(&finished),
            (None, Some(Stop::Budget)) => Err(self.budget.error()),
            (None, Some(Stop::Memory)) => {
                Err(Error::internal(format!("{} used too much memory and was killed", self.shown())).hint(narrow))
            }
            (None, _) => {
                let seconds = self.timeout.as_secs();
                let message = format!("{} did not finish within {seconds} s and was killed", self.shown());
                Err(Error::new(ErrorKind::Timeout, message)
                    .hint("Check a single file, or raise the setting python.longest."))
            }
        }
    }

    fn command(&self, project: &ProjectCheck, format: &str) -> Command {
        let mut command = Command::new(self.program);
        process::own_group(&mut command);
        // Paths are printed relative to the current folder.
        command.current_dir(self.root).args(["check", "--no-progress", "--color", "never", "--output-format", format]);
        command.arg("--project").arg(&project.root).arg("--").args(&project.paths);
        // What is set where a daemon was started is not what its caller has set.
        for variable in [
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CONDA_DEFAULT_ENV",
            "PYTHONPATH",
            "TY_CONFIG_FILE",
            "TY_OUTPUT_FORMAT",
            "TY_LOG",
            "TY_LOG_PROFILE",
            "TY_MEMORY_REPORT",
        ] {
            command.env_remove(variable);
        }
        // A repository's settings can make ty run `uv`, which installs, and so runs, what the repository names.
        command.env("TY_UV", "0").env("UV", "/dev/null/uv");
        command.envs(self.environment);
        command
    }

    /// Fails if ty failed before it checked anything.
    fn output(&self, finished: &Finished) -> Result<Output> {
        if finished.stdout.len() as u64 >= MAX_OUTPUT {
            return Err(Error::internal(format!("{} printed more than {} MiB", self.shown(), MAX_OUTPUT >> 20))
                .hint("Check fewer files, or only errors, by the rules in the project's settings."));
        }
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        let code = finished.status.and_then(|status| status.code());
        let said = words(&finished.stderr);
        match code {
            Some(code @ 0..=2) if !text.trim().is_empty() => Ok(Output { text, code }),
            Some(2) => Err(Error::invalid_argument(said).hint(hint())),
            Some(code @ PANIC) => {
                tracing::info!("{}: {said}", self.shown());
                Ok(Output { text: text.trim().to_owned(), code })
            }
            Some(code) => Err(Error::internal(format!("{} exited with {code}: {said}", self.shown())).hint(hint())),
            None => Err(Error::internal(format!("{} crashed", self.shown()))
                .hint("Check a single file, or set python.engine = \"embedded\".")),
        }
    }

    /// A panic that ended the whole check.
    fn panic(&self) -> Diagnostic {
        let span = Span { file: ".".to_owned(), cell: None, line: 1, column: 1, end_line: 1, end_column: 1 };
        let message = format!("{} panicked", self.shown());
        Diagnostic {
            span,
            severity: Severity::Fatal,
            code: PANICKED.to_owned(),
            message,
            rendered: None,
            notes: Vec::new(),
        }
    }

    fn shown(&self) -> String {
        printable(&self.program.to_string_lossy())
    }
}

/// The exit code of ty after a panic.
const PANIC: i32 = 101;

/// Returns the message of a failed ty, as one sentence.
fn words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("WARN"));
    let said: String = printable(&lines.collect::<Vec<_>>().join(" ")).chars().take(MAX_WORDS).collect();
    if said.is_empty() { "ty failed without a reason".to_owned() } else { said }
}
