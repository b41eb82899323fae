//! Text of definitions: signatures, plain names, lines and columns.
//!
//! Owns how a range of the source becomes text. `parse` decides which ranges matter.

use std::ops::Range;

/// A signature is cut at this many characters.
const SIGNATURE_CHARS: usize = 200;

/// The words of a definition up to its body.
pub(super) struct Head {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Comments in it, in order.
    pub(super) comments: Vec<Range<usize>>,
}

impl Head {
    /// The head of a `definition` whose body begins at `body`. Without a body it ends with its line, unless brackets are
    /// open there; if `is_whole`, with the declaration, a value excepted.
    pub(super) fn find(
        definition: &Range<usize>,
        body: Option<usize>,
        text: &str,
        name_end: usize,
        is_whole: bool,
    ) -> Self {
        let start = definition.start;
        let whole = &text[start..body.map_or(definition.end, |body| body.max(start))];
        // No character has more than four bytes, so this is more than enough; there may be any amount of white space.
        let mut length = whole.floor_char_boundary(SIGNATURE_CHARS * 16);
        if body.is_none() {
            length = declared(&whole[..length], name_end.saturating_sub(start), is_whole);
        }
        Self { start, end: start + length, comments: Vec::new() }
    }

    /// On one line.
    pub(super) fn signature(&self, text: &str) -> Option<String> {
        let mut words = String::new();
        let mut start = self.start;
        for end in self.comments.iter().map(|comment| comment.start).chain([self.end]) {
            for word in text[start..end.max(start)].split_whitespace() {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(word);
            }
            start = self.comments.iter().find(|comment| comment.start == end).map_or(end, |comment| comment.end);
            start = start.min(self.end);
        }
        let cut = if words.len() <= SIGNATURE_CHARS { None } else { words.char_indices().nth(SIGNATURE_CHARS) };
        if let Some((cut, _)) = cut {
            let cut = words[..cut].rfind(' ').unwrap_or(cut);
            // Its end shows that a declaration has no body.
            let end = if words.ends_with(';') { " …;" } else { " …" };
            words.truncate(cut);
            words.push_str(end);
        }
        let words = words.strip_suffix("=>").unwrap_or(&words);
        let words = words.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '{' | ':' | '='));
        (!words.is_empty()).then(|| words.to_owned())
    }

    /// The range of a signature in the text, if it is written verbatim there.
    pub(super) fn written(&self, signature: &str, text: &str) -> Option<Range<usize>> {
        written(signature, text, self.start)
    }
}

/// Up to where a declaration without a body is its head.
fn declared(text: &str, name_end: usize, is_whole: bool) -> usize {
    let bytes = text.as_bytes();
    // Directives end with their line, and what Objective-C ends with `@end` is not a part of the head.
    let is_line = ["#", "@interface", "@implementation", "@protocol"].iter().any(|word| text.starts_with(word));
    let is_whole = is_whole && !is_line;
    let (mut depth, mut has_value) = (0_usize, false);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let rest = &bytes[at + 1..];
                let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                at += memchr::memchr(b'"', &rest[..line]).map_or(0, |end| end + 1);
            }
            // In other languages, only parameters continue on the next line.
            b'(' if is_whole || depth > 0 || text.get(name_end..at).is_some_and(|gap| gap.trim().is_empty()) => {
                depth += 1;
            }
            b'[' if is_whole => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b']' if is_whole => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => has_value = true,
            b'=' if depth == 0 && at >= name_end => {
                let is_operator = matches!(bytes.get(at + 1), Some(b'=' | b'>'))
                    || matches!(bytes.get(at.wrapping_sub(1)), Some(b'=' | b'<' | b'>' | b'!'));
                has_value |= !is_operator;
            }
            b'\n' if depth == 0 && (!is_whole || has_value) => return at,
            _ => {}
        }
        at += 1;
    }
    // Brackets that never close end with the line.
    if depth == 0 { text.len() } else { text.lines().next().map_or(0, str::len) }
}

/// Range of a signature in the text from `start` on, whatever its white space; `None` where the text differs.
fn written(signature: &str, text: &str, start: usize) -> Option<Range<usize>> {
    if signature.contains(char::is_control) {
        return None;
    }
    let blanks = |at: usize| text[at..].bytes().take_while(u8::is_ascii_whitespace).count();
    let start = start + blanks(start);
    let mut end = start;
    for (at, word) in signature.split(' ').enumerate() {
        let gap = if at > 0 { blanks(end) } else { 0 };
        if (at > 0 && gap == 0) || !text[end + gap..].starts_with(word) {
            return None;
        }
        end += gap + word.len();
    }
    Some(start..end)
}

/// `a.b.C`, `a::C` and `'C'` name `C`.
pub(super) fn last_name<'a>(text: &'a str, separator: &str) -> &'a str {
    let text = unquoted(text);
    text.rsplit(separator).next().filter(|name| is_name(name)).unwrap_or(text)
}

/// The name of a type without its arguments: `Vec` for `&mut Vec<T>`.
pub(super) fn bare_type(text: &str) -> &str {
    let head = text.split(['<', '[', '(']).next().unwrap_or(text).trim();
    head.rsplit([' ', '.', ':', '&', '*']).next().unwrap_or(head)
}

/// `text` without white space and quotes around it. `'a'.'b'` is two quoted words, not one.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for (open, close) in [('"', '"'), ('\'', '\''), ('`', '`')] {
        let inner = between(text, open, close);
        if let Some(inner) = inner.filter(|inner| !inner.contains(open)) {
            return inner;
        }
    }
    text
}

fn between(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// A module without quotes, `<stdio.h>` and `"stdio.h"` are `stdio.h`, and without what precedes it in lists: `a::{b, c::d` is
/// `a::c::d`.
pub(super) fn module_name(text: &str) -> String {
    let text = between(text, '<', '>').unwrap_or_else(|| unquoted(text));
    if !text.contains("::{") {
        return text.to_owned();
    }
    let (mut open, mut part) = (Vec::new(), String::new());
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '{' => open.push(std::mem::take(&mut part)),
            '}' => part = open.pop().unwrap_or_default(),
            ',' => part.clear(),
            _ => part.push(c),
        }
    }
    open.concat() + &part
}

/// The range of a name without quotes around it, or the colon of a Ruby symbol before it.
pub(super) fn bare(range: Range<usize>, text: &str) -> Range<usize> {
    let written = text[range].trim();
    let name = unquoted(written);
    // `['a']` names what `a` does.
    let literal = between(name, '[', ']').map(str::trim).filter(|inner| unquoted(inner) != *inner);
    let name = literal.map_or(name, unquoted);
    let symbol = written.strip_prefix(':').filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let name = symbol.unwrap_or(name);
    // A part of `text`: where it is needs no search.
    let start = name.as_ptr().addr() - text.as_ptr().addr();
    start..start + name.len()
}

fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) || text.contains('_')
}

/// Bytes between two offsets up to which characters are counted in advance.
const COUNTED_EVERY: usize = 256;

/// Where lines start, in bytes, and how many characters precede a byte. A lookup takes the same time wherever in a
/// line it is: a line may be the whole file.
pub(super) struct Lines {
    starts: Vec<usize>,
    /// Characters that begin before every [`COUNTED_EVERY`]th byte; empty where every character is a byte.
    characters: Vec<u32>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let counts = text.as_bytes().chunks(COUNTED_EVERY).map(characters_in);
            characters = std::iter::once(0)
                .chain(counts.scan(0_u32, |sum, count| {
                    *sum = sum.saturating_add(count);
                    Some(*sum)
                }))
                .collect();
        }
        Self { starts, characters }
    }

    /// How many characters precede a byte.
    pub(super) fn offset(&self, text: &str, at: usize) -> u32 {
        if self.characters.is_empty() {
            return u32::try_from(at).unwrap_or(u32::MAX);
        }
        let counted = at / COUNTED_EVERY;
        let rest = &text.as_bytes()[counted * COUNTED_EVERY..at];
        self.characters[counted].saturating_add(characters_in(rest))
    }

    /// The 1-based line of a byte.
    pub(super) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    /// Where the line of a byte starts.
    pub(super) fn start(&self, at: usize) -> usize {
        self.starts[self.starts.partition_point(|start| *start <= at) - 1]
    }

    /// The last line that has something of `range`: a range that ends with its line break ends on that line.
    pub(super) fn end_line(&self, text: &str, range: &Range<usize>) -> u32 {
        let ended = text[range.clone()].trim_end().len();
        self.line(range.start + ended.saturating_sub(1))
    }

    /// 1-based line and column of a byte; the column counts code points.
    pub(super) fn position(&self, text: &str, at: usize) -> (u32, u32) {
        let column = self.offset(text, at) - self.offset(text, self.start(at));
        (self.line(at), column.saturating_add(1))
    }
}

/// Characters that begin in these bytes of a text.
fn characters_in(bytes: &[u8]) -> u32 {
    let continued = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    u32::try_from(bytes.iter().filter(|byte| !continued(byte)).count()).unwrap_or(u32::MAX)
}
