//! Reads that do not wait for a long update of the index.
//!
//! Owns what such a read does instead: it looks at files on disk, or has the files that it needs indexed first. Does not own
//! which files those are, or what the index lacks (`index`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::Call;
use crate::budget;
use crate::error::{Error, Result};
use crate::index::{Freshness, Listed, SymbolAround, Unindexed, words_of};
use crate::model::RepoPath;
use crate::query::exact::DiskFiles;
use crate::query::smart;
use crate::store::Snapshot;

/// What a read needs of the index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs<'n> {
    /// Entities, which are indexed before everything else.
    Entities,
    /// The files that contain the words of a text.
    Words(&'n str),
}

/// What becomes of a read whose files are not indexed in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    /// It shows what there is.
    Partial,
    Busy,
}

/// What an answer lacks.
pub(super) struct Incomplete {
    unindexed: Arc<Unindexed>,
    /// Its items may be of files that have changed since.
    has_outdated: bool,
}

/// The fields of items that name their file.
const PATH_FIELDS: &[&str] = &["file_path", "filePath", "file"];

impl Incomplete {
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
            let (done, total) = self.unindexed.progress();
            fields.insert("indexing".to_owned(), json!({ "done": done, "total": total }));
        }
    }
}

impl Call<'_> {
    /// Reads the index, and what it lacks if an update takes long.
    pub(super) fn read_now<T>(&self, query: impl Fn(&Snapshot, Option<&Arc<Unindexed>>) -> Result<T>) -> Result<T> {
        let Some(listed) = self.freshen_or_list()? else {
            return self.workspace.read(self.budget(), |snapshot| query(snapshot, None));
        };
        self.workspace.read(self.budget(), |snapshot| {
            let unindexed = self.note(&listed, snapshot, false)?;
            query(snapshot, Some(&unindexed))
        })
    }

    /// The same for a query that makes up for everything that the index lacks: its answer is complete.
    pub(super) fn read_completed<T>(
        &self,
        query: impl Fn(&Snapshot, Option<&Arc<Unindexed>>) -> Result<T>,
    ) -> Result<T> {
        self.without_mark(|| self.read_now(query))
    }

    /// Reads the index. If an update takes long, the files that contain words of `text` are indexed first.
    pub(super) fn read_words<T>(&self, text: &str, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        self.read_after(|unindexed| unindexed.needed_for(&words_of(text), self.budget()), Otherwise::Partial, query)
    }

    /// Reads one file of the index, which is indexed first if an update takes long. The answer is complete.
    pub(super) fn read_file<T>(&self, path: &str, query: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        let needed = |unindexed: &Unindexed| {
            let path = RepoPath::stored(path).filter(|path| unindexed.is_outdated(path.as_str()));
            Ok(path.into_iter().collect())
        };
        self.without_mark(|| self.read_after(needed, Otherwise::Busy, query))
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
            Needs::Words(text) => self.read_words(text, query),
        }
    }

    fn read_after<T>(
        &self,
        needed: impl Fn(&Unindexed) -> Result<Vec<RepoPath>>,
        otherwise: Otherwise,
        query: impl Fn(&Snapshot) -> Result<T>,
    ) -> Result<T> {
        let Some(listed) = self.prepare(needed, otherwise)? else { return self.workspace.read(self.budget(), query) };
        self.workspace.read(self.budget(), |snapshot| {
            self.note(&listed, snapshot, otherwise == Otherwise::Partial)?;
            query(snapshot)
        })
    }

    /// Brings the index up to date, or, if that takes long, the files that contain words of `text`. Returns what is not
    /// indexed yet.
    pub(super) fn prepare_words(&self, text: &str) -> Result<Option<Arc<Listed>>> {
        self.prepare(|unindexed| unindexed.needed_for(&words_of(text), self.budget()), Otherwise::Partial)
    }

    fn prepare(
        &self,
        needed: impl Fn(&Unindexed) -> Result<Vec<RepoPath>>,
        otherwise: Otherwise,
    ) -> Result<Option<Arc<Listed>>> {
        let Some(listed) = self.freshen_or_list()? else { return Ok(None) };
        // Looking for the files takes a while, and holds no snapshot.
        let unindexed = self.workspace.read(self.budget(), |snapshot| self.workspace.unindexed(&listed, snapshot))?;
        let needed = needed(&unindexed)?;
        if !needed.is_empty() && !self.workspace.updates.index_first(needed, self.budget())? {
            if otherwise == Otherwise::Busy {
                let (done, total) = unindexed.progress();
                return Err(Error::busy_building(done, total));
            }
            tracing::debug!("the files of a query are not indexed in time");
        }
        Ok(Some(listed))
    }

    fn note(&self, listed: &Listed, snapshot: &Snapshot, has_outdated: bool) -> Result<Arc<Unindexed>> {
        let unindexed = self.workspace.unindexed(listed, snapshot)?;
        let incomplete = Incomplete { unindexed: Arc::clone(&unindexed), has_outdated };
        *self.incomplete.borrow_mut() = Some(incomplete).filter(|_| !unindexed.is_complete());
        Ok(unindexed)
    }

    /// `None` if the index is up to date, or cannot be brought up to date.
    fn freshen_or_list(&self) -> Result<Option<Arc<Listed>>> {
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
            |around: SymbolAround| smart::joined(around.container.as_deref(), &around.name, around.language);
        self.symbols_around(number, lines).into_iter().map(|around| around.map(qualified)).collect()
    }
}
