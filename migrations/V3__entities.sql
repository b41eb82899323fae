-- The knowledge graph: what links may call an entity, and which of several entities with one key counts.

ALTER TABLE entities ADD COLUMN priority TEXT;
-- 0 where another file's entity has the same key: of several, the one with the first path counts.
ALTER TABLE entities ADD COLUMN live INTEGER NOT NULL DEFAULT 1;
-- The few that do not count.
CREATE INDEX entities_not_live ON entities (key) WHERE live = 0;

-- Of an entity's links: 1 where the target is an id by its looks, 0 where it is one only while an entity has it.
-- NULL for code.
ALTER TABLE edges ADD COLUMN certain INTEGER;

-- What links may call an entity. `rank` 0 is its key; imported notes have more names, such as their aliases. A link
-- means the first entity of that name, by rank, then by path.
CREATE TABLE entity_names (
    name      TEXT    NOT NULL,
    rank      INTEGER NOT NULL,
    path      TEXT    NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id),
    PRIMARY KEY (name, rank, path)
) STRICT, WITHOUT ROWID;
-- Who links to an entity; foreign key: an entity that goes.
CREATE INDEX entity_names_by_entity ON entity_names (entity_id);
