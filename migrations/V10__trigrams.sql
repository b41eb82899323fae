-- Which files may hold a text: three letters in a row, and the files that have them. Large trees alone have this; it is
-- made in the background, and a file that is in no segment is searched itself.

-- Some thousand files whose trigrams were gathered together.
CREATE TABLE trigram_segments (
    id    INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: two processes may gather at once
    files INTEGER NOT NULL,                -- places in it; a file that changed has left its place empty
    bytes INTEGER NOT NULL,                -- of the files that it was made of
    whole INTEGER NOT NULL                 -- 1 once all its trigrams are below; until then no file is in it
) STRICT;

-- Letters are compared without case. `trigram` is the three of them, a byte each; `places` a bit for each place of the
-- segment where that is shorter, else the distances from place to place, seven bits a byte.
CREATE TABLE trigrams (
    segment INTEGER NOT NULL,
    trigram INTEGER NOT NULL,
    places  BLOB    NOT NULL,
    PRIMARY KEY (segment, trigram)
) STRICT, WITHOUT ROWID;

-- Where a file's trigrams stand. A change of the file's text sets both to NULL in the same transaction.
ALTER TABLE files ADD COLUMN segment INTEGER REFERENCES trigram_segments (id);
ALTER TABLE files ADD COLUMN place INTEGER;
-- Files that a trigram names.
CREATE INDEX files_by_place ON files (segment, place) WHERE segment IS NOT NULL;
-- Files that are in no segment, and how large they are.
CREATE INDEX files_in_no_segment ON files (size) WHERE segment IS NULL;
