//! From text to the table's tokens: words of identifiers, in small letters without accents, then WordPiece.
//!
//! Owns the fast path that embedding spends its time on. It gives what the `tokenizers` library gives for the same
//! words, which a test holds; `table/tokens.py` does the same when the table is trained.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::words;

/// Longer words are data: digests, keys, encoded bytes.
const LONGEST_WORD: usize = 40;

/// The longest token of a vocabulary that is still looked for.
const LONGEST_TOKEN: usize = 24;

/// The tokens of a table, by their text.
pub(super) struct Vocabulary {
    first: Tokens,
    continuing: Tokens,
}

type Tokens = HashMap<Box<[u8]>, u32, BuildHasherDefault<Fnv>>;

/// FNV-1a over words: keys come from our own file, so nobody can choose ones that collide.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// A slice's length: its bytes say it too.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        // The map takes the high bits for its tags, the low bits for the place.
        self.0 ^ (self.0 >> 29)
    }
}

impl Vocabulary {
    /// One token a line, `##` before those that go on a word; the line's number is the token's.
    pub(super) fn new(lines: &str) -> Self {
        let mut vocabulary = Self { first: Tokens::default(), continuing: Tokens::default() };
        for (number, line) in (0_u32..).zip(lines.lines()) {
            let (tokens, text) = match line.strip_prefix("##") {
                Some(rest) => (&mut vocabulary.continuing, rest),
                None => (&mut vocabulary.first, line),
            };
            tokens.insert(text.as_bytes().into(), number);
        }
        vocabulary
    }

    /// Adds the tokens of `text` to `found`, in order.
    pub(super) fn tokens(&self, text: &str, found: &mut Vec<u32>) {
        let mut small = [0; LONGEST_WORD];
        for run in words::tokens(text) {
            for word in words::parts(run) {
                if word.len() <= LONGEST_WORD && word.is_ascii() {
                    let small = &mut small[..word.len()];
                    small.copy_from_slice(word.as_bytes());
                    small.make_ascii_lowercase();
                    self.pieces(small, found);
                } else if let Some(plain) = without_accents(word) {
                    self.pieces(plain.as_bytes(), found);
                }
            }
        }
    }

    /// The longest piece first, each time. A word of which any rest is unknown has no tokens.
    fn pieces(&self, word: &[u8], found: &mut Vec<u32>) {
        let before = found.len();
        let mut tokens = &self.first;
        let mut rest = word;
        while !rest.is_empty() {
            let longest = rest.len().min(LONGEST_TOKEN);
            let Some((end, token)) =
                (1..=longest).rev().find_map(|end| tokens.get(&rest[..end]).map(|&token| (end, token)))
            else {
                found.truncate(before);
                return;
            };
            found.push(token);
            rest = &rest[end..];
            tokens = &self.continuing;
        }
    }
}

/// In small ASCII letters and digits; `None` where that is not all of the word, or it is too long.
fn without_accents(word: &str) -> Option<String> {
    let base = word.nfd().filter(|c| !is_combining_mark(*c));
    let small = base.flat_map(char::to_lowercase);
    // One more than fits tells that it does not.
    let plain: String = small.take(LONGEST_WORD + 1).collect();
    (plain.is_ascii() && plain.len() <= LONGEST_WORD).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = include_str!("table/vocabulary.txt");

    /// `tokenized.jsonl` has texts put together at random of what meets in source files and what should not, and what the
    /// `tokenizers` package makes of their words: the script that makes the table asks it.
    #[test]
    fn tokens_are_those_of_the_tokenizers_package() {
        let vocabulary = Vocabulary::new(LINES);
        let mut texts = 0;
        for line in include_str!("table/tokenized.jsonl").lines() {
            let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).unwrap();
            let mut found = Vec::new();
            vocabulary.tokens(&text, &mut found);
            assert_eq!(found, expected, "{text:?}");
            texts += 1;
        }
        assert!(texts >= 2_000, "{texts}");
    }

    #[test]
    fn no_token_is_longer_than_is_looked_for() {
        for line in LINES.lines() {
            let text = line.strip_prefix("##").unwrap_or(line);
            assert!((1..=LONGEST_TOKEN).contains(&text.len()), "{line}");
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{line}");
        }
    }
}
