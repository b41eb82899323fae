-- Commits in the order of their ancestry, and the files of merges.

ALTER TABLE commits ADD COLUMN corrected_time INTEGER NOT NULL
    /* Git's "corrected commit date", the order of commits: the time, or a second after the newest parent if that is later. A rebase
       makes many commits in one second. */
    DEFAULT 0;

-- The files are stored again with the commits.
DROP VIEW commit_files;
DROP TABLE commit_file_rows;

CREATE TABLE commit_file_rows (
    -- The files of each commit; of a merge, whose `file_count` is 0, those that differ from every parent. Query the view
    -- `commit_files`. Of a commit that changed more than 100,000 files, none is listed.
    commit_id    INTEGER NOT NULL REFERENCES commits (id),
    path_id      INTEGER NOT NULL REFERENCES commit_paths (id),
    status       TEXT    NOT NULL,         -- A added, M modified, D deleted, R renamed, C copied, T other type
    from_path_id INTEGER REFERENCES commit_paths (id),
    PRIMARY KEY (commit_id, path_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_file_rows_by_path ON commit_file_rows (
    -- The commits that changed a path.
    path_id
);
CREATE INDEX commit_file_rows_by_origin ON commit_file_rows (
    -- What a path was renamed to.
    from_path_id
) WHERE from_path_id IS NOT NULL;

CREATE VIEW commit_files AS
-- The files that commits changed: `SELECT * FROM commit_files WHERE path = 'src/main.rs' ORDER BY corrected_time DESC`.
SELECT c.hash, c.time, c.corrected_time, c.author, c.subject, p.path, r.status, o.path AS from_path
FROM commit_file_rows r JOIN commit_paths p ON p.id = r.path_id JOIN commits c ON c.id = r.commit_id
LEFT JOIN commit_paths o ON o.id = r.from_path_id;
