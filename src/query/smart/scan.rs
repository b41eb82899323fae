//! Finds the words of a query in a text, and how near they are to each other.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::parsed_query::{MAX_WORDS, ParsedQuery};
use crate::words;

/// Lines that count as one window.
const WINDOW: usize = 7;
/// Neighbours in a query may have one more word between them in a text.
const NEAR: u32 = 2;

/// Words of a query in a text. Sets of words are bits, by their index in the query.
#[derive(Clone, Debug)]
pub(super) struct WordMatches {
    /// Words in the whole text.
    pub all: u64,
    /// How often each word is in it.
    pub counts: [u16; MAX_WORDS],
    /// Tokens in all.
    pub length: u32,
    /// Words in each line.
    pub lines: Vec<u64>,
    /// Pairs of neighbours that are neighbours here, by the first one.
    pub pairs: u64,
}

impl WordMatches {
    /// The largest share of the query that is in one line.
    pub fn best_line_share(&self, query: &ParsedQuery) -> f64 {
        largest(query, self.lines.iter().copied())
    }

    /// The largest share of the query that is within a few lines.
    pub fn best_window_share(&self, query: &ParsedQuery) -> f64 {
        if self.lines.len() <= WINDOW {
            return query.share_of(self.all);
        }
        largest(query, self.lines.windows(WINDOW).map(|lines| lines.iter().fold(0, |all, line| all | line)))
    }
}

/// Whether a line imports or includes something, or guards a header: it defines nothing, and does nothing.
pub(super) fn imports(line: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "use ",
        "pub use ",
        "import ",
        "from ",
        "#include",
        "#import",
        "#ifndef ",
        "#endif",
        "using ",
        "require ",
        "require(",
        "require_relative ",
        "package ",
        "export * from",
        "extern crate ",
        "mod ",
        "pub mod ",
        "alias ",
        "open ",
    ];
    let line = line.trim_start();
    OPENINGS.iter().any(|opening| line.starts_with(opening))
}

fn largest(query: &ParsedQuery, sets: impl Iterator<Item = u64>) -> f64 {
    // Most sets are empty or repeat the last one.
    let (mut best, mut last) = (0.0, 0);
    for set in sets {
        if set != last {
            last = set;
            best = f64::max(best, query.share_of(set));
        }
    }
    best
}

/// Looks for one query's words in many texts.
pub(super) struct Scanner<'q> {
    query: &'q ParsedQuery,
    /// Stems to look for by their first byte, the words' own before others for them.
    by_first: Vec<Vec<StemToFind<'q>>>,
    /// Whether any of them begins with a byte, in lowercase or uppercase.
    is_first: [bool; 256],
    /// For each word the next content word: its neighbour.
    next: Vec<Option<usize>>,
    lower: String,
    /// A cache for lowercase tokens that begin like a stem: the same few are in most texts.
    known: HashMap<String, Option<usize>, RandomState>,
    /// A cache for names and parts of paths: candidates of one file share most of them.
    known_names: HashMap<String, (u64, u32, u32), RandomState>,
}

/// A stem of a word of the query.
struct StemToFind<'q> {
    stem: &'q str,
    /// Beginning of words with this stem: a stem differs from its word in the last letter at most, and in what is cut
    /// off.
    prefix: &'q str,
    /// The index of the word.
    at: usize,
}

impl<'q> Scanner<'q> {
    pub fn new(query: &'q ParsedQuery) -> Self {
        let mut by_first: Vec<Vec<StemToFind>> = (0..256).map(|_| Vec::new()).collect();
        let words = || query.words.iter().enumerate().filter(|(_, word)| !word.is_stop);
        let own = words().map(|(at, word)| (word.stem.as_str(), at));
        let others = words().flat_map(|(at, word)| word.others.iter().map(move |other| (other.stem.as_str(), at)));
        for (stem, at) in own.chain(others) {
            if let Some(first) = stem.bytes().next() {
                let prefix = &stem[..stem.floor_char_boundary(stem.len() - 1)];
                by_first[usize::from(first)].push(StemToFind { stem, prefix, at });
            }
        }
        let is_first = std::array::from_fn(|byte| {
            let lower = u8::try_from(byte).map_or(byte, |byte| usize::from(byte.to_ascii_lowercase()));
            !by_first[lower].is_empty()
        });
        let count = query.words.len();
        let next = (0..count).map(|at| (at + 1..count).find(|&after| !query.words[after].is_stop)).collect();
        Self {
            query,
            by_first,
            is_first,
            next,
            lower: String::new(),
            known: HashMap::default(),
            known_names: HashMap::default(),
        }
    }

    /// How many pairs of neighbours the query has.
    pub fn pairs(&self) -> u64 {
        let pairs = self.next.iter().enumerate().filter(|(at, next)| !self.query.words[*at].is_stop && next.is_some());
        pairs.fold(0, |set, (at, _)| set | 1 << at)
    }

    pub fn scan(&mut self, text: &str) -> WordMatches {
        let mut seen = WordMatches { all: 0, counts: [0; MAX_WORDS], length: 0, lines: Vec::new(), pairs: 0 };
        let mut position = 0;
        let mut last: Option<(usize, u32)> = None;
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).chain([text.len()]);
        let mut start = 0;
        let is_first = self.is_first;
        let is_ascii = text.is_ascii();
        for end in ends {
            let line = &text[start..end];
            if line.is_empty() {
                continue;
            }
            start = end;
            let mut set = 0;
            if is_ascii || line.is_ascii() {
                words::each_ascii_part(line, |start, end| {
                    position += 1;
                    if is_first[usize::from(line.as_bytes()[start])] {
                        self.step(&line[start..end], position, &mut last, &mut set, &mut seen);
                    }
                });
            } else {
                each_word(line, |word, counts| {
                    position += counts;
                    self.step(word, position, &mut last, &mut set, &mut seen);
                });
            }
            seen.lines.push(set);
            seen.all |= set;
        }
        seen.length = position;
        seen
    }

    fn step(
        &mut self,
        token: &str,
        position: u32,
        last: &mut Option<(usize, u32)>,
        set: &mut u64,
        seen: &mut WordMatches,
    ) {
        let Some(at) = self.word(token) else { return };
        *set |= 1 << at;
        seen.counts[at] = seen.counts[at].saturating_add(1);
        if let Some((before, there)) = *last
            && self.next[before] == Some(at)
            && position - there <= NEAR
        {
            seen.pairs |= 1 << before;
        }
        *last = Some((at, position));
    }

    /// The words of a name or a path, as a set; and how many words that has in all.
    pub fn words_of(&mut self, name: &str) -> (u64, u32, u32) {
        if let Some(known) = self.known_names.get(name) {
            return *known;
        }
        let (mut set, mut matched, mut count) = (0, 0, 0);
        each_word(name, |word, counts| {
            count += counts;
            if let Some(at) = self.word(word) {
                set |= 1 << at;
                matched += counts;
            }
        });
        self.known_names.insert(name.to_owned(), (set, matched, count));
        (set, matched, count)
    }

    /// Which word of the query a token is a form of.
    fn word(&mut self, token: &str) -> Option<usize> {
        let first = token.bytes().next()?;
        if first.is_ascii() && !self.is_first[usize::from(first)] {
            return None;
        }
        let of_first = if token.is_ascii() {
            let of_first = &self.by_first[usize::from(first.to_ascii_lowercase())];
            let may = |one: &StemToFind| {
                let prefix = token.as_bytes().get(..one.prefix.len());
                token.len() >= one.stem.len()
                    && prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(one.prefix.as_bytes()))
            };
            if !of_first.iter().any(may) {
                return None;
            }
            self.lower.clear();
            self.lower.push_str(token);
            self.lower.make_ascii_lowercase();
            of_first
        } else {
            self.lower.clear();
            self.lower.push_str(&token.to_lowercase());
            let of_first = &self.by_first[usize::from(self.lower.bytes().next()?)];
            let may = |one: &StemToFind| self.lower.len() >= one.stem.len() && self.lower.starts_with(one.prefix);
            if !of_first.iter().any(may) {
                return None;
            }
            of_first
        };
        if let Some(&at) = self.known.get(&self.lower) {
            return at;
        }
        let stem = words::stem(&self.lower);
        let begins = |known: &str| words::is_letter(known) && stem.starts_with(known);
        let at = of_first.iter().find(|known| known.stem == stem || begins(known.stem)).map(|known| known.at);
        self.known.insert(self.lower.clone(), at);
        at
    }
}

/// The words of a text with their parts, each with how many it counts as.
fn each_word(text: &str, mut step: impl FnMut(&str, u32)) {
    if text.is_ascii() {
        return words::each_ascii_part(text, |start, end| step(&text[start..end], 1));
    }
    for token in words::tokens(text) {
        if token.is_ascii() {
            words::each_ascii_part(token, |start, end| step(&token[start..end], 1));
        } else {
            words::pieces(token, &mut |piece, is_end| step(piece, u32::from(!is_end)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> ParsedQuery {
        let mut query = ParsedQuery::from_words(text);
        query.words.iter_mut().filter(|word| !word.is_stop).for_each(|word| word.weight = 1.0);
        query
    }

    #[test]
    fn words_are_found_in_all_their_forms_and_within_identifiers() {
        let query = query("how are queries parsed by the HTTPServer");
        let mut scanner = Scanner::new(&query);
        let seen = scanner.scan("fn parse_query(x) {}\nlet server = http::Server::new();\n");
        assert!((query.share_of(seen.all) - 1.0).abs() < 1e-9, "{seen:?}");
        assert!((seen.best_line_share(&query) - 0.5).abs() < 1e-9);
        assert!((seen.best_window_share(&query) - 1.0).abs() < 1e-9);
        assert_eq!(scanner.scan("nothing here").all, 0);
    }

    #[test]
    fn neighbours_count_in_the_order_of_the_query() {
        let query = query("query the parser");
        let mut scanner = Scanner::new(&query);
        assert_eq!(scanner.scan("a QueryParser").pairs, scanner.pairs());
        assert_eq!(scanner.scan("the parser query").pairs, 0);
        assert_eq!(scanner.scan("query of a nested parser").pairs, 0);
    }

    #[test]
    fn text_of_any_script_is_scanned() {
        let query = query("größe ñandú 漢字 İ");
        let mut scanner = Scanner::new(&query);
        let seen = scanner.scan("GRÖSSE Größe ÑANDÚ 漢字 İ ß");
        assert!(query.share_of(seen.all) > 0.7, "{seen:?}");
    }
}
