//! Reads that do not wait for a long update of the index.
//!
//! Owns what such a read does instead: it looks at files on disk, or asks the update to index the files that it needs first.
//! Does not own which files those are, or what the index lacks (`unindexed`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Call;
use crate::budget;
use crate::error::{Error, Result};
use crate::model::RepoPath;
use crate::query::corpus::Corpus;
use crate::query::exact::DiskFiles;
use crate::query::qualified_name::qualified_name;
use crate::query::smart::Expectation;
use crate::query::{PathFilter, smart};
use crate::repository::DiskListing;
use crate::store::Snapshot;
use crate::unindexed::{NeededFiles, SymbolAround, Unindexed, UnindexedMatches};
use crate::update::Freshness;
use crate::words::search_words::{PieceOfFile, SearchWords};

/// Files that a read needs to be indexed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs<'n> {
    /// Entities, which are indexed before everything else.
    Entities,
    /// The files in which a search for a text finds most.
    Search(&'n str, &'n PathFilter),
}

/// Which files a read needs, of those that are not indexed.
enum ReadTarget<'w> {
    /// The file at this path.
    File(&'w str),
    /// Files with these words.
    Words(SearchWords),
    /// Files in which a search for the text finds most.
    Search(&'w str, &'w PathFilter),
}

/// The words of a search, and how often files that are not indexed contain them.
#[derive(Clone)]
pub(super) struct UnindexedWords {
    search_words: SearchWords,
    matches: UnindexedMatches,
    least_near: f64,
}

impl UnindexedWords {
    /// The corpus in which words are as rare as in all files.
    pub(super) fn with<'s>(&self, corpus: Corpus<'s>) -> Corpus<'s> {
        let UnindexedMatches { counts, chunks, held, last } = &self.matches;
        let corpus = smart::with_unindexed_matches(corpus, &self.search_words, counts, *chunks, held);
        corpus.with_bounds(last.clone(), self.least_near)
    }
}

/// State of the disk and the index for a read that does not wait for the end of an update.
pub(super) struct Prepared {
    pub listed: Arc<DiskListing>,
    needed: NeededFiles,
    search_words: Option<SearchWords>,
    least_near: f64,
}

impl Prepared {
    /// The words of the search in the files that this state of the index lacks.
    pub(super) fn unindexed_words(&self, unindexed: &Unindexed) -> Option<UnindexedWords> {
        let search_words = self.search_words.clone().filter(|_| !unindexed.is_complete())?;
        Some(UnindexedWords {
            search_words,
            matches: unindexed.matches_left(&self.needed),
            least_near: self.least_near,
        })
    }
}

/// How long after its beginning a read has looked for the files that it needs first, and how long it looks at least. Half of
/// Linux takes a second.
const SCANNED_WITHIN: Duration = Duration::from_millis(1_500);
const MIN_SCAN: Duration = Duration::from_millis(500);

/// Fallback for a read whose files are not indexed in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    /// Show what there is.
    Partial,
    Busy,
}

/// Files that an answer lacks.
pub(super) struct Incomplete {
    unindexed: Arc<Unindexed>,
    /// Whether items of the answer may be of files that have changed since.
    has_outdated: bool,
}

/// The fields of items that name their file.
const PATH_FIELDS: &[&str] = &["file_path", "filePath", "file"];

impl Incomplete {
    /// The files that are indexed as they are on disk, and all files.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.unindexed.progress()
    }

    /// Adds how far the index is, and removes items of files that have changed or are gone. The total is not known.
    pub(super) fn mark(&self, answer: &mut Value, list: Option<&str>) {
        let items = list.and_then(|list| answer.get_mut(list)?.as_array_mut()).filter(|_| self.has_outdated);
        if let Some(items) = items {
            items.retain(|item| {
                let path = PATH_FIELDS.iter().find_map(|field| item[*field].as_str());
                path.is_none_or(|path| !self.unindexed.is_really_outdated(path))
            });
        }
        if let Some(fields) = answer.as_object_mut() {
            fields.remove("total");
            let (done, total) = self.progress();
            fields.insert("indexing".to_owned(), json!({ "done": done, "total": total }));
        }
    }
}

impl Call<'_> {
    /// Reads one state of the index as it is.
    pub(super) fn read_index<T>(&self, query: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.workspace.read(self.budget(), |snapshot| {
            self.has_files.set(snapshot.has_files().is_ok_and(|has_files| has_files));
            query(snapshot)
        })
    }

    /// Reads the index, and what it lacks if an update takes long.
    pub(crate) fn read_now<T>(&self, query: impl Fn(&Snapshot, Option<&Arc<Unindexed>>) -> Result<T>) -> Result<T> {
        let Some(listed) = self.freshen_or_list()? else {
            return self.read_index(|snapshot| query(snapshot, None));
        };
        let _pause = self.workspace.updates.pause();
        self.workspace.read_incomplete(&listed, self.budget(), |snapshot, unindexed| {
            self.note(unindexed, false);
            query(snapshot, Some(unindexed))
        })
    }

    /// Reads the index for a query that also searches everything that the index lacks: its answer is complete.
    pub(super) fn read_completed<T>(
        &self,
        query: impl Fn(&Snapshot, Option<&Arc<Unindexed>>) -> Result<T>,
    ) -> Result<T> {
        self.without_mark(|| self.read_now(query))
    }

    /// Reads the index for a search, by [`Call::corpus`]. If an update takes long, the files in which it finds most are
    /// indexed first.
    fn read_search<T>(&self, text: &str, filter: &PathFilter, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_after(&ReadTarget::Search(text, filter), Otherwise::Partial, query)
    }

    /// Reads the index for the occurrences of a name. If an update takes long, the files that contain it are indexed first.
    pub(super) fn read_name<T>(&self, name: &str, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_after(&ReadTarget::Words(SearchWords::name(name)), Otherwise::Partial, query)
    }

    /// Reads the index for names that are similar to one, or begin with it. If an update takes long, the files with its
    /// words are indexed first.
    pub(super) fn read_names_like<T>(&self, name: &str, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_after(&ReadTarget::Words(SearchWords::words(name)), Otherwise::Partial, query)
    }

    /// The chunks of a state of the index, for a search: words are as rare in them as in all files.
    pub(super) fn corpus<'s>(&self, snapshot: &'s Snapshot<'_>) -> Corpus<'s> {
        let corpus = Corpus::single(snapshot);
        match &*self.unindexed_words.borrow() {
            Some(words) => words.with(corpus),
            None => corpus,
        }
    }

    /// Reads one file of the index, which is indexed first if an update takes long. The answer is complete.
    pub(crate) fn read_file<T>(&self, path: &str, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.without_mark(|| self.read_after(&ReadTarget::File(path), Otherwise::Busy, query))
    }

    /// A read whose answer is complete does not change what is known to be missing from others of this call.
    fn without_mark<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let known = self.incomplete.take();
        let answer = read();
        *self.incomplete.borrow_mut() = known;
        answer
    }

    pub(super) fn read_needing<T>(&self, needs: Needs, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        match needs {
            Needs::Entities => self.read_entities(query),
            Needs::Search(text, filter) => self.read_search(text, filter, query),
        }
    }

    fn read_after<T>(
        &self,
        target: &ReadTarget,
        otherwise: Otherwise,
        query: impl Fn(&Snapshot) -> Result<T>,
    ) -> Result<T> {
        let since = Instant::now();
        let Some(listed) = self.freshen_or_list()? else {
            *self.unindexed_words.borrow_mut() = None;
            return self.read_index(query);
        };
        if let ReadTarget::File(path) = target
            && self.workspace.read_incomplete(&listed, self.budget(), |_, unindexed| Ok(unindexed.is_outdated(path)))?
        {
            self.workspace.updates.await_copy(self.budget())?;
        }
        let _pause = self.workspace.updates.pause();
        let prepared = self.prepare(listed, target, otherwise, since)?;
        self.workspace.read_incomplete(&prepared.listed, self.budget(), |snapshot, unindexed| {
            self.note(unindexed, otherwise == Otherwise::Partial);
            *self.unindexed_words.borrow_mut() = prepared.unindexed_words(unindexed);
            query(snapshot)
        })
    }

    /// Brings the index up to date, or, if that takes long, the files in which a search for `text` finds most. Returns what a
    /// state of the index has to be compared with.
    pub(super) fn prepare_search(&self, text: &str, filter: &PathFilter) -> Result<Option<Prepared>> {
        let since = Instant::now();
        let Some(listed) = self.freshen_or_list()? else { return Ok(None) };
        let _pause = self.workspace.updates.pause();
        self.prepare(listed, &ReadTarget::Search(text, filter), Otherwise::Partial, since).map(Some)
    }

    fn prepare(
        &self,
        listed: Arc<DiskListing>,
        target: &ReadTarget,
        otherwise: Otherwise,
        since: Instant,
    ) -> Result<Prepared> {
        // Looking for the files takes a while, and holds no snapshot.
        let (unindexed, expectation) =
            self.workspace.read_incomplete(&listed, self.budget(), |snapshot, unindexed| {
                let expectation = match target {
                    ReadTarget::Search(text, _) => Some(Expectation::compute(&Corpus::single(snapshot), text)?),
                    ReadTarget::File(_) | ReadTarget::Words(_) => None,
                };
                Ok((Arc::clone(unindexed), expectation))
            })?;
        let budget = self.budget();
        let until = (since + SCANNED_WITHIN).max(Instant::now() + MIN_SCAN);
        let mut least_near = 0.0;
        let (needed, search_words) = match (target, expectation) {
            (ReadTarget::Search(_, filter), Some(mut expectation)) => {
                let search_words = expectation.search_words.clone();
                let mut rate = |matches: &UnindexedMatches, pieces: &[PieceOfFile]| {
                    expectation.rate(&matches.counts, matches.chunks, pieces)
                };
                let needed =
                    unindexed.needed_for(&search_words, &|path| filter.admits(path), Some(&mut rate), until, budget)?;
                least_near = expectation.least_near;
                (needed, Some(search_words))
            }
            (ReadTarget::Words(search_words), _) => {
                (unindexed.needed_for(search_words, &|_| true, None, until, budget)?, None)
            }
            (ReadTarget::File(path), _) => {
                (NeededFiles::file(RepoPath::stored(path).filter(|_| unindexed.is_outdated(path))), None)
            }
            (ReadTarget::Search(..), None) => (NeededFiles::default(), None),
        };
        if !self.workspace.updates.index_first(&needed.files, since, self.budget())? {
            if otherwise == Otherwise::Busy {
                let (done, total) = unindexed.progress();
                return Err(Error::busy_building(done, total));
            }
            tracing::debug!("not all files of a query are indexed in time");
        }
        if matches!(target, ReadTarget::Search(..))
            && let Err(error) = self.workspace.updates.embed_first(budget)
        {
            budget.check()?;
            tracing::debug!("a query is answered without vectors: {error}");
        }
        Ok(Prepared { listed, needed, search_words, least_near })
    }

    fn note(&self, unindexed: &Arc<Unindexed>, has_outdated: bool) {
        let incomplete = Incomplete { unindexed: Arc::clone(unindexed), has_outdated };
        *self.incomplete.borrow_mut() = Some(incomplete).filter(|_| !unindexed.is_complete());
    }

    /// `None` if the index is up to date, or cannot be brought up to date.
    fn freshen_or_list(&self) -> Result<Option<Arc<DiskListing>>> {
        let freshen = || self.workspace.updates.freshen_or_list(self.request.index_wait.partial_after, self.budget());
        let (freshness, listed) = match &self.request.on_progress {
            Some(on_progress) => {
                let progress = || self.workspace.progress().map(|progress| progress.files());
                budget::with_progress(&**on_progress, progress, freshen)
            }
            None => freshen(),
        }?;
        if let Freshness::Stale(reason) = freshness {
            *self.stale.borrow_mut() = Some(reason);
        }
        Ok(listed)
    }
}

impl DiskFiles for Unindexed {
    fn path(&self, number: usize) -> Option<&str> {
        self.path(number)
    }

    fn is_outdated(&self, path: &str) -> bool {
        self.is_outdated(path)
    }

    fn text(&self, number: usize, may_match: &dyn Fn(&str) -> bool) -> Option<String> {
        self.text(number, may_match)
    }

    fn symbols_around(&self, number: usize, lines: &[u32]) -> Vec<Option<String>> {
        let qualified =
            |around: SymbolAround| qualified_name(around.container.as_deref(), &around.name, around.language);
        self.symbols_around(number, lines).into_iter().map(|around| around.map(qualified)).collect()
    }
}
