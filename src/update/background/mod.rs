//! What follows an update in the background, without the update lock.
//!
//! Owns what no read waits for: trigrams, vectors, and what SCIP files say. Does not own when it begins (`schedule`).

mod embedding_model;
mod scip;
mod scip_packages;
mod static_embeddings;
mod trigrams;

pub(crate) use embedding_model::{EmbeddingModel, ModelAvailability};
pub(crate) use scip::{Scip, serve_scip_reader};
pub(crate) use static_embeddings::StaticEmbeddings;
pub(super) use trigrams::Trigrams;
