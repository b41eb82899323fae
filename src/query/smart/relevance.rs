//! How sure a hit is: a number from 0 to 1 that means the same for every question and every index.
//!
//! A ranking's score orders the hits of one question and says nothing of another's. Here only what stands on its own
//! counts: how much of the question a chunk holds, words that nothing has included, and how much nearer its meaning is than that
//! of texts which do not answer ([`super::usual`]). How much a word says is known from the table of vectors before it is known from
//! the index, so that five files are judged like five thousand. The weights for questions in words are fitted to known answers
//! and to random pairs by `fixtures/search/calibrate.py`, which also tells how well they do; those for names were chosen by hand,
//! and so were the biases: in code so that as many are lost as shown wrongly, in prose so that few are shown wrongly, since no
//! table of words tells all the answers that say it otherwise.

use super::candidates;
use super::deep::{self, Deep, LOOKED_AT, Likeness};
use super::meaning::Meaning;
use super::question::Question;
use super::rank::{self, Loaded, Ranked};
use super::scan::Scanner;
use super::usual::{self, HERE};
use super::weights::{Part, Ranking};
use super::{Among, Found, ranked};
use crate::budget::Budget;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::Result;
use crate::query::PathFilter;
use crate::store::{ChunkHit, ChunkId, Snapshot};

/// Declares what is known of a question and a chunk, each with its weights.
macro_rules! evidence {
    ($($(#[doc = $about:literal])+ $name:literal, $words:literal, $in_prose:literal, $of_name:literal;)*) => {
        /// What the numbers of an [`Evidence`] are.
        pub const NAMES: &[&str] = &[$($name),*];
        /// For a question in words, to code.
        const OF_WORDS: [f64; NAMES.len()] = [$($words),*];
        /// For one to prose, which says what is asked for in other words than the question's.
        const IN_PROSE: [f64; NAMES.len()] = [$($in_prose),*];
        /// For a name: one word, or words that only code has.
        const OF_NAME: [f64; NAMES.len()] = [$($of_name),*];
    };
}

evidence! {
    /// The cosine of the two vectors; that of a model of a person's choice is brought onto the table's scale first.
    "cosine", 0.0, 0.0, 8.0;
    /// How far that is beyond what is usual for the question among the texts of the index: see [`super::usual`].
    "beyond", 17.09, 17.94, 0.0;
    /// Whether that is by a model of a person's choice, which knows right from unrelated better than the table.
    "by a model", 0.3, 0.5, 0.0;
    /// The share of the question that stands in the chunk: its text, names, headings or path.
    "covers", 3.23, 4.23, 2.0;
    /// The share of the question that stands within a few lines.
    "window", 0.08, 2.38, 3.0;
    /// The share of the question that the names defined in the chunk and the headings above it make up.
    "names", 10.28, 0.0, 8.0;
    /// The share of the question that stands in the path.
    "path", 4.87, 0.0, 4.0;
    /// Neighbours in the question that are neighbours in the chunk.
    "phrase", 2.16, 3.97, 1.0;
    /// The same for every chunk.
    "bias", -4.0, -2.8, -4.5;
}

/// What a chunk is taken for whose vector is still to come, or whose question the table knows nothing of: less than texts
/// about one thing have in common, so that the words decide.
const UNKNOWN: Likeness = Likeness { cosine: 0.2, beyond: 0.08, by_model: false };

/// `the` stands in every text, and is answered by none.
const OF_NOTHING: f64 = 0.5;

/// How near a chunk must be that has no word of the question: the score will tell whether it answers.
const ANYTHING: f64 = 0.0;

/// What is known of a question and a chunk, each but the second and the last between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub known: [f64; NAMES.len()],
    pub is_name: bool,
    pub is_prose: bool,
}

/// Languages of chunks that are no code.
const PROSE: &[&str] =
    &["markdown", "restructuredtext", "text", "html", "pdf", "docx", "odt", "epub", "mail", "notebook"];

impl Evidence {
    fn of(question: &Question, found: &Ranked, likeness: Likeness) -> Self {
        let known = [
            likeness.cosine.max(0.0),
            likeness.beyond,
            f64::from(u8::from(likeness.by_model)),
            question.share_of(found.seen.all | found.names | found.path),
            found.seen.best_window_share(question),
            question.share_of(found.names),
            question.share_of(found.path),
            found.parts.of(Part::Phrase),
            1.0,
        ];
        Self { known, is_name: question.is_name(), is_prose: PROSE.contains(&found.chunk.language.as_str()) }
    }

    /// How likely it is that the chunk answers the question, where half of all do.
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

/// A chunk that may answer a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevant {
    pub id: ChunkId,
    pub score: f64,
    /// What the score is made of.
    pub evidence: Evidence,
    /// Its place in the order of all weights.
    pub place: usize,
}

/// What may answer a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// The surest first, and of what is as sure the best by all weights.
    pub chunks: Vec<Relevant>,
    /// Whether nothing that was found was left unjudged.
    pub complete: bool,
}

/// Where documents are asked for, they are no lesser hits than code.
fn ranking() -> Ranking {
    let mut ranking = Ranking::default();
    // A model is asked here by itself, of the surest.
    for part in [Part::Document, Part::Test, Part::Example, Part::Definition, Part::Transformer] {
        ranking.set(part.name(), 0.0);
    }
    ranking
}

/// What may answer `text`. A model's word on the surest counts instead of the table's, as far as there is time for it.
pub fn relevant(
    snapshot: &Snapshot,
    deep: Option<&Deep>,
    text: &str,
    filter: &PathFilter,
    budget: &Budget,
) -> Result<Judged> {
    if let Some(deep) = deep {
        deep.begin_scored();
    }
    let mut question = Question::of_words(text);
    let among = Among { filter, scope: None, least: ANYTHING, deep };
    let Found { ranked, complete } = ranked(&ranking(), snapshot, &mut question, among, budget)?;
    let ids: Vec<ChunkId> = ranked.iter().map(|found| found.id).collect();
    // To the table all texts of a language that it does not know are alike.
    let meaning = if question.is_foreign { None } else { Meaning::of_any(&question, snapshot)? };
    let (cosines, usual) = match meaning {
        Some(meaning) => (meaning.cosines(snapshot, &ids)?, meaning.usual(snapshot)?),
        None => (vec![None; ids.len()], None),
    };
    candidates::weigh_apart(snapshot, &mut question)?;
    // Two places say enough, and leave the order of what is as good to the ranking.
    let rounded = |score: f64| (score * 100.0).round() / 100.0;
    let meant = if question.says_nothing { OF_NOTHING } else { 1.0 };
    let judged = |at: usize, likeness: Option<Likeness>| {
        let evidence = Evidence::of(&question, &ranked[at], likeness.unwrap_or(UNKNOWN));
        Relevant { id: ids[at], score: rounded(evidence.score() * meant), evidence, place: at }
    };
    let by_table = |cosine: f64| Likeness { cosine, beyond: cosine - usual.unwrap_or_default(), by_model: false };
    let mut scored: Vec<Relevant> =
        cosines.iter().enumerate().map(|(at, cosine)| judged(at, cosine.map(by_table))).collect();
    let order = |scored: &mut Vec<Relevant>| {
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    };
    order(&mut scored);
    if let Some(deep) = deep {
        let surest: Vec<ChunkId> = scored.iter().map(|known| known.id).collect();
        let likeness = deep.likeness(snapshot, text, &surest, LOOKED_AT, usual)?;
        let nearest = likeness.iter().flatten().map(|one| one.cosine).fold(f64::MIN, f64::max);
        for (known, likeness) in scored.iter_mut().zip(likeness) {
            let Some(likeness) = likeness else { continue };
            let by_model = judged(known.place, Some(likeness));
            // Where both agree that it is the best, the surer of them is believed.
            if likeness.cosine < nearest || by_model.score >= known.score {
                *known = by_model;
            }
        }
        order(&mut scored);
    }
    Ok(Judged { chunks: scored, complete })
}

/// A text that may answer, of this index or of another.
#[derive(Clone, Debug)]
pub struct Passage {
    pub chunk: ChunkHit,
    /// Of the embedder that is judged.
    pub vector: Vector,
}

/// What is known of a question to this index and any passages, by an embedder: what the weights are fitted from. `around` are
/// some of the index.
pub fn evidence(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    text: &str,
    passages: &[Passage],
    around: &[Passage],
) -> Result<Vec<Evidence>> {
    let mut question = Question::of_words(text);
    question.add_others();
    candidates::weigh_apart(snapshot, &mut question)?;
    let is_table = embedder.space() == built_in().space();
    let asked = if is_table { question.written() } else { text.to_owned() };
    let vectors = embedder.embed(Purpose::Query, &[&asked])?;
    let onto_table = deep::onto_table(embedder);
    let cosine = |own: &Vector| vectors.first().map_or(0.0, |vector| f64::from(vector.cosine(own)));
    let here: Vec<f64> = around.iter().take(HERE).map(|passage| cosine(&passage.vector)).collect();
    let usual = vectors.first().and_then(|vector| usual::cosine(vector, embedder, &here)).unwrap_or_default();
    let brought =
        |cosine: f64| onto_table.as_ref().filter(|_| !is_table).map_or(cosine, |onto_table| onto_table(cosine));
    let likeness = |own: &Vector| {
        let cosine = brought(cosine(own));
        Likeness { cosine, beyond: cosine - brought(usual), by_model: !is_table }
    };
    let mut scanner = Scanner::new(&question);
    let judged = passages.iter().map(|Passage { chunk, vector: own }| {
        let found = rank::look_at(
            &question,
            &mut scanner,
            Loaded { id: ChunkId::default(), chunk: chunk.clone(), meaning: 0.0, is_meant: false, passes: false },
        );
        Evidence::of(&question, &found, likeness(own))
    });
    Ok(judged.collect())
}
