//! `names` and `kinds`: each word is stored once, in a row of its own.
//!
//! Owns the id of a word. The writer remembers those that it met. While a first build lasts, `names` has no index (see
//! [`Store::begin_first_build`](super::Store::begin_first_build)); then it has all of them in memory and queries
//! nothing.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use rusqlite::{Connection, OptionalExtension};

use super::statements::statements;
use crate::error::Result;

statements! {
    NAME_ID = "SELECT id FROM names WHERE name = ?1";
    NAME = "INSERT INTO names (name) VALUES (?1)";
    NAMES = "SELECT name, id FROM names";
    HAS_INDEX = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'names_by_name'";
    VERSION = "SELECT data_version FROM pragma_data_version";
    KIND_ID = "SELECT id FROM kinds WHERE name = ?1";
    KIND = "INSERT INTO kinds (name) VALUES (?1)";
}

/// The most names kept between batches if the rest can be queried: one takes its text and 24 bytes.
const NAMES_CACHED: usize = 1_000_000;

/// Names and kinds that the writer knows.
#[derive(Default)]
pub(super) struct Interned {
    names: Names,
    kinds: HashMap<&'static str, i64>,
    /// All names are known, as of this state of the database.
    whole: Option<i64>,
}

impl Interned {
    /// Call when a transaction begins: other processes may have added names since the last one.
    pub(super) fn follow(&mut self, connection: &Connection) -> Result<()> {
        if connection.prepare_cached(HAS_INDEX)?.exists([])? {
            self.whole = None;
            if self.names.len() > NAMES_CACHED {
                self.names = Names::default();
            }
            return Ok(());
        }
        let now = connection.prepare_cached(VERSION)?.query_row([], |row| row.get(0))?;
        if self.whole == Some(now) {
            return Ok(());
        }
        self.names = Names::default();
        let mut statement = connection.prepare_cached(NAMES)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            self.names.insert(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?, row.get(1)?);
        }
        self.whole = Some(now);
        Ok(())
    }

    pub(super) fn name_id(&mut self, name: &str, connection: &Connection) -> Result<i64> {
        if let Some(id) = self.names.get(name) {
            return Ok(id);
        }
        let known = if self.whole.is_some() { None } else { find(connection, NAME_ID, name)? };
        let id = known.map_or_else(|| add(connection, NAME, name), Ok)?;
        self.names.insert(name, id);
        Ok(id)
    }

    pub(super) fn kind_id(&mut self, kind: &'static str, connection: &Connection) -> Result<i64> {
        if let Some(id) = self.kinds.get(kind) {
            return Ok(*id);
        }
        let id = find(connection, KIND_ID, kind)?.map_or_else(|| add(connection, KIND, kind), Ok)?;
        self.kinds.insert(kind, id);
        Ok(id)
    }
}

/// Names with their ids. The Linux kernel has millions, so they are in one text, where an offset takes the least
/// memory.
#[derive(Default)]
struct Names {
    text: String,
    /// Where each name ends in the text, where the next one begins; and its id.
    rows: Vec<(usize, i64)>,
    slots: HashTable<u32>,
    hasher: RandomState,
}

impl Names {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, name: &str) -> Option<i64> {
        let found = self.slots.find(self.hasher.hash_one(name), |slot| at(&self.text, &self.rows, *slot) == name);
        found.map(|slot| self.rows[*slot as usize].1)
    }

    /// One more, that is not there.
    fn insert(&mut self, name: &str, id: i64) {
        let slot = u32::try_from(self.rows.len()).expect("no disk holds four billion names");
        self.text.push_str(name);
        self.rows.push((self.text.len(), id));
        let Self { text, rows, slots, hasher } = self;
        slots.insert_unique(hasher.hash_one(name), slot, |known| hasher.hash_one(at(text, rows, *known)));
    }
}

fn at<'t>(text: &'t str, rows: &[(usize, i64)], slot: u32) -> &'t str {
    let slot = slot as usize;
    let start = slot.checked_sub(1).map_or(0, |before| rows[before].0);
    &text[start..rows[slot].0]
}

fn find(connection: &Connection, statement: &str, word: &str) -> Result<Option<i64>> {
    Ok(connection.prepare_cached(statement)?.query_row([word], |row| row.get(0)).optional()?)
}

fn add(connection: &Connection, statement: &str, word: &str) -> Result<i64> {
    connection.prepare_cached(statement)?.execute([word])?;
    Ok(connection.last_insert_rowid())
}

#[cfg(test)]
mod tests {
    use crate::budget::Budget;
    use crate::model::{ContentHash, Extracted, References, RepoPath, Stat};
    use crate::store::{FileRow, Mode, Store};

    #[test]
    fn writers_that_take_turns_in_a_first_build_store_each_name_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let stores = [(); 2].map(|()| Store::open(&path, Mode::Write).unwrap());
        let save = |store: &Store, path: &str, names: &[&str]| {
            let references = (1..).zip(names).map(|(line, name)| References::new(name, "call", (line, 1))).collect();
            let extracted = Extracted { language: "python", references, ..Extracted::default() };
            let hash = ContentHash::compute(path.as_bytes());
            let path = RepoPath::new(path).unwrap();
            let row =
                FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
            store.write(|batch| batch.replace_file(&row)).unwrap();
        };
        save(&stores[0], "before.py", &["old", "both"]);
        save(&stores[1], "other.py", &["old", "other"]);
        stores[0].begin_first_build().unwrap();
        save(&stores[0], "a.py", &["old", "other", "first", "both"]);
        save(&stores[1], "b.py", &["both", "first", "second", "Second"]);
        save(&stores[0], "c.py", &["second", "Second", "first", "third"]);
        stores[0].end_first_build().unwrap();
        save(&stores[1], "d.py", &["third", "second", "old"]);
        assert_eq!(stores[0].faults().unwrap(), Vec::<String>::new());
        let counted =
            |name| stores[1].read(&Budget::unlimited(), |snapshot| Ok(snapshot.references(name, 0, 9)?.1)).unwrap();
        assert_eq!(["old", "both", "first", "second", "third"].map(counted), [4, 3, 3, 3, 2]);
    }
}
