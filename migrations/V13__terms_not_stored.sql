-- The FTS's words and names are made of the text and the symbols when a row comes and again when it goes, and are not stored
-- beside them: a tenth of the file. `terms` is a check sum of what went in: where it differs from what would be taken out,
-- because the program splits otherwise by now, the FTS is made anew. The next sync fills these columns and the FTS.
DROP VIEW chunk_text;
DROP TABLE chunks_fts;
ALTER TABLE chunks DROP COLUMN words;
ALTER TABLE chunks DROP COLUMN names;
-- Which of the file's symbols begin in the chunk: from that place, so many.
ALTER TABLE chunks ADD COLUMN first_symbol INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN symbols INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN terms INTEGER NOT NULL DEFAULT 0;
UPDATE chunks SET first_symbol = (
    SELECT count(*) FROM symbol_rows r
    WHERE r.id BETWEEN chunks.file_id << 20 AND (chunks.file_id << 20) + 1048575 AND r.line - r.above < chunks.start_line
);
UPDATE chunks SET symbols = coalesce(
    (SELECT n.first_symbol FROM chunks n WHERE n.file_id = chunks.file_id AND n.start_offset > chunks.start_offset
        ORDER BY n.start_offset LIMIT 1),
    (SELECT count(*) FROM symbol_rows r WHERE r.id BETWEEN chunks.file_id << 20 AND (chunks.file_id << 20) + 1048575)
) - first_symbol;

-- What the FTS shows of its rows. What it indexes beside that: `words` are the parts of compound identifiers in the text, and
-- each name is followed by its parts.
CREATE VIEW chunk_text AS
SELECT c.id, c.file_id, coalesce(c.lead, '') || c.text AS text, '' AS words, f.path || ' ' || f.path_words AS path,
    coalesce(c.headings || char(10), '') || coalesce((
        SELECT group_concat(n.name, char(10)) FROM symbol_rows r JOIN names n ON n.id = r.name_id
        WHERE r.id >= (c.file_id << 20) + c.first_symbol AND r.id < (c.file_id << 20) + c.first_symbol + c.symbols
    ), '') AS names
FROM chunks c JOIN files f ON f.id = c.file_id;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, words, path, names,
    content = 'chunk_text', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 3.0)');
