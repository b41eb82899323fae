-- The same facts in less space. A name stands once, what can be read off the text is not stored again, and the rows of one
-- file stand together by their ids instead of an index: `id` is the file's id times 1048576, plus the place in the file.
-- `symbols` and `refs` are views now, with the columns they had.
--
-- All rows are derived from the repository: the next sync makes them anew. What later counts compare with is kept.
INSERT OR IGNORE INTO changes (consumer, path, hash)
SELECT substr(m.key, 10), f.path, f.hash FROM meta m, files f WHERE m.key >= 'baseline:' AND m.key < 'baseline;';
DELETE FROM meta WHERE key NOT LIKE 'baseline:%';
DROP TABLE edges;
DROP TABLE used_in;
DROP TABLE refs;
DROP TABLE symbols;
DROP TABLE names;
DROP TABLE chunks_fts;
DROP VIEW chunk_text;
DROP TABLE chunks;
DELETE FROM tagged;
DELETE FROM tags;
DELETE FROM entities;
DELETE FROM problems;
DELETE FROM skipped;
DELETE FROM files;

-- A file's text in pieces: in order of `ordinal` they cover it. `start_offset` counts characters of
-- the decoded text. `words` holds the parts of compound identifiers, lower-case, each once.
CREATE TABLE chunks (
    id           INTEGER PRIMARY KEY,
    file_id      INTEGER NOT NULL REFERENCES files (id),
    ordinal      INTEGER NOT NULL,
    start_line   INTEGER NOT NULL,
    end_line     INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    hash         BLOB    NOT NULL,         -- first 16 bytes of blake3 of `text`: the key of its vectors
    text         TEXT    NOT NULL,
    words        TEXT    NOT NULL,
    UNIQUE (file_id, start_offset)         -- a file's text in order, or the piece at a place; replacing one file's rows
) STRICT;

-- What the FTS indexes, and where it reads the text of a row back from when the row goes.
CREATE VIEW chunk_text AS
SELECT c.id, c.file_id, c.text, c.words, f.path || ' ' || f.path_words AS path
FROM chunks c JOIN files f ON f.id = c.file_id;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, words, path,
    content = 'chunk_text', content_rowid = 'id',
    tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 0.5, 2.0)');

-- Every distinct name that is defined or used, once. The writer sees to that: a unique index beside the one below would
-- take as much again.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
-- `get_symbol`: exact, any case, and prefix.
CREATE INDEX names_by_name ON names (name COLLATE NOCASE);

-- Words for what a symbol is, or what a name is used as: function, struct, call, type.
CREATE TABLE kinds (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- Definitions, as the view `symbols` shows them. `above` and `below` count lines from that of the name to the ends of
-- the definition. A signature that stands in the text, but for white space, is stored as its place there.
CREATE TABLE symbol_rows (
    id             INTEGER PRIMARY KEY,
    parent         INTEGER,                -- its place in the file
    name_id        INTEGER NOT NULL REFERENCES names (id),
    kind_id        INTEGER NOT NULL REFERENCES kinds (id),
    container      TEXT,
    signature      TEXT,
    written_offset INTEGER,                -- in characters of the decoded text
    written_length INTEGER,
    line           INTEGER NOT NULL,
    column         INTEGER NOT NULL,
    above          INTEGER NOT NULL,
    below          INTEGER NOT NULL
) STRICT;
-- `get_symbol`: where a name is defined.
CREATE INDEX symbols_by_name ON symbol_rows (name_id);

-- Definitions. `line` and `column` point at the name, start_line..end_line is the whole definition.
-- `container` is the qualified name around it, joined by the language's own separator.
CREATE VIEW symbols AS
SELECT
    r.id, r.id >> 20 AS file_id, (r.id >> 20 << 20) + r.parent AS parent_id, n.name, k.name AS kind, r.container,
    coalesce(r.signature, (
        SELECT replace(replace(replace(replace(replace(replace(replace(
            substr(c.text, r.written_offset - c.start_offset + 1, r.written_length),
            char(9), ' '), char(10), ' '), char(12), ' '), char(13), ' '),
            ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
        FROM chunks c WHERE c.file_id = r.id >> 20 AND c.start_offset <= r.written_offset
        ORDER BY c.start_offset DESC LIMIT 1
    )) AS signature,
    r.line, r.column, r.line - r.above AS start_line, r.line + r.below AS end_line
FROM symbol_rows r JOIN names n ON n.id = r.name_id JOIN kinds k ON k.id = r.kind_id;

-- Which files use a name, as what, and where: `places` are line:column, in order, with a space between.
CREATE TABLE uses (
    id      INTEGER PRIMARY KEY,
    name_id INTEGER NOT NULL REFERENCES names (id),
    kind_id INTEGER NOT NULL REFERENCES kinds (id),
    places  TEXT    NOT NULL
) STRICT;
-- `get_symbol`: who uses a name.
CREATE INDEX uses_by_name ON uses (name_id);

-- Uses of a name one by one: `kind` is call, type, inherits, implements, import or use.
CREATE VIEW refs AS
SELECT
    u.id >> 20 AS file_id, CAST(p.value AS INTEGER) AS line,
    CAST(substr(p.value, instr(p.value, ':') + 1) AS INTEGER) AS column, u.name_id, k.name AS kind
FROM uses u JOIN kinds k ON k.id = u.kind_id
JOIN json_each('["' || replace(u.places, ' ', '","') || '"]') p;

-- Relations as a file states them; what a target means is resolved when asked, so that an edge needs
-- no change when another file's definitions do. The source is a symbol, an entity, or the file itself.
CREATE TABLE edges (
    id        INTEGER PRIMARY KEY,
    file_id   INTEGER NOT NULL REFERENCES files (id),
    symbol_id INTEGER REFERENCES symbol_rows (id),
    entity_id INTEGER REFERENCES entities (id),
    kind      TEXT    NOT NULL,            -- imports, inherits, implements, or an entity's relationship
    target    TEXT    NOT NULL,            -- as written: a module, a type, an entity's key
    name      TEXT,                        -- imports: the name taken from the module
    alias     TEXT,                        -- imports: what it is called here
    line      INTEGER NOT NULL
) STRICT;
-- Replacing one file's rows; what a file imports.
CREATE INDEX edges_by_file ON edges (file_id);
-- Who imports, inherits from or links to a target.
CREATE INDEX edges_by_target ON edges (target);
-- Foreign keys: a source that goes; an entity's outgoing links.
CREATE INDEX edges_by_symbol ON edges (symbol_id) WHERE symbol_id IS NOT NULL;
CREATE INDEX edges_by_entity ON edges (entity_id) WHERE entity_id IS NOT NULL;
