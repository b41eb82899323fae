//! Which words of a hit's line were asked for.
//!
//! Owns what is marked for a person; what is found is the search's alone.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Result;
use crate::query::exact::{Pattern, Spans};
use crate::query::smart;
use crate::words;

pub(super) enum Marks {
    /// By the stems of the question's words.
    Words(HashSet<String>),
    Pattern(Spans),
}

/// What a question begins with that is about a file, not in it.
const FILTERS: &[&str] = &["path:", "lang:", "kind:", "tag:", "-"];

impl Marks {
    pub(super) fn of_question(text: &str) -> Self {
        let said = text.split_whitespace().filter(|said| !FILTERS.iter().any(|filter| said.starts_with(filter)));
        let words = said.flat_map(words::tokens).flat_map(|token| words::parts(token).chain([token]));
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let mut telling: HashSet<String> =
            words.iter().filter(|word| !smart::says_nothing(word)).map(|word| stem(word)).collect();
        if telling.is_empty() {
            telling = words.iter().map(|word| stem(word)).collect();
        }
        Self::Words(telling)
    }

    pub(super) fn of_pattern(pattern: &Pattern) -> Result<Self> {
        Spans::of(pattern).map(Self::Pattern)
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
        return vec![place(line, token)];
    }
    // `a` and `2` are parts of much.
    let telling = words::parts(token).filter(|part| part.len() > 1 && stems.contains(&stem(part)));
    telling.map(|part| place(line, part)).collect()
}

fn stem(word: &str) -> String {
    words::stem(&word.to_lowercase())
}

/// Where a slice of a line lies in it.
fn place(line: &str, slice: &str) -> Range<usize> {
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
    fn a_question_marks_its_words_in_all_their_forms_and_inside_identifiers() {
        let marks = Marks::of_question("where are orders parsed path:src -test userId");
        let line = "fn parseOrder(order_path: &str, user: Id) -> ParserTest; ORDERS where2";
        assert_eq!(shown(&marks, line), ["parse", "Order", "order", "user", "Id", "ORDERS"]);
        assert_eq!(shown(&marks, "größe"), Vec::<String>::new());
        assert_eq!(shown(&Marks::of_question("größe"), "die Größe"), ["Größe"]);
        assert_eq!(shown(&Marks::of_question("where is it"), "where it was"), ["where", "it"]);
    }

    #[test]
    fn a_pattern_marks_what_it_matches() {
        let pattern = Pattern { text: "o+", is_regex: true, case_sensitive: false, word: false, multiline: false };
        assert_eq!(shown(&Marks::of_pattern(&pattern).unwrap(), "fOo bo"), ["Oo", "o"]);
        let nothing = Pattern { text: "x*", ..pattern };
        assert_eq!(shown(&Marks::of_pattern(&nothing).unwrap(), "abc"), Vec::<String>::new());
    }
}
