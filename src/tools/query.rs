//! `query`: search the repository's text.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::incomplete::Needs;
use super::{Access, Call, Declaration, declare, unsearched};
use crate::error::{Error, Result};
use crate::organisation::MirrorRequest;
use crate::query::corpus::Corpus;
use crate::query::exact::DiskFiles;
use crate::query::smart::{CommitHit, CommitQuery};
use crate::query::{Hit, HitPage, Page, PathFilter, exact, smart};
use crate::store::{Snapshot, StoredCommit};
use crate::wording::Argument;
use crate::workspace::Workspace;

pub(super) static QUERY: Declaration = declare! {
    run;
    name: "query",
    title: "Search code and documents",
    about: "Search files by words, names and meaning, best lines first. mode \"literal\" or \"regex\" lists every \
        matching line. Filters in smart text: path: lang: kind: tag: -word \"phrase\", kind:commit. For a name use \
        get_symbol; for passages that answer in prose, search_documents.",
    access: Access::Read,
    core: true,
    list: Some("results"),
    example: r#"{"text": "incremental update", "limit": 5}"#,
};

/// Arguments of `query`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Text to look for.
    pub text: String,
    /// Default smart.
    pub mode: Option<Mode>,
    /// Globs of paths, as in .gitignore (default: all).
    #[serde(default)]
    pub include: Vec<String>,
    /// Globs of paths to skip.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Hits to return (default 10, at most 1000).
    pub limit: Option<u64>,
    /// Hits to skip (default 0).
    pub offset: Option<u64>,
    /// Lines around the match in the preview (default 0, at most 20).
    pub context: Option<u64>,
    /// literal, regex: default true.
    case_sensitive: Option<bool>,
    /// literal, regex: whole words only (default false).
    word: Option<bool>,
    /// literal, regex: matches may span lines (default false).
    multiline: Option<bool>,
    /// Add the parts of each score (default false).
    pub explain: Option<bool>,
}

impl Arguments {
    /// The pattern of an exact search; `None` for a smart one.
    fn pattern(&self) -> Option<exact::Pattern<'_>> {
        let mode = self.mode.unwrap_or_default();
        (mode != Mode::Smart).then(|| exact::Pattern {
            text: &self.text,
            is_regex: mode == Mode::Regex,
            case_sensitive: self.case_sensitive.unwrap_or(true),
            word: self.word.unwrap_or(false),
            multiline: self.multiline.unwrap_or(false),
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Smart,
    Literal,
    Regex,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub results: Vec<QueryHit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// smart, where nothing was found: the query with words that the index has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// smart: chunks that are found by their words alone until their vectors are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_pending: Option<u64>,
    /// Files that are not searched. smart: filters that matched nothing, with near values; why the chosen model was not
    /// used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct QueryHit {
    /// Absent in hits of commits, as are lines and preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_name: Option<String>,
    /// The commit; with explain, the strongest evidence for the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// RFC 3339: when it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Files that the commit changed, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    pub score: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Lines are those of the text that was taken out of the file: read on with get_file_details, not get_slice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extracted: bool,
    /// smart: other chunks with the same text, which are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<usize>,
    /// The folder of those chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<BTreeMap<String, f64>>,
}

pub(super) const DEFAULT_LIMIT: usize = 10;
pub(super) const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let mode = arguments.mode.unwrap_or_default();
    // White space alone is a pattern, but not a query.
    let asked = if mode == Mode::Smart { arguments.text.trim() } else { &arguments.text };
    check_text(asked)?;
    let explain = arguments.explain.unwrap_or(false);
    let filter = PathFilter::new(&arguments.include, &arguments.exclude)?;
    let page = super::page(arguments.offset, arguments.limit, DEFAULT_LIMIT, MAX_LIMIT);
    let context = u32::try_from(arguments.context.unwrap_or(0)).unwrap_or(exact::MAX_CONTEXT).min(exact::MAX_CONTEXT);
    let budget = call.budget();
    let (found, warning, unsearched, suggestion, vectors_pending) = if let Some(pattern) = arguments.pattern() {
        let (found, unsearched) = call.read_now(|snapshot, unindexed| {
            let disk = unindexed.map(|unindexed| Arc::clone(unindexed) as Arc<dyn DiskFiles>);
            let found = exact::search(snapshot, disk.as_ref(), &pattern, &filter, context, page, budget)?
                .try_map(|hit| Ok((hit, None)))?;
            // This list claims to be complete, so its first page names the files that it leaves out.
            let unsearched = if page.0 == 0 { unsearched::note(snapshot, &filter)? } else { None };
            Ok((found, unsearched))
        })?;
        (found, None, unsearched, None, None)
    } else if let Some(query) = CommitQuery::asked(asked) {
        return commits(call, &query, &filter, page);
    } else {
        call.read_deeply(Needs::Search(&arguments.text, &filter), |snapshot, deep| {
            let corpus = call.corpus(snapshot);
            let HitPage { page: found, warning } =
                smart::search(&corpus, deep, &arguments.text, &filter, context, page, budget)?;
            let is_nothing = found.items.is_empty() && page.0 == 0 && page.1 > 0;
            let suggestion = if is_nothing { smart::suggest(&corpus, &arguments.text)? } else { None };
            let unsearched = if is_nothing { unsearched::note(snapshot, &filter)? } else { None };
            let found = found.try_map(|hit| with_commit(&corpus, hit, explain))?;
            Ok((found, warning, unsearched, suggestion, super::vectors_pending(call, snapshot)?))
        })?
    };
    if mode == Mode::Smart && found.items.is_empty() && page.0 == 0 && page.1 > 0 && warning.is_none() {
        // Where no file answers, a commit may.
        let answer = commits(call, &CommitQuery::from_words(asked), &filter, page)?;
        if !answer.results.is_empty() {
            let warning = super::joined([answer.warning, unsearched]);
            return Ok(Answer { suggestion, warning, ..answer });
        }
    }
    Ok(Answer {
        total: found.total,
        truncated: found.is_cut,
        next_offset: found.next_offset(),
        suggestion,
        vectors_pending,
        warning: super::joined([warning, call.warning(), unsearched]),
        results: found.items.into_iter().map(|(hit, commit)| shown(call.workspace(), hit, commit, explain)).collect(),
    })
}

/// Commits as hits.
fn commits(call: &Call, query: &CommitQuery, filter: &PathFilter, page: (usize, usize)) -> Result<Answer> {
    let search = |snapshot: &Snapshot| smart::search_commits(&Corpus::single(snapshot), query, filter, page);
    let (found, warning) =
        call.read_history(|own| call.read_now(|snapshot, _| own.read(snapshot, || search(snapshot))))?;
    let found = found.unwrap_or_else(|| Page::from_list(Vec::new(), page.0, page.1));
    Ok(Answer {
        total: found.total,
        truncated: found.is_cut,
        next_offset: found.next_offset(),
        suggestion: None,
        vectors_pending: None,
        warning: super::joined([query.warning(), warning, call.warning()]),
        results: found.items.into_iter().map(shown_commit).collect(),
    })
}

pub(super) fn shown_commit(hit: CommitHit) -> QueryHit {
    QueryHit {
        file_path: None,
        line: None,
        start_line: None,
        end_line: None,
        symbol_name: None,
        time: Some(commit_time(&hit.commit)),
        commit: Some(hit.commit.hash),
        subject: Some(hit.commit.subject),
        files: hit.files,
        score: hit.score,
        preview: None,
        extracted: false,
        similar: None,
        similar_in: None,
        parts: None,
    }
}

pub(super) fn commit_time(commit: &StoredCommit) -> String {
    super::stats::instant(commit.time.saturating_mul(1_000_000_000))
}

pub(super) fn check_text(text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::invalid_argument((Argument("text"), " is empty")).hint("Give a query."));
    }
    Ok(())
}

/// Returns the files of published repositories that a call needs, if the repositories are many.
pub(super) fn mirror_request(arguments: &Map<String, Value>) -> Result<MirrorRequest> {
    let arguments: Arguments = super::arguments::parse(arguments.clone())?;
    let Some(pattern) = arguments.pattern() else {
        check_text(arguments.text.trim())?;
        return Ok(MirrorRequest::Everything);
    };
    check_text(pattern.text)?;
    let literals = exact::literals(&pattern)?;
    Ok(literals
        .map_or(MirrorRequest::AnyText { of: "pattern" }, |literals| MirrorRequest::Files { literals, name: None }))
}

/// Reads the commit that is evidence for a hit, if it is shown.
pub(super) fn with_commit(corpus: &Corpus, hit: Hit, explain: bool) -> Result<(Hit, Option<StoredCommit>)> {
    let id = hit.commit.filter(|_| explain);
    let commit = id.map(|id| corpus.ask(hit.source, |source| source.stored_commit(id))).transpose()?;
    Ok((hit, commit.flatten()))
}

pub(super) fn shown(workspace: &Workspace, hit: Hit, commit: Option<StoredCommit>, explain: bool) -> QueryHit {
    QueryHit {
        extracted: workspace.documents.shows_extracted(&hit.path),
        file_path: Some(hit.path),
        line: Some(hit.line),
        start_line: Some(hit.start_line),
        end_line: Some(hit.end_line),
        time: commit.as_ref().map(commit_time),
        subject: commit.as_ref().map(|commit| commit.subject.clone()),
        commit: commit.map(|commit| commit.hash),
        files: Vec::new(),
        symbol_name: hit.symbol,
        score: hit.score,
        preview: Some(hit.preview),
        similar: (hit.similar > 0).then_some(hit.similar),
        similar_in: hit.similar_in,
        parts: explain.then(|| hit.parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect()),
    }
}
