//! Relevance scores: a number from 0 to 1 that is comparable between queries and indexes.
//!
//! A ranking's score orders the hits of one query and is not comparable with another's. Here only absolute evidence
//! counts: how much of the query a chunk holds (words that no text has count, too), and how far its similarity is above
//! the background similarity ([`super::background`]). The weight of a word comes from the static embeddings before it
//! comes from the index, so that five files are judged like five thousand. `fixtures/search/calibrate.py` fits the
//! weights for queries in words to known answers and to random pairs, and reports how well they work. The weights for
//! names were chosen by hand. So were the biases: in code, as many answers are lost as unrelated texts are shown; in
//! prose, few unrelated texts are shown, since static embeddings miss answers in other words.

use super::background::{self, HERE};
use super::candidates;
use super::names::NameReader;
use super::parsed_query::ParsedQuery;
use super::path_category::PathCategory;
use super::rank::{self, LoadedCandidate, RankedCandidate};
use super::rerank::{self, LOOKED_AT, Reranker, Similarity};
use super::scan::Scanner;
use super::semantic::SemanticQuery;
use super::weights::{Part, Ranking, RankingStage};
use super::{RankedCandidates, SearchScope, ranked};
use crate::budget::Budget;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::Result;
use crate::query::PathFilter;
use crate::query::corpus::{ChunkAt, Corpus};
use crate::store::{ChunkHit, ChunkId};

/// Declares the evidence for a chunk, each with its weights.
macro_rules! evidence {
    ($($(#[doc = $about:literal])+ $name:literal, $words:literal, $in_prose:literal, $of_name:literal;)*) => {
        /// Names of the numbers of an [`Evidence`].
        pub const NAMES: &[&str] = &[$($name),*];
        /// For a query in words, to code.
        const OF_WORDS: [f64; NAMES.len()] = [$($words),*];
        /// For one to prose, which says what is asked for in other words than the query's.
        const IN_PROSE: [f64; NAMES.len()] = [$($in_prose),*];
        /// For a name: one word, or words that only code has.
        const OF_NAME: [f64; NAMES.len()] = [$($of_name),*];
    };
}

evidence! {
    /// The cosine of the two vectors; that of the selected model is mapped to the scale of the static embeddings first.
    "cosine", 0.0, 0.0, 8.0;
    /// How far that is above the background similarity of the query among the texts of the index: see
    /// [`super::background`].
    "beyond", 17.09, 17.94, 0.0;
    /// Whether that is by the selected model, which separates answers from unrelated texts better than static
    /// embeddings.
    "by a model", 0.3, 0.5, 0.0;
    /// The share of the query that is in the chunk: its text, names, headings or path.
    "covers", 3.23, 4.23, 2.0;
    /// The share of the query that is within a few lines.
    "window", 0.08, 2.38, 3.0;
    /// The share of the query that the names defined in the chunk and the headings above it make up.
    "names", 10.28, 0.0, 8.0;
    /// The share of the query that is in the path.
    "path", 4.87, 0.0, 4.0;
    /// Neighbours in the query that are neighbours in the chunk.
    "phrase", 2.16, 3.97, 1.0;
    /// A constant, equal for every chunk.
    "bias", -4.0, -2.8, -4.5;
}

/// Similarity of a chunk whose vector is still to come, or whose query the static embeddings do not know: less than
/// that of texts about one subject, so that the words decide.
const UNKNOWN: Similarity = Similarity { cosine: 0.2, beyond: 0.08, by_model: false };

/// `the` is in every text, and is answered by none.
const OF_NOTHING: f64 = 0.5;

/// How near a chunk must be that has no word of the query: the score will tell whether it answers.
const ANYTHING: f64 = 0.0;

/// The evidence that a chunk answers a query, each but the second and the last between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub known: [f64; NAMES.len()],
    pub is_name: bool,
    pub is_prose: bool,
}

/// Languages of chunks that are not code.
const PROSE: &[&str] =
    &["markdown", "restructuredtext", "text", "html", "pdf", "docx", "odt", "epub", "mail", "notebook"];

pub(super) fn is_prose(language: &str) -> bool {
    PROSE.contains(&language)
}

impl Evidence {
    fn new(query: &ParsedQuery, found: &RankedCandidate, likeness: Similarity) -> Self {
        let known = [
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
        Self { known, is_name: query.is_name(), is_prose: is_prose(&found.chunk.language) }
    }

    /// How likely it is that the chunk answers the query, where half of all do.
    pub fn score(&self) -> f64 {
        let weights = match (self.is_name, self.is_prose) {
            (true, _) => OF_NAME,
            (false, true) => IN_PROSE,
            (false, false) => OF_WORDS,
        };
        let sum: f64 = self.known.iter().zip(weights).map(|(known, weight)| known * weight).sum();
        1.0 / (1.0 + (-sum).exp())
    }
}

/// A chunk that may answer a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevant {
    pub id: ChunkAt,
    pub score: f64,
    /// The numbers that the score is computed from.
    pub evidence: Evidence,
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
        let evidence = Evidence::new(&query, &ranked[at], likeness.unwrap_or(UNKNOWN));
        Relevant { id: ids[at], score: rounded(evidence.score() * meant), evidence, rank: at }
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

/// A text that may answer, of this index or of another.
#[derive(Clone, Debug)]
pub struct Passage {
    pub chunk: ChunkHit,
    /// Vector by the embedder that is judged.
    pub vector: Vector,
}

/// The evidence for a query and any passages, by an embedder: the weights are fitted from it. `around`
/// are some of the index.
pub fn evidence(
    corpus: &Corpus,
    embedder: &dyn Embedder,
    text: &str,
    passages: &[Passage],
    around: &[Passage],
) -> Result<Vec<Evidence>> {
    let mut query = ParsedQuery::from_words(text);
    query.add_others();
    candidates::weigh_by_static_embeddings(corpus, &mut query)?;
    let is_table = embedder.space() == built_in().space();
    let asked = if is_table { query.written() } else { text.to_owned() };
    let all = embedder.embed(Purpose::Query, &[&asked])?.into_iter().next();
    let rare = if is_table && !query.is_name() { Some(SemanticQuery::rare_vector_of(&query, corpus)?) } else { None };
    let onto_table = rerank::onto_table(embedder);
    let cosine = |asked: Option<&Vector>, own: &Vector| asked.map_or(0.0, |asked| f64::from(asked.cosine(own)));
    let background = |asked: Option<&Vector>| {
        let here: Vec<f64> = around.iter().take(HERE).map(|passage| cosine(asked, &passage.vector)).collect();
        asked.and_then(|asked| background::cosine(asked, embedder, &here)).unwrap_or_default()
    };
    let brought =
        |cosine: f64| onto_table.as_ref().filter(|_| !is_table).map_or(cosine, |onto_table| onto_table(cosine));
    let likeness = |asked: Option<&Vector>, background: f64, own: &Vector| {
        let cosine = brought(cosine(asked, own));
        Similarity { cosine, beyond: cosine - brought(background), by_model: !is_table }
    };
    let (background_of_all, background_of_rare) = (background(all.as_ref()), background(rare.as_ref()));
    let (mut scanner, mut names) = (Scanner::new(&query), NameReader::new(&query));
    let judged = passages.iter().map(|Passage { chunk, vector: own }| {
        let found = rank::look_at(
            &query,
            &mut scanner,
            &mut names,
            LoadedCandidate {
                id: ChunkAt::default(),
                chunk: chunk.clone(),
                category: PathCategory::classify(&chunk.path, &chunk.language),
                semantic: 0.0,
                is_qualified: false,
                passes: false,
            },
        );
        let likeness = match &rare {
            Some(rare) if is_in_prose(&found) => likeness(Some(rare), background_of_rare, own),
            _ => likeness(all.as_ref(), background_of_all, own),
        };
        Evidence::new(&query, &found, likeness)
    });
    Ok(judged.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_decide_the_order_and_leave_the_scores() {
        let evidence = Evidence { known: [0.0; NAMES.len()], is_name: false, is_prose: true };
        let one = |score, rank| Relevant { id: ChunkAt::default(), score, evidence, rank };
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
