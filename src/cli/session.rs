//! A command's session: its repositories, and its calls of tools.
//!
//! Owns whether a running daemon or this process answers a call, and how much of the index is built before and after.
//! Does not own what is printed: commands do that, through `output`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Outcome;
use super::answer::Answer;
use super::output::{self, Announcement, HowFar};
use super::paint::Paint;
use super::typed_path;
use crate::budget::{Budget, Progress};
use crate::config::{Config, Sources};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::RepoPath;
use crate::platform::allocator;
use crate::platform::paths::canonical;
use crate::serve;
use crate::serve::client::Client;
use crate::store::Snapshot;
use crate::tools::{self, Access, OnProgress, Request, Tools};
use crate::update::{IndexWait, Part};
use crate::workspace::{Workspace, Workspaces};

/// The empty text, which every tool refuses; joined to a folder it would stand for that.
const NO_PATH: &str = "";

/// Repositories, settings and output options of a command.
pub(super) struct Session {
    /// The current folder, or the one given.
    pub(super) start: PathBuf,
    /// The repositories that are searched, if those are several: paths, globs and groups.
    pub(super) named: Vec<String>,
    /// Settings without those of the repository.
    pub(super) config: Config,
    pub(super) sources: Arc<Sources>,
    pub(super) workspaces: Arc<Workspaces>,
    pub(super) paint: Paint,
    /// Whether the answer is printed as JSON.
    pub(super) json: bool,
    /// Whether the index is built completely before an answer.
    pub(super) waits: bool,
    /// The repositories that this process has read, whose indexes it may have left unfinished to answer first.
    pub(super) unfinished: Mutex<Vec<Arc<Workspace>>>,
}

/// A command answers from a part of the index if building all of it takes longer than this.
const PARTIAL_AFTER: Duration = Duration::from_secs(3);
/// Maximum time for vectors, history and substrings after the answer of a command. The next command continues.
const FINISHING: Duration = Duration::from_secs(5);

impl Session {
    /// For a process that stays until it is stopped: it keeps little memory that it does not use.
    pub(super) fn stay(&self) {
        allocator::limit(|variable| self.sources.environment.get(variable).is_some());
    }

    /// Prints an answer, as JSON or by `print`.
    pub(super) fn show(&self, json: &impl Serialize, is_found: bool, print: impl FnOnce()) -> Result<Outcome> {
        if self.json {
            output::json(json);
        } else {
            print();
        }
        Ok(Outcome::found_if(is_found))
    }

    /// Prints a list, as JSON or item by item. `empty` is the note for an empty list.
    pub(super) fn show_list<T>(
        &self,
        json: &impl Serialize,
        items: &[T],
        empty: &str,
        print: impl Fn(&T),
    ) -> Result<Outcome> {
        self.show(json, !items.is_empty(), || {
            items.iter().for_each(print);
            if items.is_empty() {
                output::note(empty);
            }
        })
    }

    pub(super) fn workspace(&self) -> Result<Arc<Workspace>> {
        if !self.named.is_empty() {
            return Err(about_one());
        }
        self.workspaces.at(&self.start)
    }

    /// The running daemon of the repository at `root`.
    pub(super) fn daemon(&self, root: &Path) -> Option<Client> {
        Client::find(root, &self.start, &self.sources.environment)
    }

    /// A file as a person names it: an existing one in the current folder, else as the tools take it.
    pub(super) fn file(&self, typed: &str) -> String {
        self.named(typed, Path::is_file)
    }

    /// Returns the path of a file or folder as the index stores it; that of the root is empty.
    pub(super) fn stored(&self, typed: &str) -> String {
        let path = self.path(typed);
        let Ok(root) = self.workspaces.root(&self.start) else { return path };
        if Path::new(&path) == root {
            return String::new();
        }
        RepoPath::under(&root, Path::new(&path)).map_or(path, |path| path.to_string())
    }

    /// A file or folder as a person names it: an existing one in the current folder, else as the tools take it.
    pub(super) fn path(&self, typed: &str) -> String {
        self.named(typed, Path::exists)
    }

    /// A path relative to the current folder, whether or not it exists.
    pub(super) fn here(&self, typed: &str) -> String {
        if typed.is_empty() { NO_PATH.to_owned() } else { self.start.join(typed).to_string_lossy().into_owned() }
    }

    fn named(&self, typed: &str, is_meant: impl Fn(&Path) -> bool) -> String {
        if typed.is_empty() {
            return NO_PATH.to_owned();
        }
        let (Some(folder), Ok(root)) = (self.sources.environment.working_folder(), self.workspaces.root(&self.start))
        else {
            return typed.to_owned();
        };
        let file = typed_path::absolute(folder, typed);
        let is_here = is_meant(&file) || typed_path::is_from_here(typed);
        if is_here && file.starts_with(&root) { file.to_string_lossy().into_owned() } else { typed.to_owned() }
    }

    /// Patterns of paths as the tools take them: those that begin with `./` or `../` are from the current folder.
    pub(super) fn patterns(&self, typed: &[String]) -> Vec<String> {
        let root = self.workspaces.root(&self.start).ok().filter(|_| self.named.is_empty());
        let (Some(folder), Some(root)) = (self.sources.environment.working_folder(), root) else {
            return typed.to_vec();
        };
        let folder = canonical(folder).unwrap_or_else(|_| folder.to_owned());
        typed.iter().map(|typed| typed_path::pattern(&root, &folder, typed)).collect()
    }

    /// Calls a tool for a command that prints its answer, of the type `A`.
    pub(super) fn call<A: DeserializeOwned>(&self, tool: &str, arguments: Value) -> Result<Answer<A>> {
        Answer::read(self.call_as_json(tool, arguments)?, !self.named.is_empty(), &self.paint)
    }

    /// Calls a tool without a limit on the size of its answer, and shows the progress if it takes long. If there is no index
    /// yet, the tool answers before all of it is built, unless the user wants to wait. A running daemon of the repository
    /// answers; none is started.
    pub(super) fn call_as_json(&self, tool: &str, mut arguments: Value) -> Result<Value> {
        let budget = Budget::unlimited();
        if !self.named.is_empty() && arguments.get("repo").is_none() {
            arguments["repo"] = Value::from(self.named.clone());
        }
        let names = tools::repositories(arguments.get("repo"))?;
        if self.workspaces.may_be_several(&names, &self.start) {
            return self.called_across(tool, arguments);
        }
        let root = self.workspaces.root_of(names.first().map(String::as_str), &self.start)?;
        if let Some(mut daemon) = self.daemon(&root) {
            let mut asked = serve::call_params(tool, &arguments, None, self.waits);
            asked.insert("patient".to_owned(), Value::Bool(true));
            let answer = output::with_remote_progress(|tell| daemon.call("ixmcp/call", asked, &budget, tell));
            // If it is gone, this process runs the query.
            if let Ok(answer) = answer {
                return answer;
            }
        }
        let declared = tools::find(tool)?;
        let asks_index = declared.asks_index;
        let workspace = if self.waits || declared.access == Access::Write {
            if asks_index { self.workspaces.at(&root)? } else { self.workspaces.unopened(&root)? }
        } else {
            self.workspaces.only_asking(&root)?
        };
        let was_built = asks_index && workspace.is_built(&budget);
        let waits = self.waits || was_built;
        if waits && asks_index {
            match freshen_within(&workspace, Duration::MAX, &budget) {
                Err(error) if error.kind == ErrorKind::Busy => {}
                freshened => freshened?,
            }
            if self.waits {
                with_progress_of(&workspace, |progress| workspace.finish(progress, &budget))?;
            }
        }
        let shown = Arc::new(Progress::default());
        let progress = Arc::clone(&shown);
        let on_progress: OnProgress = Arc::new(move |done, total| progress.set(done, total));
        let request = Request {
            python: self.sources.environment.python(),
            budget,
            index_wait: if waits {
                IndexWait::TO_THE_END
            } else {
                let partial_after =
                    if workspace.is_provisional() { IndexWait::default().partial_after } else { PARTIAL_AFTER };
                IndexWait { partial_after, ..IndexWait::TO_THE_END }
            },
            on_progress: Some(on_progress),
            is_last: true,
            is_patient: true,
            ..Request::new(tool, arguments, self.start.clone())
        };
        let tools = Tools::new(Arc::clone(&self.workspaces));
        let how_far = || match workspace.progress() {
            Some(of_index) => HowFar::from_progress(&of_index),
            None => HowFar::of_files(shown.files()),
        };
        let answer = output::with_progress(how_far, || tools.call_tool(declared, request, None))?;
        // For a file that is not Python, even a tool that only reads the disk needs the index.
        if asks_index || workspace.is_open() {
            locked(&self.unfinished).push(workspace);
        }
        Ok(answer)
    }

    /// Calls a tool for several repositories: this process reads them, after those without a daemon are up to date.
    fn called_across(&self, tool: &str, arguments: Value) -> Result<Value> {
        let budget = Budget::unlimited();
        let request = Request {
            index_wait: IndexWait::TO_THE_END,
            is_patient: true,
            ..Request::new(tool, arguments, self.start.clone())
        };
        let daemons = serve::MemberDaemons::new(self.sources.environment.clone(), None);
        let tools = Tools::new(Arc::clone(&self.workspaces)).with_daemons(Arc::new(daemons));
        let plan = tools.plan(tools::find(tool)?, request, None)?;
        for root in plan.roots() {
            if self.daemon(root).is_some() {
                continue;
            }
            // The answer reports those that cannot be read.
            let freshened = self.workspaces.at(root).and_then(|workspace| {
                freshen(&workspace, &budget)?;
                Ok(workspace)
            });
            match freshened {
                Ok(workspace) => locked(&self.unfinished).push(workspace),
                Err(error) => tracing::debug!("{}: {error}", root.display()),
            }
        }
        tools.run(plan)
    }

    /// Completes the indexes that were read, unless other processes do that. An index that was never built is built to the end, since
    /// its last step is one transaction. Any other work stops after [`FINISHING`], and the next command continues it.
    pub(super) fn finish(&self) {
        let budget = Budget::unlimited();
        let until = Instant::now() + FINISHING;
        let mut is_left = false;
        for workspace in std::mem::take(&mut *locked(&self.unfinished)) {
            let (what, left) = if workspace.is_built(&budget) {
                let what = format!("the index is being finished, for at most {} s", FINISHING.as_secs());
                (what, until.saturating_duration_since(Instant::now()))
            } else {
                ("the index is being built for further commands".to_owned(), FINISHING)
            };
            let announcement = Announcement::after_answer(format!("answered; {what} (Ctrl+C is safe)"));
            let progress = Progress::default();
            let finish = || workspace.finish_unless_others_do(left, &progress, &budget);
            match output::with_announced_progress(announcement, || how_far_of(&workspace, &progress), finish) {
                Ok(is_complete) => is_left |= !is_complete,
                Err(error) => tracing::warn!("the index is not complete: {error}"),
            }
        }
        if is_left {
            output::note("the next command continues with the index; `ixmcp sync` finishes it");
        }
        self.workspaces.end_provisional();
    }

    /// Asks the index itself, made fresh before: for queries that no tool asks.
    pub(super) fn read<T>(&self, ask: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_part(&self.workspace()?, Part::Everything, ask)
    }

    /// Runs a query about entities, which are indexed first.
    pub(super) fn read_entities<T>(&self, ask: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        if !self.named.is_empty() {
            return Err(about_one());
        }
        if self.waits {
            return self.read(ask);
        }
        let workspace = self.workspaces.only_asking(&self.workspaces.root(&self.start)?)?;
        self.read_part(&workspace, Part::Entities, ask)
    }

    /// Runs a query about a name. While another process builds the index, the files that contain the name are enough.
    pub(super) fn read_name<T>(&self, name: &str, ask: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        if self.waits || !self.named.is_empty() {
            return self.read(ask);
        }
        let workspace = self.workspaces.only_asking(&self.workspaces.root(&self.start)?)?;
        if workspace.is_built(&Budget::unlimited()) || !workspace.is_provisional() {
            return self.read_part(&workspace, Part::Everything, ask);
        }
        let request = Request { is_last: true, ..Request::new("", Value::Null, self.start.clone()) };
        let (answer, incomplete) = tools::read_name(&workspace, &request, name, ask)?;
        if let Some((done, total)) = incomplete {
            output::note_indexing(done, total);
        }
        Ok(answer)
    }

    fn read_part<T>(&self, workspace: &Arc<Workspace>, part: Part, ask: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        let budget = Budget::unlimited();
        workspace.with_repair(|| {
            let fresh = || workspace.updates.freshen(part, Some(Duration::MAX), &budget);
            with_progress_of(workspace, |_| fresh())?;
            locked(&self.unfinished).push(Arc::clone(workspace));
            if part == Part::Everything {
                workspace.scip.refresh(&budget)?;
            }
            workspace.read(&budget, &ask)
        })
    }
}

/// The error of a command that is given several repositories and takes one.
pub(super) fn about_one() -> Error {
    Error::invalid_argument("this command takes one repository").hint(
        "Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search \
         and entity tags.",
    )
}

/// Brings the index up to date, however long that takes, and shows how far it is.
pub(super) fn freshen(workspace: &Arc<Workspace>, budget: &Budget) -> Result<()> {
    freshen_within(workspace, Duration::MAX, budget)
}

/// Brings the index up to date and shows how far it is; `BUSY` if that takes longer than `timeout`.
fn freshen_within(workspace: &Arc<Workspace>, timeout: Duration, budget: &Budget) -> Result<()> {
    with_progress_of(workspace, |_| workspace.freshen(Some(timeout), budget).map(drop))
}

/// Does `work`, and shows how far the running update is, or else what `work` reports.
fn with_progress_of<T>(workspace: &Workspace, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    output::with_progress(|| how_far_of(workspace, &progress), || work(&progress))
}

fn how_far_of(workspace: &Workspace, otherwise: &Progress) -> HowFar {
    HowFar::from_progress(workspace.progress().as_deref().unwrap_or(otherwise))
}
