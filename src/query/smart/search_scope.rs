//! The scope of one search: which chunks it admits, and how they are found.
//!
//! Owns the defaults. Does not own how chunks are found (`candidates`).

use super::{PathFilter, Reranker, semantic};
use crate::query::corpus::CorpusScope;

/// Chunks to search, and the ways in which they are found.
#[derive(Clone, Copy)]
pub(super) struct SearchScope<'a> {
    pub filter: &'a PathFilter,
    pub scope: Option<&'a CorpusScope>,
    /// The least similarity of chunks that have no word of the query.
    pub least: f64,
    /// Whether chunks are also found by the vector of the rare words.
    pub by_rare_words: bool,
    /// The model that reranks the best hits.
    pub reranker: Option<&'a Reranker<'a>>,
}

impl<'a> SearchScope<'a> {
    /// Everything that the filter admits.
    pub fn new(filter: &'a PathFilter, reranker: Option<&'a Reranker<'a>>) -> Self {
        Self { filter, scope: None, least: semantic::LEAST, by_rare_words: false, reranker }
    }
}
