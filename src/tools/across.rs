//! Calls that name several repositories: each is asked, and all answer as one.
//!
//! Owns which tools can be asked so, that the repositories work at the same time while their answers are combined in the
//! order of their roots, and what is reported of those that cannot answer. Does not own which repositories a call names
//! (`workspace`), or the ranking of several ([`crate::query::corpus`]).

mod lists;
mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde_json::{Map, Value, json};

use self::lists::{by_score, combined, files, in_order, slice, stats, symbols, tags};
use super::incomplete::Prepared;
use super::{Call, Declaration, Request, Tools, get_symbol, query, render, run};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::first_of;
use crate::organisation::{Mirror, MirrorRequest};
use crate::query::PathFilter;
use crate::query::corpus::Corpus;
use crate::query::symbols::OtherFiles;
use crate::store::{HeldState, Snapshot};
use crate::threads::{WorkList, on_threads};
use crate::unindexed::Unindexed;
use crate::wording::Argument;
use crate::workspace::{Members, Workspace, name_of};

/// The daemons of other repositories that are running. None is started.
pub trait Daemons: Send + Sync {
    /// Calls a method of the daemon of the repository at `root`; `None` if there is none that answers.
    fn call(&self, root: &Path, method: &str, params: Map<String, Value>, budget: &Budget) -> Option<Result<Value>>;
}

/// How the answers of several repositories become one.
type Combine = fn(&ScopedCall) -> Result<Value>;

/// The tools that several repositories can be asked by.
static COMBINED: &[(&str, Combine)] = &[
    ("query", search::search),
    ("get_slice", slice),
    ("get_symbol", symbols),
    ("list_files", files),
    ("stats", stats),
    ("search_documents", |across| across.list("results", "options", (Some(10), 100), by_score)),
    ("ixchel_search", |across| across.list("hits", "", (Some(10), 100), by_score)),
    ("ixchel_tags", tags),
];

/// Threads that ask repositories. Most of the time they wait for the disk, or for a daemon.
const MAX_THREADS: usize = 8;
/// The share of the time of a call that may pass before its repositories are up to date: thirds.
const THIRDS: u32 = 2;
/// Problems that an answer of limited size lists.
const MAX_PROBLEMS: usize = 20;

/// Whether several repositories can be asked by that tool.
pub(super) fn is_combined(tool: &str) -> bool {
    COMBINED.iter().any(|(name, _)| *name == tool)
}

/// Returns the files of published repositories that a call needs, if the repositories are many.
pub(super) fn mirror_request(tool: &Declaration, arguments: &Map<String, Value>) -> Result<MirrorRequest> {
    match tool.name {
        "query" => query::mirror_request(arguments),
        "get_symbol" => get_symbol::mirror_request(arguments),
        _ => Ok(MirrorRequest::Everything),
    }
}

/// A call to several repositories.
pub(super) struct ScopedCall<'t> {
    tools: &'t Tools,
    tool: &'static Declaration,
    pub request: &'t Request,
    pub arguments: &'t Map<String, Value>,
    roots: Vec<PathBuf>,
    published: BTreeMap<PathBuf, Mirror>,
    /// Whether the mirrors of published repositories may lack files.
    other_files: OtherFiles,
    /// How many repositories are named, with those that cannot be asked.
    named: usize,
    /// Notes to add to the answer.
    remarks: Mutex<Remarks>,
}

/// Notes on the answers of single repositories.
#[derive(Default)]
struct Remarks {
    failed: Vec<(String, Error)>,
    stale: Vec<String>,
    warnings: Vec<String>,
    indexing: Option<(u64, u64)>,
}

impl Tools {
    /// Asks several repositories.
    pub(super) fn across(
        &self,
        tool: &'static Declaration,
        members: Members,
        request: &Request,
        arguments: &Map<String, Value>,
    ) -> Result<Value> {
        let Some((_, combine)) = COMBINED.iter().find(|(name, _)| *name == tool.name) else {
            let names: Vec<&str> = COMBINED.iter().map(|(name, _)| *name).collect();
            return Err(Error::invalid_argument((Argument("repo"), format!(": {} takes one repository", tool.name)))
                .hint(format!("Name one. Several can be asked by {}.", names.join(", "))));
        };
        let Members { roots, published, failed, without, in_parts, .. } = members;
        let other_files = if in_parts { OtherFiles::MayBeAbsent } else { OtherFiles::Indexed };
        let named = roots.len() + failed.len() + without;
        let remarks = Mutex::new(Remarks { failed, ..Remarks::default() });
        let across =
            ScopedCall { tools: self, tool, request, arguments, roots, published, other_files, named, remarks };
        let answer = combine(&across)?;
        across.finish(answer)
    }
}

impl ScopedCall<'_> {
    /// Asks every repository, several at the same time. The answers are in the order of the roots; one that fails is a
    /// problem of the answer.
    fn each<T: Send>(&self, ask: impl Fn(&Path) -> Result<T> + Sync) -> Result<Vec<(PathBuf, T)>> {
        self.each_of(self.roots.iter().map(|root| (root.clone(), ())).collect(), |root, ()| ask(root))
    }

    /// Asks these repositories in parallel; `known` is passed to each query.
    fn each_of<K: Sync, T: Send>(
        &self,
        known: Vec<(PathBuf, K)>,
        ask: impl Fn(&Path, &K) -> Result<T> + Sync,
    ) -> Result<Vec<(PathBuf, T)>> {
        let list = WorkList::new(&known);
        let next = || list.take().map(|(at, (root, known))| (at, ask(root, known)));
        let asked = on_threads(MAX_THREADS.min(known.len()), || std::iter::from_fn(next).collect::<Vec<_>>())?;
        self.request.budget.check()?;
        let mut answers: Vec<(usize, Result<T>)> = asked.into_iter().flatten().collect();
        answers.sort_unstable_by_key(|(at, _)| *at);
        let mut answered = Vec::new();
        for ((root, _), (_, answer)) in known.into_iter().zip(answers) {
            match answer {
                Ok(answer) => answered.push((root, answer)),
                Err(error) => self.fail(&root, error),
            }
        }
        Ok(answered)
    }

    fn remarks(&self) -> MutexGuard<'_, Remarks> {
        locked(&self.remarks)
    }

    /// Reports a repository that cannot answer.
    fn fail(&self, root: &Path, error: Error) {
        let name = self.name(root);
        self.remarks().failed.push((name, error));
    }

    /// Reports that a repository's answer may be outdated.
    fn note_stale(&self, root: &Path, reason: &str) {
        let name = self.name(root);
        self.remarks().stale.push(format!("{name}: {reason}"));
    }

    /// Reports how far a repository is indexed, in files.
    fn note_indexing(&self, (done, total): (u64, u64)) {
        let indexing = &mut self.remarks().indexing;
        let (before, of) = indexing.unwrap_or_default();
        *indexing = Some((before + done, of + total));
    }

    /// The daemons, if one of them may serve a repository: none serves a mirror.
    fn daemons_of(&self, root: &Path) -> Option<&Arc<dyn Daemons>> {
        self.tools.daemons.as_ref().filter(|_| !self.published.contains_key(root))
    }

    /// Whether the daemon of a repository runs and has brought its index up to date.
    fn is_fresh_by_daemon(&self, root: &Path) -> bool {
        let answer =
            self.daemons_of(root).and_then(|daemons| daemons.call(root, "ixmcp/freshen", Map::new(), &self.budget()));
        answer.is_some_and(|answer| answer.is_ok_and(|answer| answer["fresh"] == true))
    }

    /// A repository as answers name it, and as `repo` takes it.
    fn name(&self, root: &Path) -> String {
        name_of(root, &self.published)
    }

    /// Adds the repository to an item, and the commit if that is published. A path alone gets the repository as its
    /// beginning.
    fn name_repository(&self, item: &mut Value, root: &Path) {
        match item {
            Value::Object(fields) => {
                if let Some(mirror) = self.published.get(root) {
                    fields.insert("commit".to_owned(), json!(mirror.commit));
                    // Folders of the cache say nothing.
                    ["root", "index_path", "watch_mode"].iter().for_each(|name| drop(fields.remove(*name)));
                }
                fields.insert("repo".to_owned(), json!(self.name(root)));
            }
            Value::String(path) => *path = Path::new(&self.name(root)).join(&*path).to_string_lossy().into_owned(),
            _ => {}
        }
    }

    /// The time in which repositories must be up to date.
    fn budget(&self) -> Budget {
        let now = Instant::now();
        let deadline = self.request.budget.deadline();
        self.request.budget.with_deadline(deadline.map(|end| now + end.saturating_duration_since(now) * THIRDS / 3))
    }

    /// One repository's answer, without a limit on its size: by its daemon, if that runs.
    fn ask(&self, root: &Path, arguments: &Map<String, Value>) -> Result<Value> {
        self.ask_for(root, arguments, true)
    }

    /// Asks one repository, without a limit on the answer's size; `is_part` leaves out what is only said if nothing is
    /// found.
    fn ask_for(&self, root: &Path, arguments: &Map<String, Value>, is_part: bool) -> Result<Value> {
        let budget = self.budget();
        let mut params = Map::new();
        params.insert("tool".to_owned(), json!(self.tool.name));
        params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
        params.insert("patient".to_owned(), json!(self.request.is_patient));
        let mut answer =
            match self.daemons_of(root).and_then(|daemons| daemons.call(root, "ixmcp/call", params, &budget)) {
                Some(answer) => answer?,
                None => {
                    let workspace = self.tools.workspaces.of_root(root)?;
                    let other_files =
                        if self.published.contains_key(root) { self.other_files } else { OtherFiles::Indexed };
                    let common = self.request.clone();
                    let request = Request { cap: None, budget, on_progress: None, is_part, other_files, ..common };
                    run(self.tool, &workspace, &request, &Arc::default(), arguments)?
                }
            };
        if let Some(reason) = answer["stale"].as_str() {
            self.note_stale(root, reason);
        }
        if let Some(warning) = answer["warning"].as_str() {
            let warning = format!("{}: {warning}", self.name(root));
            self.remarks().warnings.push(warning);
        }
        if let (Some(done), Some(total)) = (answer["indexing"]["done"].as_u64(), answer["indexing"]["total"].as_u64()) {
            self.note_indexing((done, total));
        }
        if let Some(fields) = answer.as_object_mut() {
            ["stale", "warning", "indexing", "worktree"].iter().for_each(|field| drop(fields.remove(*field)));
        }
        Ok(answer)
    }

    /// The first `need` items of one repository's list, or all; and the rest of its answer.
    fn first(&self, root: &Path, list: &str, limit_in: &str, need: Option<usize>) -> Result<(Vec<Value>, Value)> {
        let mut items = Vec::new();
        loop {
            let mut arguments = self.arguments.clone();
            arguments.insert("offset".to_owned(), json!(items.len()));
            if let Some(need) = need {
                let limit = json!(need - items.len());
                if limit_in.is_empty() {
                    arguments.insert("limit".to_owned(), limit);
                } else if let Some(options) = arguments.entry(limit_in).or_insert_with(|| json!({})).as_object_mut() {
                    options.insert("limit".to_owned(), limit);
                }
            }
            let mut answer = self.ask(root, &arguments)?;
            let page = answer.get_mut(list).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
            let is_last = page.is_empty() || !answer["next_offset"].is_u64();
            items.extend(page);
            if is_last || need.is_none_or(|need| items.len() >= need) {
                return Ok((items, answer));
            }
        }
    }

    /// The number in an argument.
    fn number(&self, name: &str, within: &str) -> Option<usize> {
        let arguments = if within.is_empty() { Some(self.arguments) } else { self.arguments.get(within)?.as_object() };
        usize::try_from(arguments?.get(name)?.as_u64()?).ok()
    }

    /// Combines the lists of all repositories into one, sorted by `key`. Each repository is asked for as many items as
    /// the page may need; `default` and `most` are the tool's limits.
    pub fn list(
        &self,
        list: &str,
        limit_in: &str,
        (default, most): (Option<usize>, usize),
        key: fn(&Value, usize, usize) -> lists::SortKey,
    ) -> Result<Value> {
        let offset = self.number("offset", "").unwrap_or(0);
        let limit = self.number("limit", limit_in).map(|limit| limit.min(most)).or(default);
        let need = limit.map(|limit| offset.saturating_add(limit));
        let lists = self.each(|root| self.first(root, list, limit_in, need))?;
        Ok(combined(self, lists, list, (offset, limit), key))
    }

    /// Ranks the chunks of all repositories once, by a query for `text`. Each is brought up to date before, or the files
    /// that contain the words are; one that cannot be read is left out.
    pub fn ranked(
        &self,
        text: &str,
        filter: &PathFilter,
        query: impl Fn(&Corpus, &[RankedMember]) -> Result<Value>,
    ) -> Result<Value> {
        let opened = self.each(|root| self.tools.workspaces.of_root(root))?;
        let mut ready = self.each_of(opened, |root, workspace| {
            if self.is_fresh_by_daemon(root) {
                return Ok((Arc::clone(workspace), None));
            }
            let request = Request { budget: self.budget(), on_progress: None, ..self.request.clone() };
            let call = Call::new(workspace, &request, Arc::default());
            let prepared = workspace.with_repair(|| call.prepare_search(text, filter))?;
            if let Some(reason) = call.stale.take() {
                self.note_stale(root, &reason);
            }
            Ok((Arc::clone(workspace), prepared))
        })?;
        loop {
            match self.rank_ready(&ready, &query) {
                Ok(answer) => return Ok(answer),
                Err((Some(at), error)) if !matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Timeout) => {
                    let (root, _) = ready.remove(at);
                    self.fail(&root, error);
                }
                Err((_, error)) => return Err(error),
            }
        }
    }

    /// Ranks the repositories that are ready together. An error names the one in which it happened, if it happened in
    /// one.
    fn rank_ready(
        &self,
        ready: &[(PathBuf, Ready)],
        query: impl Fn(&Corpus, &[RankedMember]) -> Result<Value>,
    ) -> Result<Value, (Option<usize>, Error)> {
        let budget = &self.request.budget;
        let mut held = Vec::with_capacity(ready.len());
        for (at, (_, (workspace, prepared))) in ready.iter().enumerate() {
            held.push(workspace.hold(prepared.is_some(), budget).map_err(|error| (Some(at), error))?);
        }
        let snapshots: Vec<Snapshot> = held.iter().map(HeldState::snapshot).collect();
        let mut members = Vec::with_capacity(ready.len());
        let mut unindexed_words = Vec::new();
        for (at, ((root, (workspace, prepared)), snapshot)) in ready.iter().zip(&snapshots).enumerate() {
            let unindexed =
                prepared.as_ref().map(|prepared| workspace.unindexed(&prepared.listed, snapshot, budget)).transpose();
            let unindexed = unindexed.map_err(|error| (Some(at), error))?.filter(|unindexed| !unindexed.is_complete());
            if let (Some(prepared), Some(unindexed)) = (prepared, &unindexed) {
                unindexed_words.extend(prepared.unindexed_words(unindexed));
            }
            members.push(RankedMember { across: self, root, workspace, unindexed });
        }
        let corpus = Corpus::new(snapshots.iter().collect());
        let corpus = unindexed_words.iter().fold(corpus, |corpus, words| words.with(corpus));
        let mut answer = query(&corpus, &members).map_err(|error| (corpus.failed(), error))?;
        for member in &members {
            if let Some(unindexed) = &member.unindexed {
                self.note_indexing(unindexed.progress());
            }
        }
        let mut pending = 0;
        for (at, (member, snapshot)) in members.iter().zip(&snapshots).enumerate() {
            let missing = snapshot.vectors_out_of_reach(&member.workspace.embeddings.space(), None);
            pending += missing.map_err(|error| (Some(at), error))?;
        }
        if pending > 0 {
            answer["vectors_pending"] = json!(pending);
        }
        Ok(answer)
    }

    /// Adds what is to be said of the answer, and makes it small enough.
    fn finish(&self, mut answer: Value) -> Result<Value> {
        let Remarks { mut failed, stale, warnings, indexing } = std::mem::take(&mut *self.remarks());
        failed.sort_by(|(one, _), (other, _)| one.cmp(other));
        if failed.len() >= self.named {
            return Err(none_answers(failed));
        }
        let is_limited = self.request.cap.is_some();
        let shown = if is_limited { failed.len().min(MAX_PROBLEMS) } else { failed.len() };
        if !failed.is_empty() {
            let problem = |(repo, error): &(String, Error)| json!({ "repo": repo, "reason": error.to_string() });
            answer["problems"] = failed[..shown].iter().map(problem).collect();
        }
        if let Some((done, total)) = indexing {
            if let Some(fields) = answer.as_object_mut() {
                fields.remove("total");
            }
            answer["indexing"] = json!({ "done": done, "total": total });
        }
        if !stale.is_empty() {
            answer["stale"] = json!(first_of(&stale, 3));
        }
        for warning in warnings.iter().take(3) {
            render::warn(&mut answer, warning);
        }
        if shown < failed.len() {
            let sentence =
                format!("{} of {} repositories did not answer; {shown} are listed.", failed.len(), self.named);
            render::warn(&mut answer, &sentence);
        }
        let offset = self.number("offset", "").unwrap_or(0);
        if let Some(cap) = self.request.cap {
            if let Some(list) = self.tool.list {
                render::fit(&mut answer, list, offset, cap);
            }
            if render::shorten(&mut answer, cap) {
                render::warn(&mut answer, "One entry alone is too large: its longest texts and lists are cut.");
            }
        }
        Ok(answer)
    }
}

/// A repository whose index is ready to be ranked, with what is on disk if its update takes long.
type Ready = (Arc<Workspace>, Option<Prepared>);

/// A repository whose chunks are ranked with those of others.
pub(super) struct RankedMember<'r> {
    across: &'r ScopedCall<'r>,
    root: &'r Path,
    pub workspace: &'r Workspace,
    /// Files that are not indexed yet.
    unindexed: Option<Arc<Unindexed>>,
}

impl RankedMember<'_> {
    /// An item about the file at `path` as the answer shows it; `None` if the file has changed since it was indexed.
    pub fn shows(&self, path: &str, mut item: Value) -> Option<Value> {
        if self.unindexed.as_ref().is_some_and(|unindexed| unindexed.is_really_outdated(path)) {
            return None;
        }
        if self.workspace.files.masks_secrets() {
            render::mask(&mut item);
        }
        self.across.name_repository(&mut item, self.root);
        Some(item)
    }
}

/// The error if no repository answers: what is wrong with the arguments is the same for all.
fn none_answers(mut failed: Vec<(String, Error)>) -> Error {
    let count = failed.len();
    let is_wrong = |error: &Error| matches!(error.kind, ErrorKind::InvalidArgument | ErrorKind::UnknownTool);
    let of_arguments = failed.iter().position(|(_, error)| is_wrong(error));
    if failed.is_empty() {
        return Error::invalid_argument((Argument("repo"), " names no repository")).hint("Name one.");
    }
    let (first, error) = failed.swap_remove(of_arguments.unwrap_or(0));
    if of_arguments.is_some() || count == 1 {
        return error;
    }
    let summary =
        Error::new(error.kind, format!("none of {count} repositories answers. The first, {first}: {}", error.message));
    match error.hint {
        Some(hint) => summary.hint(hint),
        None => summary,
    }
}

/// The schema of an answer of several repositories: items name theirs, and those that cannot answer are listed.
pub(super) fn admit(schema: &mut Value, tool: &Declaration) {
    let properties = &mut schema["properties"];
    for list in tool.list.into_iter().chain(["items"]) {
        let fields = properties.get_mut(list).and_then(|list| list.pointer_mut("/items/properties"));
        if let Some(items) = fields.and_then(Value::as_object_mut) {
            items.insert("repo".to_owned(), json!({"type": "string"}));
            items.insert("commit".to_owned(), json!({"type": "string"}));
        }
    }
    if tool.list.is_none() {
        properties["repo"] = json!({"type": "string"});
        properties["commit"] = json!({"type": "string"});
    }
    properties["problems"] = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "repo": { "type": "string" }, "reason": { "type": "string" } },
        },
    });
    if tool.name == "stats" {
        properties["repositories"] = json!({"type": "array", "items": {"type": "object"}});
        if let Some(required) = schema["required"].as_array_mut() {
            // Of a single repository.
            required.retain(|name| !["root", "index_path", "watch_mode"].iter().any(|own| name == own));
        }
    }
}
