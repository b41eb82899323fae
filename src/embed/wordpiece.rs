//! The tokenizer of the static embeddings: splits identifiers into words, lowercases them, removes accents, and applies
//! WordPiece.
//!
//! Owns the hot path of embedding. A test checks that it returns the same tokens as the `tokenizers` library for the same
//! words; `table/tokens.py` does the same during training.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::words;

/// Longer words are data: digests, keys, encoded bytes.
const MAX_WORD_BYTES: usize = 40;

/// The longest token that the vocabulary contains.
const MAX_TOKEN_BYTES: usize = 24;

/// One token per line, with this prefix if it continues a word. The line number is the token's number.
static LINES: &[u8] = include_bytes!("table/vocabulary.txt");
const CONTINUING: &[u8] = b"##";

/// The number of tokens.
pub(super) const COUNT: usize = count(LINES);

/// A power of two, at least twice the number of tokens.
const SLOTS: usize = (2 * COUNT).next_power_of_two();
const EMPTY: u32 = u32::MAX;
const _: () = assert!(COUNT < u16::MAX as usize, "a token number fits into half a slot");

/// Token numbers by text: a hash table with linear probing. The compiler makes it, so that a process that embeds a single query
/// does not read all lines first.
pub(super) struct Vocabulary {
    /// Where each line begins, and the end.
    starts: [u32; COUNT + 1],
    /// The low half is a token's number. The high half is a part of its hash, which rejects most texts that are not tokens.
    slots: [u32; SLOTS],
}

pub(super) static VOCABULARY: Vocabulary = Vocabulary::of_lines();

const fn count(lines: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < lines.len() {
        count += (lines[at] == b'\n') as usize;
        at += 1;
    }
    count
}

/// FNV-1a, with a start for each of the two kinds of tokens. The table is fixed, so an attacker cannot choose keys that collide.
const fn hash_start(is_continuing: bool) -> u64 {
    if is_continuing { 0x9ae1_6a3b_2f90_404f } else { 0xcbf2_9ce4_8422_2325 }
}

const fn hash_next(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3)
}

/// Bits that distinguish tokens in neighbouring slots.
const fn tag(hash: u64) -> u32 {
    (hash >> 48) as u32
}

/// The slot at which the search for a text begins.
#[expect(clippy::cast_possible_truncation, reason = "the rest of a division by the number of slots")]
const fn first_slot(hash: u64) -> usize {
    ((hash ^ (hash >> 29)) % SLOTS as u64) as usize
}

impl Vocabulary {
    #[expect(clippy::cast_possible_truncation, reason = "the lines are shorter than 4 GiB, and `COUNT` fits")]
    const fn of_lines() -> Self {
        let (mut starts, mut slots) = ([0; COUNT + 1], [EMPTY; SLOTS]);
        let (mut number, mut at) = (0, 0);
        while number < COUNT {
            starts[number] = at as u32;
            let is_continuing = LINES[at] == CONTINUING[0];
            let mut hash = hash_start(is_continuing);
            if is_continuing {
                at += CONTINUING.len();
            }
            while LINES[at] != b'\n' {
                hash = hash_next(hash, LINES[at]);
                at += 1;
            }
            at += 1;
            let mut slot = first_slot(hash);
            while slots[slot] != EMPTY {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = tag(hash) << 16 | number as u32;
            number += 1;
        }
        starts[COUNT] = at as u32;
        Self { starts, slots }
    }

    /// The number of a token with this text and hash.
    fn number(&self, text: &[u8], is_continuing: bool, hash: u64) -> Option<u32> {
        let mut slot = first_slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == EMPTY {
                return None;
            }
            let number = entry & u32::from(u16::MAX);
            if entry >> 16 == tag(hash) && self.text(number, is_continuing) == Some(text) {
                return Some(number);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// The text of a token, if it is of that kind.
    fn text(&self, number: u32, is_continuing: bool) -> Option<&'static [u8]> {
        let number = number as usize;
        let line = &LINES[self.starts[number] as usize..self.starts[number + 1] as usize - 1];
        if is_continuing { line.strip_prefix(CONTINUING) } else { Some(line) }
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
        let mut is_continuing = false;
        let mut rest = word;
        let mut hashes = [0; MAX_TOKEN_BYTES];
        while !rest.is_empty() {
            let longest = rest.len().min(MAX_TOKEN_BYTES);
            let mut hash = hash_start(is_continuing);
            for (hashes, byte) in hashes.iter_mut().zip(rest) {
                hash = hash_next(hash, *byte);
                *hashes = hash;
            }
            let number = |end: usize| Some((end, self.number(&rest[..end], is_continuing, hashes[end - 1])?));
            let Some((end, token)) = (1..=longest).rev().find_map(number) else {
                found.truncate(before);
                return;
            };
            found.push(token);
            rest = &rest[end..];
            is_continuing = true;
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

    /// `tokenized.jsonl` contains random texts, made of pieces of source files and of hostile input, with the tokens that the
    /// `tokenizers` package finds in their words. The script that makes the table writes it.
    #[test]
    fn tokens_equal_those_of_the_tokenizers_package() {
        let mut texts = 0;
        for line in include_str!("table/tokenized.jsonl").lines() {
            let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).unwrap();
            let mut found = Vec::new();
            VOCABULARY.tokens(&text, &mut found);
            assert_eq!(found, expected, "{text:?}");
            texts += 1;
        }
        assert!(texts >= 2_000, "{texts}");
    }

    #[test]
    fn every_token_is_found_by_its_own_text() {
        for (number, line) in (0_u32..).zip(str::from_utf8(LINES).unwrap().lines()) {
            let (text, is_continuing) = line.strip_prefix("##").map_or((line, false), |text| (text, true));
            let hash = text.bytes().fold(hash_start(is_continuing), hash_next);
            assert_eq!(VOCABULARY.number(text.as_bytes(), is_continuing, hash), Some(number), "{line}");
        }
    }

    #[test]
    fn no_token_exceeds_the_maximum_length() {
        for line in str::from_utf8(LINES).unwrap().lines() {
            let text = line.strip_prefix("##").unwrap_or(line);
            assert!((1..=MAX_TOKEN_BYTES).contains(&text.len()), "{line}");
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{line}");
        }
    }
}
