//! Words of a hit's line that match the query.
//!
//! Owns highlighting for people. Does not own which lines are hits: the search does.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Result;
use crate::query::exact::{Pattern, Spans};
use crate::query::smart;
use crate::words;

pub(super) enum Marks {
    /// By the stems of the query's words.
    Words(HashSet<String>),
    Pattern(Spans),
}

/// Prefixes of query words that are about a file, not in it.
const FILTERS: &[&str] = &["path:", "lang:", "kind:", "tag:", "-"];

impl Marks {
    pub(super) fn from_query(text: &str) -> Self {
        let said = text.split_whitespace().filter(|said| !FILTERS.iter().any(|filter| said.starts_with(filter)));
        let mut words: Vec<String> = Vec::new();
        for token in said.flat_map(words::tokens) {
            words.push(words::plain(token).to_lowercase());
            words::pieces(token, &mut |piece, is_end| words.extend((!is_end).then(|| piece.to_owned())));
        }
        let mut telling: HashSet<String> =
            words.iter().filter(|word| !smart::says_nothing(word)).map(|word| words::stem(word)).collect();
        if telling.is_empty() {
            telling = words.iter().map(|word| words::stem(word)).collect();
        }
        Self::Words(telling)
    }

    pub(super) fn from_pattern(pattern: &Pattern) -> Result<Self> {
        Spans::compile(pattern).map(Self::Pattern)
    }

    /// In order, none in another.
    pub(super) fn within(&self, line: &str) -> Vec<Range<usize>> {
        match self {
            Self::Pattern(spans) => spans.within(line),
            Self::Words(stems) => words::tokens(line).flat_map(|token| marked(line, token, stems)).collect(),
        }
    }
}

/// The whole token, or those of its parts that were asked for.
fn marked(line: &str, token: &str, stems: &HashSet<String>) -> Vec<Range<usize>> {
    if stems.contains(&stem(token)) {
        return vec![mark_at(line, token)];
    }
    if words::has_unspaced(token) {
        return marked_within(mark_at(line, token).start, token, stems);
    }
    // `a` and `2` are parts of much.
    let telling = words::parts(token).filter(|part| part.len() > 1 && stems.contains(&stem(part)));
    telling.map(|part| mark_at(line, part)).collect()
}

/// Ranges of the query's words in a token without spaces, which begins at `start`.
fn marked_within(start: usize, token: &str, stems: &HashSet<String>) -> Vec<Range<usize>> {
    let lower = token.to_ascii_lowercase();
    let inside = stems.iter().filter(|stem| words::has_unspaced(stem)).flat_map(|stem| lower.match_indices(&**stem));
    let mut found: Vec<Range<usize>> = inside.map(|(at, stem)| start + at..start + at + stem.len()).collect();
    found.sort_by_key(|range| (range.start, range.end));
    // Pairs of letters share one.
    found.into_iter().fold(Vec::new(), |mut joined: Vec<Range<usize>>, range| {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
        joined
    })
}

fn stem(word: &str) -> String {
    words::stem(&words::plain(word).to_lowercase())
}

/// The byte range of a slice in its line.
fn mark_at(line: &str, slice: &str) -> Range<usize> {
    let start = slice.as_ptr().addr() - line.as_ptr().addr();
    start..start + slice.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(marks: &Marks, line: &str) -> Vec<String> {
        marks.within(line).into_iter().map(|range| line[range].to_owned()).collect()
    }

    #[test]
    fn a_query_marks_its_words_in_all_their_forms_and_within_identifiers() {
        let marks = Marks::from_query("where are orders parsed path:src -test userId");
        let line = "fn parseOrder(order_path: &str, user: Id) -> ParserTest; ORDERS where2";
        assert_eq!(shown(&marks, line), ["parse", "Order", "order", "user", "Id", "ORDERS"]);
        assert_eq!(shown(&marks, "größe"), Vec::<String>::new());
        assert_eq!(shown(&Marks::from_query("größe"), "die Größe"), ["Größe"]);
        assert_eq!(shown(&Marks::from_query("cafe"), "the Café, cafés"), ["Café", "cafés"]);
        assert_eq!(shown(&Marks::from_query("図書館 猫"), "この図書館に猫がいる"), ["図書館", "猫"]);
        assert_eq!(shown(&Marks::from_query("where is it"), "where it was"), ["where", "it"]);
    }

    #[test]
    fn a_pattern_marks_what_it_matches() {
        let pattern = Pattern { text: "o+", is_regex: true, case_sensitive: false, word: false, multiline: false };
        assert_eq!(shown(&Marks::from_pattern(&pattern).unwrap(), "fOo bo"), ["Oo", "o"]);
        let nothing = Pattern { text: "x*", ..pattern };
        assert_eq!(shown(&Marks::from_pattern(&nothing).unwrap(), "abc"), Vec::<String>::new());
    }
}
