-- The FTS knows what a chunk defines, and takes the forms of an English word as one: porter.

-- `names` has a line for each definition that begins in the chunk: its name, then a tab and its parts if there
-- are several.
ALTER TABLE chunks ADD COLUMN names TEXT NOT NULL DEFAULT '';

DROP TABLE chunks_fts;
DROP VIEW chunk_text;

-- What the FTS indexes, and where it reads the text of a row back from when the row goes.
CREATE VIEW chunk_text AS
SELECT c.id, c.file_id, c.text, c.words, f.path || ' ' || f.path_words AS path, c.names
FROM chunks c JOIN files f ON f.id = c.file_id;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, words, path, names,
    content = 'chunk_text', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 3.0)');
INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild');
