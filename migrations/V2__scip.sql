-- SCIP ----------------------------------------------------------------------------------------------------------------
--
-- Definitions and references that language indexers state in SCIP files (`index.scip`). The rows of one SCIP file are
-- replaced as a whole. Positions are those of the text that the file had then: see `scip_documents.hash`.

CREATE TABLE scip_files (
    -- One row per SCIP file: relative to the repository, or absolute for one that was loaded from elsewhere.
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    -- The indexer, with its version.
    tool TEXT NOT NULL,
    -- Why nothing of it is used.
    problem TEXT
) STRICT;

CREATE TABLE scip_documents (
    -- The source files that a SCIP file is about, if they are in the repository.
    id INTEGER PRIMARY KEY,
    scip_file INTEGER NOT NULL REFERENCES scip_files (id),
    path TEXT NOT NULL,
    -- BLAKE3 of the text that the positions are known to fit. NULL: only positions that hold their name are kept. While
    -- it differs from `files.hash`, only positions that hold their name count.
    hash BLOB
) STRICT;
CREATE INDEX scip_documents_by_path ON scip_documents (
    -- `goto_definition`, `find_references`: what is at a position of a file.
    path
);

CREATE TABLE scip_symbols (
    -- The symbols that SCIP files name.
    id INTEGER PRIMARY KEY,
    scip_file INTEGER NOT NULL REFERENCES scip_files (id),
    -- As the indexer writes it: scheme, package, version and descriptors. The same in all SCIP files.
    symbol TEXT NOT NULL,
    -- What code calls it; empty if it has no name, or several.
    name TEXT NOT NULL,
    -- Of a local symbol, which only this document can name.
    document INTEGER REFERENCES scip_documents (id)
) STRICT;
CREATE INDEX scip_symbols_by_symbol ON scip_symbols (
    -- The same symbol in another SCIP file.
    symbol
) WHERE document IS NULL;

CREATE TABLE scip_occurrences (
    -- Where a document names a symbol. `roles`: 1 definition, 2 import, 4 write, 8 read, …
    document INTEGER NOT NULL REFERENCES scip_documents (id),
    line INTEGER NOT NULL,
    start_column INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    end_column INTEGER NOT NULL,
    symbol INTEGER NOT NULL REFERENCES scip_symbols (id),
    roles INTEGER NOT NULL,
    PRIMARY KEY (document, line, start_column, end_line, end_column, symbol, roles)
) STRICT, WITHOUT ROWID;
CREATE INDEX scip_occurrences_by_symbol ON scip_occurrences (
    -- `goto_definition`, `find_references`: where a symbol is named.
    symbol
);

CREATE TABLE scip_relationships (
    -- How symbols belong together. `kinds`: 1 reference, 2 implementation, 4 type definition, 8 definition.
    symbol INTEGER NOT NULL REFERENCES scip_symbols (id),
    related INTEGER NOT NULL REFERENCES scip_symbols (id),
    kinds INTEGER NOT NULL,
    PRIMARY KEY (symbol, related, kinds)
) STRICT, WITHOUT ROWID;
CREATE INDEX scip_relationships_by_related ON scip_relationships (
    -- The same from the other side.
    related
);
