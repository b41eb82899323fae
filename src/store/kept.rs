//! A cache of values computed from the texts of files, so that the next query need not compute them again.
//!
//! Owns how much is kept, and that a value is of the present text. Does not own the values.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rusqlite::named_params;

use super::statements::statements;
use super::{FileId, FtsQuery, Snapshot, TextVersion, locked};
use crate::error::Result;

statements! {
    NAMING_FILES = "SELECT DISTINCT f.path, f.language, f.id, f.hash, f.extractor
        FROM chunks_fts m JOIN chunks c ON c.id = m.rowid JOIN files f ON f.id = c.file_id
        WHERE m.chunks_fts MATCH :query AND f.language IN (SELECT value FROM json_each(:languages)) ORDER BY f.path";
    VERSION_OF = "SELECT id, hash, extractor FROM files WHERE path = :path";
}

/// Bytes of values that are kept.
const KEPT_BYTES: usize = 64 << 20;

/// Values by the version of their text, oldest first.
#[derive(Default)]
pub(super) struct KeptValues {
    values: HashMap<TextVersion, (usize, Arc<dyn Any + Send + Sync>)>,
    order: VecDeque<TextVersion>,
    bytes: usize,
}

/// A file whose text has a word.
#[derive(Clone, Debug)]
pub struct NamingFile {
    pub path: String,
    pub language: String,
    pub version: TextVersion,
}

impl Snapshot<'_> {
    /// Files of some languages in which something matches, by path.
    pub fn naming_files(&self, query: &FtsQuery, languages: &[&str]) -> Result<Vec<NamingFile>> {
        let languages = serde_json::Value::from(languages).to_string();
        let params = named_params! { ":query": query.as_str(), ":languages": languages };
        self.rows(NAMING_FILES, params, |row| {
            let file = FileId(row.get(2)?);
            let version = TextVersion { file, hash: row.get(3)?, extractor: row.get(4)? };
            Ok(NamingFile { path: row.get(0)?, language: row.get(1)?, version })
        })
    }

    /// The present text of a file.
    pub fn text_version(&self, path: &str) -> Result<Option<TextVersion>> {
        self.row(VERSION_OF, named_params! { ":path": path }, |row| {
            Ok(TextVersion { file: FileId(row.get(0)?), hash: row.get(1)?, extractor: row.get(2)? })
        })
    }

    /// Returns the value kept for a text, or keeps what `compute` returns with its size in bytes.
    pub fn kept<T: Any + Send + Sync>(
        &self,
        version: TextVersion,
        compute: impl FnOnce(&str) -> (T, usize),
    ) -> Result<Arc<T>> {
        let known = locked(&self.caches.kept).values.get(&version).map(|(_, value)| Arc::clone(value));
        if let Some(known) = known.and_then(|known| known.downcast::<T>().ok()) {
            return Ok(known);
        }
        let mut text = String::new();
        self.read_text(version.file, &mut text)?;
        let (value, bytes) = compute(&text);
        let value = Arc::new(value);
        let shared: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&value);
        locked(&self.caches.kept).keep(version, shared, bytes);
        Ok(value)
    }
}

impl Snapshot<'_> {
    /// The texts of the files for which nothing is kept.
    pub fn unkept_texts<'f>(&self, files: &'f [NamingFile]) -> Result<Vec<(&'f NamingFile, String)>> {
        let mut unkept: Vec<&NamingFile> = files.iter().collect();
        {
            let kept = locked(&self.caches.kept);
            unkept.retain(|file| !kept.values.contains_key(&file.version));
        }
        let mut texts = Vec::with_capacity(unkept.len());
        for file in unkept {
            let mut text = String::new();
            self.read_text(file.version.file, &mut text)?;
            texts.push((file, text));
        }
        Ok(texts)
    }

    /// Keeps what was computed of a text, with its size in bytes.
    pub fn keep<T: Any + Send + Sync>(&self, version: TextVersion, value: T, bytes: usize) {
        locked(&self.caches.kept).keep(version, Arc::new(value), bytes);
    }
}

impl KeptValues {
    fn keep(&mut self, version: TextVersion, value: Arc<dyn Any + Send + Sync>, bytes: usize) {
        if bytes > KEPT_BYTES / 4 {
            return;
        }
        if let Some((before, _)) = self.values.insert(version, (bytes, value)) {
            self.bytes -= before;
        } else {
            self.order.push_back(version);
        }
        self.bytes += bytes;
        while self.bytes > KEPT_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.values.remove(&oldest).map_or(0, |(bytes, _)| bytes);
        }
    }
}
