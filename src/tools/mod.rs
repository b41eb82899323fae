//! What an agent or a person can call: one file a tool, one row each in `TOOLS`.
//!
//! Owns the declarations, from which the MCP entry, the plain method, the CLI form and README's row come, and
//! the one way in: [`call`]. Does not own transports, nor the questions themselves: those are `query`'s.

mod analyze_project;
mod arguments;
pub(crate) mod check;
mod engine;
mod file_chunks;
pub(crate) mod find_references;
pub(crate) mod get_file_details;
pub(crate) mod get_slice;
pub(crate) mod get_symbol;
pub(crate) mod goto_definition;
mod graph_picture;
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
pub(crate) mod query;
mod refusal;
mod rename_symbol;
mod render;
pub(crate) mod search_documents;
pub(crate) mod stats;
mod symbols;
pub(crate) mod type_at;
pub(crate) mod update_index;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use jobs::Jobs;

use jobs::Outcome;

use crate::budget::{self, Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::index::{AtHand, EntityReport, Freshness, Part, Workspace, Workspaces};
use crate::query::near;
use crate::query::smart::Reranker;
use crate::store::Snapshot;

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

/// What the program's own page shows besides. In no list: a model has no use for it, and no client may call it.
static VIEWS: &[&Declaration] = &[&file_chunks::CHUNKS, &graph_picture::GRAPH];

/// Whether a tool changes the index by its own words. Keeping the index fresh is no write.
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
    /// May run for minutes: it is a job that the same call joins, tells how far it has come by [`Call::progress`], and
    /// over MCP is answered `{status: "running", …}` after a while.
    pub long: bool,
    /// Whether the index must be up to date before; some tools read the disk alone.
    pub asks_index: bool,
    /// Shown by `--tools core`.
    pub core: bool,
    /// The field of the answer whose items may be left out to keep it small.
    pub list: Option<&'static str>,
    /// Arguments of a call that works on this project's own tree, as JSON.
    pub example: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    run: fn(&Call, Map<String, Value>) -> Result<Value>,
}

/// Who asks: set by the door a call came through.
#[derive(Clone)]
pub struct Caller {
    /// The connection's root: the repository when the arguments name none.
    pub root: PathBuf,
    /// The most bytes of compact JSON the answer may have; `None` on the plain methods and the command line.
    pub cap: Option<usize>,
    pub budget: Budget,
    /// How long to wait for an index that is being built before answering `BUSY`.
    pub patience: Option<Duration>,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH` of the caller.
    pub python: BTreeMap<String, String>,
    /// Hears how far long work has come.
    pub tell: Option<Tell>,
    /// The long calls under way in this process, for the same call to join.
    pub jobs: Arc<Jobs>,
    /// The process ends after this call: nothing needs to be ready for a change.
    pub is_last: bool,
}

/// Told of work: how much is done, of how much.
pub type Tell = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// One call at work.
struct Call<'a> {
    workspace: &'a Arc<Workspace>,
    caller: &'a Caller,
    budget: Budget,
    progress: Arc<Progress>,
    /// Why the answer may be outdated, once the index was asked.
    stale: RefCell<Option<String>>,
    /// Why it may be worse than was hoped for.
    warning: RefCell<Option<String>>,
}

/// A call ends after this, unless it says otherwise.
const DEADLINE: Duration = Duration::from_secs(30);
/// A long call over MCP is answered after this: some clients give up at 60 s.
const RUNNING_AFTER: Duration = Duration::from_secs(45);

impl Call<'_> {
    fn workspace(&self) -> &Workspace {
        self.workspace
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The most bytes of compact JSON the answer may have.
    fn cap(&self) -> Option<usize> {
        self.caller.cap
    }

    /// Where a long tool writes how far it has come, for whoever waits for it: hand it to the work.
    fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Asks the index, made fresh before; where that takes long, the caller is told how far it has come.
    fn read<T>(&self, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_part(Part::Everything, ask)
    }

    /// The same for a question about entities alone, which do not wait for code.
    fn read_entities<T>(&self, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_part(Part::Entities, ask)
    }

    fn read_part<T>(&self, part: Part, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        let freshen = || self.workspace.freshen_part(part, self.caller.patience, &self.budget);
        let freshness = match &self.caller.tell {
            Some(listener) => {
                let far = || self.workspace.progress().map(|progress| progress.files());
                budget::with_progress(&**listener, far, freshen)
            }
            None => freshen(),
        };
        if let Freshness::Stale(reason) = freshness? {
            *self.stale.borrow_mut() = Some(reason);
        }
        self.workspace.read(&self.budget, ask)
    }

    /// The same with the model that a person chose, where it is at hand; what it learns on the way is kept for the next
    /// question. One that fails is as one that cannot be read.
    fn read_deeply<T>(&self, part: Part, ask: impl Fn(&Snapshot, Option<&Reranker>) -> Result<T>) -> Result<T> {
        let model = match self.workspace.transformer_at_hand()? {
            AtHand::Ready(model) => model,
            other => {
                self.warn_of(other);
                return self.read_part(part, |snapshot| ask(snapshot, None));
            }
        };
        let deep = Reranker::new(&*model, self.workspace.rerank_time(), self.workspace.time_of_text());
        let answer = match self.read_part(part, |snapshot| ask(snapshot, Some(&deep))) {
            Err(error) if error.kind == ErrorKind::UnsupportedFormat => {
                self.warn_of(self.workspace.give_up_model(&model, error));
                return self.read_part(part, |snapshot| ask(snapshot, None));
            }
            answer => answer?,
        };
        let (learnt, wanted) = deep.taken();
        if let Err(error) = self.workspace.remember(&model, &learnt, &wanted) {
            tracing::warn!("vectors of hits are not kept: {error}");
        }
        Ok(answer)
    }

    fn warn_of(&self, model: AtHand) {
        if let AtHand::Missing(why) = model {
            *self.warning.borrow_mut() = Some(why);
        }
    }

    /// What is to be told with the answer to a question that was asked by [`Self::read_deeply`].
    fn warning(&self) -> Option<String> {
        self.warning.take()
    }

    /// Brings the entities up to date and counts what changed.
    fn sync_entities(&self, anew: bool) -> Result<EntityReport> {
        self.workspace.sync_entities(anew, None, &self.budget)
    }
}

/// Answers one call: finds the tool and the repository, checks the arguments, asks, renders.
///
/// The error is of kind `UnknownTool` (a protocol fault) only for a name that no tool has and for arguments that are
/// no object.
pub fn call(workspaces: &Workspaces, name: &str, arguments: Value, caller: &Caller) -> Result<Value> {
    begun(find(name)?, workspaces, arguments, caller)
}

/// The names of all views.
pub fn views() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().map(|view| view.name)
}

/// The same as [`call`] for a view, which is asked like a tool.
pub fn view(workspaces: &Workspaces, name: &str, arguments: Value, caller: &Caller) -> Result<Value> {
    let view = VIEWS.iter().find(|view| view.name == name);
    let view = view.ok_or_else(|| Error::new(ErrorKind::UnknownTool, "there is no such view"))?;
    begun(view, workspaces, arguments, caller)
}

fn begun(tool: &'static Declaration, workspaces: &Workspaces, arguments: Value, caller: &Caller) -> Result<Value> {
    let mut arguments = match arguments {
        Value::Object(arguments) => arguments,
        Value::Null => Map::new(),
        _ => {
            let message = format!("the arguments of {} must be an object", tool.name);
            return Err(Error::new(ErrorKind::UnknownTool, message));
        }
    };
    arguments.values_mut().for_each(arguments::make_whole);
    let common = arguments::common(&mut arguments)?;
    let workspace = workspaces.named(common.repo.as_deref(), &caller.root)?;
    let time = common.timeout_ms.map(Duration::from_millis);
    if tool.long {
        return long(tool, &workspace, caller, time, arguments);
    }
    let budget = match caller.budget.deadline() {
        Some(sooner) if time.is_none() => caller.budget.with_deadline(Some(sooner)),
        _ => caller.budget.with_deadline(Instant::now().checked_add(time.unwrap_or(DEADLINE))),
    };
    answered(tool, &workspace, caller, budget, &Arc::default(), &arguments)
}

/// Runs a long tool as a job, or joins the one that does the same, and waits for it as long as the caller does.
fn long(
    tool: &'static Declaration,
    workspace: &Arc<Workspace>,
    caller: &Caller,
    time: Option<Duration>,
    arguments: Map<String, Value>,
) -> Result<Value> {
    let patience = time.or(caller.cap.is_some().then_some(RUNNING_AFTER));
    // All that the answer depends on.
    let given = Value::Object(arguments.clone());
    let key = format!("{} {:?} {:?} {:?} {given}", tool.name, workspace.root(), caller.cap, caller.python);
    let (indexed, mut worker) = (Arc::clone(workspace), caller.clone());
    let work = move |progress: &Arc<Progress>, budget: &Budget| {
        // Everyone who waits hears of it, not the first alone.
        let far = Arc::clone(progress);
        worker.tell = Some(Arc::new(move |done, total| far.set(done, total)));
        answered(tool, &indexed, &worker, budget.clone(), progress, &arguments)
    };
    let tell = |own: &Progress| {
        // Before its own work begins it may wait for an update of the index.
        let update = || workspace.progress().map(|progress| progress.files());
        let (done, total) = Some(own.files()).filter(|(_, total)| *total > 0).or_else(update).unwrap_or_default();
        if let Some(listener) = caller.tell.as_ref().filter(|_| total > 0) {
            listener(done, total);
        }
        (done, total)
    };
    match caller.jobs.join(&key, patience, &caller.budget, &tell, work)? {
        Outcome::Done(answer) => Ok(answer),
        Outcome::Running { done, total } => Ok(json!({ "status": "running", "done": done, "total": total })),
    }
}

fn answered(
    tool: &Declaration,
    workspace: &Arc<Workspace>,
    caller: &Caller,
    budget: Budget,
    progress: &Arc<Progress>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let offset = arguments.get("offset").and_then(Value::as_u64).and_then(|offset| usize::try_from(offset).ok());
    let progress = Arc::clone(progress);
    let call = Call { workspace, caller, budget, progress, stale: RefCell::default(), warning: RefCell::default() };
    let mut answer = workspace.with_repair(|| (tool.run)(&call, arguments.clone())).map_err(with_next_step)?;
    if workspace.masks_secrets() {
        render::mask(&mut answer);
    }
    if let (Some(list), Some(cap)) = (tool.list, caller.cap) {
        render::fit(&mut answer, list, offset.unwrap_or(0), cap);
    }
    if let Some(reason) = call.stale.take() {
        answer["stale"] = Value::String(reason);
    }
    if let Some(said) = workspace.take_repair() {
        let before = answer["warning"].as_str().map_or_else(String::new, |before| format!("{before} "));
        answer["warning"] = Value::String(before + &said);
    }
    Ok(answer)
}

/// No path is refused without a word of what else there is.
fn with_next_step(error: Error) -> Error {
    let is_silent = error.kind == ErrorKind::InvalidPath && error.hint.is_none();
    if is_silent { error.hint("`list_files` shows what there is.") } else { error }
}

/// The tool of that name; else an error that names the nearest ones.
pub fn find(name: &str) -> Result<&'static Declaration> {
    TOOLS.iter().find(|tool| tool.name == name).copied().ok_or_else(|| {
        let names = || TOOLS.iter().map(|tool| tool.name);
        let near = near::did_you_mean(&near::nearest(name, names(), 3));
        let shown: String = crate::model::printable(name).chars().take(80).collect();
        Error::new(ErrorKind::UnknownTool, format!("there is no tool {shown:?}"))
            .hint(near.unwrap_or_else(|| format!("There are: {}.", names().collect::<Vec<_>>().join(", "))))
    })
}

/// Chunks that a search has found by their words alone, if there are any.
fn vectors_pending(call: &Call, snapshot: &Snapshot) -> Result<Option<u64>> {
    let pending = snapshot.vectors_out_of_reach(&call.workspace().space(), None)?;
    Ok(Some(pending).filter(|pending| *pending > 0))
}

/// Several warnings as one.
fn joined<const N: usize>(warnings: [Option<String>; N]) -> Option<String> {
    warnings.into_iter().flatten().reduce(|first, next| format!("{first} {next}"))
}

/// Offset and limit of a call: the limit is clamped, never refused.
fn page(offset: Option<u64>, limit: Option<u64>, default: usize, most: usize) -> (usize, usize) {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    (offset.map_or(0, size), limit.map_or(default, size).min(most))
}

/// Makes a declaration of a tool whose `run` takes its own arguments and gives its own answer; `long` before it makes the
/// tool a long one.
macro_rules! declare {
    (long $run:path; $($rest:tt)*) => { declare!(@ true, $run; $($rest)*) };
    (@ $long:literal, $run:path; $($field:ident: $value:expr),* $(,)?) => {
        Declaration {
            $($field: $value,)*
            long: $long,
            asks_index: true,
            input: || $crate::tools::arguments_schema_of($run),
            output: || $crate::tools::answer_schema_of($run),
            run: |call, arguments| $crate::tools::answer($run, call, arguments),
        }
    };
    ($run:path; $($rest:tt)*) => { declare!(@ false, $run; $($rest)*) };
}
use declare;

fn arguments_schema_of<A: JsonSchema, O>(_: fn(&Call, &A) -> Result<O>) -> Value {
    arguments::input_schema::<A>()
}

fn answer_schema_of<A, O: JsonSchema>(_: fn(&Call, &A) -> Result<O>) -> Value {
    arguments::output_schema::<O>()
}

fn answer<A, O>(run: fn(&Call, &A) -> Result<O>, call: &Call, arguments: Map<String, Value>) -> Result<Value>
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
        (self.input)()
    }

    /// That of a long tool admits its other answer, too.
    pub fn output_schema(&self) -> Value {
        let mut schema = (self.output)();
        if self.long {
            arguments::admit_running(&mut schema);
        }
        schema
    }

    /// Of the answer that a whole call gives in the end.
    pub fn answer_schema(&self) -> Value {
        (self.output)()
    }
}
