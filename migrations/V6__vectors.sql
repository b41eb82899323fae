-- Embedding spaces in use: vectors can be compared only within one. The vectors of space 1 are in `vectors_1`, a vec0 table
-- that is made with this row and that the stock sqlite3 cannot read; its rowid is the chunk's id.
CREATE TABLE spaces (
    id        INTEGER PRIMARY KEY,
    model     TEXT    NOT NULL,
    hash      TEXT    NOT NULL,            -- of the model's files, hexadecimal
    dimension INTEGER NOT NULL,
    -- Chunks up to this id have been embedded, those above have not. A new chunk's id is above it and above all others, so
    -- that a vector's id never comes again for another text.
    embedded  INTEGER NOT NULL,
    vectors   INTEGER NOT NULL,            -- how many there are
    made      BLOB    NOT NULL DEFAULT (randomblob(8)), -- tells these vectors from those of another build
    UNIQUE (model, hash, dimension)
) STRICT;
