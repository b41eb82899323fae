//! Files by their lines and times, and names by the files that reference them, for an overview of an index.

use rusqlite::named_params;

use super::Snapshot;
use super::statements::statements;
use crate::error::Result;

statements! {
    LINES_OF_FILES = "SELECT path, lines FROM files WHERE path NOT LIKE '/%'";
    LATEST = "SELECT path, mtime_ns FROM files WHERE path NOT LIKE '/%' ORDER BY mtime_ns DESC, path LIMIT :limit";
    QUALIFIED_MODULES = "SELECT DISTINCT s.name FROM files f CROSS JOIN symbols s ON s.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575
        WHERE f.language = 'elixir' AND s.kind IN ('module', 'protocol') AND instr(s.name, '.') ORDER BY s.name";
    /// Counts only by the index: a row of `reference_rows` belongs to one file and kind.
    REFERENCED = "SELECT n.name, c.found FROM
        (SELECT name_id, count(*) AS found FROM reference_rows GROUP BY name_id ORDER BY found DESC LIMIT :limit) c
        JOIN names n ON n.id = c.name_id ORDER BY c.found DESC, n.name";
}

impl Snapshot<'_> {
    /// The lines of every file in the repository.
    pub fn lines_of_files(&self) -> Result<Vec<(String, u64)>> {
        self.rows(LINES_OF_FILES, (), counted)
    }

    /// The files that were modified last, with the time in nanoseconds since 1970.
    pub fn latest_files(&self, limit: u32) -> Result<Vec<(String, i64)>> {
        self.rows(LATEST, named_params! { ":limit": limit }, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Names of modules that are qualified by themselves, as those of Elixir are.
    pub fn qualified_modules(&self) -> Result<Vec<String>> {
        self.rows(QUALIFIED_MODULES, (), |row| row.get(0))
    }

    /// The names that most files reference, with the uses: each file counts once for each kind of use.
    pub fn most_referenced(&self, limit: u32) -> Result<Vec<(String, u64)>> {
        self.rows(REFERENCED, named_params! { ":limit": limit }, counted)
    }
}

fn counted(row: &rusqlite::Row) -> rusqlite::Result<(String, u64)> {
    Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
}
