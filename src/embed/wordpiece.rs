//! From text to the table's tokens: words of identifiers, in small letters without accents, then WordPiece.
//!
//! Owns the fast path that embedding spends its time on. It gives what the `tokenizers` crate gives for the same words,
//! which a test holds; `table/tokens.py` does the same when the table is trained.

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
    use tokenizers::models::wordpiece::WordPiece;
    use tokenizers::normalizers::BertNormalizer;
    use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
    use tokenizers::{Model, Tokenizer};

    use super::*;

    const LINES: &str = include_str!("table/vocabulary.txt");

    /// The same vocabulary as `tokenizers` has it, and its number for what is not in it.
    fn theirs() -> (Tokenizer, u32) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vocabulary.txt");
        std::fs::write(&file, format!("{LINES}[UNK]\n")).unwrap();
        let model = WordPiece::from_file(file.to_str().unwrap())
            .unk_token("[UNK]".to_owned())
            .max_input_chars_per_word(LONGEST_WORD)
            .build()
            .unwrap();
        let unknown = model.token_to_id("[UNK]").unwrap();
        let mut tokenizer = Tokenizer::new(model);
        tokenizer.with_normalizer(Some(BertNormalizer::new(true, false, Some(true), true)));
        tokenizer.with_pre_tokenizer(Some(WhitespaceSplit));
        (tokenizer, unknown)
    }

    fn split(text: &str) -> String {
        words::tokens(text).flat_map(words::parts).collect::<Vec<_>>().join(" ")
    }

    /// Pieces of which texts are put together: what meets in source files, and what should not.
    const PIECES: &[&str] = &[
        "get",
        "User",
        "ID",
        "HTTP",
        "parse",
        "unmarshalling",
        "kubernetes",
        "xyzzyq",
        "2048",
        "0x1f",
        "_",
        "__",
        "-",
        ".",
        " ",
        "\n",
        "\t",
        "(",
        "é",
        "e\u{301}",
        "ß",
        "İ",
        "Σ",
        "ς",
        "Ǆ",
        "ﬁ",
        "½",
        "٣",
        "漢字",
        "ключ",
        "한글",
        "\u{200b}",
        "\0",
        "🦀",
        "q",
        "Z",
        "antidisestablishmentarianism",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "\u{0915}\u{093f}",
        "ª",
        "ⅷ",
    ];

    #[test]
    fn tokens_are_those_of_the_tokenizers_crate() {
        let (ours, (theirs, unknown)) = (Vocabulary::new(LINES), theirs());
        let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % below as u64).unwrap()
        };
        let own_source = include_str!("wordpiece.rs").lines().map(str::to_owned);
        let mut texts: Vec<String> = own_source.chain(LINES.lines().map(str::to_owned)).collect();
        for _ in 0..5_000 {
            texts.push((0..=next(12)).map(|_| PIECES[next(PIECES.len())]).collect());
        }
        for text in &texts {
            let mut found = Vec::new();
            ours.tokens(text, &mut found);
            let encoding = theirs.encode_fast(split(text), false).unwrap();
            let expected: Vec<u32> = encoding.get_ids().iter().copied().filter(|&id| id != unknown).collect();
            assert_eq!(found, expected, "{text:?}");
        }
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
