//! Estimates for files that have no chunks yet: which words to look for, and about which score a piece of text would get.
//!
//! Owns the estimate of a score: that of a chunk with the text of the piece. Does not own the choice of files (`unindexed::needed`), nor
//! the ranking of chunks ([`super::rank`]).

use super::candidates::{self, NEAREST};
use super::parsed_query::{ParsedQuery, QueryShape};
use super::path_category::PathCategory;
use super::rank::{self, LoadedCandidate};
use super::relevance::is_prose;
use super::semantic::{self, SemanticQuery};
use super::weights::Ranking;
use super::{CODE_IN_DOCUMENTS, is_code};
use crate::embed::Vector;
use crate::error::Result;
use crate::extract;
use crate::model::RepoPath;
use crate::query::corpus::{ChunkAt, Corpus};
use crate::store::{ChunkHit, ChunkName};
use crate::words::definitions::{defined_names, headings};
use crate::words::search_words::{HeldByPiece, PieceOfFile, SearchWords};

/// A query before there are chunks to search.
pub struct Expectation {
    pub search_words: SearchWords,
    /// The least similarity of the nearest pieces that were rated.
    pub least_near: f64,
    query: ParsedQuery,
    /// The vector of the query, unless it is a name.
    vector: Option<Vector>,
}

impl Expectation {
    pub fn compute(corpus: &Corpus, text: &str) -> Result<Self> {
        let mut query = ParsedQuery::read(text, corpus)?;
        let vector = if query.is_name() { None } else { Some(SemanticQuery::vector_of(&query)?) };
        let search_words = candidates::search_words(corpus, &mut query, vector.as_ref())?;
        Ok(Self { search_words, least_near: 0.0, query, vector })
    }

    /// Estimates the scores of pieces; `None` for one that would not be ranked. `counts`: the number of unindexed chunks that contain each
    /// word; `chunks`: the number of all unindexed chunks.
    pub fn rate(&mut self, counts: &[usize], chunks: u64, pieces: &[PieceOfFile]) -> Vec<Option<f64>> {
        let query = &mut self.query;
        candidates::weigh_search_words(query, &self.search_words, counts, chunks);
        let (shares, least_near) = match &self.vector {
            Some(vector) => {
                let texts: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
                semantic::shares_of_texts(vector, &texts, NEAREST)
            }
            None => (vec![(0.0, false); pieces.len()], 0.0),
        };
        self.least_near = least_near;
        let (mut numbers, mut candidates) = (Vec::new(), Vec::new());
        for (number, (piece, (semantic, is_near))) in pieces.iter().zip(shares).enumerate() {
            if piece.holds_most || is_near {
                numbers.push(number);
                candidates.push(candidate(piece, semantic));
            }
        }
        let code = candidates.iter().filter(|candidate| is_code(candidate)).count();
        query.is_of_documents = code * CODE_IN_DOCUMENTS <= candidates.len();
        query.vector = self.vector.clone().filter(|_| query.shape == QueryShape::Prose);
        let ranking = Ranking::default();
        let (_, weights) = rank::weights(query, &ranking);
        let mut scores = vec![None; pieces.len()];
        for (number, found) in numbers.into_iter().zip(rank::look_at_each(query, candidates)) {
            scores[number] = Some(found.parts.score(weights));
        }
        scores
    }
}

/// A piece as if it were a chunk.
fn candidate(piece: &PieceOfFile, semantic: f64) -> LoadedCandidate {
    let language = RepoPath::stored(piece.path).map_or("", |path| extract::language_of(&path));
    let names = if is_prose(language) { headings(piece.text) } else { defined_names(piece.text) };
    let names = names.into_iter().map(|(name, kind)| ChunkName { text: name.to_owned(), kind: Some(kind.into()) });
    let chunk = ChunkHit {
        path: piece.path.to_owned(),
        language: language.to_owned(),
        start_line: 1,
        end_line: 1,
        text: piece.text.to_owned(),
        names: names.collect(),
    };
    let category = PathCategory::classify(piece.path, language);
    LoadedCandidate { id: ChunkAt::default(), chunk, category, semantic, is_qualified: false, passes: false }
}

/// Adds unindexed files to the corpus: how many of their chunks contain each word, how many chunks they have, and how much of the query
/// the best of these hold.
pub fn with_unindexed_matches<'s>(
    corpus: Corpus<'s>,
    search_words: &SearchWords,
    counts: &[usize],
    chunks: u64,
    held: &[HeldByPiece],
) -> Corpus<'s> {
    let words =
        search_words.words.iter().zip(counts).filter_map(|(word, count)| Some((candidates::asked_for(word)?, *count)));
    corpus.with_unindexed_matches(words.collect(), chunks, held)
}
