//! `files`, `skipped`, `problems`: what was found on disk, and replacing all rows of a file.

use std::collections::BTreeMap;

use rusqlite::{Row, named_params, params};

use super::statements::statements;
use super::{Batch, FileId, IndexedChunks, Snapshot};
use crate::error::Result;
use crate::model::{ContentHash, Extracted, ROOT, RepoPath, SkipReason, Stat};
use crate::words;

statements! {
    STORED = "SELECT path, language, extractor, hash, size, mtime_ns, ctime_ns, inode, seen_ns, chunking FROM files";
    /// A path and what is below it: `0` comes right after `/`.
    STORED_AT = "SELECT path, language, extractor, hash, size, mtime_ns, ctime_ns, inode, seen_ns, chunking FROM files
        WHERE path = :path OR (path > :path || '/' AND path < :path || '0')";
    STATS = "SELECT path, size, mtime_ns, ctime_ns, inode, seen_ns FROM files
        UNION ALL SELECT path, size, mtime_ns, ctime_ns, inode, seen_ns FROM skipped";
    PATHS = "SELECT path, language FROM files ORDER BY path";
    PATHS_OF_LANGUAGE = "SELECT path, language FROM files WHERE language = :language ORDER BY path";
    ID_AND_HASH = "SELECT id, hash, extractor, chunking FROM files WHERE path = :path";
    INSERT = "INSERT INTO files
        (path, path_words, language, extractor, encoding, hash, lines, size, mtime_ns, ctime_ns, inode, seen_ns, chunking)
        VALUES (:path, :path_words, :language, :extractor, :encoding, :hash, :lines, :size, :mtime_ns, :ctime_ns,
                :inode, :seen_ns, :chunking)";
    UPDATE = "UPDATE files SET path_words = :path_words, language = :language, extractor = :extractor, encoding = :encoding, hash = :hash,
        lines = :lines, size = :size, mtime_ns = :mtime_ns, ctime_ns = :ctime_ns, inode = :inode, seen_ns = :seen_ns,
        trigram_segment = NULL, trigram_slot = NULL, chunking = :chunking WHERE id = :id";
    TOUCH = "UPDATE files SET size = :size, mtime_ns = :mtime_ns, ctime_ns = :ctime_ns, inode = :inode,
        seen_ns = :seen_ns WHERE path = :path";
    RENAME = "UPDATE files SET path = :path, path_words = :path_words WHERE id = :id";
    DELETE = "DELETE FROM files WHERE id = :id";
    SKIPPED = "SELECT path, reason, size, mtime_ns, ctime_ns, inode, seen_ns FROM skipped ORDER BY path";
    SKIPPED_AT = "SELECT path, reason, size, mtime_ns, ctime_ns, inode, seen_ns FROM skipped
        WHERE path = :path OR (path > :path || '/' AND path < :path || '0')";
    /// Skipped files with text that a person would search.
    SKIPPED_TEXTS = "SELECT path, reason FROM skipped WHERE reason IN ('generated', 'minified', 'oversize')";
    SKIPPED_COUNTS = "SELECT reason, count(*) FROM skipped GROUP BY reason ORDER BY reason";
    SKIP = "INSERT OR REPLACE INTO skipped (path, reason, size, mtime_ns, ctime_ns, inode, seen_ns)
        VALUES (:path, :reason, :size, :mtime_ns, :ctime_ns, :inode, :seen_ns)";
    UNSKIP = "DELETE FROM skipped WHERE path = :path";
    /// Each file of a folder, with its chunks. In the range of the repository, which begins with nothing, lie the
    /// absolute paths of files outside: here and below they are left out.
    CHUNKS_OF = "SELECT f.path, count(c.id) FROM files f LEFT JOIN chunks c ON c.file_id = f.id
        WHERE f.path >= :first AND f.path < :end AND (:first <> '' OR f.path < '/' OR f.path >= '0') GROUP BY f.id ORDER BY f.path";
    PATHS_IN = "SELECT path FROM files
        WHERE path >= :first AND path < :end AND (:first <> '' OR path < '/' OR path >= '0') ORDER BY path";
    FILES_IN = "SELECT count(*) FROM files
        WHERE path >= :first AND path < :end AND (:first <> '' OR path < '/' OR path >= '0')";
    IS_CUT = "SELECT 1 FROM skipped
        WHERE path >= :first AND path < :end AND (:first <> '' OR path < '/' OR path >= '0') AND reason = 'max_files' LIMIT 1";
    UNSKIP_IN = "DELETE FROM skipped
        WHERE path >= :first AND path < :end AND (:first <> '' OR path < '/' OR path >= '0')";
    INSERT_PROBLEM = "INSERT INTO problems (file_id, line, reason) VALUES (?1, ?2, ?3)";
    DELETE_PROBLEMS = "DELETE FROM problems WHERE file_id = ?1";
    ANY = "SELECT EXISTS (SELECT 1 FROM files)";
    COUNT = "SELECT count(*) FROM files";
    COUNT_BY_LANGUAGE = "SELECT language, count(*), sum(lines) FROM files GROUP BY language ORDER BY language";
}

/// An indexed file as it was last read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub path: RepoPath,
    pub language: String,
    pub extractor: u32,
    pub hash: ContentHash,
    pub stat: Stat,
    /// The clock just before the bytes were read.
    pub seen_ns: i64,
    /// See [`Extracted::chunking`].
    pub chunking: Option<String>,
}

/// The stats of all files that were found, indexed or left out.
#[derive(Clone, Debug, Default)]
pub struct StoredStats {
    /// All paths, one after the other: a large repository has a hundred thousand.
    paths: String,
    /// Where each path ends, its stat, and the clock just before the bytes were read; 0 where they were not.
    rows: Vec<(usize, Stat, i64)>,
}

impl StoredStats {
    /// (path, stat, clock), in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Stat, i64)> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|(end, ..)| *end));
        starts.zip(&self.rows).map(|(start, (end, stat, seen_ns))| (&self.paths[start..*end], *stat, *seen_ns))
    }
}

/// A file that was found and left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The path as shown: one that is not UTF-8 has replacement characters.
    pub path: String,
    pub reason: SkipReason,
    pub stat: Stat,
    pub seen_ns: i64,
}

/// One version of one file, ready to be written.
pub struct FileRow<'a> {
    pub path: &'a RepoPath,
    pub hash: ContentHash,
    pub stat: Stat,
    pub seen_ns: i64,
    pub extracted: &'a Extracted,
    /// Replace the rows even if they were made from the same bytes by the same extractor.
    pub force: bool,
}

/// Stored facts of a path: id, hash, extractor, chunking.
type KnownFile = (FileId, ContentHash, u32, Option<String>);

/// The paths in a folder: from the first on, up to the end. `0` comes right after `/`.
fn range_of(folder: &str) -> (String, String) {
    if folder == ROOT { (String::new(), char::MAX.to_string()) } else { (format!("{folder}/"), format!("{folder}0")) }
}

fn stored(row: &Row) -> rusqlite::Result<Option<StoredFile>> {
    let path: String = row.get(0)?;
    let Some(path) = RepoPath::stored(&path) else { return Ok(None) };
    Ok(Some(StoredFile {
        path,
        language: row.get(1)?,
        extractor: row.get(2)?,
        hash: ContentHash(row.get(3)?),
        stat: stat(row, 4)?,
        seen_ns: row.get(8)?,
        chunking: row.get(9)?,
    }))
}

fn skipped(row: &Row) -> rusqlite::Result<SkippedFile> {
    let reason: String = row.get(1)?;
    Ok(SkippedFile {
        path: row.get(0)?,
        // An unknown reason is checked again.
        reason: SkipReason::from_name(&reason).unwrap_or(SkipReason::Unreadable),
        stat: stat(row, 2)?,
        seen_ns: row.get(6)?,
    })
}

pub(super) fn stat(row: &Row, first: usize) -> rusqlite::Result<Stat> {
    Ok(Stat {
        size: row.get::<_, i64>(first)?.cast_unsigned(),
        mtime_ns: row.get(first + 1)?,
        ctime_ns: row.get(first + 2)?,
        inode: row.get::<_, i64>(first + 3)?.cast_unsigned(),
    })
}

impl Snapshot<'_> {
    /// Every indexed file, in no order.
    pub fn stored_files(&self) -> Result<Vec<StoredFile>> {
        let mut statement = self.connection.prepare_cached(STORED)?;
        let rows = statement.query_map([], stored)?;
        Ok(rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?)
    }

    /// Stats of every file that was found.
    pub fn stored_stats(&self) -> Result<StoredStats> {
        let mut statement = self.connection.prepare_cached(STATS)?;
        let mut rows = statement.query([])?;
        let mut stats = StoredStats::default();
        while let Some(row) = rows.next()? {
            stats.paths.push_str(row.get_ref(0)?.as_str().unwrap_or_default());
            stats.rows.push((stats.paths.len(), stat(row, 1)?, row.get(5)?));
        }
        Ok(stats)
    }

    /// Indexed files at or below the paths, each once.
    pub fn stored_files_at(&self, paths: &[RepoPath]) -> Result<Vec<StoredFile>> {
        let mut statement = self.connection.prepare_cached(STORED_AT)?;
        let mut found = BTreeMap::new();
        for path in paths {
            let mut rows = statement.query(named_params! { ":path": path.as_str() })?;
            while let Some(row) = rows.next()? {
                found.extend(stored(row)?.map(|file| (file.path.clone(), file)));
            }
        }
        Ok(found.into_values().collect())
    }

    /// Files left out at or below the paths, each once.
    pub fn skipped_at(&self, paths: &[RepoPath]) -> Result<Vec<SkippedFile>> {
        let mut statement = self.connection.prepare_cached(SKIPPED_AT)?;
        let mut found = BTreeMap::new();
        for path in paths {
            let mut rows = statement.query(named_params! { ":path": path.as_str() })?;
            while let Some(row) = rows.next()? {
                let file = skipped(row)?;
                found.insert(file.path.clone(), file);
            }
        }
        Ok(found.into_values().collect())
    }

    /// (path, language) of every indexed file, or of those of one language, in path order.
    pub fn paths(&self, language: Option<&str>) -> Result<Vec<(String, String)>> {
        let pair = |row: &Row| Ok((row.get(0)?, row.get(1)?));
        match language {
            None => self.rows(PATHS, [], pair),
            Some(language) => self.rows(PATHS_OF_LANGUAGE, named_params! { ":language": language }, pair),
        }
    }

    /// Each indexed file in a folder with the number of its chunks, in path order; `.` is the repository.
    pub fn chunks_of_files_in(&self, folder: &str) -> Result<Vec<(String, u64)>> {
        let (first, end) = range_of(folder);
        self.rows(CHUNKS_OF, named_params! { ":first": first, ":end": end }, |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })
    }

    /// The indexed files in a folder, in path order; `.` is the repository.
    pub fn paths_in(&self, folder: &str) -> Result<Vec<String>> {
        let (first, end) = range_of(folder);
        self.rows(PATHS_IN, named_params! { ":first": first, ":end": end }, |row| row.get(0))
    }

    /// How many files of a folder are indexed, and whether any was cut off.
    pub fn fill_of(&self, folder: &str) -> Result<(usize, bool)> {
        let (first, end) = range_of(folder);
        let asked = named_params! { ":first": first, ":end": end };
        let files: i64 = self.value(FILES_IN, asked)?;
        let is_cut = self.connection.prepare_cached(IS_CUT)?.exists(asked)?;
        Ok((usize::try_from(files).unwrap_or(usize::MAX), is_cut))
    }

    pub fn skipped(&self) -> Result<Vec<SkippedFile>> {
        self.rows(SKIPPED, [], skipped)
    }

    /// Path and reason of each skipped file that has, or may have, text that a person would search.
    pub fn skipped_texts(&self) -> Result<Vec<(String, String)>> {
        self.rows(SKIPPED_TEXTS, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    pub fn skipped_counts(&self) -> Result<Vec<(String, u64)>> {
        self.rows(SKIPPED_COUNTS, [], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))
    }

    pub fn has_files(&self) -> Result<bool> {
        Ok(self.connection.prepare_cached(ANY)?.query_row([], |row| row.get(0))?)
    }

    pub fn file_count(&self) -> Result<u64> {
        self.number(COUNT, [])
    }

    /// (language, files, lines).
    pub fn language_counts(&self) -> Result<Vec<(String, u64, u64)>> {
        self.rows(COUNT_BY_LANGUAGE, [], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, i64>(2)?.cast_unsigned()))
        })
    }
}

impl Batch<'_> {
    /// Replaces all rows of one file. A file whose content and extractor are already stored is only touched, so that
    /// two processes that read the same save write it once. Returns whether anything except the stat changed.
    pub fn replace_file(&mut self, row: &FileRow) -> Result<bool> {
        let known = self.id_and_hash(row.path)?;
        if let Some((_, hash, extractor, chunking)) = &known
            && *hash == row.hash
            && *extractor == row.extracted.extractor
            && *chunking == row.extracted.chunking
            && !row.force
        {
            self.touch_file(row.path, &row.stat, row.seen_ns)?;
            return Ok(false);
        }
        let known = known.map(|(id, hash, ..)| (id, hash));
        self.record_change(row.path, known.map(|(_, hash)| hash))?;
        self.unskip(row.path.as_str())?;
        let mut numbers = self.chunk_numbers(known.map(|(id, ..)| id))?;
        let id = match known {
            Some((id, ..)) => {
                self.clear_file(id)?;
                self.update_file(id, row)?;
                id
            }
            None => self.insert_file(row)?,
        };
        self.insert_chunks(row, id, &mut numbers)?;
        if known.is_some() {
            self.remove_vectors(&numbers.left())?;
        }
        self.insert_dependent_rows(id, row)?;
        Ok(true)
    }

    /// Adds new files whose chunks are indexed already. `false`, and nothing is added, if one of them is not new, or other chunks
    /// have got these ids or higher ones.
    pub fn add_files(&mut self, files: &[FileRow], indexed: &IndexedChunks) -> Result<bool> {
        if self.next_chunk()? > indexed.first() {
            return Ok(false);
        }
        for row in files {
            if self.id_and_hash(row.path)?.is_some() {
                return Ok(false);
            }
        }
        let mut keys = indexed.keys();
        for row in files {
            self.record_change(row.path, None)?;
            self.unskip(row.path.as_str())?;
            let id = self.insert_file(row)?;
            self.insert_indexed_chunks(row, id, &mut keys)?;
            self.insert_dependent_rows(id, row)?;
        }
        self.add_segment(indexed)?;
        Ok(true)
    }

    fn insert_dependent_rows(&mut self, id: FileId, row: &FileRow) -> Result<()> {
        self.insert_symbols(id, row.extracted)?;
        self.insert_entity(id, row.path, row.extracted)?;
        let mut insert = self.connection.prepare_cached(INSERT_PROBLEM)?;
        for problem in &row.extracted.problems {
            insert.execute(params![id.0, problem.line, problem.reason])?;
        }
        Ok(())
    }

    /// Stores a new stat of an unchanged file.
    pub fn touch_file(&self, path: &RepoPath, stat: &Stat, seen_ns: i64) -> Result<()> {
        self.connection.prepare_cached(TOUCH)?.execute(named_params! {
            ":path": path.as_str(), ":size": stat.size.cast_signed(), ":mtime_ns": stat.mtime_ns,
            ":ctime_ns": stat.ctime_ns, ":inode": stat.inode.cast_signed(), ":seen_ns": seen_ns,
        })?;
        Ok(())
    }

    /// Gives a file's rows a new path; rows that were stored under that path are removed. `false` when `from` is not
    /// stored.
    pub fn rename_file(&mut self, from: &RepoPath, to: &RepoPath, stat: &Stat, seen_ns: i64) -> Result<bool> {
        let Some((id, hash, ..)) = self.id_and_hash(from)? else { return Ok(false) };
        if !self.remove_file(to)? {
            self.record_change(to, None)?;
        }
        self.record_change(from, Some(hash))?;
        self.unskip(to.as_str())?;
        self.unindex_chunks(id)?;
        self.connection.prepare_cached(RENAME)?.execute(named_params! {
            ":id": id.0, ":path": to.as_str(), ":path_words": words::compound_parts(to.as_str()),
        })?;
        self.index_chunks(id)?;
        self.touch_file(to, stat, seen_ns)?;
        Ok(true)
    }

    /// Forgets a file. `false` when it was not stored.
    pub fn remove_file(&mut self, path: &RepoPath) -> Result<bool> {
        let Some((id, hash, ..)) = self.id_and_hash(path)? else { return Ok(false) };
        self.record_change(path, Some(hash))?;
        let numbers = self.chunk_numbers(Some(id))?;
        self.clear_file(id)?;
        self.connection.prepare_cached(DELETE)?.execute(named_params! { ":id": id.0 })?;
        self.remove_vectors(&numbers.left())?;
        Ok(true)
    }

    pub fn skip(&self, file: &SkippedFile) -> Result<()> {
        self.connection.prepare_cached(SKIP)?.execute(named_params! {
            ":path": file.path, ":reason": file.reason.as_str(), ":size": file.stat.size.cast_signed(),
            ":mtime_ns": file.stat.mtime_ns, ":ctime_ns": file.stat.ctime_ns,
            ":inode": file.stat.inode.cast_signed(), ":seen_ns": file.seen_ns,
        })?;
        self.date_change()
    }

    /// Files of a folder that were left out are looked at again.
    pub fn unskip_in(&self, folder: &str) -> Result<()> {
        let (first, end) = range_of(folder);
        let forgotten =
            self.connection.prepare_cached(UNSKIP_IN)?.execute(named_params! { ":first": first, ":end": end })?;
        if forgotten > 0 { self.date_change() } else { Ok(()) }
    }

    pub fn unskip(&self, path: &str) -> Result<()> {
        let forgotten = self.connection.prepare_cached(UNSKIP)?.execute(named_params! { ":path": path })?;
        if forgotten > 0 { self.date_change() } else { Ok(()) }
    }

    fn id_and_hash(&self, path: &RepoPath) -> Result<Option<KnownFile>> {
        let mut statement = self.connection.prepare_cached(ID_AND_HASH)?;
        let mut rows = statement.query(named_params! { ":path": path.as_str() })?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some((FileId(row.get(0)?), ContentHash(row.get(1)?), row.get(2)?, row.get(3)?)))
    }

    fn insert_file(&self, row: &FileRow) -> Result<FileId> {
        self.connection.prepare_cached(INSERT)?.execute(named_params! {
            ":path": row.path.as_str(), ":path_words": words::compound_parts(row.path.as_str()),
            ":language": row.extracted.language, ":extractor": row.extracted.extractor,
            ":encoding": row.extracted.encoding, ":hash": row.hash.0, ":lines": row.extracted.lines,
            ":size": row.stat.size.cast_signed(), ":mtime_ns": row.stat.mtime_ns, ":ctime_ns": row.stat.ctime_ns,
            ":inode": row.stat.inode.cast_signed(), ":seen_ns": row.seen_ns, ":chunking": row.extracted.chunking,
        })?;
        Ok(FileId(self.connection.last_insert_rowid()))
    }

    fn update_file(&self, id: FileId, row: &FileRow) -> Result<()> {
        self.connection.prepare_cached(UPDATE)?.execute(named_params! {
            ":id": id.0, ":path_words": words::compound_parts(row.path.as_str()),
            ":language": row.extracted.language, ":extractor": row.extracted.extractor,
            ":encoding": row.extracted.encoding, ":hash": row.hash.0, ":lines": row.extracted.lines,
            ":size": row.stat.size.cast_signed(), ":mtime_ns": row.stat.mtime_ns, ":ctime_ns": row.stat.ctime_ns,
            ":inode": row.stat.inode.cast_signed(), ":seen_ns": row.seen_ns, ":chunking": row.extracted.chunking,
        })?;
        Ok(())
    }

    /// Removes all rows that depend on a file, in the order that foreign keys require.
    fn clear_file(&mut self, id: FileId) -> Result<()> {
        self.unindex_chunks(id)?;
        self.delete_symbols(id)?;
        self.delete_entity(id)?;
        self.connection.prepare_cached(DELETE_PROBLEMS)?.execute([id.0])?;
        self.delete_chunks(id)
    }
}
