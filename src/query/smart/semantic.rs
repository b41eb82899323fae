//! Semantic search: a query's vector, the chunks near it, and their similarity.
//!
//! Names are not searched for semantically: static embeddings know only their parts, and the words find those.

use std::collections::HashSet;

use super::background;
use super::parsed_query::{ParsedQuery, QueryShape};
use super::rarity::rarity_here;
use crate::embed::{Comparison, Embedder, Purpose, Vector, built_in};
use crate::error::{Error, Result};
use crate::query::corpus::{ChunkAt, Corpus, CorpusScope, Spaces};
use crate::store::SpaceKey;

/// Texts about different topics have at most this similarity.
pub(super) const LEAST: f64 = 0.3;

/// Vectors that are computed for one query at most: some milliseconds.
const MAX_COMPUTED: usize = 400;

/// The exponent of a word's rarity in a large index, and the number of chunks at which half of it applies: in an index of a
/// few texts, words are rare by chance.
const STEEP: f64 = 3.0;
const HALF: f64 = 200.0;
/// A name has at least this similarity to a query that it may answer.
const LEAST_OF_NAME: f64 = 0.2;
/// With as few words as the first, names do not count by their similarity; with as many as the second they count fully.
const WORDS_OF_SENTENCE: (u32, u32) = (2, 5);

/// A query's vector in the space that the indexes have, if anything is embedded in it.
pub(super) struct SemanticQuery {
    spaces: Option<Spaces>,
    vector: Vector,
}

impl SemanticQuery {
    /// `None` for a name, and for words that the model does not know.
    pub(super) fn embed(query: &ParsedQuery, corpus: &Corpus) -> Result<Option<Self>> {
        if query.is_name() { Ok(None) } else { Self::embed_any(query, corpus) }
    }

    /// Embeds any query, also a name; `None` for words that the model does not know.
    pub(super) fn embed_any(query: &ParsedQuery, corpus: &Corpus) -> Result<Option<Self>> {
        Self::from_vector(corpus, || Self::vector_of(query))
    }

    /// Embeds a query with its words weighted by their rarity in the corpus: in a manual about music, `record` and
    /// `song` distinguish no text from another. Code is better found by what all words mean together.
    pub(super) fn embed_rare(query: &ParsedQuery, corpus: &Corpus) -> Result<Option<Self>> {
        if query.is_name() {
            return Ok(None);
        }
        Self::from_vector(corpus, || Self::rare_vector_of(query, corpus))
    }

    fn from_vector(corpus: &Corpus, vector: impl FnOnce() -> Result<Vector>) -> Result<Option<Self>> {
        let named = built_in().space();
        let key = SpaceKey { model: &named.model, hash: &named.hash, dimension: named.dimension };
        let vector = vector()?;
        if vector.is_zero() {
            return Ok(None);
        }
        Ok(Some(Self { spaces: corpus.spaces(&key)?, vector }))
    }

    pub(super) fn rare_vector_of(query: &ParsedQuery, corpus: &Corpus) -> Result<Vector> {
        let mut words = Vec::with_capacity(query.words.len());
        for word in &query.words {
            let (rarity, all) = rarity_here(corpus, word)?;
            #[expect(clippy::cast_possible_truncation, reason = "a weight needs no more")]
            words.push((word.text.as_str(), rarity.powf(STEEP * all * all / all.mul_add(all, HALF * HALF)) as f32));
        }
        Ok(built_in().embed_weighed(&words))
    }

    /// The vector of a query's words.
    pub(super) fn vector_of(query: &ParsedQuery) -> Result<Vector> {
        let vector = built_in().embed(Purpose::Query, &[&query.written()])?.into_iter().next();
        vector.ok_or_else(|| Error::internal("the static embeddings returned no vector"))
    }

    /// Vector to compare names with; `None` unless the query is a sentence.
    pub(super) fn of_names(&self, query: &ParsedQuery) -> Option<Vector> {
        (query.shape == QueryShape::Prose).then(|| self.vector.clone())
    }

    /// The nearest chunks in scope with at least this similarity, nearest first.
    pub(super) fn nearest(
        &self,
        corpus: &Corpus,
        most: (usize, f64),
        scope: Option<&CorpusScope>,
    ) -> Result<Vec<ChunkAt>> {
        Ok(self.nearest_while(corpus, most, scope, || Ok(()))?.0)
    }

    /// Finds the nearest chunks in scope with at least this similarity, nearest first, while `meanwhile` runs.
    pub(super) fn nearest_while<T>(
        &self,
        corpus: &Corpus,
        (limit, least): (usize, f64),
        scope: Option<&CorpusScope>,
        meanwhile: impl FnOnce() -> Result<T>,
    ) -> Result<(Vec<ChunkAt>, T)> {
        let Some(spaces) = &self.spaces else { return Ok((Vec::new(), meanwhile()?)) };
        let (near, done) = corpus.nearest_while(spaces, self.vector.components(), limit, scope, meanwhile)?;
        Ok((near.into_iter().filter(|(_, cosine)| *cosine >= least).map(|(chunk, _)| chunk).collect(), done))
    }

    /// How near chunks are, by the angle; `None` for those without a vector. The vectors that are still to be stored are
    /// computed here.
    pub(super) fn cosines(&self, corpus: &Corpus, chunks: &[ChunkAt]) -> Result<Vec<Option<f64>>> {
        let mut cosines = match &self.spaces {
            Some(spaces) => corpus.cosines(spaces, self.vector.components(), chunks)?,
            None => vec![None; chunks.len()],
        };
        let missing: Vec<usize> = (0..chunks.len()).filter(|at| cosines[*at].is_none()).take(MAX_COMPUTED).collect();
        let texts = corpus.texts_to_embed(&missing.iter().map(|at| chunks[*at]).collect::<Vec<_>>())?;
        let known: Vec<(usize, &str)> =
            missing.into_iter().zip(&texts).filter_map(|(at, text)| Some((at, text.as_deref()?))).collect();
        if !known.is_empty() {
            let vectors =
                built_in().embed(Purpose::Passage, &known.iter().map(|(_, text)| *text).collect::<Vec<_>>())?;
            for ((at, _), vector) in known.iter().zip(vectors).filter(|(_, vector)| !vector.is_zero()) {
                cosines[*at] = Some(f64::from(self.vector.cosine(&vector)));
            }
        }
        Ok(cosines)
    }

    /// How near a text is, by its vector.
    pub(super) fn cosine(&self, vector: &Vector) -> f64 {
        f64::from(self.vector.cosine(vector))
    }

    /// The background similarity of the query in this index.
    pub(super) fn background(&self, corpus: &Corpus) -> Result<Option<f64>> {
        let here = match &self.spaces {
            Some(spaces) => corpus.some_cosines(spaces, self.vector.components(), background::HERE)?,
            None => Vec::new(),
        };
        Ok(background::cosine(&self.vector, built_in(), &here))
    }

    /// How near chunks are, 0 to 1: 1 for the nearest, 0 for what has nothing in common with the query.
    pub(super) fn shares(&self, corpus: &Corpus, chunks: &[ChunkAt]) -> Result<Vec<f64>> {
        let cosines = self.cosines(corpus, chunks)?;
        let above: Vec<f64> = cosines.into_iter().map(|cosine| (cosine.unwrap_or_default() - LEAST).max(0.0)).collect();
        let most = above.iter().copied().fold(0.0, f64::max);
        Ok(above.into_iter().map(|above| if most > 0.0 { above / most } else { 0.0 }).collect())
    }
}

/// How much nearer to a query each occurrence of a word makes a text, before the length of the text's vector.
pub(super) fn nearer_by(word: &str, query: &Vector) -> f64 {
    let vector = built_in().embed_weighed(&[(word, 1.0)]);
    built_in().weight(word).unwrap_or_default() * f64::from(vector.cosine(query)).max(0.0)
}

/// How near texts without a chunk are, as [`SemanticQuery::shares`] has it, and whether they are among the `most`
/// nearest ones; and the least similarity among these, if there are `most`.
pub(super) fn shares_of_texts(query: &Vector, texts: &[&str], most: usize) -> (Vec<(f64, bool)>, f64) {
    let cosines = |texts: &[&str]| -> Vec<f64> {
        let mut comparison = built_in().comparison(query);
        texts.iter().map(|text| comparison.cosine(text)).collect()
    };
    let (some, rest) = texts.split_at(texts.len() / 2);
    let all: Vec<f64> = std::thread::scope(|scope| {
        let rest = scope.spawn(|| cosines(rest));
        let mut all = cosines(some);
        all.extend(rest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        all
    });
    let mut nearest: Vec<usize> = (0..all.len()).filter(|at| all[*at] >= LEAST).collect();
    nearest.sort_by(|a, b| all[*b].total_cmp(&all[*a]));
    let best = nearest.first().map_or(0.0, |at| all[*at] - LEAST);
    let share = |cosine: f64| if best > 0.0 { (cosine - LEAST).max(0.0) / best } else { 0.0 };
    nearest.truncate(most);
    let least = nearest.get(most - 1).map_or(0.0, |at| all[*at]);
    let nearest: HashSet<usize> = nearest.into_iter().collect();
    (all.iter().enumerate().map(|(at, cosine)| (share(*cosine), nearest.contains(&at))).collect(), least)
}

/// How near a name is to a query, from 0.
pub(super) fn of_name(name: &str, query: &mut Comparison) -> f64 {
    (query.cosine(name) - LEAST_OF_NAME).max(0.0)
}

/// How sentence-like a query with this many content words is (0–1). Short queries are treated as names.
pub(super) fn sentence(words: u32) -> f64 {
    let (least, most) = WORDS_OF_SENTENCE;
    f64::from(words.clamp(least, most) - least) / f64::from(most - least)
}
