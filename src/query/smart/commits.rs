//! Commits as hits: those whose messages answer a query.
//!
//! Owns which queries ask for commits, and the order of the hits. Does not own what the history says of files (`past`).

use super::filters::{self, Filters};
use super::parsed_query::{ParsedQuery, Piece, WORDS_OF_SENTENCE, split};
use super::rarity::rarity;
use super::semantic::SemanticQuery;
use crate::embed::{Embedder, Purpose, built_in};
use crate::error::Result;
use crate::extract;
use crate::model::{RepoPath, printable};
use crate::query::corpus::Corpus;
use crate::query::{Page, PathFilter, near};
use crate::store::{FtsQuery, Snapshot, StoredCommit};

/// The filter of a query for commits.
const KIND: &str = "kind:commit";
/// Commits that are ranked.
const RANKED: usize = 300;
/// Commits that are listed where only paths are asked for.
const LISTED: usize = 5_000;
/// Files that a hit names.
const FILES: usize = 20;
/// Languages that a warning suggests.
const MAX_NEAR: usize = 3;
/// Fewer digits of an id may be a word.
const LEAST_DIGITS: usize = 7;
/// A word in more commits counts as one in this many.
const COMMON: usize = 20_000;
/// Weights of the parts of a score: BM25, how much of the query the subject and the message hold, how near the subject is, and how
/// much of the query the paths hold.
const BM25: f64 = 1.0;
const SUBJECT: f64 = 1.2;
const MESSAGE: f64 = 0.6;
const SEMANTIC: f64 = 0.6;
const PATHS: f64 = 0.4;

/// A commit that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitHit {
    /// The index of its repository, where several were searched.
    pub source: usize,
    pub commit: StoredCommit,
    pub files: Vec<String>,
    pub score: f64,
}

/// A query for commits.
#[derive(Debug, Default)]
pub struct CommitQuery {
    text: String,
    /// Filters of messages.
    filters: Filters,
    paths: Vec<PathFilter>,
    languages: Vec<&'static str>,
    warning: Option<String>,
}

impl CommitQuery {
    /// The query, if it asks for commits by its filter.
    pub fn asked(text: &str) -> Option<Self> {
        let pieces = split(text);
        let is_kind = |piece: &Piece| matches!(piece, Piece::Word(word) if word.eq_ignore_ascii_case(KIND));
        if !pieces.iter().any(is_kind) {
            return None;
        }
        let mut query = Self::default();
        let (mut words, mut phrases) = (Vec::new(), Vec::new());
        for piece in pieces.into_iter().filter(|piece| !is_kind(piece)) {
            match piece {
                Piece::Phrase(phrase) => phrases.push(phrase),
                Piece::Word(word) if query.takes(word) => {}
                Piece::Word(word) => words.push(word),
            }
        }
        if words.len() < WORDS_OF_SENTENCE {
            phrases.iter().for_each(|phrase| query.filters.take_phrase(phrase));
        }
        words.extend(phrases);
        query.text = words.join(" ");
        Some(query)
    }

    /// Asks for commits whose messages have words of a text.
    pub fn from_words(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Says which filters have no effect on commits.
    pub fn warning(&self) -> Option<String> {
        self.warning.clone()
    }

    /// Takes a word that is a filter.
    fn takes(&mut self, word: &str) -> bool {
        let shown = printable(word);
        if word.strip_prefix('-').is_some_and(filters::is_named) {
            self.warning = Some(format!("`{shown}` has no effect on commits: only words can be excluded."));
            return true;
        }
        if self.filters.take_exclusion(word) {
            return true;
        }
        let Some((name, value)) = filters::named(word) else { return false };
        match (name, PathFilter::containing(value), extract::named(value)) {
            ("path", Some(filter), _) => self.paths.push(filter),
            ("lang", _, Some(language)) => self.languages.push(language),
            ("lang", ..) => {
                let near = near::did_you_mean(&near::nearest(value, extract::names(), MAX_NEAR)).unwrap_or_default();
                let warning = format!("`{shown}` has no effect: there is no such language. {near}");
                self.warning = Some(warning.trim_end().to_owned());
            }
            _ => self.warning = Some(format!("`{shown}` has no effect on commits.")),
        }
        true
    }

    /// Whether only commits that changed certain files answer.
    fn is_of_files(&self) -> bool {
        !self.paths.is_empty() || !self.languages.is_empty()
    }

    fn admits_file(&self, path: &str) -> bool {
        let is_in =
            |language: &&'static str| RepoPath::new(path).is_some_and(|path| extract::language_of(&path) == *language);
        self.paths.iter().all(|own| own.admits(path)) && (self.languages.is_empty() || self.languages.iter().any(is_in))
    }

    fn admits_message(&self, commit: &StoredCommit) -> bool {
        self.filters.admit_text(&format!("{}\n{}", commit.subject, commit.body))
    }
}

/// The commits that answer a query, best first, and without words the newest first. Only those that changed a file at a path of the
/// filter.
pub fn search_commits(
    corpus: &Corpus,
    query: &CommitQuery,
    filter: &PathFilter,
    (offset, limit): (usize, usize),
) -> Result<Page<CommitHit>> {
    let mut parsed = ParsedQuery::from_words(&query.text);
    let mut hits = Vec::new();
    let mut is_all = true;
    for at in 0..corpus.source_count() {
        hits.extend(corpus.ask(at, |source| {
            let found = of_source(source, &mut parsed, &query.text)?;
            let most = if parsed.words.is_empty() { LISTED } else { RANKED };
            is_all &= found.len() < most;
            let mut hits = Vec::with_capacity(found.len());
            for (commit, score) in found.into_iter().filter(|(commit, _)| query.admits_message(commit)) {
                let is_of_files = !filter.is_empty() || query.is_of_files();
                let mut files = source.files_of_commit(commit.id, if is_of_files { usize::MAX } else { FILES })?;
                let admits = |path: &String| filter.admits(path) && query.admits_file(path);
                if is_of_files && !files.iter().any(admits) {
                    continue;
                }
                files.sort_by_key(|path| !admits(path));
                files.truncate(FILES);
                hits.push(CommitHit { source: at, commit, files, score });
            }
            Ok(hits)
        })?);
    }
    if !parsed.words.is_empty() {
        rank(corpus, &parsed, &mut hits)?;
    }
    let order = |a: &CommitHit, b: &CommitHit| {
        let newest =
            b.commit.corrected_time.cmp(&a.commit.corrected_time).then_with(|| a.commit.hash.cmp(&b.commit.hash));
        b.score.total_cmp(&a.score).then(newest).then(a.source.cmp(&b.source))
    };
    hits.sort_by(order);
    let page = Page::from_list(hits, offset, limit);
    Ok(Page { total: page.total.filter(|_| is_all), is_cut: page.is_cut || !is_all, ..page })
}

/// Commits that may answer, with what BM25 says of each.
fn of_source(source: &Snapshot, query: &mut ParsedQuery, text: &str) -> Result<Vec<(StoredCommit, f64)>> {
    let is_id = |word: &str| word.len() >= LEAST_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id(text.trim())
        && let Some(commit) = source.commit_with_prefix(&text.trim().to_lowercase())?
    {
        return Ok(vec![(commit, 1.0)]);
    }
    if query.words.is_empty() {
        return Ok(source.newest_commits(LISTED)?.into_iter().map(|commit| (commit, 0.0)).collect());
    }
    query.add_others();
    let all = source.commit_count()?;
    let mut asked = Vec::new();
    for word in query.words.iter_mut().filter(|word| !word.is_stop) {
        if let Some(own) = word.asked() {
            word.weight = rarity(all, source.count_commits_with(&own, COMMON)?);
            asked.push(own);
        }
        let others = word.others.iter().filter(|other| other.is_same);
        asked.extend(others.filter_map(|other| super::parsed_query::asked(&other.text)));
    }
    let compounds = query.terms.iter().filter(|term| term.is_compound());
    asked.extend(compounds.filter_map(|term| FtsQuery::phrase(&term.whole())));
    match FtsQuery::any(asked) {
        Some(asked) => source.search_commits(&asked, RANKED),
        None => Ok(Vec::new()),
    }
}

fn rank(corpus: &Corpus, query: &ParsedQuery, hits: &mut [CommitHit]) -> Result<()> {
    let best = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
    let semantic = SemanticQuery::embed_any(query, corpus)?;
    let subjects: Vec<&str> = hits.iter().map(|hit| hit.commit.subject.as_str()).collect();
    let vectors = if semantic.is_some() { built_in().embed(Purpose::Passage, &subjects)? } else { Vec::new() };
    let cosines: Vec<f64> = match &semantic {
        Some(semantic) => vectors.iter().map(|vector| semantic.cosine(vector).max(0.0)).collect(),
        None => vec![0.0; hits.len()],
    };
    for (hit, cosine) in hits.iter_mut().zip(cosines) {
        let subject = query.set_of(&hit.commit.subject);
        let message = subject | query.set_of(&hit.commit.body);
        let paths = hit.files.iter().fold(0, |set, path| set | query.set_of(path));
        hit.score = BM25 * hit.score / best
            + SUBJECT * query.share_of(subject)
            + MESSAGE * query.share_of(message)
            + SEMANTIC * cosine
            + PATHS * query.share_of(paths);
        hit.score = (hit.score * 1000.0).round() / 1000.0;
    }
    Ok(())
}
