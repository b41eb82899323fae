//! The table of all weights of the ranking, and the switches for an evaluation.

use strum::VariantArray as _;
use strum_macros::{EnumString, IntoStaticStr, VariantArray};

/// Declares the parts of a score, each with its weights, as an enum and two tables.
macro_rules! weights {
    ($($(#[doc = $about:literal])+ $part:ident = $name:literal, $prose:literal, $messages:literal, $documents:literal, $code:literal;)*) => {
        /// Parts of a score. A part is between 0 and 1 before its weight.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part {
            $($(#[doc = $about])+ $part,)*
        }

        impl Part {
            pub const ALL: &[Self] = &[$(Self::$part),*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)*
                }
            }
        }

        /// The weights for a query in words.
        pub const PROSE: Weights = Weights([$($prose),*]);
        /// The weights for a message of a program, such as an error.
        pub const MESSAGES: Weights = Weights([$($messages),*]);
        /// The weights for words where next to no candidate is code.
        pub const DOCUMENTS: Weights = Weights([$($documents),*]);
        /// The weights for a name: one word, or words that only code has.
        pub const CODE: Weights = Weights([$($code),*]);
    };
}

weights! {
    /// BM25 of the chunk, of the best chunk's.
    Words = "words", 0.6, 1.0, 2.0, 1.5;
    /// How near the chunk's vector is to the query's, of the nearest one's.
    Semantic = "meaning", 0.6, 0.6, 3.0, 0.0;
    /// The chunk's similarity by the selected model among the best hits: from the farthest to the nearest.
    Transformer = "transformer", 2.0, 2.0, 2.0, 0.0;
    /// The chunk defines exactly a name that is asked for; of a plain word in prose, as much as the word is rare.
    Defines = "defines", 0.5, 0.5, 0.4, 2.0;
    /// The chunk defines a name that is asked for, with the same upper and lower case.
    Cased = "cased", 0.15, 0.05, 0.0, 0.3;
    /// The chunk defines the name inside the container that the query writes before it: `save` of `Model` for
    /// `Model.save`.
    Inside = "inside", 0.0, 0.0, 0.0, 2.0;
    /// The query, if it has punctuation that no name has, is in the chunk as it is written: `C++`, `a->b`.
    Verbatim = "verbatim", 1.0, 1.0, 1.0, 7.0;
    /// How much of a defined name the query's words make up, and of the query the name; the best one.
    Name = "name", 0.8, 0.05, 0.3, 0.6;
    /// The share of the query that the names defined in the chunk make up together.
    Names = "names", 0.0, 0.0, 0.0, 0.0;
    /// The share of the query that is in the chunk: its text, names or path.
    Covers = "covers", 0.5, 0.5, 0.8, 0.5;
    /// The share of the query that is in one line.
    Line = "line", 0.0, 0.05, 0.3, 0.3;
    /// The share of the query that is within a few lines.
    Window = "window", 0.8, 0.6, 0.3, 0.2;
    /// Neighbours in the query that are neighbours in the chunk.
    Phrase = "phrase", 0.4, 2.5, 0.8, 0.3;
    /// How much of the file's name the query's words make up, and of the query the file's name.
    FileName = "file_name", 1.5, 1.5, 1.0, 0.5;
    /// The share of the query that is in the path.
    Path = "path", 1.0, 1.0, 0.7, 0.3;
    /// How much other chunks of the file answer.
    File = "file", 0.9, 1.2, 0.0, 0.3;
    /// The share of the query that the candidates of the file hold together.
    FileCovers = "file_covers", 0.15, 0.3, 0.2, 0.1;
    /// The share of the query that the names defined in the candidates of the file make up.
    FileNames = "file_names", 0.8, 0.5, 0.4, 0.1;
    /// The chunk defines something.
    Definition = "definition", 0.0, 0.05, 0.0, 0.0;
    /// The name is that of a type or a function, more than of a variable or a field.
    Kind = "kind", 0.0, 0.0, 0.0, 0.4;
    /// How many files use the name that fits best.
    Central = "central", 0.0, 0.0, 0.0, 0.1;
    /// The file is of the category that the query asks for in words: tests, documents.
    Wanted = "wanted", 0.0, 0.0, 0.0, 0.4;
    /// The file is a test, and the query is not about tests.
    Test = "test", -2.0, -2.5, 0.0, -0.6;
    /// The file is a document, and the query is not about documents.
    Document = "document", -1.2, -2.0, 0.0, -0.6;
    /// The file is an example or a benchmark.
    Example = "example", -0.4, -0.4, 0.0, -0.4;
    /// The file is another project's, or made by a program.
    Foreign = "foreign", -1.0, -1.0, 0.0, -0.4;
    /// The file holds data or settings.
    Data = "data", -1.0, -1.0, 0.0, -0.4;
    /// Adjacent words of the query are the file's name together.
    StemJoined = "stem_joined", 0.1, 0.0, 0.0, 0.0;
    /// All words of a folder's name are in the query.
    Folder = "folder", 0.2, 0.05, 0.0, 0.0;
    /// The chunk defines a type whose name is one of the few words of the query.
    Type = "type", 1.5, 0.0, 0.0, 0.0;
    /// The words of the area are in the path: `parser` of `parser: …`.
    Area = "area", 0.6, 0.0, 0.0, 0.0;
    /// How near the name of a function or a type that the chunk defines is to a sentence, of the nearest one's.
    NameSimilarity = "name_similarity", 0.5, 0.0, 0.0, 0.0;
    /// How much commits about the query changed the file, of the file that they changed most.
    Votes = "votes", 0.8, 0.5, 0.0, 0.0;
    /// BM25 of the subjects of the commits that changed the file, of the best file's.
    Subjects = "subjects", 0.8, 0.5, 0.0, 0.0;
    /// The chunk passes the filters of a query that looks pasted.
    Filter = "filter", 3.0, 3.0, 3.0, 3.0;
}

/// A weight for each part, in the order of [`Part::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights([f64; Part::ALL.len()]);

impl Weights {
    pub fn get(&self, part: Part) -> f64 {
        self.0[part as usize]
    }

    pub fn set(&mut self, part: Part, weight: f64) {
        self.0[part as usize] = weight;
    }

    /// Weights only for these parts; the others have none.
    pub fn only(&self, parts: &[Part]) -> Self {
        let mut alone = Self([0.0; Part::ALL.len()]);
        parts.iter().for_each(|&part| alone.set(part, self.get(part)));
        alone
    }
}

/// The parts of one score before their weights, in the order of [`Part::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts([f64; Part::ALL.len()]);

impl Default for Parts {
    fn default() -> Self {
        Self([0.0; Part::ALL.len()])
    }
}

impl Parts {
    pub fn get(&self, part: Part) -> f64 {
        self.0[part as usize]
    }

    pub fn set(&mut self, part: Part, value: f64) {
        self.0[part as usize] = value;
    }

    pub fn score(&self, weights: &Weights) -> f64 {
        self.0.iter().zip(weights.0).map(|(part, weight)| part * weight).sum()
    }

    /// Share of each part in the score; parts that add nothing are left out.
    pub fn shares(&self, weights: &Weights) -> Vec<(&'static str, f64)> {
        let shares = Part::ALL.iter().map(|&part| (part.name(), self.get(part) * weights.get(part)));
        shares.filter(|(_, share)| *share != 0.0).collect()
    }
}

/// A stage of the ranking that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum RankingStage {
    /// Candidates: chunks by their words.
    Words,
    /// Candidates: chunks that define a name that is asked for, however common it is as a word.
    Names,
    /// Other words for those of the query: `dir` for directory.
    #[strum(serialize = "alike")]
    Synonyms,
    /// Candidates: chunks whose vectors are near the query's.
    #[strum(serialize = "meaning")]
    Semantic,
    /// Candidates and their order: files that commits about the query changed.
    History,
    /// The order of candidates by all weights; without it, by those of words and vectors.
    Rerank,
    /// Candidates and their order by the selected model, if there is one.
    Transformer,
}

impl RankingStage {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// Stages of the ranking that belong together, by the name that an evaluation prints.
pub const ARMS: &[(&str, &[RankingStage])] = &[
    ("bm25", &[RankingStage::Words, RankingStage::Names, RankingStage::Synonyms]),
    ("vector", &[RankingStage::Semantic]),
    ("history", &[RankingStage::History]),
    ("rerank", &[RankingStage::Rerank]),
    ("transformer", &[RankingStage::Transformer]),
];

/// How a query is answered: the program's own way, or one that an evaluation compares it with.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    pub prose: Weights,
    pub messages: Weights,
    pub documents: Weights,
    /// For long queries about documents.
    pub long: Weights,
    pub code: Weights,
    pub arms: Vec<RankingStage>,
}

/// The weights for a long query about documents. The vector of many words is close to every text about the subject, so the words
/// themselves count for more. Few texts contain all of them, so the share that a text contains, and their order, add nothing.
fn long() -> Weights {
    let mut weights = DOCUMENTS;
    for (part, weight) in [(Part::Semantic, 1.0), (Part::Words, 3.0), (Part::Covers, 0.0), (Part::Phrase, 0.0)] {
        weights.set(part, weight);
    }
    weights
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            prose: PROSE,
            messages: MESSAGES,
            documents: DOCUMENTS,
            long: long(),
            code: CODE,
            arms: RankingStage::VARIANTS.to_vec(),
        }
    }
}

impl Ranking {
    pub fn has(&self, arm: RankingStage) -> bool {
        self.arms.contains(&arm)
    }

    /// Changes the weight of a part for all kinds of queries, or for one: `words`, `prose.words`, `messages.words`,
    /// `documents.words`, `long.words`, `code.words`. `false` where there is no such part.
    pub fn set(&mut self, name: &str, weight: f64) -> bool {
        let (sort, part) = name.split_once('.').map_or((None, name), |(sort, part)| (Some(sort), part));
        let Some(part) = Part::ALL.iter().copied().find(|known| known.name() == part) else { return false };
        let all = [
            ("prose", &mut self.prose),
            ("messages", &mut self.messages),
            ("documents", &mut self.documents),
            ("long", &mut self.long),
            ("code", &mut self.code),
        ];
        let mut known = false;
        for (_, weights) in all.into_iter().filter(|(own, _)| sort.is_none_or(|sort| sort == *own)) {
            weights.set(part, weight);
            known = true;
        }
        known
    }
}
