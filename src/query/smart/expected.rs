//! Estimates for files that have no chunks yet: which words to look for, and about which score a piece of text would get.
//!
//! Owns the estimate of a score from the words of a piece and its path. Does not own the choice of files (`index::needed`), nor
//! the ranking of chunks ([`super::rank`]).

use super::candidates;
use super::parsed_query::{ParsedQuery, QueryShape};
use super::path_category::PathCategory;
use super::rank;
use super::scan::Scanner;
use super::weights::{Part, Parts, Ranking};
use crate::error::Result;
use crate::extract;
use crate::model::RepoPath;
use crate::query::corpus::Corpus;
use crate::words::sought::{HeldByPiece, PieceOfFile, Sought};

/// How much of a name the words of a query are, on average.
const OF_NAME: f64 = 0.6;

/// A query before there are chunks to search.
pub struct Expectation {
    pub sought: Sought,
    query: ParsedQuery,
}

impl Expectation {
    pub fn of(corpus: &Corpus, text: &str) -> Result<Self> {
        let mut query = ParsedQuery::read(text, corpus)?;
        Ok(Self { sought: candidates::sought(corpus, &mut query)?, query })
    }

    /// About the scores of pieces, where the words occur in so many chunks elsewhere, of so many.
    pub fn rate(&mut self, counts: &[usize], chunks: u64, pieces: &[PieceOfFile]) -> Vec<f64> {
        candidates::weigh_as_sought(&mut self.query, &self.sought, counts, chunks);
        let query = &self.query;
        let represented = |set: u64| {
            let words = self.sought.words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            words.fold(0, |all, (_, word)| all | word.represents)
        };
        let names = self.sought.words.iter().enumerate().filter(|(_, word)| word.is_name);
        let names = names.fold(0, |set, (at, _)| set | 1 << at);
        let ranking = Ranking::default();
        let (_, weights) = rank::weights(query, &ranking);
        let mut scanner = Scanner::new(query);
        let mut score = |piece: &PieceOfFile| {
            let mut parts = Parts::default();
            let path = rank::look_at_path(query, &mut scanner, piece.path, &mut parts);
            let (text, named) = (represented(piece.in_text), represented(piece.names));
            parts.set(Part::Path, query.share_of(path));
            parts.set(Part::Covers, query.share_of(text | path));
            parts.set(Part::Words, query.share_of(text));
            for part in [Part::Window, Part::FileCovers] {
                parts.set(part, query.share_of(text));
            }
            parts.set(Part::Name, OF_NAME * query.share_of(named));
            parts.set(Part::FileNames, query.share_of(named));
            if query.shape == QueryShape::Code && piece.names & names != 0 {
                parts.set(Part::Defines, 1.0);
            }
            let language = RepoPath::stored(piece.path).map_or("", |path| extract::language_of(&path));
            rank::look_at_category(query, PathCategory::of(piece.path, language), &mut parts);
            parts.score(weights)
        };
        pieces.iter().map(&mut score).collect()
    }
}

/// The corpus with words that occur elsewhere, too: in how many chunks each of what is sought does, of how many, and how much
/// of the query the best of them hold.
pub fn with_elsewhere<'s>(
    corpus: Corpus<'s>,
    sought: &Sought,
    counts: &[usize],
    chunks: u64,
    held: &[HeldByPiece],
) -> Corpus<'s> {
    let words =
        sought.words.iter().zip(counts).filter_map(|(word, count)| Some((candidates::asked_for(word)?, *count)));
    corpus.with_elsewhere(words.collect(), chunks, held)
}
