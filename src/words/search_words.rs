//! Words that a query looks for, and finding them in files that no index has yet, as the FTS would.
//!
//! Owns which bytes of a text are such a word. Does not own which of them look like the name of a definition ([`super::definitions`]),
//! which words a query looks for (`query`), nor which files are looked at (`unindexed`).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::{parts, token_stem};

/// Sets of words are bits.
pub const MAX_SEARCH_WORDS: usize = 64;
/// Longer tokens are compared as far as that.
pub(super) const MAX_TOKEN: usize = 80;

/// Words that a query looks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchWords {
    pub words: Vec<SearchWord>,
    /// Only texts with all words count, if there are any.
    pub needs_all: bool,
    /// How many chunks the index has.
    pub chunks: u64,
}

/// A word, or an identifier as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchWord {
    /// In lower case.
    pub text: String,
    /// Weight relative to a word of the query itself.
    pub counts: f64,
    /// The words of the query that it represents, as bits.
    pub represents: u64,
    /// In how many chunks of the index it occurs.
    pub chunks: usize,
    /// Whether definitions of that name are looked for, however common it is.
    pub is_name: bool,
    /// How much nearer to the query a text becomes by it.
    pub near: f64,
}

/// How much of the query a piece of a file holds, in the weights of its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldByPiece {
    pub weight: f64,
    /// Whether it has all words.
    pub is_whole: bool,
}

/// The last of the pieces that a search would pick if all were chunks: of equally good ones it picks the first in path order.
#[derive(Clone, Debug, PartialEq)]
pub struct LastPicked {
    pub weight: f64,
    pub path: String,
}

/// A piece of a file that may answer.
#[derive(Clone, Copy, Debug)]
pub struct PieceOfFile<'p> {
    pub path: &'p str,
    pub text: &'p str,
    /// Whether it is among those that hold most; the others may only be near the query.
    pub holds_most: bool,
}

impl SearchWords {
    /// Only the occurrences of one name. What is before the name in a qualified one is not looked for.
    pub fn name(name: &str) -> Self {
        let name = name.trim().trim_end_matches("()");
        let last = name.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).find(|part| !part.is_empty());
        let text = last.unwrap_or(name).to_lowercase();
        let word = SearchWord { text, counts: 1.0, represents: 1, chunks: 0, is_name: true, near: 0.0 };
        Self { words: Vec::from_iter(Some(word).filter(|word| !word.text.is_empty())), needs_all: true, chunks: 0 }
    }

    /// The words of a text with their parts, each counting the same.
    pub fn words(text: &str) -> Self {
        let mut words: Vec<SearchWord> = Vec::new();
        let whole = super::tokens(text).filter(|token| parts(token).nth(1).is_some());
        for word in whole.chain(super::tokens(text).flat_map(parts)).map(str::to_lowercase) {
            let is_new = words.len() < MAX_SEARCH_WORDS && words.iter().all(|known| known.text != word);
            if is_new && word.chars().nth(1).is_some() {
                let represents = 1 << words.len();
                words.push(SearchWord { text: word, counts: 1.0, represents, chunks: 0, is_name: false, near: 0.0 });
            }
        }
        Self { words, needs_all: false, chunks: 0 }
    }
}

/// Finds words in texts.
pub struct WordFinder {
    /// The beginnings of all words.
    beginnings: Regex,
    /// The words by their stems.
    stems: HashMap<String, usize, RandomState>,
}

/// Stems of tokens: the same few are in most texts.
#[derive(Default)]
pub struct KnownTokens(HashMap<Vec<u8>, Option<usize>, RandomState>);

/// A word that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundWord {
    pub at: usize,
    /// Where the token ends that it is; `None` if it is a part of one.
    pub end: Option<usize>,
    /// Index among the words.
    pub word: usize,
}

impl WordFinder {
    /// `None` if there is nothing to look for.
    pub fn new(search_words: &SearchWords) -> Option<Self> {
        let mut stems: HashMap<String, usize, RandomState> = HashMap::default();
        for (at, word) in search_words.words.iter().take(MAX_SEARCH_WORDS).enumerate() {
            stems.entry(token_stem(&word.text)).or_insert(at);
        }
        stems.remove("");
        let patterns: Vec<String> = stems.keys().map(|stem| regex_syntax::escape(beginning(stem))).collect();
        if patterns.is_empty() {
            return None;
        }
        // ASCII letters match in any case. Alternatives of literals are searched several bytes at a time.
        let syntax = syntax::Config::new().case_insensitive(true).unicode(false).utf8(false);
        let beginnings = Regex::builder().syntax(syntax).build(&patterns.join("|")).ok()?;
        Some(Self { beginnings, stems })
    }

    /// Calls `found` for each token, and for each part of a token, that is one of the words. Words of other scripts may be part
    /// of any token.
    pub fn each(&self, text: &[u8], known: &mut KnownTokens, mut found: impl FnMut(FoundWord)) {
        for hit in self.beginnings.find_iter(text) {
            let at = hit.start();
            let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
            if !text[at].is_ascii() || !before.is_ascii() {
                let word = self.stems.iter().find(|(stem, _)| text[at..].starts_with(beginning(stem).as_bytes()));
                if let Some((_, word)) = word {
                    found(FoundWord { at, end: None, word: *word });
                }
                continue;
            }
            let is_token = !(before.is_ascii_alphanumeric() || before == b'_');
            if !is_token && !begins_part(before, text[at], text.get(at + 1).copied()) {
                continue;
            }
            let is_in_token = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let length = text[at..].iter().take(MAX_TOKEN).take_while(is_in_token).count();
            let token = &text[at..at + length];
            let whole = if is_token { self.word(token, known) } else { None };
            let first = || std::str::from_utf8(token).ok().and_then(|token| parts(token).next()).map(str::len);
            let part = || first().filter(|part| !is_token || *part < length);
            if let Some(word) = whole {
                found(FoundWord { at, end: Some(at + length), word });
            }
            if let Some(word) = part().and_then(|part| self.word(&token[..part], known)) {
                found(FoundWord { at, end: None, word });
            }
        }
    }

    fn word(&self, token: &[u8], known: &mut KnownTokens) -> Option<usize> {
        if let Some(word) = known.0.get(token) {
            return *word;
        }
        let lower = String::from_utf8_lossy(token).to_lowercase();
        let word = self.stems.get(&token_stem(&lower)).copied();
        known.0.insert(token.to_vec(), word);
        word
    }
}

/// Returns the beginning that all words with this stem have.
fn beginning(stem: &str) -> &str {
    let cut = stem.len().saturating_sub(1);
    if stem.is_ascii() && cut >= 2 && stem.ends_with(['i', 'e']) { &stem[..cut] } else { stem }
}

/// Whether a part of an identifier may begin between these bytes.
fn begins_part(before: u8, first: u8, second: Option<u8>) -> bool {
    before == b'_'
        || before.is_ascii_digit() != first.is_ascii_digit()
        || (before.is_ascii_lowercase() && first.is_ascii_uppercase())
        || (first.is_ascii_uppercase() && second.is_some_and(|second| second.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(search_words: &SearchWords, text: &str) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        let finder = WordFinder::new(search_words).unwrap();
        finder.each(text.as_bytes(), &mut KnownTokens::default(), |one| {
            all.push((one.at, search_words.words[one.word].text.clone()));
        });
        all
    }

    #[test]
    fn words_are_found_in_all_forms_as_tokens_and_as_parts_of_tokens() {
        let search_words = SearchWords::words("queries migration");
        let text = "query parseQuery QUERIES_migrate HTTPMigrations jquery migrated equerry";
        let words: Vec<String> =
            found(&search_words, text).into_iter().map(|(at, _)| text[at..].to_lowercase()).collect();
        let begin = |at: usize, with: &str| assert!(words[at].starts_with(with), "{words:?}");
        begin(0, "query ");
        begin(1, "query queries");
        begin(2, "queries_migrate");
        begin(3, "migrate ");
        begin(4, "migrations");
        begin(5, "migrated");
        assert_eq!(words.len(), 6, "{words:?}");
    }

    #[test]
    fn a_name_is_found_as_a_whole_token_alone() {
        let search_words = SearchWords::name("models.QuerySet.get_or_create()");
        let text = "get_or_create(x) aget_or_create get_or_create_all GET_OR_CREATE get or create";
        assert_eq!(found(&search_words, text).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 50]);
        assert!(WordFinder::new(&SearchWords::name("()")).is_none());
    }

    #[test]
    fn a_name_is_found_with_the_stem_that_the_fts_has() {
        assert_eq!(found(&SearchWords::name("alloc_pages"), "alloc_pages(1) alloc_page(2) alloc_pool pages").len(), 2);
    }
}
