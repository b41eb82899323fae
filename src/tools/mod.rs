//! The tools that an agent or a person can call: one file per tool, and one row each in `TOOLS`.
//!
//! Owns the declarations, from which the MCP entry, the plain method, `ixmcp call` and the table in `docs/mcp-clients.md` are
//! derived, and the entry point: [`Tools::call`]. Does not own transports, or the queries themselves, which are in `query`.

mod across;
mod analyze_project;
mod arguments;
mod below;
mod call_plan;
pub(crate) mod changes;
pub(crate) mod check;
#[cfg(test)]
pub(crate) mod counted;
mod engine;
pub(crate) mod find_references;
pub(crate) mod get_file_details;
pub(crate) mod get_slice;
pub(crate) mod get_symbol;
pub(crate) mod goto_definition;
pub(crate) mod history;
mod incomplete;
pub(crate) mod index_files;
pub(crate) mod infer_types;
pub(crate) mod ixchel_context;
mod ixchel_graph;
pub(crate) mod ixchel_search;
pub(crate) mod ixchel_show;
pub(crate) mod ixchel_sync;
pub(crate) mod ixchel_tags;
mod jobs;
pub(crate) mod list_files;
mod normalize;
mod previews;
pub(crate) mod query;
mod refusal;
pub(crate) mod rename_symbol;
mod render;
mod request;
mod schema;
pub(crate) mod search_documents;
pub(crate) mod stats;
pub(crate) mod symbols;
mod target;
pub(crate) mod type_at;
pub(crate) mod unsearched;
pub(crate) mod update_index;
mod worktree;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use across::Daemons;
pub use arguments::repositories;
pub use below::{check_paths_below, outside};
pub use call_plan::CallPlan;
pub use request::{ClientScope, OnProgress, Request};
pub use schema::InOrder;
pub use worktree::{name_worktree, worktree_of_path};

use call_plan::CallScope;
use incomplete::{Incomplete, Needs, UnindexedWords};
use jobs::{Jobs, Outcome};

use crate::budget::{self, Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::query::near;
use crate::query::smart::Reranker;
use crate::store::Snapshot;
use crate::update::{EntityReport, Freshness, ModelAvailability, Part};
use crate::workspace::{Workspace, Workspaces};

/// Every tool, in the order that lists show.
pub static TOOLS: &[&Declaration] = &[
    &query::QUERY,
    &get_slice::GET_SLICE,
    &get_symbol::GET_SYMBOL,
    &list_files::LIST_FILES,
    &stats::STATS,
    &check::CHECK,
    &type_at::TYPE_AT,
    &symbols::SYMBOLS,
    &goto_definition::GOTO_DEFINITION,
    &find_references::FIND_REFERENCES,
    &changes::CHANGES,
    &infer_types::INFER_TYPES,
    &rename_symbol::RENAME_SYMBOL,
    &analyze_project::ANALYZE_PROJECT,
    &ixchel_search::IXCHEL_SEARCH,
    &ixchel_show::IXCHEL_SHOW,
    &ixchel_context::IXCHEL_CONTEXT,
    &ixchel_graph::IXCHEL_GRAPH,
    &ixchel_tags::IXCHEL_TAGS,
    &ixchel_sync::IXCHEL_SYNC,
    &search_documents::SEARCH_DOCUMENTS,
    &get_file_details::GET_FILE_DETAILS,
    &index_files::INDEX_FILES,
    &update_index::UPDATE_INDEX,
];

/// Whether calling a tool changes what is indexed. Keeping the index fresh is not a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A tool, as data.
pub struct Declaration {
    pub name: &'static str,
    pub title: &'static str,
    /// For a model: what it does and when to use it, an example, what to use instead. At most 400 characters.
    pub about: &'static str,
    pub access: Access,
    /// May run for minutes: it is a job that the same call joins, reports progress through [`Call::progress`], and
    /// over MCP is answered `{status: "running", …}` after a while.
    pub long: bool,
    /// Whether the index must be up to date before; some tools only read the disk.
    pub asks_index: bool,
    /// Shown by `--tools core`.
    pub core: bool,
    /// The field of the answer whose items may be left out to keep it small.
    pub list: Option<&'static str>,
    /// Arguments of a call that works on this project's own tree, as JSON.
    pub example: &'static str,
    pub(crate) input: fn() -> Value,
    pub(crate) names: fn() -> Vec<&'static str>,
    pub(crate) output: fn() -> Value,
    pub(crate) run: fn(&Call, Map<String, Value>) -> Result<Value>,
}

/// A running call: its request, and what is learned while it runs.
pub(crate) struct Call<'a> {
    workspace: &'a Arc<Workspace>,
    request: &'a Request,
    progress: Arc<Progress>,
    /// Why the answer may be outdated, once the index was read.
    stale: RefCell<Option<String>>,
    /// Why the answer may be worse than expected.
    warning: RefCell<Option<String>>,
    /// Files that the index lacked, if the answer did not wait for a long update.
    incomplete: RefCell<Option<Incomplete>>,
    /// Words that a search looked for in files that are not indexed.
    unindexed_words: RefCell<Option<UnindexedWords>>,
    /// Whether the state of the index that was read last has files.
    has_files: Cell<bool>,
}

/// The time from a call's start to its deadline, unless it has a `timeout_ms`, a person waits, or the tool is a long-running one.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The maximum size of an answer that a model reads. A caller with a larger cap, such as the page, is not a model.
pub const MODEL_BYTES: usize = 40 << 10;
/// Description of `repo` for tools that can search several repositories.
const SEVERAL: &str = "Path, list, glob, @group, @deps or org:NAME.";
/// A long-running call over MCP is answered after this time: some clients have a timeout of 60 s.
const RUNNING_AFTER: Duration = Duration::from_secs(45);

impl<'a> Call<'a> {
    fn new(workspace: &'a Arc<Workspace>, request: &'a Request, progress: Arc<Progress>) -> Self {
        let (stale, warning, incomplete) = (RefCell::default(), RefCell::default(), RefCell::default());
        let (unindexed_words, has_files) = (RefCell::default(), Cell::new(false));
        Self { workspace, request, progress, stale, warning, incomplete, unindexed_words, has_files }
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        self.workspace
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.request.budget
    }

    /// The maximum size of the answer as compact JSON, in bytes.
    fn cap(&self) -> Option<usize> {
        self.request.cap
    }

    /// Where a long-running tool reports its progress.
    fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Reads the index for a query about entities, which are made fresh before and do not wait for code. If that takes long,
    /// the caller receives progress. All other queries: see `incomplete`.
    pub(crate) fn read_entities<T>(&self, query: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        let timeout = self.request.index_wait.busy_after;
        let freshen = || self.workspace.updates.freshen(Part::Entities, Some(timeout), self.budget());
        let freshness = match &self.request.on_progress {
            Some(on_progress) => {
                let progress = || self.workspace.progress().map(|progress| progress.files());
                budget::with_progress(&**on_progress, progress, freshen)
            }
            None => freshen(),
        };
        if let Freshness::Stale(reason) = freshness? {
            *self.stale.borrow_mut() = Some(reason);
        }
        self.read_index(query)
    }

    /// Loads the SCIP files that changed. While another process writes, the loaded ones are used.
    pub(crate) fn refresh_scip(&self) -> Result<()> {
        match self.workspace.scip.refresh(self.budget()) {
            Err(error) if error.kind == ErrorKind::Busy => Ok(()),
            refreshed => refreshed,
        }
    }

    /// Reads what a search needs, with the embedding model that the user selected, if it is available. Vectors that it
    /// computes are kept for later queries. A model that fails counts as unavailable.
    fn read_deeply<T>(&self, needs: Needs, query: impl Fn(&Snapshot, Option<&Reranker>) -> Result<T>) -> Result<T> {
        let model = match self.workspace.model.availability()? {
            ModelAvailability::Ready(model) => model,
            other => {
                self.warn_of(other);
                return self.read_needing(needs, |snapshot| query(snapshot, None));
            }
        };
        let deep = Reranker::new(&*model, self.workspace.model.rerank_time(), self.workspace.model.text_time());
        let answer = match self.read_needing(needs, |snapshot| query(snapshot, Some(&deep))) {
            Err(error) if error.kind == ErrorKind::UnsupportedFormat => {
                self.warn_of(self.workspace.model.give_up(&model, error));
                return self.read_needing(needs, |snapshot| query(snapshot, None));
            }
            answer => answer?,
        };
        let (learnt, wanted) = deep.taken();
        if let Err(error) = self.workspace.model.remember(&model, &learnt, &wanted) {
            tracing::warn!("vectors of hits are not kept: {error}");
        }
        Ok(answer)
    }

    fn warn_of(&self, model: ModelAvailability) {
        if let ModelAvailability::Missing(why) = model {
            *self.warning.borrow_mut() = Some(why);
        }
    }

    /// The warning that belongs to an answer of [`Self::read_deeply`].
    fn warning(&self) -> Option<String> {
        self.warning.take()
    }

    /// Brings the entities up to date and counts what changed.
    fn sync_entities(&self, force: bool) -> Result<EntityReport> {
        self.workspace.updates.sync_entities(force, None, self.budget())
    }
}

/// Every tool, over the repositories that this process serves.
pub struct Tools {
    workspaces: Arc<Workspaces>,
    jobs: Jobs,
    daemons: Option<Arc<dyn Daemons>>,
    /// Input schemas of the tools that were called.
    schemas: Mutex<HashMap<&'static str, Arc<Value>>>,
}

impl Tools {
    pub fn new(workspaces: Arc<Workspaces>) -> Self {
        Self { workspaces, jobs: Jobs::default(), daemons: None, schemas: Mutex::default() }
    }

    /// Has calls to several repositories ask the daemons of those that have one.
    #[must_use]
    pub fn with_daemons(self, daemons: Arc<dyn Daemons>) -> Self {
        Self { daemons: Some(daemons), ..self }
    }

    /// Answers a call. The error has the kind `UnknownTool`, a protocol error, only if no tool has that name or the
    /// arguments are not an object.
    pub fn call(&self, request: Request) -> Result<Value> {
        self.call_tool(find(&request.tool)?, request, None)
    }

    /// Answers a call of a tool; `root` is the repository that it is about, if that is known.
    pub fn call_tool(&self, tool: &'static Declaration, request: Request, root: Option<PathBuf>) -> Result<Value> {
        self.run(self.plan(tool, request, root)?)
    }

    /// Runs a call that was planned, and adds the warning about ignored arguments.
    pub fn run(&self, plan: CallPlan) -> Result<Value> {
        let CallPlan { tool, arguments, scope, request, timeout, warning } = plan;
        let mut answer = match scope {
            CallScope::Several(members) => self.across(tool, members, &request, &arguments)?,
            CallScope::One(root) => {
                let workspace = self.workspaces.of_root(&root)?;
                if tool.long {
                    self.join(tool, &workspace, &request, timeout, arguments)?
                } else {
                    run(tool, &workspace, &request, &Arc::default(), &arguments)?
                }
            }
        };
        if let Some(warning) = warning {
            render::warn(&mut answer, &warning);
        }
        Ok(answer)
    }

    /// Runs a long-running tool as a job, or joins the job of an equal call, and waits for it until the timeout.
    fn join(
        &self,
        tool: &'static Declaration,
        workspace: &Arc<Workspace>,
        request: &Request,
        timeout: Option<Duration>,
        arguments: Map<String, Value>,
    ) -> Result<Value> {
        let timeout = timeout.or(request.cap.is_some().then_some(RUNNING_AFTER));
        // Everything that the answer depends on.
        let given = Value::Object(arguments.clone());
        let key = format!("{} {:?} {:?} {:?} {given}", tool.name, workspace.root(), request.cap, request.python);
        let (indexed, job) = (Arc::clone(workspace), request.clone());
        let work = move |progress: &Arc<Progress>, budget: &Budget| {
            // All waiting callers receive progress, not only the first one.
            let shared = Arc::clone(progress);
            let on_progress: OnProgress = Arc::new(move |done, total| shared.set(done, total));
            let job = Request { budget: budget.clone(), on_progress: Some(on_progress), ..job };
            run(tool, &indexed, &job, progress, &arguments)
        };
        let report = |own: &Progress| {
            // Before its own work begins, the job may wait for an update of the index.
            let update = || workspace.progress().map(|progress| progress.files());
            let (done, total) = Some(own.files()).filter(|(_, total)| *total > 0).or_else(update).unwrap_or_default();
            if let Some(on_progress) = request.on_progress.as_ref().filter(|_| total > 0) {
                on_progress(done, total);
            }
            (done, total)
        };
        match self.jobs.join(&key, timeout, &request.budget, &report, work)? {
            Outcome::Done(answer) => Ok(answer),
            Outcome::Running { done, total } => Ok(json!({ "status": "running", "done": done, "total": total })),
        }
    }
}

/// Reads the index for the occurrences of a name, as tools do that do not wait for a long update. Returns how far the index is,
/// too, if it is not complete.
pub fn read_name<T>(
    workspace: &Arc<Workspace>,
    request: &Request,
    name: &str,
    query: impl Fn(&Snapshot) -> Result<T>,
) -> Result<(T, Option<(u64, u64)>)> {
    let call = Call::new(workspace, request, Arc::default());
    let answer = call.read_name(name, query)?;
    Ok((answer, call.incomplete.take().map(|incomplete| incomplete.progress())))
}

fn run(
    tool: &Declaration,
    workspace: &Arc<Workspace>,
    request: &Request,
    progress: &Arc<Progress>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let offset = arguments.get("offset").and_then(Value::as_u64).and_then(|offset| usize::try_from(offset).ok());
    let progress = Arc::clone(progress);
    let call = Call::new(workspace, request, progress);
    let mut answer = workspace.with_repair(|| (tool.run)(&call, arguments.clone())).map_err(with_next_step)?;
    if let Some(incomplete) = call.incomplete.take() {
        incomplete.mark(&mut answer, tool.list);
    }
    if workspace.files.masks_secrets() {
        render::mask(&mut answer);
    }
    if !request.is_part && worktree::is_named_by(tool.name) {
        name_worktree(&mut answer, workspace.root(), || workspace.history.branch());
    }
    if let (Some(list), Some(cap)) = (tool.list, request.cap) {
        render::fit(&mut answer, list, offset.unwrap_or(0), cap);
    }
    if let Some(cap) = request.cap
        && render::shorten(&mut answer, cap)
    {
        render::warn(&mut answer, "One entry alone is too large: its longest texts and lists are cut.");
    }
    if let Some(reason) = call.stale.take() {
        answer["stale"] = Value::String(reason);
    }
    // Nearly every call has read an index that has files.
    let without_files = if call.has_files.get() { None } else { workspace.without_files(call.budget()).ok().flatten() };
    for notice in workspace.take_repair().into_iter().chain(without_files) {
        render::warn(&mut answer, &notice);
    }
    Ok(answer)
}

/// Adds a hint to the error for an invalid path that has none.
fn with_next_step(error: Error) -> Error {
    let is_silent = error.kind == ErrorKind::InvalidPath && error.hint.is_none();
    if is_silent { error.hint((Tool("list_files"), " lists the indexed files.")) } else { error }
}

/// The tool of that name; else an error that names the nearest ones.
pub fn find(name: &str) -> Result<&'static Declaration> {
    #[cfg(test)]
    counted::note(counted::Step::Lookup);
    TOOLS.iter().find(|tool| tool.name == name).copied().ok_or_else(|| {
        let names = || TOOLS.iter().map(|tool| tool.name);
        let near = near::did_you_mean(&near::nearest(name, names(), 3));
        let shown: String = crate::model::printable(name).chars().take(80).collect();
        Error::new(ErrorKind::UnknownTool, format!("there is no tool \"{shown}\""))
            .hint(near.unwrap_or_else(|| format!("There are: {}.", names().collect::<Vec<_>>().join(", "))))
    })
}

/// The number of chunks that have no vector yet, so that a search finds them by their words alone; `None` if there are none.
fn vectors_pending(call: &Call, snapshot: &Snapshot) -> Result<Option<u64>> {
    let pending = snapshot.vectors_out_of_reach(&call.workspace().embeddings.space(), None)?;
    Ok(Some(pending).filter(|pending| *pending > 0))
}

/// Several warnings as one.
fn joined<const N: usize>(warnings: [Option<String>; N]) -> Option<String> {
    warnings.into_iter().flatten().reduce(|first, next| format!("{first} {next}"))
}

/// Offset and limit of a call: the limit is clamped, never refused.
pub(crate) fn page(offset: Option<u64>, limit: Option<u64>, default: usize, most: usize) -> (usize, usize) {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    (offset.map_or(0, size), limit.map_or(default, size).min(most))
}

/// Declares a tool by its `run` function, from whose types the schemas are derived; `long` before it declares a long-running
/// tool.
macro_rules! declare {
    (long $run:path; $($rest:tt)*) => { declare!(@ true, $run; $($rest)*) };
    (@ $long:literal, $run:path; $($field:ident: $value:expr),* $(,)?) => {
        $crate::tools::Declaration {
            $($field: $value,)*
            long: $long,
            asks_index: true,
            input: || $crate::tools::arguments_schema_of($run),
            names: || $crate::tools::argument_names_of($run),
            output: || $crate::tools::answer_schema_of($run),
            run: |call, arguments| $crate::tools::answer($run, call, arguments),
        }
    };
    ($run:path; $($rest:tt)*) => { declare!(@ false, $run; $($rest)*) };
}
use crate::wording::Tool;
pub(crate) use declare;

pub(crate) fn arguments_schema_of<A: JsonSchema, O>(_: fn(&Call, &A) -> Result<O>) -> Value {
    schema::input_schema::<A>()
}

pub(crate) fn argument_names_of<A: DeserializeOwned, O>(_: fn(&Call, &A) -> Result<O>) -> Vec<&'static str> {
    schema::names::<A>()
}

pub(crate) fn answer_schema_of<A, O: JsonSchema>(_: fn(&Call, &A) -> Result<O>) -> Value {
    schema::output_schema::<O>()
}

pub(crate) fn answer<A, O>(run: fn(&Call, &A) -> Result<O>, call: &Call, arguments: Map<String, Value>) -> Result<Value>
where
    A: DeserializeOwned + JsonSchema,
    O: Serialize,
{
    let answer = run(call, &arguments::parse(arguments)?)?;
    serde_json::to_value(answer).map_err(|error| Error::internal("an answer could not be rendered").caused_by(error))
}

impl Declaration {
    /// JSON Schema of the arguments: an object, no references, nothing but what a client needs.
    pub fn input_schema(&self) -> Value {
        let mut schema = (self.input)();
        if self.name == query::QUERY.name {
            // Said once: the list of tools is a part of each prompt.
            schema["properties"]["repo"]["description"] = json!(SEVERAL);
        }
        schema
    }

    /// The names of all arguments, in the order in which clients see them, apart from required ones, which come first.
    pub fn argument_names(&self) -> Vec<&'static str> {
        (self.names)()
    }

    /// Whether one call can name several repositories.
    pub fn takes_several(&self) -> bool {
        across::is_combined(self.name)
    }

    /// JSON Schema of the answer. That of a long-running tool also admits `{status: "running", …}`.
    pub fn output_schema(&self) -> Value {
        let mut schema = (self.output)();
        if worktree::is_named_by(self.name) {
            schema["properties"]["worktree"] = json!({
                "type": "object",
                "properties": { "root": { "type": "string" }, "branch": { "type": "string" } },
            });
        }
        if self.takes_several() {
            across::admit(&mut schema, self);
        }
        if self.long {
            schema::admit_running(&mut schema);
        }
        schema
    }

    /// JSON Schema of the tool's own answer type.
    pub fn answer_schema(&self) -> Value {
        (self.output)()
    }
}
