//! Semantic search: a query's vector, the chunks near it, and their similarity.
//!
//! Names are not searched for semantically: static embeddings know only their parts, and the words find those.

use super::background;
use super::parsed_query::ParsedQuery;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::{Error, Result};
use crate::store::{ChunkId, NearChunk, Scope, Snapshot, SpaceId, SpaceKey};

/// Texts about different topics have at most this similarity.
pub(super) const LEAST: f64 = 0.3;

/// A query's vector in the space that the index has.
pub(super) struct SemanticQuery {
    space: SpaceId,
    vector: Vector,
}

impl SemanticQuery {
    /// `None` for a name, for words that the model does not know, and while nothing is embedded.
    pub(super) fn of(query: &ParsedQuery, snapshot: &Snapshot) -> Result<Option<Self>> {
        if query.is_name() { Ok(None) } else { Self::of_any(query, snapshot) }
    }

    /// The same, of a name too.
    pub(super) fn of_any(query: &ParsedQuery, snapshot: &Snapshot) -> Result<Option<Self>> {
        let embedder = built_in();
        let named = embedder.space();
        let key = SpaceKey { model: &named.model, hash: &named.hash, dimension: named.dimension };
        let Some(space) = snapshot.space(&key)? else { return Ok(None) };
        let vector = Self::vector_of(query)?;
        Ok((!vector.is_zero()).then_some(Self { space, vector }))
    }

    fn vector_of(query: &ParsedQuery) -> Result<Vector> {
        let vector = built_in().embed(Purpose::Query, &[&query.written()])?.into_iter().next();
        vector.ok_or_else(|| Error::internal("the table gave no vector"))
    }

    /// The nearest chunks in scope with at least this similarity, nearest first.
    pub(super) fn nearest(
        &self,
        snapshot: &Snapshot,
        (limit, least): (usize, f64),
        scope: Option<&Scope>,
    ) -> Result<Vec<NearChunk>> {
        let mut near = snapshot.nearest(self.space, self.vector.components(), limit, scope)?;
        near.retain(|near| near.cosine >= least);
        Ok(near)
    }

    /// How near chunks are, by the angle; `None` for those without a vector.
    pub(super) fn cosines(&self, snapshot: &Snapshot, chunks: &[ChunkId]) -> Result<Vec<Option<f64>>> {
        snapshot.cosines(self.space, self.vector.components(), chunks)
    }

    /// The background similarity of the query in this index.
    pub(super) fn background(&self, snapshot: &Snapshot) -> Result<Option<f64>> {
        let here = snapshot.some_cosines(self.space, self.vector.components(), background::HERE)?;
        Ok(background::cosine(&self.vector, built_in(), &here))
    }

    /// How near chunks are, 0 to 1: 1 for the nearest, 0 for what has nothing in common with the query.
    pub(super) fn shares(&self, snapshot: &Snapshot, chunks: &[ChunkId]) -> Result<Vec<f64>> {
        let cosines = snapshot.cosines(self.space, self.vector.components(), chunks)?;
        let above: Vec<f64> = cosines.into_iter().map(|cosine| (cosine.unwrap_or_default() - LEAST).max(0.0)).collect();
        let most = above.iter().copied().fold(0.0, f64::max);
        Ok(above.into_iter().map(|above| if most > 0.0 { above / most } else { 0.0 }).collect())
    }
}
