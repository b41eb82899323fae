//! The history: commits with their messages, and the paths that each of them changed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use rusqlite::{OptionalExtension, Row, named_params, params};

use super::statements::statements;
use super::{Batch, Fact, FtsQuery, Snapshot, locked};
use crate::error::Result;

statements! {
    HASHES = "SELECT hash FROM commits";
    COUNT = "SELECT count(*) FROM commits";
    ADD = "INSERT INTO commits (hash, time, corrected_time, author, subject, body, words, file_count)
        VALUES (:hash, :time, :corrected_time, :author, :subject, :body, :words, :file_count) ON CONFLICT DO NOTHING";
    INDEX = "INSERT INTO commits_fts (rowid, subject, words, body) VALUES (?1, ?2, ?3, ?4)";
    UNINDEX = "INSERT INTO commits_fts (commits_fts, rowid, subject, words, body) VALUES ('delete', ?1, ?2, ?3, ?4)";
    PATH_ID = "SELECT id FROM commit_paths WHERE path = ?1";
    ADD_PATH = "INSERT INTO commit_paths (path) VALUES (?1)";
    ADD_FILE = "INSERT OR IGNORE INTO commit_file_rows (commit_id, path_id, status, from_path_id) VALUES (?1, ?2, ?3, ?4)";
    TEXTS = "SELECT id, subject, words, body FROM commits WHERE hash = ?1";
    REMOVE_FILES = "DELETE FROM commit_file_rows WHERE commit_id = ?1";
    REMOVE = "DELETE FROM commits WHERE id = ?1";
    REMOVE_PATHS = "DELETE FROM commit_paths WHERE id NOT IN (SELECT path_id FROM commit_file_rows)
        AND id NOT IN (SELECT from_path_id FROM commit_file_rows WHERE from_path_id IS NOT NULL)";
    BY_HASH = "SELECT id, hash, time, corrected_time, author, subject, body, file_count FROM commits WHERE hash >= :prefix AND hash < :end
        ORDER BY hash LIMIT 2";
    BY_ID = "SELECT id, hash, time, corrected_time, author, subject, body, file_count FROM commits WHERE id = ?1";
    NEWEST = "SELECT id, hash, time, corrected_time, author, subject, body, file_count FROM commits
        ORDER BY corrected_time DESC, hash LIMIT :most";
    /// BM25 in which a word of the subject counts twice.
    SEARCH = "SELECT c.id, c.hash, c.time, c.corrected_time, c.author, c.subject, c.body, c.file_count, -m.score
        FROM (SELECT rowid AS id, bm25(commits_fts, 2.0, 2.0, 1.0) AS score FROM commits_fts WHERE commits_fts MATCH :query
            ORDER BY score LIMIT :most) m JOIN commits c ON c.id = m.id ORDER BY m.score,
            c.corrected_time DESC, c.hash";
    FILES_OF = "SELECT p.path FROM commit_file_rows r JOIN commit_paths p ON p.id = r.path_id WHERE r.commit_id = :commit
        ORDER BY p.path LIMIT :most";
    COUNT_WITH = "SELECT count(*) FROM (SELECT 1 FROM commits_fts WHERE commits_fts MATCH :query LIMIT :most)";
    WITH = "SELECT rowid FROM commits_fts WHERE commits_fts MATCH :query ORDER BY rowid LIMIT :most";
    CORRECTED_TIME = "SELECT corrected_time FROM commits WHERE hash = ?1";
    /// The commits that changed a path, and those that renamed a file away from it, the newest first.
    OF_PATH = "SELECT c.id, c.hash, c.time, c.corrected_time, c.author, c.subject, c.body, c.file_count, o.path
        FROM (
            SELECT r.commit_id, iif(r.status = 'R', r.from_path_id, NULL) AS origin
            FROM commit_paths p JOIN commit_file_rows r ON r.path_id = p.id WHERE p.path = :path
            UNION ALL
            SELECT r.commit_id, NULL FROM commit_paths p JOIN commit_file_rows r ON r.from_path_id = p.id AND r.status = 'R'
            WHERE p.path = :path
        ) f JOIN commits c ON c.id = f.commit_id LEFT JOIN commit_paths o ON o.id = f.origin
        ORDER BY c.corrected_time DESC, c.hash LIMIT :most";
    /// The commits that changed files below a folder, the newest first.
    OF_FOLDER = "SELECT c.id, c.hash, c.time, c.corrected_time, c.author, c.subject, c.body, c.file_count FROM commits c
        WHERE c.id IN (
            SELECT r.commit_id FROM commit_paths p JOIN commit_file_rows r ON r.path_id = p.id OR r.from_path_id = p.id
            WHERE p.path >= :first AND p.path < :end
        ) ORDER BY c.corrected_time DESC, c.hash LIMIT :most";
    RENAMED_TO = "SELECT n.path FROM commit_paths p JOIN commit_file_rows r ON r.from_path_id = p.id AND r.status = 'R'
        JOIN commit_paths n ON n.id = r.path_id WHERE p.path = :path AND r.commit_id = :commit";
    PATHS = "SELECT id, path FROM commit_paths";
    IS_FILE = "SELECT p.id FROM commit_paths p JOIN files f ON f.path = p.path";
    RENAMES = "SELECT r.from_path_id, r.path_id FROM commit_file_rows r JOIN commits c ON c.id = r.commit_id
        WHERE r.from_path_id IS NOT NULL AND r.status = 'R' ORDER BY c.corrected_time, c.hash";
    MOVES = "SELECT r.commit_id, r.path_id, r.status = 'A' FROM commits c JOIN commit_file_rows r ON r.commit_id = c.id
        WHERE r.status IN ('A', 'D') ORDER BY c.corrected_time, c.hash";
    /// The newest ones: those further back say little, and each takes memory.
    SMALL = "SELECT id, time, file_count FROM commits WHERE file_count BETWEEN 1 AND :files ORDER BY time DESC, hash LIMIT :most";
    FILES_OF_SMALL = "SELECT r.commit_id, r.path_id FROM commits c JOIN commit_file_rows r ON r.commit_id = c.id
        WHERE c.file_count BETWEEN 1 AND :files AND c.time >= :since ORDER BY r.commit_id, r.path_id";
}

/// Commits of more files say little about each of them.
const MAX_FILES: usize = 30;
/// Commits that are held in memory, some 40 bytes for each.
const MAX_COMMITS: usize = 100_000;
/// Commits that are kept for the words of queries, 4 bytes for each, and the letters of the words.
const MAX_MATCHES: usize = 1_000_000;

/// The commits of few files, with the fact by which they are known to be the present ones.
pub(super) type KeptCommits = Option<(Option<String>, Arc<CommittedFiles>)>;

/// A commit as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCommit {
    pub id: CommitId,
    pub hash: String,
    /// Seconds since 1970.
    pub time: i64,
    /// The time, moved so that a child is later than its parents.
    pub corrected_time: i64,
    pub author: String,
    pub subject: String,
    pub body: String,
    pub file_count: u64,
}

/// Key of a row in `commits`. Valid inside one snapshot; never part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(i64);

/// A commit to store.
#[derive(Clone, Debug)]
pub struct NewCommit {
    pub hash: String,
    pub time: i64,
    pub corrected_time: i64,
    pub author: String,
    pub subject: String,
    pub body: String,
    pub words: String,
    pub file_count: usize,
    pub files: Vec<NewCommitFile>,
}

#[derive(Clone, Debug)]
pub struct NewCommitFile {
    pub path: String,
    pub status: char,
    pub from: Option<String>,
}

/// The commits of few files, and those files by today's paths.
#[derive(Debug, Default)]
pub struct CommittedFiles {
    /// Commits in the order of their keys.
    pub commits: Vec<SmallCommit>,
    /// Numbers of paths.
    files: Vec<u32>,
    pub paths: Vec<String>,
    numbers: HashMap<String, u32>,
    /// How many of the commits changed each file.
    pub commits_of: Vec<u32>,
    /// The time of the newest commit.
    pub newest: i64,
    /// The commits that have a word, by word.
    matches: Mutex<Matches>,
}

#[derive(Debug, Default)]
struct Matches {
    by_word: HashMap<String, Arc<WordCommits>>,
    kept: usize,
}

/// The commits whose messages have a word, by their position.
#[derive(Clone, Debug, Default)]
pub struct WordCommits {
    /// In the subject or the body.
    pub all: Vec<u32>,
    pub in_subject: Vec<u32>,
}

/// A commit of few files.
#[derive(Clone, Copy, Debug)]
pub struct SmallCommit {
    pub id: CommitId,
    /// Seconds since 1970.
    pub time: i64,
    /// Files that it changed, those included that are gone.
    pub file_count: u32,
    first_file: u32,
}

impl CommittedFiles {
    /// The commit with that key, if its files count.
    fn position(&self, id: CommitId) -> Option<u32> {
        u32::try_from(self.commits.binary_search_by_key(&id, |commit| commit.id).ok()?).ok()
    }

    /// The number of a path.
    pub fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    /// The files of a commit.
    pub fn files_of(&self, at: usize) -> &[u32] {
        let end = self.commits.get(at + 1).map_or(self.files.len(), |next| next.first_file as usize);
        &self.files[self.commits[at].first_file as usize..end]
    }
}

fn commit(row: &Row) -> rusqlite::Result<StoredCommit> {
    Ok(StoredCommit {
        id: CommitId(row.get(0)?),
        hash: row.get(1)?,
        time: row.get(2)?,
        corrected_time: row.get(3)?,
        author: row.get(4)?,
        subject: row.get(5)?,
        body: row.get(6)?,
        file_count: row.get::<_, i64>(7)?.cast_unsigned(),
    })
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

impl Snapshot<'_> {
    /// The full ids of all commits.
    pub fn commit_hashes(&self) -> Result<HashSet<String>> {
        Ok(self.rows(HASHES, [], |row| row.get(0))?.into_iter().collect())
    }

    pub fn commit_count(&self) -> Result<u64> {
        self.number(COUNT, [])
    }

    /// The one commit whose id begins so.
    pub fn commit_with_prefix(&self, prefix: &str) -> Result<Option<StoredCommit>> {
        let params = named_params! { ":prefix": prefix, ":end": format!("{prefix}g") };
        let mut found = self.rows(BY_HASH, params, commit)?;
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    pub fn stored_commit(&self, id: CommitId) -> Result<Option<StoredCommit>> {
        self.row(BY_ID, params![id.0], commit)
    }

    pub fn newest_commits(&self, most: usize) -> Result<Vec<StoredCommit>> {
        self.rows(NEWEST, named_params! { ":most": limit(most) }, commit)
    }

    /// When a commit was made, no earlier than its parents.
    pub fn corrected_time(&self, hash: &str) -> Result<Option<i64>> {
        self.row(CORRECTED_TIME, params![hash], |row| row.get(0))
    }

    /// The commits whose messages match best, with their scores.
    pub fn search_commits(&self, query: &FtsQuery, most: usize) -> Result<Vec<(StoredCommit, f64)>> {
        let params = named_params! { ":query": query.as_str(), ":most": limit(most) };
        self.rows(SEARCH, params, |row| Ok((commit(row)?, row.get(8)?)))
    }

    /// The first paths of a commit.
    pub fn files_of_commit(&self, id: CommitId, most: usize) -> Result<Vec<String>> {
        self.rows(FILES_OF, named_params! { ":commit": id.0, ":most": limit(most) }, |row| row.get(0))
    }

    /// Counts the commits with a matching message, up to `most`.
    pub fn count_commits_with(&self, query: &FtsQuery, most: usize) -> Result<usize> {
        let count = self.number(COUNT_WITH, named_params! { ":query": query.as_str(), ":most": limit(most) })?;
        Ok(usize::try_from(count).unwrap_or(most))
    }

    /// The commits of few files whose messages match, at most `most`. Kept in memory, because common words recur in queries.
    pub fn commits_with(&self, query: &FtsQuery, committed: &CommittedFiles, most: usize) -> Result<Arc<WordCommits>> {
        if let Some(known) = locked(&committed.matches).by_word.get(query.as_str()) {
            return Ok(Arc::clone(known));
        }
        let matching = |query: &str| -> Result<Vec<u32>> {
            let ids = self.rows(WITH, named_params! { ":query": query, ":most": limit(most) }, |row| row.get(0))?;
            Ok(ids.into_iter().filter_map(|id| committed.position(CommitId(id))).collect())
        };
        let all = matching(query.as_str())?;
        let in_subject =
            if all.is_empty() { Vec::new() } else { matching(&format!("{{subject words}} : {}", query.as_str()))? };
        let found = Arc::new(WordCommits { all, in_subject });
        let mut matches = locked(&committed.matches);
        matches.kept += found.all.len() + found.in_subject.len() + query.as_str().len();
        if matches.kept > MAX_MATCHES {
            *matches = Matches::default();
        } else {
            matches.by_word.insert(query.as_str().to_owned(), Arc::clone(&found));
        }
        Ok(found)
    }

    /// The newest commits that changed a path, each with the path that it was renamed from by it.
    pub fn commits_of_path(&self, path: &str, most: usize) -> Result<Vec<(StoredCommit, Option<String>)>> {
        let params = named_params! { ":path": path, ":most": limit(most) };
        self.rows(OF_PATH, params, |row| Ok((commit(row)?, row.get(8)?)))
    }

    /// The newest commits that changed files below a folder; all below the root, whose path is empty.
    pub fn commits_of_folder(&self, folder: &str, most: usize) -> Result<Vec<StoredCommit>> {
        if folder.is_empty() {
            return self.newest_commits(most);
        }
        // `0` is the character after `/`.
        let params =
            named_params! { ":first": format!("{folder}/"), ":end": format!("{folder}0"), ":most": limit(most) };
        self.rows(OF_FOLDER, params, commit)
    }

    /// The path that the file at a path was renamed to by a commit.
    pub fn renamed_to(&self, path: &str, by: CommitId) -> Result<Option<String>> {
        self.row(RENAMED_TO, named_params! { ":path": path, ":commit": by.0 }, |row| row.get(0))
    }

    /// The commits of few files, as far as they were read when enough of the history had changed. Kept in memory.
    pub fn committed_files(&self) -> Result<Arc<CommittedFiles>> {
        let now = self.fact(Fact::HistoryRead)?.filter(|state| !state.is_empty());
        let mut known = locked(&self.caches.committed);
        if let Some((as_of, files)) = &*known
            && *as_of == now
        {
            return Ok(Arc::clone(files));
        }
        let files = match now {
            Some(_) => self.read_committed_files(MAX_COMMITS, MAX_FILES)?,
            None => CommittedFiles::default(),
        };
        let files = Arc::new(files);
        *known = Some((now, Arc::clone(&files)));
        Ok(files)
    }

    /// The newest commits that changed at most `most_files` files each. Paths are the present ones, as far as renames
    /// were recorded.
    fn read_committed_files(&self, most_commits: usize, most_files: usize) -> Result<CommittedFiles> {
        let params = named_params! { ":files": limit(most_files), ":most": limit(most_commits) };
        let mut commits = self.rows(SMALL, params, |row| {
            Ok(SmallCommit { id: CommitId(row.get(0)?), time: row.get(1)?, file_count: row.get(2)?, first_file: 0 })
        })?;
        let newest = commits.first().map_or(0, |commit| commit.time);
        let since = commits.last().map_or(0, |commit| commit.time);
        commits.sort_unstable_by_key(|commit| commit.id);
        let mut names: HashMap<i64, String> =
            self.rows(PATHS, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
        let current: HashSet<i64> = self.rows(IS_FILE, [], |row| row.get(0))?.into_iter().collect();
        let mut renames: HashMap<i64, i64> =
            moved(&self.rows(MOVES, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?, &names);
        renames.extend(self.rows(RENAMES, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?);
        let mut found = CommittedFiles { newest, ..CommittedFiles::default() };
        let mut numbers: HashMap<i64, Option<u32>> = HashMap::new();
        let mut number = |path: i64, found: &mut CommittedFiles| {
            *numbers.entry(path).or_insert_with(|| {
                let now = current_path(path, &current, &renames)?;
                let name = names.get_mut(&now)?;
                let next = u32::try_from(found.paths.len()).ok()?;
                let number = *found.numbers.entry(name.clone()).or_insert(next);
                if number == next {
                    found.paths.push(name.clone());
                    found.commits_of.push(0);
                }
                Some(number)
            })
        };
        let params = named_params! { ":files": limit(most_files), ":since": since };
        let rows = self.rows(FILES_OF_SMALL, params, |row| Ok((CommitId(row.get(0)?), row.get::<_, i64>(1)?)))?;
        let mut rows = rows.into_iter().peekable();
        for commit in &mut commits {
            let first = found.files.len();
            commit.first_file = u32::try_from(first).unwrap_or(u32::MAX);
            while let Some((own, path)) = rows.next_if(|(own, _)| *own <= commit.id) {
                let number = if own == commit.id { number(path, &mut found) } else { None };
                if let Some(number) = number.filter(|number| !found.files[first..].contains(number)) {
                    found.files.push(number);
                    found.commits_of[number as usize] += 1;
                }
            }
        }
        found.commits = commits;
        Ok(found)
    }
}

/// Paths that a commit removed, each with the only one of the same name in another folder that it added: files that were changed too much
/// for git to see a rename. Rows are a commit, a path, and whether it was added.
fn moved(rows: &[(i64, i64, bool)], names: &HashMap<i64, String>) -> HashMap<i64, i64> {
    let name = |path: &i64| names.get(path).map(|path| path.rsplit('/').next().unwrap_or(path));
    let mut moved = HashMap::new();
    for of_commit in rows.chunk_by(|a, b| a.0 == b.0) {
        let mut added: HashMap<&str, Option<i64>> = HashMap::new();
        for (_, path, _) in of_commit.iter().filter(|row| row.2) {
            // If several have the name, none is chosen.
            added.entry(name(path).unwrap_or_default()).and_modify(|one| *one = None).or_insert(Some(*path));
        }
        for (_, path, _) in of_commit.iter().filter(|row| !row.2) {
            if let Some(Some(to)) = added.get(name(path).unwrap_or_default()) {
                moved.insert(*path, *to);
            }
        }
    }
    moved
}

/// The path by which a file is known today; `None` for one that is gone.
fn current_path(path: i64, current: &HashSet<i64>, renames: &HashMap<i64, i64>) -> Option<i64> {
    let mut now = path;
    // Renames may form a cycle.
    for _ in 0..=renames.len().min(100) {
        if current.contains(&now) {
            return Some(now);
        }
        now = *renames.get(&now)?;
    }
    None
}

impl Batch<'_> {
    /// Adds commits; those that are stored stay as they are.
    pub fn add_commits(&mut self, commits: &[NewCommit]) -> Result<()> {
        let connection = self.connection;
        let (mut add, mut index) = (connection.prepare_cached(ADD)?, connection.prepare_cached(INDEX)?);
        let mut add_file = connection.prepare_cached(ADD_FILE)?;
        let mut known: HashMap<&str, i64> = HashMap::new();
        for new in commits {
            let added = add.execute(named_params! {
                ":hash": new.hash, ":time": new.time, ":corrected_time": new.corrected_time, ":author": new.author, ":subject": new.subject, ":body": new.body,
                ":words": new.words, ":file_count": limit(new.file_count),
            })?;
            if added == 0 {
                continue;
            }
            let id = connection.last_insert_rowid();
            index.execute(params![id, new.subject, new.words, new.body])?;
            for file in &new.files {
                let mut path_id = |path| -> Result<i64> {
                    if let Some(id) = known.get(path) {
                        return Ok(*id);
                    }
                    let id = self.commit_path(path)?;
                    known.insert(path, id);
                    Ok(id)
                };
                let path = path_id(&file.path)?;
                let from = file.from.as_deref().map(path_id).transpose()?;
                add_file.execute(params![id, path, file.status.to_string(), from])?;
            }
        }
        Ok(())
    }

    fn commit_path(&self, path: &str) -> Result<i64> {
        let known = self.connection.prepare_cached(PATH_ID)?.query_row([path], |row| row.get(0)).optional()?;
        match known {
            Some(id) => Ok(id),
            None => {
                self.connection.prepare_cached(ADD_PATH)?.execute([path])?;
                Ok(self.connection.last_insert_rowid())
            }
        }
    }

    /// Removes commits, and says that the history is not complete.
    pub fn remove_commits<'h>(&mut self, hashes: impl IntoIterator<Item = &'h str>) -> Result<()> {
        let connection = self.connection;
        for hash in hashes {
            let texts = connection.prepare_cached(TEXTS)?.query_row([hash], |row| {
                let text = |at| row.get::<_, String>(at);
                Ok((row.get::<_, i64>(0)?, text(1)?, text(2)?, text(3)?))
            });
            let Some((id, subject, words, body)) = texts.optional()? else { continue };
            connection.prepare_cached(UNINDEX)?.execute(params![id, subject, words, body])?;
            connection.prepare_cached(REMOVE_FILES)?.execute([id])?;
            connection.prepare_cached(REMOVE)?.execute([id])?;
        }
        self.set_fact(Fact::History, "")
    }

    /// Removes the paths that no commit names any more.
    pub fn remove_unused_commit_paths(&self) -> Result<()> {
        self.connection.prepare_cached(REMOVE_PATHS)?.execute([])?;
        Ok(())
    }
}
