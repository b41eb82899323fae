//! Statements by name, with and without the indexes by name.
//!
//! Owns which of the two a snapshot runs. While a first build lasts there are no indexes by name (see
//! [`Store::begin_first_build`](super::Store::begin_first_build)), and a search for a name would read every row. The FTS
//! has the names that chunks define and the words that they contain, so it finds the few chunks whose rows are read.

use rusqlite::{Row, ToSql};

use super::Snapshot;
use super::fts_query::FtsQuery;
use super::statements::statements;
use crate::error::Result;

statements! {
    /// The last of those that the end of a first build makes.
    HAS_INDEX = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'references_by_name'";
}

/// The condition on `s.id` that a symbol is in a chunk that matches `:query`.
macro_rules! is_in_chunk_found {
    () => {
        "s.id IN (SELECT d.id FROM chunks_fts m JOIN chunks c ON c.id = m.rowid
            JOIN symbol_rows d ON d.id >= (c.file_id << 20) + c.first_symbol
                AND d.id < (c.file_id << 20) + c.first_symbol + c.symbol_count
            WHERE m.chunks_fts MATCH :query) AND "
    };
}
pub(super) use is_in_chunk_found;

/// A statement that finds rows by name.
pub(super) struct ByName {
    pub indexed: &'static str,
    /// A statement that returns the same rows through the chunks that match `:query`.
    pub by_fts: &'static str,
}

impl Snapshot<'_> {
    /// All rows of a statement by name. `found_by` matches the chunks that can have such rows; `None` if no text does.
    pub(super) fn rows_by_name<T>(
        &self,
        statement: &ByName,
        found_by: Option<FtsQuery>,
        params: &[(&str, &dyn ToSql)],
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let Some(query) = self.unless_indexed(found_by)? else { return self.rows(statement.indexed, params, read) };
        let query = query.as_str();
        let params = [params, &[(":query", &query as &dyn ToSql)]].concat();
        self.rows(statement.by_fts, &*params, read)
    }

    /// The query that finds rows by name while a first build is running; `None` once they are indexed by name.
    pub(super) fn unless_indexed(&self, found_by: Option<FtsQuery>) -> Result<Option<FtsQuery>> {
        if self.has_indexes_by_name()? { Ok(None) } else { Ok(found_by) }
    }

    /// Whether no first build is running, which leaves them out until its end.
    pub(super) fn has_indexes_by_name(&self) -> Result<bool> {
        if let Some(known) = self.indexed_by_name.get() {
            return Ok(known);
        }
        let known = self.connection.prepare_cached(HAS_INDEX)?.exists([])?;
        self.indexed_by_name.set(Some(known));
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ByName;
    use crate::budget::Budget;
    use crate::error::Result;
    use crate::model::{Chunk, ContentHash, Extracted, References, RepoPath, Stat, Symbol};
    use crate::store::{FileRow, Mode, Snapshot, Store, relations, search, symbols};
    use crate::words;

    /// A chunk for each line, which defines its first word and references the others, each of kind `call`.
    fn write(store: &Store, path: &str, lines: &[&[&str]]) {
        let mut extracted = Extracted { language: "python", ..Extracted::default() };
        for (line, names) in (1..).zip(lines) {
            let text = names.join(" ");
            let words::Terms { words, names: terms } = words::Terms::extract(&text, names[..1].iter().copied());
            let symbols = extracted.symbols.len();
            extracted.chunks.push(Chunk {
                start_line: line,
                end_line: line,
                start_offset: line * 1_000,
                text,
                words,
                names: terms,
                symbols: symbols..symbols + 1,
                ..Chunk::default()
            });
            extracted.symbols.push(Symbol {
                name: names[0].to_owned(),
                kind: "function",
                parent: None,
                container: None,
                signature: Some(format!("def {}()", names[0])),
                written: None,
                line,
                column: 1,
                start_line: line,
                end_line: line,
            });
            for name in &names[1..] {
                extracted.references.push(References::new(name, "call", (line, 5)));
            }
        }
        let path = RepoPath::new(path).unwrap();
        let hash = ContentHash::compute(path.as_str().as_bytes());
        let row = FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
        store.write(|batch| batch.replace_file(&row)).unwrap();
    }

    const NAMES: [&str; 12] = [
        "get_user",
        "getUser",
        "Get_User",
        "get",
        "user",
        "How to build",
        "operator+",
        "+",
        "naïve",
        "$el",
        "aliases",
        "no_one",
    ];

    /// Everything that is found by one of these names.
    fn found(store: &Store) -> Vec<String> {
        let ask = |snapshot: &Snapshot| -> Result<Vec<String>> {
            let mut found = Vec::new();
            for name in NAMES {
                let in_any_case: BTreeSet<String> =
                    snapshot.unsigned_any_case(name, 99)?.into_iter().map(|one| format!("{one:?}")).collect();
                let (file, _) = snapshot.file("b.py")?.unwrap();
                found.push(format!(
                    "{name}: {:?} {:?} {in_any_case:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                    snapshot.definitions(name)?,
                    snapshot.definitions_any_case(name)?,
                    snapshot.definitions_by_prefix(name)?,
                    snapshot.declared_as(name, 99)?,
                    snapshot.references(name, 0, 99)?,
                    snapshot.references_in_file(file, name)?,
                    snapshot.chunks_defining(name, 99)?,
                    snapshot.chunks_defining_kinds(name, &["function"], 99)?,
                ));
            }
            let mut defined = snapshot.defined_names()?;
            defined.sort();
            found.push(format!("{defined:?}"));
            let mut wanted = snapshot.defined_names_where(|name| name.to_lowercase().contains("user").then_some(()))?;
            wanted.sort();
            found.push(format!("{wanted:?}"));
            Ok(found)
        };
        store.read(&Budget::unlimited(), ask).unwrap()
    }

    /// SQLite would make an index of its own for each query, of every symbol.
    #[test]
    fn statements_of_a_first_build_begin_with_the_fts_and_scan_no_table() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        store.begin_first_build().unwrap();
        let statements = [
            &search::DEFINING_NAME,
            &search::DEFINING_NAME_OF_KINDS,
            &symbols::NAMED,
            &symbols::NAMED_IN_ANY_CASE,
            &symbols::UNSIGNED,
            &symbols::NAMED_BY_PREFIX,
            &symbols::REFERENCES,
            &relations::DECLARED_AS,
        ];
        for ByName { by_fts, .. } in statements {
            let plan = |snapshot: &Snapshot| {
                let mut statement = snapshot.connection.prepare(&format!("EXPLAIN QUERY PLAN {by_fts}"))?;
                Ok(statement.raw_query().mapped(|row| row.get(3)).collect::<rusqlite::Result<Vec<String>>>()?)
            };
            let plan = store.read(&Budget::unlimited(), plan).unwrap();
            let scans = |step: &&String| step.starts_with("SCAN") || step.contains("AUTOMATIC");
            let scanned: Vec<&str> = plan.iter().filter(scans).filter_map(|step| step.split(' ').nth(1)).collect();
            let is_small = |table: &&str| ["m", "found", "json_each"].contains(table);
            assert!(!scanned.is_empty() && scanned.iter().all(is_small), "{by_fts}: {plan:#?}");
        }
    }

    #[test]
    fn a_first_build_answers_by_name_as_the_finished_index_does() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        store.begin_first_build().unwrap();
        write(
            &store,
            "a.py",
            &[&["get_user", "getUser", "get"], &["How to build", "user"], &["operator+", "+", "naïve", "GET_USER"]],
        );
        write(&store, "b.py", &[&["getUser", "get_user"], &["get", "aliases"], &["+", "operator+", "user"]]);
        write(
            &store,
            "c.py",
            &[&["Get_User", "$el"], &["naïve", "How to build"], &["$el", "get_user"], &["aliases", "alias"]],
        );
        let during = found(&store);
        store.end_first_build().unwrap();
        assert_eq!(during, found(&store));
        let without: Vec<&String> =
            during.iter().filter(|line| !line.contains(".py") && !line.starts_with('[')).collect();
        assert_eq!(without.len(), 1, "only `no_one` is nowhere: {without:?}");
    }
}
