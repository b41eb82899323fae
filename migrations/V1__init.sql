-- The whole database, derived from the repository: deleting it loses nothing but time.
-- Column names are for people: every table can be read with the stock `sqlite3`.
-- Lines and columns are 1-based, ends inclusive, columns count Unicode code points.
-- Each index names the question it answers.

-- Facts about the index itself: schema, root, time of the last change, baselines of counts.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row an indexed file. `path` is relative to the repository, with `/`.
-- size, mtime_ns, ctime_ns, inode and seen_ns decide without reading whether the file changed;
-- seen_ns is the clock just before its bytes were read, for the racy rule.
CREATE TABLE files (
    id         INTEGER PRIMARY KEY,
    path       TEXT    NOT NULL UNIQUE,
    path_words TEXT    NOT NULL,           -- the parts of compound names in the path, for FTS
    language   TEXT    NOT NULL,
    extractor  INTEGER NOT NULL,           -- version of the extractor that made the rows below
    encoding   TEXT,                       -- as detected; NULL is UTF-8
    hash       BLOB    NOT NULL,           -- blake3 of the bytes on disk
    lines      INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    ctime_ns   INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    seen_ns    INTEGER NOT NULL
) STRICT;

-- A new path with the content of a vanished one is a rename.
CREATE INDEX files_by_hash ON files (hash);
-- `list_files` with a language, `stats`.
CREATE INDEX files_by_language ON files (language);

-- Files that were found and left out, with the reason. The stat columns spare reading them again.
CREATE TABLE skipped (
    path     TEXT    PRIMARY KEY,
    reason   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    seen_ns  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What extraction could not make sense of, for people and for `ixchel_sync`.
CREATE TABLE problems (
    id      INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES files (id),
    line    INTEGER,
    reason  TEXT    NOT NULL
) STRICT;
-- Replacing one file's rows.
CREATE INDEX problems_by_file ON problems (file_id);

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
    UNIQUE (file_id, ordinal)              -- a file's text in order; replacing one file's rows
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

-- Definitions. `line` and `column` point at the name, start_line..end_line is the whole definition.
-- `container` is the qualified name around it, joined by the language's own separator.
CREATE TABLE symbols (
    id         INTEGER PRIMARY KEY,
    file_id    INTEGER NOT NULL REFERENCES files (id),
    parent_id  INTEGER REFERENCES symbols (id),
    name       TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    container  TEXT,
    signature  TEXT,
    line       INTEGER NOT NULL,
    column     INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL
) STRICT;
-- `get_symbol`: exact, any case, and prefix.
CREATE INDEX symbols_by_name ON symbols (name COLLATE NOCASE);
-- Which symbol a line stands in; the outline of a file; replacing one file's rows.
CREATE INDEX symbols_by_file ON symbols (file_id, start_line);
-- Foreign key: a parent that goes.
CREATE INDEX symbols_by_parent ON symbols (parent_id) WHERE parent_id IS NOT NULL;

-- Every distinct name that is referred to, once.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- Uses of a name: `kind` is call, type, inherits, implements, import or use. Kept file by file: replacing one file's
-- rows, and what a definition uses, is a range of the key.
CREATE TABLE refs (
    file_id INTEGER NOT NULL REFERENCES files (id),
    line    INTEGER NOT NULL,
    column  INTEGER NOT NULL,
    name_id INTEGER NOT NULL REFERENCES names (id),
    kind    TEXT    NOT NULL,
    PRIMARY KEY (file_id, line, column)
) STRICT, WITHOUT ROWID;

-- Which files use a name, and how often: `get_symbol` counts here, and reads `refs` only of the files it shows. A row
-- for each use, under an index by name, would take three times the space.
CREATE TABLE used_in (
    name_id INTEGER NOT NULL REFERENCES names (id),
    file_id INTEGER NOT NULL REFERENCES files (id),
    uses    INTEGER NOT NULL,
    PRIMARY KEY (name_id, file_id)
) STRICT, WITHOUT ROWID;

-- Markdown files under `.ixchel/` that are entities; their text is in `chunks`.
CREATE TABLE entities (
    id         INTEGER PRIMARY KEY,
    file_id    INTEGER NOT NULL REFERENCES files (id),
    key        TEXT    NOT NULL,           -- the id that people write: dec-1a2b3c
    kind       TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    status     TEXT,
    date       TEXT,
    created_at TEXT,
    updated_at TEXT,
    created_by TEXT
) STRICT;
-- `ixchel_show` and links by id; a key may be doubled, the first path wins.
CREATE INDEX entities_by_key ON entities (key);
-- Replacing one file's rows.
CREATE INDEX entities_by_file ON entities (file_id);

CREATE TABLE tags (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- Which file, or which entity in it, carries a tag, and where the tag was written.
CREATE TABLE tagged (
    tag_id    INTEGER NOT NULL REFERENCES tags (id),
    file_id   INTEGER NOT NULL REFERENCES files (id),
    entity_id INTEGER REFERENCES entities (id),
    line      INTEGER NOT NULL,
    source    TEXT    NOT NULL,            -- front_matter or hashtag
    PRIMARY KEY (tag_id, file_id, line, source)
) STRICT, WITHOUT ROWID;
-- Replacing one file's rows; the tags of a file.
CREATE INDEX tagged_by_file ON tagged (file_id);

-- Relations as a file states them; what a target means is resolved when asked, so that an edge needs
-- no change when another file's definitions do. The source is a symbol, an entity, or the file itself.
CREATE TABLE edges (
    id        INTEGER PRIMARY KEY,
    file_id   INTEGER NOT NULL REFERENCES files (id),
    symbol_id INTEGER REFERENCES symbols (id),
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

-- What changed since an answer last counted it: the hash before the first change, NULL where there was no file.
-- `consumer` is the kind of answer: sync, ixchel_sync, or a folder.
CREATE TABLE changes (
    consumer TEXT NOT NULL,
    path     TEXT NOT NULL,
    hash     BLOB,
    PRIMARY KEY (consumer, path)
) STRICT, WITHOUT ROWID;
