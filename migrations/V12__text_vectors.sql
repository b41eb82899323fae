-- Vectors that a model gave to texts before the turn of their chunks came: those of the best hits of questions, kept so that
-- the next question has them. By the text's hash, so that they outlast an edit elsewhere in the file. Nothing depends on
-- them: they are a cache, which the vectors of all chunks make superfluous.
CREATE TABLE text_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    hash     BLOB    NOT NULL,             -- as in `chunks`
    vector   BLOB    NOT NULL,             -- a byte with a sign for each dimension
    PRIMARY KEY (space_id, hash)
) STRICT, WITHOUT ROWID;

-- Whether all chunks there were had been embedded once: until then no answer comes from the space.
ALTER TABLE spaces ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
