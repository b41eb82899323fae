-- The schema of `.ixmcp/index.db`.
--
-- The database is derived from the repository: deleting it loses nothing but time. Every table can be read with the stock
-- `sqlite3`. `ixmcp sql` adds the functions of sqlite-vec, such as `vec_distance_cosine()`, and `embed()`.
--
-- Conventions
--   Paths are relative to the repository and use `/`. Files of folders outside the repository have absolute paths.
--   Lines and columns count from 1, and columns count Unicode code points. Line ranges include their last line.
--   Offsets count Unicode code points of the decoded text, from 0.
--   Times are nanoseconds since 1970.
--   Foreign keys are declared for readers. Connections do not enforce them: checking each of a million references costs
--   more than writing it. `ixmcp doctor` checks them, and the writer deletes dependent rows itself.
--   Each comment on a table, view or index is inside its statement, so that `.schema` shows it. An index names the query
--   that it serves.
--
-- Terms: CONTRIBUTING.md has the glossary.


CREATE TABLE meta (
    -- Facts about the index, by key:
    --   built            the first build has finished
    --   entities         the entities of the first build are complete
    --   options          fingerprint of the settings that the rows depend on; other settings re-extract every file
    --   splitter         version of the identifier splitter that the full-text index was written with
    --   listing_fingerprint  fingerprint of the last complete directory listing; empty if the next update must list again
    --   last_change_ns   when a row that an answer can show last changed
    --   counts           numbers of chunks and symbols, cached until the next change
    --   baseline:<name>  changes are recorded in `changes` for this consumer
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;


-- Files ---------------------------------------------------------------------------------------------------------------

CREATE TABLE files (
    -- One row per indexed file.
    id         INTEGER PRIMARY KEY,
    path       TEXT    NOT NULL UNIQUE,
    path_words TEXT    NOT NULL,           -- parts of the compound names in `path`, for full-text search
    language   TEXT    NOT NULL,           -- or the format of a document
    encoding   TEXT,                       -- as detected; NULL for UTF-8
    lines      INTEGER NOT NULL,

    -- What the dependent rows were made from. If any of the three differs, the file is extracted again.
    hash       BLOB    NOT NULL,           -- BLAKE3 of the bytes on disk
    extractor  INTEGER NOT NULL,           -- version of the extractor for this language
    chunking   TEXT,                       -- "size/overlap" in characters if its folder has its own; NULL for the settings

    -- What decides, without opening the file, whether it changed. `seen_ns` is the clock just before its bytes were read:
    -- a file modified at about that time is read again ("racily clean", as git calls it).
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    ctime_ns   INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    seen_ns    INTEGER NOT NULL,

    -- Position in the trigram index (last section). Both are NULL until the file is in it; changing the file's text resets
    -- them in the same transaction.
    trigram_segment INTEGER REFERENCES trigram_segments (id),
    trigram_slot    INTEGER
) STRICT;
CREATE INDEX files_by_hash ON files (
    -- Rename detection: a new path with the content of a deleted file.
    hash
);
CREATE INDEX files_by_language ON files (
    -- `list_files` by language; counts per language in `stats`.
    language
);
CREATE INDEX files_by_trigram_slot ON files (
    -- The files that a trigram lookup names.
    trigram_segment, trigram_slot
) WHERE trigram_segment IS NOT NULL;
CREATE INDEX files_without_trigrams ON files (
    -- The files, and their total size, that are not in the trigram index yet.
    size
) WHERE trigram_segment IS NULL;

CREATE TABLE skipped (
    -- Files that were found and not indexed, with the reason (`ixmcp files --skipped`). The other columns are as in `files`:
    -- a skipped file is not read again until one of them changes.
    path     TEXT    PRIMARY KEY,
    reason   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    seen_ns  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE problems (
    -- What extraction could not read in an indexed file. Shown as `problems`.
    id      INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES files (id),
    line    INTEGER,                       -- NULL if the problem concerns the whole file
    reason  TEXT    NOT NULL
) STRICT;
CREATE INDEX problems_by_file ON problems (
    -- Replacing the rows of one file.
    file_id
);

CREATE TABLE changes (
    -- Changes since a consumer last counted them, for answers such as "3 added, 1 modified". A consumer is `sync`,
    -- `ixchel_sync` or `folder:` and a path. Only the first change of a path is recorded; comparing its hash with the one in
    -- `files` gives the net change.
    consumer TEXT NOT NULL,
    path     TEXT NOT NULL,
    hash     BLOB,                         -- before the change; NULL if there was no file
    PRIMARY KEY (consumer, path)
) STRICT, WITHOUT ROWID;


-- Chunks and full-text search -----------------------------------------------------------------------------------------

CREATE TABLE chunks (
    -- The text of a file in pieces. The `text` columns of a file, in order of `start_offset`, are exactly its decoded text.
    -- A chunk whose text is unchanged keeps its id when its file is replaced, and so keeps its vector. A new chunk gets an
    -- id above all existing and all embedded ones, so an id never gets another text.
    id             INTEGER PRIMARY KEY,
    file_id        INTEGER NOT NULL REFERENCES files (id),
    ordinal        INTEGER NOT NULL,       -- in the file, from 0
    start_line     INTEGER NOT NULL,
    end_line       INTEGER NOT NULL,
    start_offset   INTEGER NOT NULL,
    -- First 16 bytes of BLAKE3 of everything that is embedded: text, overlap, headings.
    hash           BLOB    NOT NULL,
    text           TEXT    NOT NULL,
    -- The end of the preceding text. It is searched and embedded with this chunk, but stored apart from `text`, so that no
    -- text is stored twice in the concatenation.
    overlap        TEXT,
    headings       TEXT,                   -- documents: the headings above the chunk, outermost first, one per line
    page           INTEGER,                -- documents with pages: where the chunk starts, from 1
    -- The symbols that start in this chunk: `symbol_count` of the file's symbols, beginning with number `first_symbol`.
    first_symbol   INTEGER NOT NULL,
    symbol_count   INTEGER NOT NULL,
    -- Checksum of the `words` and `names` written to `chunks_fts`. FTS5 deletes a row correctly only if it is given the
    -- indexed terms. They are recomputed from `text` and the symbols instead of stored, which saves a tenth of the
    -- database. If the checksum of the recomputed terms differs, the identifier splitter has changed, and the full-text
    -- index is rebuilt.
    terms_checksum INTEGER NOT NULL,
    UNIQUE (file_id, start_offset)         -- the text of a file in order; the chunk at an offset; replacing a file's rows
) STRICT;
CREATE INDEX chunks_by_hash ON chunks (
    -- Chunks with the same text elsewhere: the `id` in an answer identifies a chunk by its text, wherever its file moves. The
    -- first bytes tell nearly all texts apart and take half the space.
    substr(hash, 1, 4)
);

CREATE VIEW chunk_text AS
-- The columns of `chunks_fts`, so that `snippet()` and `SELECT` work on it. The indexed `words` and `names` contain more
-- than is shown here: `words` the parts of compound identifiers in the text, `names` each symbol followed by its parts.
SELECT c.id, c.file_id, coalesce(c.overlap, '') || c.text AS text, '' AS words, f.path || ' ' || f.path_words AS path,
    -- DuckDB does not read `char(10)` (findings/duckdb-unparsed-view.sh).
    coalesce(c.headings || CAST(x'0a' AS TEXT), '') || coalesce((
        SELECT group_concat(n.name, CAST(x'0a' AS TEXT)) FROM symbol_rows r JOIN names n ON n.id = r.name_id
        WHERE r.id >= (c.file_id << 20) + c.first_symbol AND r.id < (c.file_id << 20) + c.first_symbol + c.symbol_count
    ), '') AS names
FROM chunks c JOIN files f ON f.id = c.file_id;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    -- Full-text search; `rowid` is the chunk's id. `porter` matches inflected English words, `_` belongs to identifiers. A
    -- match in the names of symbols counts three times as much as one elsewhere.
    text, words, path, names,
    content = 'chunk_text', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 3.0)');


-- Symbols and references ----------------------------------------------------------------------------------------------
--
-- Symbols and references are most of the rows, so they are stored compactly: names and kinds are interned, and the id of a
-- row is `file_id << 20` plus its number in the file. The rows of a file are thus a range of ids and need no index. The
-- views `symbols` and `refs` show them readably.

CREATE TABLE names (
    -- Every distinct name that is defined or referenced. Names are unique, which the writer ensures: a UNIQUE constraint would
    -- add an index as large as the one below.
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
CREATE INDEX names_by_name ON names (
    -- `get_symbol`: by exact name, case-insensitively, and by prefix.
    name COLLATE NOCASE
);
CREATE INDEX names_by_spelling ON names (
    -- People who look for `WHERE name = 'x'` in the views `symbols` and `refs`.
    name
);

CREATE TABLE kinds (
    -- Kinds of symbols (function, class, heading, …) and of references (call, type, inherits, implements, import, use).
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE symbol_rows (
    -- Definitions. Query the view `symbols`.
    id               INTEGER PRIMARY KEY,
    parent           INTEGER,              -- the number in the file of the enclosing symbol
    name_id          INTEGER NOT NULL REFERENCES names (id),
    kind_id          INTEGER NOT NULL REFERENCES kinds (id),
    container        TEXT,                 -- qualified name of what encloses it, with the language's separator
    -- A signature that the file contains literally, except for white space, is stored as its range in the text.
    signature        TEXT,
    signature_offset INTEGER,
    signature_length INTEGER,
    line             INTEGER NOT NULL,     -- of the name
    column           INTEGER NOT NULL,
    above            INTEGER NOT NULL,     -- lines of the definition above that of the name
    below            INTEGER NOT NULL      -- and below it
) STRICT;
CREATE INDEX symbols_by_name ON symbol_rows (
    -- `get_symbol`: where a name is defined.
    name_id
);

CREATE VIEW symbols AS
-- Definitions. `line` and `column` are those of the name; `start_line` to `end_line` is the whole definition.
-- A name, a path or an id is looked up by an index.
SELECT
    r.id, f.path, r.id >> 20 AS file_id, (r.id >> 20 << 20) + r.parent AS parent_id, n.name, k.name AS kind, r.container,
    coalesce(r.signature, (
        -- Each run of white space becomes one space.
        SELECT replace(replace(replace(replace(replace(replace(replace(
            substr(c.text, r.signature_offset - c.start_offset + 1, r.signature_length),
            CAST(x'09' AS TEXT), ' '), CAST(x'0a' AS TEXT), ' '), CAST(x'0c' AS TEXT), ' '), CAST(x'0d' AS TEXT), ' '),
            ' ', CAST(x'0102' AS TEXT)), CAST(x'0201' AS TEXT), ''), CAST(x'0102' AS TEXT), ' ')
        FROM chunks c WHERE c.file_id = r.id >> 20 AND c.start_offset <= r.signature_offset
        ORDER BY c.start_offset DESC LIMIT 1
    )) AS signature,
    r.line, r.column, r.line - r.above AS start_line, r.line + r.below AS end_line
FROM symbol_rows r JOIN names n ON n.id = r.name_id JOIN kinds k ON k.id = r.kind_id
-- Where `path` is not asked for, SQLite leaves this join out.
LEFT JOIN files f ON f.id = r.id >> 20 AND r.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575;

CREATE TABLE reference_rows (
    -- References, grouped: one row per file, name and kind. Query the view `refs`. One row per reference, with an index by
    -- name, would take three times the space.
    id        INTEGER PRIMARY KEY,
    name_id   INTEGER NOT NULL REFERENCES names (id),
    kind_id   INTEGER NOT NULL REFERENCES kinds (id),
    positions TEXT    NOT NULL             -- "line:column" in order, separated by spaces
) STRICT;
CREATE INDEX references_by_name ON reference_rows (
    -- `get_symbol`: where a name is referenced.
    name_id
);

CREATE VIEW refs AS
-- References one by one. (`references` is a keyword of SQL.) A name or a path is looked up by an index.
SELECT
    f.path, r.id >> 20 AS file_id, CAST(p.value AS INTEGER) AS line,
    CAST(substr(p.value, instr(p.value, ':') + 1) AS INTEGER) AS column, n.name, r.name_id, k.name AS kind
FROM reference_rows r JOIN names n ON n.id = r.name_id JOIN kinds k ON k.id = r.kind_id
CROSS JOIN json_each('["' || replace(r.positions, ' ', '","') || '"]') p
LEFT JOIN files f ON f.id = r.id >> 20 AND r.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575;

CREATE VIEW hits AS
-- Full-text search: `SELECT path, start_line, text FROM hits WHERE query MATCH 'staging directory' ORDER BY rank LIMIT 10`.
SELECT f.path, c.start_line, c.end_line, c.text, chunks_fts.rank AS rank, chunks_fts.chunks_fts AS query
FROM chunks_fts JOIN chunks c ON c.id = chunks_fts.rowid JOIN files f ON f.id = c.file_id;


-- Entities, tags and edges --------------------------------------------------------------------------------------------

CREATE TABLE entities (
    -- Entities: Markdown files of `.ixchel/` and imported notes. Their text is in `chunks`.
    id         INTEGER PRIMARY KEY,
    file_id    INTEGER NOT NULL REFERENCES files (id),
    key        TEXT    NOT NULL,           -- the id that people write, such as dec-1a2b3c
    kind       TEXT    NOT NULL,           -- decision, issue, idea, report, note, …
    title      TEXT    NOT NULL,
    status     TEXT,
    date       TEXT,
    created_at TEXT,
    updated_at TEXT,
    created_by TEXT,
    priority   TEXT,
    -- 1 for the entity that its key refers to. If several files use one key, that is the one with the first path; the
    -- others have 0 and are reported as problems.
    live       INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX entities_by_key ON entities (
    -- Electing the live entity of a key.
    key
);
CREATE INDEX entities_by_file ON entities (
    -- Replacing the rows of one file.
    file_id
);
CREATE INDEX entities_not_live ON entities (
    -- Duplicate keys, of which there are few.
    key
) WHERE live = 0;

CREATE TABLE entity_names (
    -- Names by which links refer to an entity: its key (`rank` 0), and for imported notes also the file name and aliases. A
    -- link refers to the first entity with that name, by `rank`, then by `path`.
    name      TEXT    NOT NULL,
    rank      INTEGER NOT NULL,
    path      TEXT    NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id),
    PRIMARY KEY (name, rank, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_names_by_entity ON entity_names (
    -- Incoming edges of an entity; deleting an entity.
    entity_id
);

CREATE TABLE tags (
    -- Labels of files and entities.
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE tagged (
    -- Which files and entities have a tag, and where it is written.
    tag_id    INTEGER NOT NULL REFERENCES tags (id),
    file_id   INTEGER NOT NULL REFERENCES files (id),
    entity_id INTEGER REFERENCES entities (id), -- NULL for a file that is not an entity
    line      INTEGER NOT NULL,
    source    TEXT    NOT NULL,            -- front_matter or hashtag
    PRIMARY KEY (tag_id, file_id, line, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX tagged_by_file ON tagged (
    -- Replacing the rows of one file; the tags of a file.
    file_id
);

CREATE TABLE edges (
    -- Edges as their file states them. The source is a symbol, an entity or, if neither is set, the file. The target is
    -- resolved by queries, so a change in one file never requires updating the edges of another.
    id        INTEGER PRIMARY KEY,
    file_id   INTEGER NOT NULL REFERENCES files (id),
    symbol_id INTEGER REFERENCES symbol_rows (id),
    entity_id INTEGER REFERENCES entities (id),
    kind      TEXT    NOT NULL,            -- imports, inherits, implements, or an entity's relationship
    target    TEXT    NOT NULL,            -- as written: a module, a type, the name of an entity
    name      TEXT,                        -- imports: the name taken from the module
    alias     TEXT,                        -- imports: the local name
    line      INTEGER NOT NULL,
    -- Entities: 1 if the target looks like a key, so that a missing target is an error; 0 if the value is an edge only
    -- while some entity has that name. NULL for code.
    certain   INTEGER
) STRICT;
CREATE INDEX edges_by_file ON edges (
    -- Replacing the rows of one file; the imports of a file.
    file_id
);
CREATE INDEX edges_by_target ON edges (
    -- What imports, inherits from or links to a target.
    target
);
CREATE INDEX edges_by_symbol ON edges (
    -- Deleting a symbol; what a type inherits from.
    symbol_id
) WHERE symbol_id IS NOT NULL;
CREATE INDEX edges_by_entity ON edges (
    -- Outgoing edges of an entity; deleting an entity.
    entity_id
) WHERE entity_id IS NOT NULL;
CREATE INDEX edges_certain ON edges (
    -- Edges whose target is missing: each distinct target is looked up once.
    target
) WHERE certain = 1;

CREATE VIEW links AS
-- Edges of entities, with the path that the target leads to; NULL if it leads nowhere.
SELECT
    f.path, e.line, s.key, e.kind, e.target,
    (SELECT n.path FROM entity_names n WHERE n.name = e.target ORDER BY n.rank, n.path LIMIT 1) AS target_path
FROM edges e JOIN entities s ON s.id = e.entity_id JOIN files f ON f.id = e.file_id;


-- Vectors -------------------------------------------------------------------------------------------------------------

CREATE TABLE embedding_spaces (
    -- Embedding spaces in use: one per model, version of its files, and dimension. Vectors of different spaces must not be
    -- compared. `embedding_space()` in `ixmcp sql` is the id of the space that `embed()` embeds texts in.
    id           INTEGER PRIMARY KEY,
    model        TEXT    NOT NULL,
    hash         TEXT    NOT NULL,         -- of the model's files, hexadecimal
    dimension    INTEGER NOT NULL,
    -- Chunks with ids up to this one have been embedded, those above have not.
    embedded     INTEGER NOT NULL,
    vector_count INTEGER NOT NULL,         -- rows in `vectors`
    -- Set for a model that a person chose, once it has embedded every chunk. Until then it reranks hits, and the built-in
    -- model, whose space needs no such flag, finds them.
    complete     INTEGER NOT NULL DEFAULT 0,
    -- Random. A process that keeps vectors in memory compares it to notice that the index was rebuilt.
    build        BLOB    NOT NULL DEFAULT (randomblob(8)),
    UNIQUE (model, hash, dimension)
) STRICT;

CREATE TABLE vectors (
    -- One vector per embedded chunk, as signed bytes. A chunk whose text the model knows nothing of has none.
    --
    -- An ordinary table, and not a `vec0` table of sqlite-vec: its SQL reads vectors one by one and always from the first.
    -- Loading 750,000 vectors into memory takes 1.2 s from `vec0` and 0.2 s from this table, and loading the 100 that follow a
    -- save 300 ms and 0.1 ms. `vec_distance_cosine(vec_int8(vector), …)` works on either.
    space_id INTEGER NOT NULL REFERENCES embedding_spaces (id),
    chunk_id INTEGER NOT NULL REFERENCES chunks (id),
    vector   BLOB    NOT NULL,             -- `dimension` bytes
    PRIMARY KEY (space_id, chunk_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE text_vectors (
    -- A cache of vectors that a model made for the best hits of a query before it embedded their chunks. The key is the hash
    -- of the chunk, so that the vector survives edits elsewhere in the file. It is emptied once the space is complete.
    space_id INTEGER NOT NULL REFERENCES embedding_spaces (id),
    hash     BLOB    NOT NULL,             -- as in `chunks`
    vector   BLOB    NOT NULL,             -- as in `vectors`
    PRIMARY KEY (space_id, hash)
) STRICT, WITHOUT ROWID;


-- Trigrams ------------------------------------------------------------------------------------------------------------
--
-- Which files may contain a text: literal and regex search in large trees (setting `index.trigrams_from`) reads only
-- files that contain all trigrams of the pattern. The index is built in the background; files that are not in it yet are
-- always searched.

CREATE TABLE trigram_segments (
    -- A segment indexes up to 4,096 files, each in a slot. A file that changed leaves its slot empty.
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, because two processes may build segments at the same time
    slots    INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,             -- total size of the files it was built from
    complete INTEGER NOT NULL              -- 1 once all its trigrams are written; before that no file refers to it
) STRICT;

CREATE TABLE trigrams (
    -- Which slots of a segment contain three bytes.
    segment INTEGER NOT NULL,
    trigram INTEGER NOT NULL,              -- three bytes, letters folded to one case
    -- The slots that contain it: one bit per slot, or, if shorter, the gaps between the slots as base-128 numbers of the
    -- least significant digit first.
    slots   BLOB    NOT NULL,
    PRIMARY KEY (segment, trigram)
) STRICT, WITHOUT ROWID;
