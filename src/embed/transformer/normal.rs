//! What a tokenizer does to a text before it cuts it: forms of Unicode, letters, accents, tables of its own.
//!
//! Owns these steps as the `tokenizers` library has them, down to its classes of characters.

use std::sync::OnceLock;

use base64::Engine;
use regex_automata::meta::Regex;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::unfit;
use crate::error::Result;

/// One thing that is done to a text.
pub enum Step {
    /// Drops control characters, makes all spaces plain.
    Clean,
    /// Spaces around each Chinese character.
    Chinese,
    Lowercase,
    /// Takes it apart and drops the marks that take no room.
    Accents,
    /// Drops all marks.
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
                let small = is("lowercase", true);
                let steps = [
                    (is("clean_text", true), Self::Clean),
                    (is("handle_chinese_chars", true), Self::Chinese),
                    // Without a word, accents go where capitals go.
                    (is("strip_accents", small), Self::Accents),
                    (small, Self::Lowercase),
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
                    let regex = Regex::new(pattern)
                        .map_err(|_| unfit("its tokenizer.json has a pattern that cannot be read"))?;
                    Self::ReplaceMatches(regex, text(&step["content"]))
                }
                _ => return Err(unfit("its tokenizer.json replaces nothing that can be read")),
            },
            "Precompiled" => Self::Table(Table::read(&text(&step["precompiled_charsmap"]))?),
            other => return Err(unfit(format!("its tokenizer changes texts by {other:?}, which is not known here"))),
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

/// Classes of Unicode that the standard library does not tell.
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

/// SentencePiece's own table of what to write for what: a double-array trie, and the texts that it leads to.
pub struct Table {
    trie: Vec<u32>,
    texts: Vec<u8>,
}

/// Longer clusters are looked at character by character.
const LONGEST_CLUSTER: usize = 6;

impl Table {
    fn read(encoded: &str) -> Result<Self> {
        let wrong = || unfit("its tokenizer.json has a table that cannot be read");
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
            if cluster.len() < LONGEST_CLUSTER
                && let Some(instead) = self.instead_of(cluster)
            {
                applied.push_str(instead);
                continue;
            }
            let mut room = [0; 4];
            for c in cluster.chars() {
                let c: &str = c.encode_utf8(&mut room);
                applied.push_str(self.instead_of(c).unwrap_or(c));
            }
        }
        applied
    }

    /// What the shortest beginning of `text` that the trie knows leads to.
    fn instead_of(&self, text: &str) -> Option<&str> {
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
