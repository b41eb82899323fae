-- A link in Markdown that leads to no note at its relative path leads to the note with the name that it gives. `edges.name` has it.

CREATE INDEX edges_of_entities_by_name ON edges (
    -- Edges into an entity by the name of its file.
    name
) WHERE entity_id IS NOT NULL;

DROP VIEW links;
CREATE VIEW links AS
-- Edges of entities, with the path that the target leads to; NULL if it leads nowhere. Of several notes with that name, the
-- first in or below the folder of the link's file with the shortest path, else the one with the shortest path of all. A target that
-- nothing has by its path is looked up by its name.
SELECT
    f.path, e.line, s.key, e.kind, e.target,
    (
        SELECT near.path FROM (
            SELECT 0 AS is_other, n.path, n.rank,
                n.rank > 1 AND instr(n.path, rtrim(f.path, replace(f.path, '/', ''))) <> 1 AS is_away,
                iif(n.rank > 1, length(n.path), 0) AS length
            FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1 WHERE n.name = e.target
            UNION ALL
            SELECT 1, n.path, n.rank, n.rank > 1 AND instr(n.path, rtrim(f.path, replace(f.path, '/', ''))) <> 1,
                iif(n.rank > 1, length(n.path), 0)
            FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1
            WHERE n.name = e.name AND n.rank < 4
        ) near ORDER BY near.is_other, near.rank, near.is_away, near.length, near.path LIMIT 1
    ) AS target_path
FROM edges e JOIN entities s ON s.id = e.entity_id JOIN files f ON f.id = e.file_id;
