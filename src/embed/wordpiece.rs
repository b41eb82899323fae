//! The tokenizer of the static embeddings: splits identifiers into words, lowercases them, removes accents, and applies
//! WordPiece.
//!
//! Owns the hot path of embedding. A test checks that it returns the same tokens as the `tokenizers` library for the same
//! words; `table/tokens.py` does the same during training.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::words;

/// Longer words are data: digests, keys, encoded bytes.
const MAX_WORD_BYTES: usize = 40;

/// The longest token that the vocabulary contains.
const MAX_TOKEN_BYTES: usize = 24;

/// Token numbers by text.
pub(super) struct Vocabulary {
    first: Tokens,
    continuing: Tokens,
}

type Tokens = HashMap<Box<[u8]>, u32, BuildHasherDefault<Fnv>>;

/// FNV-1a. The keys come from our own vocabulary, so an attacker cannot choose keys that collide.
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

    /// Ignores a slice's length, which its bytes imply.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        // The map uses the high bits as tags and the low bits as the bucket.
        self.0 ^ (self.0 >> 29)
    }
}

impl Vocabulary {
    /// One token per line, with the prefix `##` if it continues a word. The line number is the token's number.
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

    /// Appends the tokens of `text` to `found`, in order.
    pub(super) fn tokens(&self, text: &str, found: &mut Vec<u32>) {
        let mut lowercase = [0; MAX_WORD_BYTES];
        for run in words::tokens(text) {
            for word in words::parts(run) {
                if word.len() <= MAX_WORD_BYTES && word.is_ascii() {
                    let lowercase = &mut lowercase[..word.len()];
                    lowercase.copy_from_slice(word.as_bytes());
                    lowercase.make_ascii_lowercase();
                    self.pieces(lowercase, found);
                } else if let Some(plain) = without_accents(word) {
                    self.pieces(plain.as_bytes(), found);
                }
            }
        }
    }

    /// Takes the longest known prefix, repeatedly. A word that cannot be covered completely has no tokens.
    fn pieces(&self, word: &[u8], found: &mut Vec<u32>) {
        let before = found.len();
        let mut tokens = &self.first;
        let mut rest = word;
        while !rest.is_empty() {
            let longest = rest.len().min(MAX_TOKEN_BYTES);
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

/// The word in lowercase ASCII; `None` if it has other characters or is too long.
fn without_accents(word: &str) -> Option<String> {
    let base = word.nfd().filter(|c| !is_combining_mark(*c));
    let lowercase = base.flat_map(char::to_lowercase);
    // One character more than fits, to detect words that are too long.
    let plain: String = lowercase.take(MAX_WORD_BYTES + 1).collect();
    (plain.is_ascii() && plain.len() <= MAX_WORD_BYTES).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = include_str!("table/vocabulary.txt");

    /// `tokenized.jsonl` contains random texts, made of pieces of source files and of hostile input, with the tokens that the
    /// `tokenizers` package finds in their words. The script that makes the table writes it.
    #[test]
    fn tokens_equal_those_of_the_tokenizers_package() {
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
    fn no_token_exceeds_the_maximum_length() {
        for line in LINES.lines() {
            let text = line.strip_prefix("##").unwrap_or(line);
            assert!((1..=MAX_TOKEN_BYTES).contains(&text.len()), "{line}");
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{line}");
        }
    }
}
