-- Commits in the order of their ancestry, and the files of merges. The history is stored again.

DROP VIEW commit_files;
DROP TABLE commit_file_rows;
DROP TABLE commits_fts;
DROP TABLE commits;
DELETE FROM commit_paths;
DELETE FROM meta WHERE key IN ('history', 'history_read');

CREATE TABLE commits (
    -- Commits that HEAD reaches.
    id             INTEGER PRIMARY KEY,
    hash           TEXT    NOT NULL UNIQUE, -- git's id, in full
    time           INTEGER NOT NULL,        -- when it was committed, in seconds since 1970: datetime(time, 'unixepoch')
    corrected_time INTEGER NOT NULL,        -- git's "corrected commit date", the order of commits: the time, or a second after the
                                            -- newest parent if that is later. A rebase makes many commits in one second.
    author         TEXT    NOT NULL,        -- as `.mailmap` says
    subject        TEXT    NOT NULL,
    body           TEXT    NOT NULL,
    words          TEXT    NOT NULL,        -- parts of the compound identifiers in the subject, for full-text search
    file_count     INTEGER NOT NULL         -- files that it changed, those included that are not listed; 0 for a merge
) STRICT;

CREATE TABLE commit_file_rows (
    -- The files of each commit; of a merge, those that differ from every parent. Query the view `commit_files`. Of a commit that
    -- changed more than 100,000 files, none is listed.
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

CREATE VIRTUAL TABLE commits_fts USING fts5 (
    -- Full-text search in messages: `SELECT hash, subject FROM commits WHERE id IN (SELECT rowid FROM commits_fts WHERE
    -- commits_fts MATCH 'staging directory') ORDER BY corrected_time DESC`.
    subject, words, body,
    content = 'commits', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 0 tokenchars '_'"
);
