//! The macro that declares SQL statements next to their row mapping, so that a test can prepare each of them, and their
//! execution.

/// Declares `const NAME: &str` for each statement, and `STATEMENTS`, the list of them.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* const $name: &str = $sql;)*
        #[cfg(test)]
        pub(super) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}
pub(super) use statements;

use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, Params, Row};

use super::Snapshot;
use crate::error::Result;

impl Snapshot<'_> {
    /// All rows of a statement.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        Ok(self.connection.prepare_cached(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The first row of a statement, if it has one.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.connection.prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    /// The one value of a statement.
    pub(super) fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<T> {
        Ok(self.connection.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
    }

    /// The one number of a statement, which is not below zero.
    pub(super) fn number(&self, sql: &str, params: impl Params) -> Result<u64> {
        Ok(self.value::<i64>(sql, params)?.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use crate::store::{
        Mode, Store, audit, by_name, candidates, chunks, commits, documents, entities, facts, files, fts_segments,
        graph, kept, names, overview, raw, relations, schema, scip, scope, search, symbols, terms, text_vectors,
        trigrams, vectors,
    };

    #[test]
    fn every_statement_prepares_against_a_fresh_database() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let families = [
            audit::STATEMENTS,
            by_name::STATEMENTS,
            candidates::STATEMENTS,
            chunks::STATEMENTS,
            commits::STATEMENTS,
            documents::STATEMENTS,
            entities::STATEMENTS,
            facts::STATEMENTS,
            files::STATEMENTS,
            fts_segments::STATEMENTS,
            graph::STATEMENTS,
            kept::STATEMENTS,
            names::STATEMENTS,
            overview::STATEMENTS,
            raw::STATEMENTS,
            relations::STATEMENTS,
            schema::STATEMENTS,
            scip::STATEMENTS,
            scope::STATEMENTS,
            search::STATEMENTS,
            symbols::STATEMENTS,
            terms::STATEMENTS,
            text_vectors::STATEMENTS,
            trigrams::STATEMENTS,
            vectors::STATEMENTS,
        ];
        store
            .write(|batch| {
                for (name, sql) in families.into_iter().flatten() {
                    batch.connection.prepare(sql).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
                Ok(())
            })
            .unwrap();
    }

    /// Statements that may scan whole tables: counts, and lists of all names.
    const WHOLE: &[&str] =
        &["COUNT", "COUNT_REFERENCES", "DEFINED_NAMES", "DEFINED_NAMES_BY_SCAN", "HAS_KIND", "NAMES"];

    #[test]
    fn queries_of_the_big_tables_use_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        store
            .write(|batch| {
                for (name, sql) in [names::STATEMENTS, relations::STATEMENTS, symbols::STATEMENTS].into_iter().flatten()
                {
                    let mut statement = batch.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
                    let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3));
                    for step in steps.map(Result::unwrap) {
                        let scans =
                            ["f", "s", "r", "u", "e", "n", "names", "symbol_rows", "reference_rows"].iter().any(
                                |table| step == format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} ")),
                            );
                        assert!(!scans || WHOLE.contains(name), "{name}: {step}");
                    }
                }
                Ok(())
            })
            .unwrap();
    }
}
