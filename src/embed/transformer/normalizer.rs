//! The normalization of a text before it is tokenized: Unicode normal forms, case, accents, replacement tables.
//!
//! Owns these steps exactly as the `tokenizers` library defines them, including its character classes.

use std::sync::OnceLock;

use base64::Engine;
use regex_automata::meta::Regex;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::unusable;
use crate::error::Result;

/// One normalization step.
pub enum Step {
    /// Removes control characters and replaces white space by plain spaces.
    Clean,
    /// Inserts spaces around each Chinese character.
    Chinese,
    Lowercase,
    /// Decomposes and removes nonspacing marks.
    Accents,
    /// Removes all combining marks.
    Marks,
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Strip {
        left: bool,
        right: bool,
    },
    Prepend(String),
    Replace(String, String),
    ReplaceMatches(Regex, String),
    Table(Table),
}

impl Step {
    pub fn read(step: &Value) -> Result<Vec<Self>> {
        let is = |name: &str, default: bool| step[name].as_bool().unwrap_or(default);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let one = match step["type"].as_str().unwrap_or_default() {
            "BertNormalizer" => {
                let lowercase = is("lowercase", true);
                let steps = [
                    (is("clean_text", true), Self::Clean),
                    (is("handle_chinese_chars", true), Self::Chinese),
                    // By default, accents are removed if letters are lowercased.
                    (is("strip_accents", lowercase), Self::Accents),
                    (lowercase, Self::Lowercase),
                ];
                return Ok(steps.into_iter().filter_map(|(wanted, step)| wanted.then_some(step)).collect());
            }
            "Lowercase" => Self::Lowercase,
            "StripAccents" => Self::Marks,
            "NFC" => Self::Nfc,
            "NFD" => Self::Nfd,
            "NFKC" => Self::Nfkc,
            "NFKD" => Self::Nfkd,
            "Strip" => Self::Strip { left: is("strip_left", true), right: is("strip_right", true) },
            "Prepend" => Self::Prepend(text(&step["prepend"])),
            "Replace" => match (&step["pattern"]["String"], &step["pattern"]["Regex"]) {
                (Value::String(from), _) => Self::Replace(from.clone(), text(&step["content"])),
                (_, Value::String(pattern)) => {
                    let regex =
                        Regex::new(pattern).map_err(|_| unusable("its tokenizer.json contains an invalid pattern"))?;
                    Self::ReplaceMatches(regex, text(&step["content"]))
                }
                _ => return Err(unusable("its tokenizer.json contains an invalid replacement")),
            },
            "Precompiled" => Self::Table(Table::read(&text(&step["precompiled_charsmap"]))?),
            other => return Err(unusable(format!("its tokenizer's normalizer {other:?} is not supported"))),
        };
        Ok(vec![one])
    }

    pub fn apply(&self, text: String) -> String {
        match self {
            Self::Clean => text
                .chars()
                .filter(|c| matches!(c, '\t' | '\n' | '\r') || !(*c == '\u{fffd}' || is_control(*c)))
                .map(|c| if c.is_whitespace() { ' ' } else { c })
                .collect(),
            Self::Chinese => {
                let mut spaced = String::with_capacity(text.len());
                for c in text.chars() {
                    if is_chinese(c) { spaced.extend([' ', c, ' ']) } else { spaced.push(c) }
                }
                spaced
            }
            Self::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
            Self::Accents => text.nfd().filter(|c| !is_in(Class::NonSpacing, *c)).collect(),
            Self::Marks => text.chars().filter(|c| !is_combining_mark(*c)).collect(),
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { &text };
                if *right { text.trim_end() } else { text }.to_owned()
            }
            Self::Prepend(_) if text.is_empty() => text,
            Self::Prepend(with) => format!("{with}{text}"),
            Self::Replace(from, to) if !from.is_empty() => text.replace(from, to),
            Self::Replace(..) => text,
            Self::ReplaceMatches(regex, to) => {
                let (mut replaced, mut last) = (String::with_capacity(text.len()), 0);
                for found in regex.find_iter(&text).filter(|found| !found.is_empty()) {
                    replaced.push_str(&text[last..found.start()]);
                    replaced.push_str(to);
                    last = found.end();
                }
                replaced.push_str(&text[last..]);
                replaced
            }
            Self::Table(table) => table.apply(&text),
        }
    }
}

/// Unicode classes that the standard library does not provide.
#[derive(Clone, Copy)]
enum Class {
    NonSpacing,
    Format,
    Punctuation,
}

fn is_in(class: Class, c: char) -> bool {
    static RANGES: [OnceLock<Vec<(char, char)>>; 3] = [const { OnceLock::new() }; 3];
    let pattern = ["\\p{Mn}", "[\\p{Cf}\\p{Co}]", "\\p{P}"][class as usize];
    let ranges = RANGES[class as usize].get_or_init(|| match regex_syntax::parse(pattern).map(|hir| hir.into_kind()) {
        Ok(regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    });
    let after = ranges.partition_point(|range| range.0 <= c);
    after > 0 && c <= ranges[after - 1].1
}

fn is_control(c: char) -> bool {
    c.is_control() || is_in(Class::Format, c)
}

pub fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && is_in(Class::Punctuation, c))
}

fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x2_0000..=0x2_A6DF | 0x2_A700..=0x2_B73F | 0x2_B740..=0x2_B81F
        | 0x2_B920..=0x2_CEAF | 0xF900..=0xFAFF | 0x2_F800..=0x2_FA1F)
}

/// SentencePiece's replacement table: a double-array trie, and the replacements that it points to.
pub struct Table {
    trie: Vec<u32>,
    texts: Vec<u8>,
}

/// Longer grapheme clusters are replaced character by character. In bytes.
const MAX_CLUSTER_BYTES: usize = 6;

impl Table {
    fn read(encoded: &str) -> Result<Self> {
        let wrong = || unusable("its tokenizer.json contains an invalid replacement table");
        let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|_| wrong())?;
        let (size, rest) = bytes.split_at_checked(4).ok_or_else(wrong)?;
        let size = u32::from_le_bytes(size.try_into().map_err(|_| wrong())?) as usize;
        let (trie, texts) = rest.split_at_checked(size).ok_or_else(wrong)?;
        let units = trie.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        Ok(Self { trie: units.collect(), texts: texts.to_vec() })
    }

    fn apply(&self, text: &str) -> String {
        let mut applied = String::with_capacity(text.len());
        for cluster in text.graphemes(true) {
            if cluster.len() < MAX_CLUSTER_BYTES
                && let Some(replacement) = self.replacement(cluster)
            {
                applied.push_str(replacement);
                continue;
            }
            let mut buffer = [0; 4];
            for c in cluster.chars() {
                let c: &str = c.encode_utf8(&mut buffer);
                applied.push_str(self.replacement(c).unwrap_or(c));
            }
        }
        applied
    }

    /// The replacement of the shortest prefix of `text` that the trie contains.
    fn replacement(&self, text: &str) -> Option<&str> {
        let offset = |unit: u32| ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize;
        let mut at = offset(*self.trie.first()?);
        for byte in text.bytes().take_while(|byte| *byte != 0) {
            at ^= usize::from(byte);
            let unit = *self.trie.get(at)?;
            if unit & (1 << 31 | 0xff) != u32::from(byte) {
                return None;
            }
            at ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let start = (self.trie.get(at)? & !(1 << 31)) as usize;
                let texts = self.texts.get(start..)?;
                let end = texts.iter().position(|byte| *byte == 0).unwrap_or(texts.len());
                return std::str::from_utf8(&texts[..end]).ok();
            }
        }
        None
    }
}
