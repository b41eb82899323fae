//! Work in the background after an update, without the update lock.
//!
//! Owns the work that no read waits for: trigrams, vectors, commits, and the contents of SCIP files. Does not own when it begins
//! (`schedule`).

mod commits;
mod embedding_model;
mod scip;
mod scip_packages;
mod static_embeddings;
mod trigrams;

pub(crate) use commits::Commits;
pub(crate) use embedding_model::{EmbeddingModel, ModelAvailability};
pub(crate) use scip::{Scip, serve_scip_reader};
pub(crate) use static_embeddings::StaticEmbeddings;
pub(super) use trigrams::Trigrams;
