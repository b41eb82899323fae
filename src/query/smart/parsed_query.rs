//! Parsing of a query: its words, and its filters.

use std::collections::HashSet;

use super::filters::{self, FilterRole, Filters};
use super::messages;
use super::stop::{Language, says_nothing, says_nothing_alone};
use super::unspecific;
use crate::embed::Vector;
use crate::error::Result;
use crate::query::corpus::Corpus;
use crate::store::FtsQuery;
use crate::words;

/// Tokens of a query that count; the rest of a pasted page adds nothing.
const MAX_TOKENS: usize = 48;
/// Distinct words that are looked for: a set of them fits one integer.
pub(super) const MAX_WORDS: usize = 64;

/// Next to this many other words, a phrase is a part of a sentence, and excludes nothing.
pub(super) const WORDS_OF_SENTENCE: usize = 4;
/// Next to this many other words, a phrase that no text contains excludes nothing.
const WORDS_OF_CLAUSE: usize = 2;

/// Words by which a query asks for tests, and for documents.
const ABOUT_TESTS: &[&str] = &["tests", "unittest", "unittests", "testcase", "testcases"];
const ABOUT_DOCUMENTS: &[&str] = &["docs", "documentation", "readme", "tutorial", "changelog", "guide", "manual"];

/// Keywords that define a name, with the kinds of definitions.
const DEFINING: &[(&str, &[&str])] = &[
    ("class", &["class"]),
    ("struct", &["struct", "class", "record"]),
    ("enum", &["enum"]),
    ("union", &["union"]),
    ("interface", &["interface", "protocol"]),
    ("trait", &["trait", "mixin"]),
    ("protocol", &["protocol", "interface"]),
    ("object", &["object", "class"]),
    ("record", &["record", "struct"]),
    ("type", &["type", "class", "struct", "enum", "interface", "trait", "union"]),
    ("fn", &["function", "method", "constructor"]),
    ("func", &["function", "method", "constructor"]),
    ("fun", &["function", "method", "constructor"]),
    ("def", &["function", "method", "constructor", "macro"]),
    ("function", &["function", "method", "constructor"]),
    ("method", &["method", "function", "constructor"]),
    ("macro", &["macro"]),
    ("const", &["constant", "variable"]),
    ("constant", &["constant", "variable"]),
    ("module", &["module", "namespace", "package"]),
    ("namespace", &["namespace", "module", "package"]),
];

/// Words of a query in which the name of a type is looked for.
const FEW_WORDS: usize = 3;
/// Content words from which a query about documents is ranked by its words more than by its vector.
const MANY_WORDS: usize = 8;

/// The most words of a subject before its colon.
const MOST_OF_AREA: usize = 3;
/// Words before the colon that are kinds of changes, not areas.
const CHANGES: &[&str] = &[
    "build", "bug", "bugfix", "chore", "ci", "deps", "docs", "dx", "feat", "fix", "perf", "refactor", "revert",
    "style", "test", "types",
];

/// The most parts of a qualified name.
const MOST_QUALIFIED: usize = 5;

/// Punctuation that no sentence and no qualified name has.
const PUNCTUATION: &[char] = &['#', '+', '>', '<', '=', '&', '|', '@', '$', '%', '^', '*', '~', '{', '[', '\\'];

/// Whether a query is a name, a sentence or a message of a program: they are weighed differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum QueryShape {
    Code,
    Message,
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
    /// Whether it has only function words.
    pub says_nothing: bool,
    /// In a language that the static embeddings do not know, as far as its function words show.
    pub is_foreign: bool,
    pub about_tests: bool,
    pub about_documents: bool,
    /// Next to no candidate is code: see [`super::CODE_IN_DOCUMENTS`].
    pub is_of_documents: bool,
    /// All terms written together: `query set` is `queryset`.
    pub joined: String,
    /// The kinds of symbols that a keyword next to a name asks for; of any kind where this is empty.
    pub kinds: &'static [&'static str],
    /// Words of the area that it is about: those of a subject before its colon.
    pub area: u64,
    /// The vector that names are compared with.
    pub vector: Option<Vector>,
    /// Two and three adjacent terms written together.
    pub adjacent: HashSet<String>,
    /// The text in lower case, if it has punctuation that adds to its words.
    pub verbatim: Option<String>,
    /// Filters that hits must pass.
    pub filters: Filters,
    /// Filters that only raise the score of hits that pass. A query that looks pasted has only these.
    pub raises: Filters,
    /// Warnings about filters that match nothing.
    pub unmatched: Vec<String>,
    /// Whether the text looks pasted: then filters that match nothing are text.
    pub is_pasted: bool,
    /// The text without its named filters.
    pub rest: String,
    /// Whether only filters and exclusions were written.
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
    /// The whole token, as it is indexed.
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
    /// Other words for it, once they were looked up.
    pub others: Vec<OtherWord>,
    /// Weight in the ranking: rare words have more. 0 for a function word. Set from the index.
    pub weight: f64,
    pub is_stop: bool,
    /// A value in a message: what it says changes from one message to the next.
    pub is_value: bool,
}

/// Another word for a word of the query.
#[derive(Debug)]
pub(super) struct OtherWord {
    pub text: String,
    pub stem: String,
    /// Whether it is the same word in another number: `aliases` for `alias`.
    pub is_same: bool,
}

impl OtherWord {
    pub fn new(text: String, is_same: bool) -> Self {
        Self { stem: words::stem(&text), text, is_same }
    }
}

impl Word {
    /// The FTS query for it.
    pub fn asked(&self) -> Option<FtsQuery> {
        asked(&self.text)
    }
}

/// The FTS query for a word.
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
    /// The words of the query as they were written, without filters and without what another language than English
    /// fills a sentence with.
    pub fn written(&self) -> String {
        let says_something = |term: &&Term| !term.is_filler;
        self.terms.iter().filter(says_something).map(|term| term.written.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Reads filters, exclusions and phrases.
    pub fn read(text: &str, corpus: &Corpus) -> Result<Self> {
        let mut filters = Filters::default();
        let mut pieces = Vec::new();
        for piece in split(text) {
            let taken = match piece {
                Piece::Phrase(phrase) => {
                    filters.take_phrase(phrase);
                    FilterRole::Filter
                }
                Piece::Word(word) => filters.take(word, corpus)?,
            };
            pieces.push((piece, taken));
        }
        let words = pieces.iter().filter(|(_, taken)| *taken == FilterRole::Text).count();
        let quoted = pieces.iter().map(|(piece, _)| match piece {
            Piece::Phrase(phrase) => phrase.split_whitespace().count(),
            Piece::Word(_) => 0,
        });
        let is_pasted = filters::looks_pasted(text, words + quoted.sum::<usize>());
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
        query.add_words(&unspecific::leave_out(&plain, corpus)?);
        query.has_no_text = plain.trim().is_empty();
        // White space is kept where no filter was removed.
        query.rest = if filters.are_named() { rest.join(" ") } else { text.to_owned() };
        if is_pasted {
            query.raises = filters;
        } else {
            let is_in_sentence =
                words >= WORDS_OF_SENTENCE || (words >= WORDS_OF_CLAUSE && filters.have_phrase_of_nothing(corpus)?);
            if is_in_sentence {
                query.raises = filters.take_phrases();
            }
            query.filters = filters;
        }
        Ok(query)
    }

    /// All of `text` as words.
    pub fn from_words(text: &str) -> Self {
        let mut query = Self::default();
        query.add_words(text);
        query
    }

    fn add_words(&mut self, text: &str) {
        let all: Vec<(&str, String)> =
            words::tokens(text).take(MAX_TOKENS).map(|token| (token, words::plain(token).to_lowercase())).collect();
        let language = Language::recognize(all.iter().map(|(_, lower)| lower.as_str()));
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
        self.take_keyword();
        self.joined = self.terms.iter().map(|term| term.text.as_str()).collect();
        self.adjacent = adjacent(&self.terms);
        self.shape = shape(text, &self.terms);
        if self.shape == QueryShape::Message {
            self.mark_values(text);
        }
        self.area = if self.shape == QueryShape::Prose { self.set_of(area(text)) } else { 0 };
        let text_alone = text.trim().to_lowercase();
        self.verbatim = text_alone.contains(PUNCTUATION).then_some(text_alone);
        let says = |list: &[&str]| self.terms.iter().any(|term| list.contains(&term.text.as_str()));
        let lower = text.to_lowercase();
        self.about_tests = says(ABOUT_TESTS) || lower.contains("unit test") || lower.contains("test for ");
        self.about_documents = says(ABOUT_DOCUMENTS);
    }

    /// Reads `struct file_operations` as a name with a required kind.
    fn take_keyword(&mut self) {
        let [one, other] = self.terms.as_slice() else { return };
        let kinds = |term: &Term| DEFINING.iter().find(|(word, _)| *word == term.written).map(|(_, kinds)| *kinds);
        let is_name = |term: &Term| looks_like_code(term) || term.written.starts_with(char::is_uppercase);
        let (at, kinds) = match (kinds(one), kinds(other)) {
            (Some(kinds), None) if is_name(other) => (0, kinds),
            (None, Some(kinds)) if is_name(one) => (1, kinds),
            _ => return,
        };
        let keyword = self.terms.remove(at);
        let kept = &self.terms[0].words;
        for word in keyword.words.into_iter().filter(|word| !kept.contains(word)) {
            self.words[word].is_stop = true;
        }
        self.kinds = kinds;
    }

    /// Marks the values of a message, if it has other words.
    fn mark_values(&mut self, text: &str) {
        let quoted: HashSet<&str> = messages::values(text).into_iter().flat_map(words::tokens).collect();
        let is_value = |term: &&Term| messages::is_value(&term.written) || quoted.contains(term.written.as_str());
        let values: HashSet<usize> =
            self.terms.iter().filter(is_value).flat_map(|term| term.words.iter().copied()).collect();
        let is_own = |(at, word): (usize, &Word)| !word.is_stop && !values.contains(&at);
        if self.words.iter().enumerate().any(is_own) {
            for at in values {
                self.words[at].is_value = true;
            }
        }
    }

    /// The query's words that a text has.
    pub fn set_of(&self, text: &str) -> u64 {
        let stems: HashSet<String> = words::tokens(text).flat_map(parts_of).map(|part| words::stem(&part)).collect();
        let has = |(_, word): &(usize, &Word)| !word.is_stop && stems.contains(&word.stem);
        self.words.iter().enumerate().filter(has).fold(0, |set, (at, _)| set | 1 << at)
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
        self.words.push(Word { text, stem, others: Vec::new(), weight: 0.0, is_stop, is_value: false });
        Some(self.words.len() - 1)
    }

    /// Whether the query consists of named filters that all match something.
    pub fn is_of_filters_alone(&self) -> bool {
        self.has_no_text && self.filters.are_named() && self.unmatched.is_empty()
    }

    /// Looks up other forms of its words, and other words for those of a sentence; a name is taken as it is written.
    pub fn add_others(&mut self) {
        let own: HashSet<String> = self.words.iter().map(|word| word.stem.clone()).collect();
        let is_prose = !self.is_name();
        for word in self.words.iter_mut().filter(|word| !word.is_stop) {
            let numbers = words::other_numbers(&word.text).into_iter().map(|text| OtherWord::new(text, true));
            word.others = numbers.collect();
            if is_prose {
                word.others
                    .extend(super::synonyms::others(&word.stem).map(|text| OtherWord::new(text.to_owned(), false)));
            }
            let mut known = HashSet::new();
            word.others.retain(|other| !own.contains(&other.stem) && known.insert(other.stem.clone()));
        }
    }

    /// Sum of the weights of the words in a set.
    pub fn weight_of(&self, set: u64) -> f64 {
        let weighed = self.words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        weighed.map(|(_, word)| word.weight).sum()
    }

    /// Share of the query that a set of its words makes up, by weight.
    pub fn share_of(&self, set: u64) -> f64 {
        let all = self.weight_of(u64::MAX);
        if all > 0.0 { self.weight_of(set) / all } else { 0.0 }
    }

    /// Whether it is asked for a name, and not in a sentence.
    pub fn is_name(&self) -> bool {
        self.shape == QueryShape::Code
    }

    /// Whether it is a long query about documents.
    pub fn is_long_of_documents(&self) -> bool {
        let words = self.words.iter().filter(|word| !word.is_stop).count();
        self.is_of_documents && !self.is_name() && words >= MANY_WORDS
    }

    /// Whether it is prose with few words that say something: one of them may be the name of a type.
    pub fn is_of_few_words(&self) -> bool {
        let words = self.words.iter().filter(|word| !word.is_stop && !word.is_value).count();
        self.shape == QueryShape::Prose && words <= FEW_WORDS
    }

    /// The query as a qualified name, where it may be one: `models.Model.save`, also with blanks between.
    pub fn qualified(&self) -> Option<String> {
        let may_be = self.is_name() && (2..=MOST_QUALIFIED).contains(&self.terms.len());
        let is_one_word = self.rest.trim().chars().all(|c| c.is_alphanumeric() || "_.:#\\/$@-?!".contains(c));
        let joined = || self.terms.iter().map(|term| term.written.as_str()).collect::<Vec<_>>().join(".");
        may_be.then(|| if is_one_word { self.rest.trim().to_owned() } else { joined() })
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

/// Joins every two or three adjacent terms.
fn adjacent(terms: &[Term]) -> HashSet<String> {
    let joined = |count| {
        let windows = terms.windows(count);
        windows.map(|terms| terms.iter().flat_map(|term| term.text.chars()).filter(|c| c.is_alphanumeric()).collect())
    };
    joined(2).chain(joined(3)).collect()
}

fn looks_like_code(term: &Term) -> bool {
    term.is_compound() || term.written.contains('_')
}

/// The area that a subject is about: `parser` in `fix(parser): …`, `[parser] …` and `parser: …`.
fn area(text: &str) -> &str {
    let subject = text.trim_start().lines().next().unwrap_or_default();
    if let Some((inner, _)) = subject.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return inner;
    }
    let Some((before, _)) = subject.split_once(": ") else { return "" };
    let in_brackets = before.trim_end_matches('!').strip_suffix(')').and_then(|inner| inner.split_once('('));
    match in_brackets {
        Some((kind, inner)) if !kind.contains(char::is_whitespace) => inner,
        _ if before.split_whitespace().count() <= MOST_OF_AREA && !CHANGES.contains(&before) => before,
        _ => "",
    }
}

/// A name, where every token could be one and nothing else says prose.
fn shape(text: &str, terms: &[Term]) -> QueryShape {
    let has_mark = ["::", "()", "->", "/", "."].iter().any(|mark| text.trim_end_matches(['.', ' ']).contains(mark));
    let pieces = text.split_whitespace().count();
    // Such sentences have no spaces.
    let may_be_sentence = terms.iter().any(|term| words::has_unspaced(&term.text) && term.is_compound());
    let is_name = terms.len() == 1 || terms.iter().all(looks_like_code) || (pieces == 1 && has_mark);
    if is_name && !may_be_sentence {
        QueryShape::Code
    } else if messages::is_message(text, pieces) {
        QueryShape::Message
    } else {
        QueryShape::Prose
    }
}

#[derive(Clone, Copy)]
pub(super) enum Piece<'t> {
    Word(&'t str),
    Phrase(&'t str),
}

/// Words at white space; text between two `"` is one phrase.
pub(super) fn split(text: &str) -> Vec<Piece<'_>> {
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
