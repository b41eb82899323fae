//! Parsing of a query: its words, and its filters.

use std::collections::HashSet;

use super::filters::{self, FilterRole, Filters};
use super::stop::{Language, says_nothing, says_nothing_alone};
use crate::error::Result;
use crate::store::{FtsQuery, Snapshot};
use crate::words;

/// Tokens of a query that count; the rest of a pasted page adds nothing.
const MAX_TERMS: usize = 48;
/// Distinct words that are looked for: a set of them fits one integer.
pub(super) const MAX_WORDS: usize = 64;

/// Words by which a query asks for tests, and for documents.
const ABOUT_TESTS: &[&str] = &["tests", "unittest", "unittests", "testcase", "testcases"];
const ABOUT_DOCUMENTS: &[&str] = &["docs", "documentation", "readme", "tutorial", "changelog", "guide", "manual"];

/// A qualified name has at most so many parts.
const MOST_QUALIFIED: usize = 5;

/// Punctuation that no sentence and no qualified name has.
const PUNCTUATION: &[char] = &['#', '+', '>', '<', '=', '&', '|', '@', '$', '%', '^', '*', '~', '{', '[', '\\'];

/// Whether a query is a name or a sentence: they are weighed differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum QueryShape {
    Code,
    #[default]
    Prose,
}

/// A parsed query.
#[derive(Debug, Default)]
pub(super) struct ParsedQuery {
    pub terms: Vec<Term>,
    /// The stems of all terms and of their parts, each once, in order.
    pub words: Vec<Word>,
    pub shape: QueryShape,
    /// It has only function words.
    pub says_nothing: bool,
    /// In a language that the static embeddings do not know, as far as its function words show.
    pub is_foreign: bool,
    pub about_tests: bool,
    pub about_documents: bool,
    /// Next to no candidate is code: see [`super::CODE_IN_DOCUMENTS`].
    pub is_of_documents: bool,
    /// All terms written together: `query set` is `queryset`.
    pub joined: String,
    /// The text in lower case, if it has punctuation that adds to its words.
    pub verbatim: Option<String>,
    /// Filters that hits must pass.
    pub filters: Filters,
    /// Filters that only raise the score of hits that pass: those of a text that looks pasted.
    pub raises: Filters,
    /// Warnings about filters that match nothing.
    pub unmatched: Vec<String>,
    /// Whether the text looks pasted: then filters that match nothing are text.
    pub is_pasted: bool,
    /// The text without its named filters.
    pub rest: String,
    /// Whether nothing but filters and exclusions was written.
    has_no_text: bool,
}

/// One token that is asked for.
#[derive(Debug)]
pub(super) struct Term {
    pub written: String,
    /// In lowercase without accents.
    pub text: String,
    /// The indexes of its words in [`ParsedQuery::words`]: one for a plain word, its parts for a compound one.
    pub words: Vec<usize>,
    /// An article or the like of another language than English, among content words.
    is_filler: bool,
}

impl Term {
    /// As the index has the whole token.
    pub fn whole(&self) -> String {
        self.written.to_lowercase()
    }

    pub fn is_compound(&self) -> bool {
        self.words.len() > 1
    }
}

/// A word to look for in names, paths and text.
#[derive(Debug)]
pub(super) struct Word {
    /// In lowercase without accents.
    pub text: String,
    pub stem: String,
    /// Stems of other words for it, once they were looked up.
    pub others: Vec<String>,
    /// Its weight: rare words have more. 0 for a function word. Set from the index.
    pub weight: f64,
    pub is_stop: bool,
}

impl Word {
    /// What to ask the FTS for it.
    pub fn asked(&self) -> Option<FtsQuery> {
        asked(&self.text)
    }
}

/// What to ask the FTS for a word.
pub(super) fn asked(word: &str) -> Option<FtsQuery> {
    if words::is_letter(word) { FtsQuery::prefix(word) } else { FtsQuery::phrase(word) }
}

/// The words of a token, in lowercase without accents.
fn parts_of(token: &str) -> Vec<String> {
    if token.is_ascii() {
        return words::parts(token).map(str::to_ascii_lowercase).collect();
    }
    let mut parts = Vec::new();
    words::pieces(token, &mut |piece, is_end| {
        if !is_end {
            parts.push(piece.to_owned());
        }
    });
    parts
}

impl ParsedQuery {
    /// Its words as they were written, without filters and without what another language than English fills a sentence
    /// with.
    pub fn written(&self) -> String {
        let says_something = |term: &&Term| !term.is_filler;
        self.terms.iter().filter(says_something).map(|term| term.written.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Reads filters, exclusions and phrases.
    pub fn read(text: &str, snapshot: &Snapshot) -> Result<Self> {
        let mut filters = Filters::default();
        let mut pieces = Vec::new();
        for piece in split(text) {
            let taken = match piece {
                Piece::Phrase(phrase) => {
                    filters.take_phrase(phrase);
                    FilterRole::Filter
                }
                Piece::Word(word) => filters.take(word, snapshot)?,
            };
            pieces.push((piece, taken));
        }
        let words = pieces.iter().filter(|(_, taken)| *taken == FilterRole::Text).count();
        let is_pasted = filters::looks_pasted(text, words);
        let mut query = Self { is_pasted, ..Self::default() };
        let (mut plain, mut rest) = (String::new(), Vec::new());
        for (piece, taken) in pieces {
            let is_text = taken == FilterRole::Text || (is_pasted && matches!(taken, FilterRole::Unmatched(_)));
            match piece {
                Piece::Phrase(phrase) => {
                    plain.push_str(phrase);
                    plain.push(' ');
                    rest.push(format!("\"{phrase}\""));
                }
                Piece::Word(word) if is_text => {
                    plain.push_str(word);
                    plain.push(' ');
                    rest.push(word.to_owned());
                }
                // An exclusion.
                Piece::Word(word) if word.starts_with('-') => rest.push(word.to_owned()),
                Piece::Word(_) => {}
            }
            if let FilterRole::Unmatched(why) = taken {
                query.unmatched.push(why);
            }
        }
        query.add_words(&plain);
        query.has_no_text = plain.trim().is_empty();
        // White space is kept where no filter was removed.
        query.rest = if filters.are_named() { rest.join(" ") } else { text.to_owned() };
        *(if is_pasted { &mut query.raises } else { &mut query.filters }) = filters;
        Ok(query)
    }

    /// All of `text` as words.
    pub fn of_words(text: &str) -> Self {
        let mut query = Self::default();
        query.add_words(text);
        query
    }

    fn add_words(&mut self, text: &str) {
        let all: Vec<(&str, String)> =
            words::tokens(text).take(MAX_TERMS).map(|token| (token, words::plain(token).to_lowercase())).collect();
        let language = Language::of(all.iter().map(|(_, lower)| lower.as_str()));
        self.is_foreign = language != Language::default();
        for (token, lower) in all {
            if self.terms.iter().any(|known| known.text == lower) {
                continue;
            }
            let mut parts = parts_of(token);
            if parts.is_empty() {
                parts.push(lower.clone());
            }
            let is_filler = language.is_filled_by(&lower);
            let places: Vec<usize> = parts.into_iter().filter_map(|part| self.word(part, is_filler)).collect();
            self.terms.push(Term { written: token.to_owned(), text: lower, words: places, is_filler });
        }
        if self.words.iter().all(|word| word.is_stop) {
            self.words.iter_mut().for_each(|word| word.is_stop = false);
            self.terms.iter_mut().for_each(|term| term.is_filler = false);
            self.says_nothing = true;
        }
        if let [only] = self.terms.as_slice() {
            self.says_nothing |= says_nothing_alone(&only.text);
        }
        self.joined = self.terms.iter().map(|term| term.text.as_str()).collect();
        self.shape = shape(text, &self.terms);
        let text_alone = text.trim().to_lowercase();
        self.verbatim = text_alone.contains(PUNCTUATION).then_some(text_alone);
        let says = |list: &[&str]| self.terms.iter().any(|term| list.contains(&term.text.as_str()));
        let lower = text.to_lowercase();
        self.about_tests = says(ABOUT_TESTS) || lower.contains("unit test") || lower.contains("test for ");
        self.about_documents = says(ABOUT_DOCUMENTS);
    }

    /// The index of a word in the list, which it joins.
    fn word(&mut self, text: String, is_filler: bool) -> Option<usize> {
        let stem = words::stem(&text);
        if let Some(known) = self.words.iter().position(|word| word.stem == stem) {
            return Some(known);
        }
        if self.words.len() == MAX_WORDS {
            return None;
        }
        let is_stop = is_filler || says_nothing(&text);
        self.words.push(Word { text, stem, others: Vec::new(), weight: 0.0, is_stop });
        Some(self.words.len() - 1)
    }

    /// Whether the query consists of named filters that all match something.
    pub fn is_of_filters_alone(&self) -> bool {
        self.has_no_text && self.filters.are_named() && self.unmatched.is_empty()
    }

    /// Looks up other words for those of a sentence; a name is taken as it is written.
    pub fn add_others(&mut self) {
        if self.shape == QueryShape::Prose {
            let own: HashSet<String> = self.words.iter().map(|word| word.stem.clone()).collect();
            for word in self.words.iter_mut().filter(|word| !word.is_stop) {
                word.others = super::synonyms::others(&word.stem);
                word.others.retain(|other| !own.contains(other));
            }
        }
    }

    /// Sum of the weights of the words in a set.
    pub fn weight_of(&self, set: u64) -> f64 {
        let weighed = self.words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        weighed.map(|(_, word)| word.weight).sum()
    }

    /// What share of the query a set of its words is.
    pub fn share_of(&self, set: u64) -> f64 {
        let all = self.weight_of(u64::MAX);
        if all > 0.0 { self.weight_of(set) / all } else { 0.0 }
    }

    /// Whether it is asked for a name, and not in a sentence.
    pub fn is_name(&self) -> bool {
        self.shape == QueryShape::Code
    }

    /// The query as a qualified name, where it may be one: `save` and what precedes it in `models.Model.save`.
    pub fn qualified(&self) -> Option<(&str, Vec<&str>)> {
        let (name, before) = self.terms.split_last()?;
        let may_be = self.is_name() && (1..MOST_QUALIFIED).contains(&before.len());
        may_be.then(|| (name.written.as_str(), before.iter().map(|term| term.written.as_str()).collect()))
    }

    /// The byte offset in a line of the first word of the query; 0 when none does.
    pub fn first_match(&self, line: &str) -> usize {
        // Lower-casing and leaving accents out may move bytes; a preview needs no better.
        self.find_in(line).unwrap_or(0).min(line.len())
    }

    /// The first line of a text that contains a word of the query, from 0.
    pub fn first_line(&self, text: &str) -> Option<u32> {
        (0..).zip(text.lines()).find(|(_, line)| self.find_in(line).is_some()).map(|(at, _)| at)
    }

    fn find_in(&self, line: &str) -> Option<usize> {
        let lower = words::plain(line).to_lowercase();
        let terms = self.terms.iter().filter_map(|term| lower.find(&term.text));
        let words = self.words.iter().filter(|word| !word.is_stop).filter_map(|word| lower.find(&word.text));
        terms.min().or_else(|| words.min())
    }
}

/// A name, where every token could be one and nothing else says prose.
fn shape(text: &str, terms: &[Term]) -> QueryShape {
    let looks_like_code = |term: &Term| term.is_compound() || term.written.contains('_');
    let has_mark = ["::", "()", "->", "/", "."].iter().any(|mark| text.trim_end_matches(['.', ' ']).contains(mark));
    let pieces = text.split_whitespace().count();
    // Such sentences have no spaces.
    let may_be_sentence = terms.iter().any(|term| words::has_unspaced(&term.text) && term.is_compound());
    let is_name = terms.len() == 1 || terms.iter().all(looks_like_code) || (pieces == 1 && has_mark);
    if is_name && !may_be_sentence { QueryShape::Code } else { QueryShape::Prose }
}

#[derive(Clone, Copy)]
enum Piece<'t> {
    Word(&'t str),
    Phrase(&'t str),
}

/// Words at white space; text between two `"` is one phrase.
fn split(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let phrase = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        match phrase {
            Some((phrase, tail)) => {
                pieces.push(Piece::Phrase(phrase));
                rest = tail.trim_start();
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                pieces.push(Piece::Word(&rest[..end]));
                rest = rest[end..].trim_start();
            }
        }
    }
    pieces
}
