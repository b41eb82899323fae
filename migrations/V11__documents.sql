-- Documents: chunks that overlap, that stand under headings and on pages, and folders with sizes of their own.

-- How the file was cut where a folder above it was indexed with options of its own: size/overlap, in characters.
-- NULL: as the repository's settings say.
ALTER TABLE files ADD COLUMN chunking TEXT;

-- The end of the text before the chunk, which is read, found and embedded with it. `text` never holds it, so that the texts
-- of a file's chunks are the file's text, once.
ALTER TABLE chunks ADD COLUMN lead TEXT;
-- Of a document: the headings the chunk stands under, outermost first, each in a line.
ALTER TABLE chunks ADD COLUMN headings TEXT;
-- Of a document with pages: the one on which the chunk begins, from 1.
ALTER TABLE chunks ADD COLUMN page INTEGER;

DROP VIEW chunk_text;
-- What the FTS indexes, and where it reads the text of a row back from when the row goes.
CREATE VIEW chunk_text AS
SELECT c.id, c.file_id, coalesce(c.lead, '') || c.text AS text, c.words, f.path || ' ' || f.path_words AS path,
    coalesce(c.headings || char(10), '') || c.names AS names
FROM chunks c JOIN files f ON f.id = c.file_id;
