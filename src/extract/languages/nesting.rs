//! Texts that would overload a grammar, recognized before the grammar sees them.
//!
//! Owns the estimates for `Language::overfills`. They are quick, and err to the safe side: a text that
//! seems to nest deeper than it does is indexed without syntax.

use std::ops::Range;

/// The most indents that are open at once, where each of `markers` at the head of a line opens one more.
pub(super) fn deepest_indent(text: &str, markers: &[char]) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut deepest = 0;
    for line in text.lines() {
        let mut rest = line.trim_start_matches([' ', '\t', '\u{c}']);
        if rest.is_empty() {
            continue;
        }
        loop {
            let column = line.len() - rest.len();
            while open.pop_if(|before| *before >= column).is_some() {}
            open.push(column);
            let Some(inner) = rest.strip_prefix(markers) else { break };
            rest = inner.trim_start_matches([' ', '\t']);
        }
        deepest = deepest.max(open.len());
    }
    deepest
}

/// The most bytes that the words of heredocs open at once take, with five for each of them.
pub(super) fn open_heredocs(text: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut bytes = 0;
    let mut most = 0;
    for line in text.lines() {
        if let Some(at) = open.iter().position(|word| *word == line.trim()) {
            bytes -= open.remove(at).len() + 5;
        }
        for (at, _) in line.match_indices("<<") {
            if let Some(word) = heredoc_word(&line[at + 2..]) {
                bytes += word.len() + 5;
                open.push(word);
            }
        }
        most = most.max(bytes);
        if most > 10_000 {
            break;
        }
    }
    most
}

/// The word after `<<`: quoted up to its quote, else as far as letters go.
fn heredoc_word(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['-', '~']).unwrap_or(text);
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        let inner = &text[1..];
        return Some(inner.find(quote).map_or(inner, |end| &inner[..end]));
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0 && !text.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..end])
}

/// Blank lines in a row take the grammar the square of their number.
pub(super) fn cmake(text: &str) -> bool {
    text.split(|c: char| c != '\n' && c != '\r').any(|blank| blank.len() > 10_000)
}

/// Braces that never close are layouts within layouts, which take the grammar the square of their number.
pub(super) fn haskell(text: &str) -> bool {
    text.matches('{').count().saturating_sub(text.matches('}').count()) > 2_000
}

/// Elements that never close take the grammar the square of their number.
pub(super) fn html(text: &str) -> bool {
    text.matches('<').count().saturating_sub(2 * text.matches("</").count() + text.matches("/>").count()) > 20_000
}

/// The scanner writes its indents into a fixed buffer, and aborts where they overfill it; Python itself takes 100.
pub(super) fn python(text: &str) -> bool {
    deepest_indent(text, &[]) > 100
}

/// The scanner writes the words of open heredocs into a fixed buffer of a kilobyte, and aborts where they overfill it.
pub(super) fn ruby(text: &str) -> bool {
    open_heredocs(text) > 800
}

/// The scanner writes two numbers for each open block into a fixed buffer, and aborts where they overfill it.
pub(super) fn yaml(text: &str) -> bool {
    deepest_indent(text, &['-', '?', ':']) > 100
}

/// The mark of the here-document that the `<<` at `at` begins, and its lines up to the last.
pub(in crate::extract) fn here_document(text: &str, at: usize) -> Vec<Range<usize>> {
    let Some(word) = text.get(at + 2..).and_then(heredoc_word) else { return Vec::new() };
    let word_end = word.as_ptr().addr() - text.as_ptr().addr() + word.len();
    let mark = at..word_end + usize::from(text[word_end..].starts_with(['"', '\'']));
    let Some(line) = text[at..].find('\n').map(|end| at + end + 1) else { return Vec::new() };
    let mut end = line;
    for body in text[line..].split_inclusive('\n') {
        end += body.len();
        if body.trim() == word {
            return vec![mark, line..end];
        }
    }
    Vec::new()
}
