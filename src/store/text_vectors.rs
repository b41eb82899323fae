//! `text_vectors`: vectors of texts whose chunks are not embedded yet, and when a space is complete.
//!
//! Owns the model's vectors that are kept between queries. Its vectors are found by the hash of a text, those of whole
//! spaces (`vectors`) by chunk.

use rusqlite::{OptionalExtension, named_params, params};

use super::statements::statements;
use super::vectors::{blob, components, count, unembedded};
use super::{Batch, ChunkId, Snapshot, SpaceId, SpaceKey, Unembedded};
use crate::error::Result;

statements! {
    KNOWN = "SELECT vector FROM text_vectors WHERE space_id = ?1 AND hash = ?2";
    KEEP = "INSERT OR REPLACE INTO text_vectors (space_id, hash, vector) VALUES (?1, ?2, ?3)";
    DROP_VECTORS = "DELETE FROM vectors WHERE space_id = ?1";
    DROP_OF_SPACE = "DELETE FROM text_vectors WHERE space_id = ?1";
    DROP_STALE = "DELETE FROM text_vectors WHERE hash NOT IN (SELECT hash FROM chunks)";
    TO_EMBED = "SELECT id, hash, headings, overlap, text FROM chunks WHERE id = ?1";
    WHOLE = "SELECT complete FROM embedding_spaces WHERE id = ?1";
    SET_WHOLE = "UPDATE embedding_spaces SET complete = 1 WHERE id = :space
        AND NOT EXISTS (SELECT 1 FROM chunks WHERE id > (SELECT embedded FROM embedding_spaces WHERE id = :space))";
    OTHERS = "SELECT id FROM embedding_spaces WHERE NOT (model = :model AND hash = :hash AND dimension = :dimension) AND model <> :kept";
    DROP_SPACE = "DELETE FROM embedding_spaces WHERE id = ?1";
}

impl Snapshot<'_> {
    /// Chunks as they are to be embedded; those that are gone are left out.
    pub fn to_embed(&self, chunks: &[ChunkId]) -> Result<Vec<Unembedded>> {
        let mut statement = self.connection.prepare_cached(TO_EMBED)?;
        let mut found = Vec::with_capacity(chunks.len());
        for id in chunks {
            found.extend(statement.query_row([id.0], unembedded).optional()?);
        }
        Ok(found)
    }

    /// The vector of a chunk: its own, or that of its text.
    pub fn known_vector(&self, space: SpaceId, chunk: ChunkId, hash: &[u8]) -> Result<Option<Vec<i8>>> {
        if let Some(own) = self.vector_of(space, chunk)? {
            return Ok(Some(own));
        }
        self.text_vector(space, hash)
    }

    /// The vector of a text, if one was kept.
    pub fn text_vector(&self, space: SpaceId, hash: &[u8]) -> Result<Option<Vec<i8>>> {
        self.row(KNOWN, params![space.0, hash], |row| row.get(0).map(components))
    }

    /// Whether answers may come from the space.
    pub fn is_whole(&self, space: SpaceId) -> Result<bool> {
        self.value(WHOLE, [space.0])
    }
}

impl Batch<'_> {
    /// Keeps vectors of texts, by their hashes.
    pub fn keep_text_vectors<'v>(
        &self,
        space: SpaceId,
        vectors: impl IntoIterator<Item = (&'v [u8], &'v [i8])>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(KEEP)?;
        for (hash, vector) in vectors {
            statement.execute(params![space.0, hash, blob(vector)])?;
        }
        Ok(())
    }

    /// Lets answers come from the space from now on, if no chunk is without its vector. What was kept of texts goes.
    pub fn make_whole(&self, space: SpaceId) -> Result<bool> {
        let changed = self.connection.prepare_cached(SET_WHOLE)?.execute(named_params! { ":space": space.0 })?;
        if changed > 0 {
            self.connection.prepare_cached(DROP_OF_SPACE)?.execute([space.0])?;
        }
        Ok(changed > 0)
    }

    /// Deletes every space but that one and those of the model `kept`, and vectors of deleted texts.
    pub fn keep_only(&self, space: &SpaceKey, kept: &str) -> Result<()> {
        let mut others = self.connection.prepare_cached(OTHERS)?;
        let parameters = named_params! {
            ":model": space.model, ":hash": space.hash, ":dimension": count(space.dimension), ":kept": kept,
        };
        let others = others.query_map(parameters, |row| row.get(0).map(SpaceId))?;
        for other in others.collect::<rusqlite::Result<Vec<_>>>()? {
            for statement in [DROP_VECTORS, DROP_OF_SPACE, DROP_SPACE] {
                self.connection.prepare_cached(statement)?.execute([other.0])?;
            }
        }
        self.drop_stale_text_vectors()
    }

    /// Deletes vectors of texts that no chunk has.
    pub(super) fn drop_stale_text_vectors(&self) -> Result<()> {
        self.connection.prepare_cached(DROP_STALE)?.execute([])?;
        Ok(())
    }
}
