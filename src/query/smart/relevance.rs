//! Relevance scores: a number from 0 to 1 that is comparable between queries and indexes.
//!
//! A ranking's score orders the hits of one query and is not comparable with another's. Here only absolute evidence
//! counts: how much of the query a chunk holds (words that no text has count, too), and how far its similarity is above
//! the background similarity ([`super::background`]). The weight of a word comes from the static embeddings before it
//! comes from the index, so that five files are judged like five thousand. The weights for queries in words were fitted to
//! known answers and to random pairs (`fixtures/search/README.md`). The weights for names were chosen by hand. So were
//! the biases: in code, as many answers are lost as unrelated texts are shown; in
//! prose, few unrelated texts are shown, since static embeddings miss answers in other words.

use super::candidates;
use super::parsed_query::ParsedQuery;
use super::rank::RankedCandidate;
use super::rerank::{LOOKED_AT, Reranker, Similarity};
use super::semantic::SemanticQuery;
use super::weights::{Part, Ranking, RankingStage};
use super::{RankedCandidates, SearchScope, ranked};
use crate::budget::Budget;
use crate::error::Result;
use crate::query::PathFilter;
use crate::query::corpus::{ChunkAt, Corpus};
use crate::store::ChunkId;

/// Weights of the evidence that a chunk answers a query: for a query in words to code, for one to prose (which says what is asked for in
/// other words than the query's), and for a name: one word, or words that only code has.
const WEIGHTS: [[f64; 3]; 9] = [
    // The cosine of the two vectors; that of the selected model is mapped to the scale of the static embeddings first.
    [0.0, 0.0, 8.0],
    // How far that is above the background similarity of the query among the texts of the index: see `background`.
    [17.09, 17.94, 0.0],
    // Whether that is by the selected model, which separates answers from unrelated texts better than static embeddings.
    [0.3, 0.5, 0.0],
    // The share of the query that is in the chunk: its text, names, headings or path.
    [3.23, 4.23, 2.0],
    // The share of the query that is within a few lines.
    [0.08, 2.38, 3.0],
    // The share of the query that the names defined in the chunk and the headings above it make up.
    [10.28, 0.0, 8.0],
    // The share of the query that is in the path.
    [4.87, 0.0, 4.0],
    // Neighbours in the query that are neighbours in the chunk.
    [2.16, 3.97, 1.0],
    // A constant, equal for every chunk.
    [-4.0, -2.8, -4.5],
];

/// Similarity of a chunk whose vector is still to come, or whose query the static embeddings do not know: less than
/// that of texts about one subject, so that the words decide.
const UNKNOWN: Similarity = Similarity { cosine: 0.2, beyond: 0.08, by_model: false };

/// `the` is in every text, and is answered by none.
const OF_NOTHING: f64 = 0.5;

/// How near a chunk must be that has no word of the query: the score will tell whether it answers.
const ANYTHING: f64 = 0.0;

/// Languages of chunks that are not code.
const PROSE: &[&str] =
    &["markdown", "restructuredtext", "text", "html", "pdf", "docx", "odt", "epub", "mail", "notebook"];

pub(super) fn is_prose(language: &str) -> bool {
    PROSE.contains(&language)
}

/// How likely it is that the chunk answers the query, where half of all do.
fn score(query: &ParsedQuery, found: &RankedCandidate, likeness: Similarity) -> f64 {
    let evidence: [f64; WEIGHTS.len()] = [
        likeness.cosine.max(0.0),
        likeness.beyond,
        f64::from(u8::from(likeness.by_model)),
        query.share_of(found.seen.all | found.names | found.path),
        found.seen.best_window_share(query),
        query.share_of(found.names),
        query.share_of(found.path),
        found.parts.get(Part::Phrase),
        1.0,
    ];
    let column = match (query.is_name(), is_in_prose(found)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    let sum: f64 = evidence.iter().zip(WEIGHTS).map(|(known, weights)| known * weights[column]).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// A chunk that may answer a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevant {
    pub id: ChunkAt,
    pub score: f64,
    /// Rank by all weights.
    pub rank: usize,
}

/// Chunks that may answer a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelevantChunks {
    /// By score, and equal scores by all weights.
    pub chunks: Vec<Relevant>,
    /// Whether everything that was found was scored.
    pub complete: bool,
}

/// For documents, the ranking has no penalty for documents.
fn ranking() -> Ranking {
    let mut ranking = Ranking::default();
    // The model reranks separately here.
    for part in [Part::Document, Part::Test, Part::Example, Part::Definition, Part::Transformer] {
        ranking.set(part.name(), 0.0);
    }
    // A message says what was changed, not what a passage says.
    ranking.arms.retain(|stage| *stage != RankingStage::History);
    ranking
}

/// Chunks that may answer `text`. The selected model reranks the best ones, as far as there is time.
pub fn relevant(
    corpus: &Corpus,
    reranker: Option<&Reranker>,
    text: &str,
    filter: &PathFilter,
    budget: &Budget,
) -> Result<RelevantChunks> {
    if let Some(reranker) = reranker {
        reranker.begin_scored();
    }
    let mut query = ParsedQuery::from_words(text);
    let among = SearchScope { least: ANYTHING, by_rare_words: true, ..SearchScope::new(filter, reranker) };
    let RankedCandidates { ranked, complete, .. } = ranked(&ranking(), corpus, &mut query, among, budget)?;
    let ids: Vec<ChunkAt> = ranked.iter().map(|found| found.id).collect();
    let (known, background) = similarities(corpus, &query, &ranked)?;
    candidates::weigh_by_static_embeddings(corpus, &mut query)?;
    // Two decimals are enough, and leave the order of equally good ones to the ranking.
    let rounded = |score: f64| (score * 100.0).round() / 100.0;
    let meant = if query.says_nothing { OF_NOTHING } else { 1.0 };
    let judged = |at: usize, likeness: Option<Similarity>| {
        let score = score(&query, &ranked[at], likeness.unwrap_or(UNKNOWN));
        Relevant { id: ids[at], score: rounded(score * meant), rank: at }
    };
    let mut scored: Vec<Relevant> = known.into_iter().enumerate().map(|(at, known)| judged(at, known)).collect();
    let order = |scored: &mut Vec<Relevant>| {
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.rank.cmp(&b.rank)));
    };
    order(&mut scored);
    if query.is_long_of_documents() {
        by_rank(&mut scored);
    }
    if let Some((reranker, source)) = reranker.zip(corpus.only()) {
        let surest: Vec<ChunkId> = scored.iter().map(|known| known.id.id).collect();
        let likeness = reranker.likeness(source, text, &surest, LOOKED_AT, background)?;
        let nearest = likeness.iter().flatten().map(|one| one.cosine).fold(f64::MIN, f64::max);
        for (known, likeness) in scored.iter_mut().zip(likeness) {
            let Some(likeness) = likeness else { continue };
            let by_model = judged(known.rank, Some(likeness));
            // If both agree that it is the best, the higher score counts.
            if likeness.cosine < nearest || by_model.score >= known.score {
                *known = by_model;
            }
        }
        order(&mut scored);
    }
    Ok(RelevantChunks { chunks: scored, complete })
}

/// Orders chunks by their rank and assigns the scores in that order: the scores decide how many chunks answer, the ranking decides
/// which.
fn by_rank(scored: &mut [Relevant]) {
    let scores: Vec<f64> = scored.iter().map(|one| one.score).collect();
    scored.sort_by_key(|one| one.rank);
    scored.iter_mut().zip(scores).for_each(|(one, score)| one.score = score);
}

/// How similar hits are to a query, by the static embeddings: prose by the query's rare words, code by all of them. And
/// the background similarity of the query.
fn similarities(
    corpus: &Corpus,
    query: &ParsedQuery,
    hits: &[RankedCandidate],
) -> Result<(Vec<Option<Similarity>>, Option<f64>)> {
    let mut known = vec![None; hits.len()];
    // To the static embeddings all texts of a language that they do not know are the same.
    if query.is_foreign {
        return Ok((known, None));
    }
    let plain = SemanticQuery::embed_any(query, corpus)?;
    let rare = SemanticQuery::embed_rare(query, corpus)?;
    let background = plain.as_ref().map(|semantic| semantic.background(corpus)).transpose()?.flatten();
    for by_rare_words in [false, true] {
        let here = hits.iter().enumerate().filter(|(_, hit)| (rare.is_some() && is_in_prose(hit)) == by_rare_words);
        let (places, ids): (Vec<usize>, Vec<ChunkAt>) = here.map(|(at, hit)| (at, hit.id)).unzip();
        let Some(semantic) = (if by_rare_words { &rare } else { &plain }) else { continue };
        let background = if by_rare_words { semantic.background(corpus)? } else { background }.unwrap_or_default();
        for (at, cosine) in places.into_iter().zip(semantic.cosines(corpus, &ids)?) {
            known[at] = cosine.map(|cosine| Similarity { cosine, beyond: cosine - background, by_model: false });
        }
    }
    Ok((known, background))
}

fn is_in_prose(hit: &RankedCandidate) -> bool {
    is_prose(&hit.chunk.language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_decide_the_order_and_leave_the_scores() {
        let one = |score, rank| Relevant { id: ChunkAt::default(), score, rank };
        let mut scored = [one(0.9, 2), one(0.6, 0), one(0.2, 1)];
        by_rank(&mut scored);
        assert_eq!(scored.map(|one| (one.rank, one.score)), [(0, 0.9), (1, 0.6), (2, 0.2)]);
    }

    #[test]
    fn a_long_query_of_documents_has_many_content_words() {
        let is_long = |text: &str, is_of_documents: bool| {
            let mut query = ParsedQuery::from_words(text);
            query.is_of_documents = is_of_documents;
            query.is_long_of_documents()
        };
        let long = "what problems of heat conduction in composite slabs have been solved so far by numerical methods";
        assert!(is_long(long, true));
        assert!(!is_long(long, false));
        assert!(!is_long("how do I make all of my songs equally loud", true));
    }
}
