//! The form in which statements stand beside their row mapping, so that a test can prepare each of them.

/// Declares `const NAME: &str` for each statement, and `STATEMENTS`, the list of them.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* const $name: &str = $sql;)*
        #[cfg(test)]
        pub(super) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}
pub(super) use statements;

#[cfg(test)]
mod tests {
    use crate::store::{Mode, Store, audit, chunks, facts, files, search, symbols};

    #[test]
    fn every_statement_prepares_against_a_fresh_database() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let families = [
            audit::STATEMENTS,
            chunks::STATEMENTS,
            facts::STATEMENTS,
            files::STATEMENTS,
            search::STATEMENTS,
            symbols::STATEMENTS,
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
}
