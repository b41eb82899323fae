//! The graph of entities: edges out of one and into it, and what is reached over several.
//!
//! Owns statements and row mapping. Edges keep the words of their file; what those mean is looked up here, so that a
//! link resolves as soon as its target exists, in whichever order they were made.

use rusqlite::{Row, named_params};

use super::Snapshot;
use super::entities::EntityId;
use super::statements::statements;
use crate::error::Result;

/// The entity that the words of the edge `e` refer to. Of several notes, the first in or below the folder of the edge's file with the
/// shortest path, else the one with the shortest path of all, as in Obsidian. An edge may have a second name, `e.name`: the longer one is
/// looked up first, and a second name that is shorter must be that of a file. The view `links` says the same.
macro_rules! target {
    () => {
        "(SELECT near.id FROM (
                SELECT length(e.target) < length(e.name) AS is_other, n.entity_id AS id, n.path, n.rank, n.rank > 1 AND instr(n.path, (
                    SELECT rtrim(s.path, replace(s.path, '/', '')) FROM files s WHERE s.id = e.file_id)) <> 1 AS is_away,
                iif(n.rank > 1, length(n.path), 0) AS length
                FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1 WHERE n.name = e.target
                UNION ALL
                SELECT length(e.name) <= length(e.target), n.entity_id, n.path, n.rank, n.rank > 1 AND instr(n.path, (
                    SELECT rtrim(s.path, replace(s.path, '/', '')) FROM files s WHERE s.id = e.file_id)) <> 1,
                iif(n.rank > 1, length(n.path), 0)
                FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1
                WHERE n.name = e.name AND (n.rank < 4 OR length(e.name) > length(e.target))
            ) near ORDER BY near.is_other, near.rank, near.is_away, near.length, near.path LIMIT 1)"
    };
}

/// The edges `e` that may refer to an entity by its name `m`.
macro_rules! named {
    () => {
        "edges e ON e.id IN (
                SELECT id FROM edges WHERE target = m.name AND entity_id IS NOT NULL
                UNION ALL SELECT id FROM edges WHERE name = m.name AND entity_id IS NOT NULL)"
    };
}

statements! {
    /// In the order of the file: its rows were written in that order. One for each target, whatever its names are.
    LINKS_FROM = concat!("SELECT e.kind, e.target, min(e.line), t.id, t.key, t.title, t.kind, t.status
        FROM edges e LEFT JOIN entities t ON t.id = ", target!(), "
        WHERE e.entity_id = :entity AND (t.id IS NOT NULL OR e.certain = 1)
        GROUP BY e.kind, ifnull(t.id, e.target) ORDER BY min(e.line), min(e.id)");
    LINKS_TO = concat!("SELECT DISTINCT e.kind, s.id, s.key, s.title, s.kind, s.status
        FROM entity_names m CROSS JOIN ", named!(), "
        JOIN entities s ON s.id = e.entity_id AND s.live = 1
        WHERE m.entity_id = :entity
        AND m.entity_id = ", target!(), "
        ORDER BY e.kind, s.key");
    /// Everything within `depth` edges, with the fewest edges it takes.
    REACHED = concat!("WITH RECURSIVE reached (entity, distance) AS (
            SELECT :entity, 0
            UNION
            SELECT ", target!(), ", r.distance + 1
            FROM reached r CROSS JOIN edges e ON e.entity_id = r.entity
            WHERE :outgoing AND r.distance < :depth AND (:rel IS NULL OR e.kind = :rel)
            UNION
            SELECT e.entity_id, r.distance + 1
            FROM reached r CROSS JOIN entity_names m ON m.entity_id = r.entity
            CROSS JOIN ", named!(), "
            WHERE :incoming AND r.distance < :depth AND (:rel IS NULL OR e.kind = :rel)
            AND m.entity_id = ", target!(), "
        )
        SELECT min(r.distance), t.id, t.key, t.title, t.kind, t.status
        FROM reached r JOIN entities t ON t.id = r.entity AND t.live = 1
        GROUP BY t.id ORDER BY 1, t.key");
    /// Entities at the other end of one edge, one row for each edge: `REACHED` in single steps.
    STEPS_OUT = concat!("SELECT e.kind, ", target!(), " FROM edges e WHERE e.entity_id = :entity");
    STEPS_IN = concat!("SELECT e.kind, e.entity_id
        FROM entity_names m CROSS JOIN ", named!(), "
        WHERE m.entity_id = :entity AND m.entity_id = ", target!());
    EVERY_LINK = concat!("SELECT e.kind, e.target, min(e.line), t.id, t.key, t.title, t.kind, t.status,
            s.id, s.key, s.title, s.kind, s.status, f.path
        FROM entities s JOIN files f ON f.id = s.file_id JOIN edges e ON e.entity_id = s.id
        LEFT JOIN entities t ON t.id = ", target!(), "
        WHERE s.live = 1 AND (t.id IS NOT NULL OR e.certain = 1)
        GROUP BY s.id, e.kind, ifnull(t.id, e.target) ORDER BY s.key, min(e.line), min(e.id)");
    /// How many edges meet at each entity that some edge leads to.
    WEIGHT = concat!("SELECT count(*) FROM entity_names m CROSS JOIN ", named!(), "
        WHERE m.entity_id = :entity");
}

/// The part of an entity that an edge shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub id: EntityId,
    pub key: String,
    pub title: String,
    pub kind: String,
    pub status: Option<String>,
}

/// An edge out of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFrom {
    pub rel: String,
    /// The target's name as looked up.
    pub target: String,
    pub line: u32,
    /// `None`: nothing has that id.
    pub entity: Option<GraphNode>,
}

/// An edge into an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTo {
    pub rel: String,
    pub source: GraphNode,
}

/// An edge with both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub source: GraphNode,
    /// The source's file.
    pub path: String,
    pub link: LinkFrom,
}

fn node(row: &Row, first: usize) -> rusqlite::Result<GraphNode> {
    Ok(GraphNode {
        id: EntityId(row.get(first)?),
        key: row.get(first + 1)?,
        title: row.get(first + 2)?,
        kind: row.get(first + 3)?,
        status: row.get(first + 4)?,
    })
}

fn link_from(row: &Row) -> rusqlite::Result<LinkFrom> {
    let is_there = row.get::<_, Option<i64>>(3)?.is_some();
    let entity = if is_there { Some(node(row, 3)?) } else { None };
    Ok(LinkFrom { rel: row.get(0)?, target: row.get(1)?, line: row.get(2)?, entity })
}

impl Snapshot<'_> {
    /// Edges out of an entity, in the order of its file; those whose target is missing only where they must have one.
    pub fn links_from(&self, entity: EntityId) -> Result<Vec<LinkFrom>> {
        self.rows(LINKS_FROM, named_params! { ":entity": entity.0 }, link_from)
    }

    /// Edges into an entity, by relationship, then by source.
    pub fn links_to(&self, entity: EntityId) -> Result<Vec<LinkTo>> {
        self.rows(LINKS_TO, named_params! { ":entity": entity.0 }, |row| {
            Ok(LinkTo { rel: row.get(0)?, source: node(row, 1)? })
        })
    }

    /// Everything within `depth` edges of an entity, itself included, with its distance: nearest first, then by key.
    pub fn reached(
        &self,
        entity: EntityId,
        depth: u32,
        (outgoing, incoming): (bool, bool),
        rel: Option<&str>,
    ) -> Result<Vec<(u32, GraphNode)>> {
        self.rows(
            REACHED,
            named_params! {
                ":entity": entity.0, ":depth": depth, ":outgoing": outgoing, ":incoming": incoming, ":rel": rel,
            },
            |row| Ok((row.get(0)?, node(row, 1)?)),
        )
    }

    /// Visits the entity at the other end of each edge of an entity in the given directions; also entities that do not
    /// count, and some repeatedly.
    pub fn steps(
        &self,
        entity: EntityId,
        (outgoing, incoming): (bool, bool),
        rel: Option<&str>,
        mut visit: impl FnMut(EntityId),
    ) -> Result<()> {
        for statement in [outgoing.then_some(STEPS_OUT), incoming.then_some(STEPS_IN)].into_iter().flatten() {
            let mut statement = self.connection.prepare_cached(statement)?;
            let mut rows = statement.query(named_params! { ":entity": entity.0 })?;
            while let Some(row) = rows.next()? {
                let is_asked = rel.is_none_or(|rel| row.get_ref(0).is_ok_and(|kind| kind.as_str() == Ok(rel)));
                if let (true, Some(other)) = (is_asked, row.get(1)?) {
                    visit(EntityId(other));
                }
            }
        }
        Ok(())
    }

    /// Every edge of the graph, by source, then in the order of its file.
    pub fn every_link(&self) -> Result<Vec<Link>> {
        self.rows(EVERY_LINK, [], |row| Ok(Link { link: link_from(row)?, source: node(row, 8)?, path: row.get(13)? }))
    }

    /// How many edges lead to an entity.
    pub fn weight(&self, entity: EntityId) -> Result<u64> {
        self.number(WEIGHT, named_params! { ":entity": entity.0 })
    }
}
