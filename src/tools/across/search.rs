//! `query` in several repositories.
//!
//! Owns what differs from a search of one: hits are ranked together, or listed one repository after the other.

use serde_json::{Value, json};

use super::{RankedMember, ScopedCall, in_order};
use crate::error::Result;
use crate::query::corpus::Corpus;
use crate::query::smart::CommitQuery;
use crate::query::{HitPage, PathFilter, exact, smart};
use crate::tools::query::{
    Answer, Arguments, DEFAULT_LIMIT, MAX_LIMIT, Mode, check_text, shown, shown_commit, with_commit,
};
use crate::tools::{arguments, joined, page, unsearched};

/// Searches several repositories: a smart query ranks the hits of all of them once.
pub(super) fn search(across: &ScopedCall) -> Result<Value> {
    let arguments: Arguments = arguments::parse(across.arguments.clone())?;
    if arguments.mode.unwrap_or_default() != Mode::Smart {
        return across.list("results", "", (Some(DEFAULT_LIMIT), MAX_LIMIT), in_order);
    }
    check_text(arguments.text.trim())?;
    let explain = arguments.explain.unwrap_or(false);
    let filter = PathFilter::new(&arguments.include, &arguments.exclude)?;
    let page = page(arguments.offset, arguments.limit, DEFAULT_LIMIT, MAX_LIMIT);
    let context = u32::try_from(arguments.context.unwrap_or(0)).unwrap_or(exact::MAX_CONTEXT).min(exact::MAX_CONTEXT);
    let budget = &across.request.budget;
    let commits = CommitQuery::asked(arguments.text.trim());
    across.ranked(&arguments.text, &filter, |corpus, members| {
        if let Some(query) = &commits {
            return commits_of(corpus, members, query, &filter, page);
        }
        let HitPage { page: found, warning } =
            smart::search(corpus, None, &arguments.text, &filter, context, page, budget)?;
        let is_nothing = found.items.is_empty() && page.0 == 0 && page.1 > 0;
        let suggestion = if is_nothing { smart::suggest(corpus, &arguments.text)? } else { None };
        let unsearched = if is_nothing { unsearched_in(corpus, members, &filter)? } else { None };
        let answer = Answer {
            total: found.total,
            truncated: found.is_cut,
            next_offset: found.next_offset(),
            suggestion,
            vectors_pending: None,
            warning: joined([warning, unsearched]),
            results: Vec::new(),
        };
        let mut answer = json!(answer);
        let found = found.try_map(|hit| with_commit(corpus, hit, explain))?;
        let hits = found.items.into_iter().filter_map(|(hit, commit)| {
            let member = &members[hit.source];
            let (path, workspace) = (hit.path.clone(), member.workspace);
            member.shows(&path, json!(shown(workspace, hit, commit, explain)))
        });
        answer["results"] = hits.collect();
        Ok(answer)
    })
}

/// Repositories whose files that are not searched are named.
const MAX_UNSEARCHED: usize = 3;

/// The notes about files that are not searched, each with its repository.
fn unsearched_in(corpus: &Corpus, members: &[RankedMember], filter: &PathFilter) -> Result<Option<String>> {
    let mut notes = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let note = corpus.ask(at, |source| unsearched::note(source, filter))?;
        notes.extend(note.map(|note| format!("{}: {note}", member.across.name(member.root))));
        if notes.len() == MAX_UNSEARCHED {
            break;
        }
    }
    Ok(Some(notes.join(" ")).filter(|text| !text.is_empty()))
}

/// Commits of several repositories as hits, ranked once.
fn commits_of(
    corpus: &Corpus,
    members: &[RankedMember],
    query: &CommitQuery,
    filter: &PathFilter,
    page: (usize, usize),
) -> Result<Value> {
    let found = smart::search_commits(corpus, query, filter, page)?;
    let without =
        (0..members.len()).filter(|at| corpus.ask(*at, |source| source.commit_count()).is_ok_and(|all| all == 0));
    let warning = match without.count() {
        0 => None,
        1 => Some("1 repository has no history in its index: mirrors of published repositories have none.".to_owned()),
        many => Some(format!(
            "{many} repositories have no history in their index: mirrors of published repositories have none."
        )),
    };
    let answer = Answer {
        total: found.total,
        truncated: found.is_cut,
        next_offset: found.next_offset(),
        suggestion: None,
        vectors_pending: None,
        warning: joined([query.warning(), warning]),
        results: Vec::new(),
    };
    let mut answer = json!(answer);
    let hits = found.items.into_iter().filter_map(|hit| members[hit.source].shows("", json!(shown_commit(hit))));
    answer["results"] = hits.collect();
    Ok(answer)
}
