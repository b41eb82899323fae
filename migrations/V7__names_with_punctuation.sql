-- A wiki link with `#` or `^` leads to the note whose name is the whole link, else to the note named before that character. `edges.name` is
-- the whole link.

DROP VIEW links;
CREATE VIEW links AS
-- Edges of entities, with the path that the target leads to; NULL if it leads nowhere. Of several notes with that name, the
-- first in or below the folder of the link's file with the shortest path, else the one with the shortest path of all. Where
-- an edge has two names, the longer one is looked up first; a second name that is shorter must be that of a file.
SELECT
    f.path, e.line, s.key, e.kind, e.target,
    (
        SELECT near.path FROM (
            SELECT length(e.target) < length(e.name) AS is_other, n.path, n.rank,
                n.rank > 1 AND instr(n.path, rtrim(f.path, replace(f.path, '/', ''))) <> 1 AS is_away,
                iif(n.rank > 1, length(n.path), 0) AS length
            FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1 WHERE n.name = e.target
            UNION ALL
            SELECT length(e.name) <= length(e.target), n.path, n.rank,
                n.rank > 1 AND instr(n.path, rtrim(f.path, replace(f.path, '/', ''))) <> 1,
                iif(n.rank > 1, length(n.path), 0)
            FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1
            WHERE n.name = e.name AND (n.rank < 4 OR length(e.name) > length(e.target))
        ) near ORDER BY near.is_other, near.rank, near.is_away, near.length, near.path LIMIT 1
    ) AS target_path
FROM edges e JOIN entities s ON s.id = e.entity_id JOIN files f ON f.id = e.file_id;
