//! The tokenizer of a model, as its `tokenizer.json` defines it.
//!
//! Owns pre-tokenization, the two algorithms that sentence encoders use, WordPiece (BERT, MiniLM, MPNet) and unigram (ALBERT,
//! XLM-R), and the special tokens around a text. The `tokenizers` library is not a dependency; a test compares with its
//! results. The names of special tokens inside a text are plain text.

use std::collections::HashMap;

use serde_json::Value;

use super::normalizer::{Step, is_punctuation};
use super::unusable;
use crate::error::Result;

/// Characters of a word if the file does not define the limit. Longer words are unknown.
const DEFAULT_MAX_WORD_CHARS: u64 = 100;
/// The score of an unknown character in a unigram model, below that of the worst token.
const UNKNOWN_PENALTY: f64 = 10.0;
const METASPACE: char = '▁';

pub struct Tokenizer {
    normalizer: Vec<Step>,
    splitters: Vec<Splitter>,
    algorithm: Algorithm,
    /// The special tokens before and after every text.
    before: Vec<i64>,
    after: Vec<i64>,
}

/// How a text is split into words before it is tokenized.
enum Splitter {
    Spaces,
    /// At spaces, and around each punctuation character.
    Words,
    /// Replaces spaces by [`METASPACE`], which begins each word.
    Metaspace {
        /// Whether the first word begins with it too.
        first: bool,
    },
}

enum Algorithm {
    WordPiece { tokens: HashMap<String, i64>, continuing: String, unknown: i64, longest: usize },
    Unigram { tokens: HashMap<String, (i64, f64)>, unknown: i64, worst: f64, longest: usize },
}

impl Tokenizer {
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let file: Value = serde_json::from_slice(bytes).map_err(|_| unusable("its tokenizer.json is not JSON"))?;
        let mut normalizer = Vec::new();
        for step in steps(&file["normalizer"], "normalizers") {
            normalizer.extend(Step::read(step)?);
        }
        let splitters = steps(&file["pre_tokenizer"], "pretokenizers").into_iter();
        let splitters = splitters.map(Splitter::read).collect::<Result<_>>()?;
        let algorithm = Algorithm::read(&file["model"])?;
        let (before, after) = special_tokens(&file["post_processor"])?;
        Ok(Self { normalizer, splitters, algorithm, before, after })
    }

    /// The number of special tokens around a text.
    pub fn special_tokens(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The tokens of a text, without special tokens.
    pub fn tokens(&self, text: &str) -> Vec<i64> {
        let mut text = text.to_owned();
        for step in &self.normalizer {
            text = step.apply(text);
        }
        let mut parts = vec![text];
        for splitter in &self.splitters {
            parts = parts.iter().flat_map(|part| splitter.apply(part)).collect();
        }
        let mut tokens = Vec::new();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            self.algorithm.tokenize(part, &mut tokens);
        }
        tokens
    }

    /// Adds the special tokens around a text.
    pub fn with_special_tokens(&self, tokens: &[i64]) -> Vec<i64> {
        [&self.before, tokens, &self.after].concat()
    }
}

/// A single step, or the steps of a sequence.
fn steps<'f>(step: &'f Value, list: &str) -> Vec<&'f Value> {
    match step["type"].as_str() {
        None => Vec::new(),
        Some("Sequence") => step[list].as_array().into_iter().flatten().flat_map(|inner| steps(inner, list)).collect(),
        Some(_) => vec![step],
    }
}

impl Splitter {
    fn read(step: &Value) -> Result<Self> {
        Ok(match step["type"].as_str().unwrap_or_default() {
            "BertPreTokenizer" => Self::Words,
            "WhitespaceSplit" => Self::Spaces,
            "Metaspace" => {
                let scheme = step["prepend_scheme"].as_str();
                let first =
                    scheme.map_or(step["add_prefix_space"].as_bool().unwrap_or(true), |scheme| scheme != "never");
                if step["replacement"].as_str().is_some_and(|with| with != "▁") || step["split"] == Value::Bool(false)
                {
                    return Err(unusable("its tokenizer replaces spaces in a way that is not supported"));
                }
                Self::Metaspace { first }
            }
            other => return Err(unusable(format!("its tokenizer's pre-tokenizer {other:?} is not supported"))),
        })
    }

    fn apply(&self, text: &str) -> Vec<String> {
        match self {
            Self::Spaces => text.split_whitespace().map(str::to_owned).collect(),
            Self::Words => {
                let mut words = Vec::new();
                for word in text.split_whitespace() {
                    let mut rest = word;
                    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| is_punctuation(*c)) {
                        words.push(rest[..at].to_owned());
                        words.push(mark.to_string());
                        rest = &rest[at + mark.len_utf8()..];
                    }
                    words.push(rest.to_owned());
                }
                words
            }
            Self::Metaspace { first } => {
                if text.is_empty() {
                    return Vec::new();
                }
                let mut text = text.replace(' ', "▁");
                if *first && !text.starts_with(METASPACE) {
                    text.insert(0, METASPACE);
                }
                let mut words: Vec<String> = Vec::new();
                for c in text.chars() {
                    match words.last_mut() {
                        Some(word) if c != METASPACE => word.push(c),
                        _ => words.push(c.to_string()),
                    }
                }
                words
            }
        }
    }
}

impl Algorithm {
    fn read(model: &Value) -> Result<Self> {
        let wrong = || unusable("its tokenizer.json has no valid vocabulary");
        match (model["type"].as_str(), &model["vocab"]) {
            // Old files have no type.
            (Some("WordPiece") | None, Value::Object(vocabulary)) if model["continuing_subword_prefix"].is_string() => {
                let tokens: HashMap<String, i64> = vocabulary
                    .iter()
                    .map(|(token, number)| Ok((token.clone(), number.as_i64().ok_or_else(wrong)?)))
                    .collect::<Result<_>>()?;
                let unknown = model["unk_token"].as_str().unwrap_or("[UNK]");
                let unknown = *tokens.get(unknown).ok_or_else(wrong)?;
                let continuing = model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned();
                let longest = model["max_input_chars_per_word"].as_u64().unwrap_or(DEFAULT_MAX_WORD_CHARS);
                let longest = usize::try_from(longest).unwrap_or(usize::MAX);
                Ok(Self::WordPiece { tokens, continuing, unknown, longest })
            }
            (Some("Unigram") | None, Value::Array(vocabulary)) => {
                let mut tokens = HashMap::with_capacity(vocabulary.len());
                let (mut worst, mut longest) = (f64::MAX, 1);
                for (number, piece) in (0..).zip(vocabulary) {
                    let (token, score) = (piece[0].as_str().ok_or_else(wrong)?, piece[1].as_f64().ok_or_else(wrong)?);
                    worst = worst.min(score);
                    longest = longest.max(token.len());
                    tokens.insert(token.to_owned(), (number, score));
                }
                if model["byte_fallback"].as_bool().unwrap_or_default() {
                    return Err(unusable("its tokenizer's byte fallback is not supported"));
                }
                let unknown = model["unk_id"].as_i64().ok_or_else(wrong)?;
                Ok(Self::Unigram { tokens, unknown, worst, longest })
            }
            (kind, _) => {
                let problem = match kind {
                    Some(kind) => format!("its tokenizer has the type {:?}", crate::model::printable(kind)),
                    None => "its tokenizer.json has no type".to_owned(),
                };
                Err(unusable(format!("{problem}; only WordPiece and Unigram are supported")))
            }
        }
    }

    /// Appends the tokens of a word.
    fn tokenize(&self, word: &str, found: &mut Vec<i64>) {
        match self {
            Self::WordPiece { tokens, continuing, unknown, longest } => {
                if word.chars().count() > *longest {
                    return found.push(*unknown);
                }
                let before = found.len();
                let (mut rest, mut piece) = (word, String::new());
                while !rest.is_empty() {
                    let mut end = rest.len();
                    let token = loop {
                        piece.clear();
                        if rest.len() < word.len() {
                            piece.push_str(continuing);
                        }
                        piece.push_str(&rest[..end]);
                        if let Some(token) = tokens.get(&piece) {
                            break Some(*token);
                        }
                        match rest[..end].char_indices().next_back() {
                            Some((at, _)) if at > 0 => end = at,
                            _ => break None,
                        }
                    };
                    let Some(token) = token else {
                        found.truncate(before);
                        return found.push(*unknown);
                    };
                    found.push(token);
                    rest = &rest[end..];
                }
            }
            Self::Unigram { tokens, unknown, worst, longest } => {
                unigrams(word, tokens, (*unknown, worst - UNKNOWN_PENALTY), *longest, found);
            }
        }
    }
}

/// The most likely sequence of tokens for `word` (Viterbi). Adjacent unknown characters are one token.
fn unigrams(
    word: &str,
    tokens: &HashMap<String, (i64, f64)>,
    (unknown, penalty): (i64, f64),
    longest: usize,
    found: &mut Vec<i64>,
) {
    // For each end position: the best score, where its last token begins, and which token that is.
    let mut best: Vec<Option<(f64, usize, i64)>> = vec![None; word.len() + 1];
    for (start, first) in word.char_indices() {
        let so_far = if start == 0 { 0.0 } else { best[start].map_or(f64::MIN, |(score, ..)| score) };
        let mut put = |end: usize, score: f64, token: i64| {
            if best[end].is_none_or(|(known, ..)| score > known) {
                best[end] = Some((score, start, token));
            }
        };
        let mut is_known = false;
        for (at, c) in word[start..].char_indices() {
            let end = start + at + c.len_utf8();
            if end - start > longest {
                break;
            }
            if let Some(&(token, score)) = tokens.get(&word[start..end]) {
                put(end, so_far + score, token);
                is_known |= at == 0;
            }
        }
        if !is_known {
            put(start + first.len_utf8(), so_far + penalty, unknown);
        }
    }
    let from = found.len();
    let mut end = word.len();
    while let Some((_, start, token)) = best.get(end).copied().flatten().filter(|_| end > 0) {
        if token != unknown || found.len() == from || found.last() != Some(&unknown) {
            found.push(token);
        }
        end = start;
    }
    found[from..].reverse();
}

/// The special tokens before and after a single text.
fn special_tokens(step: &Value) -> Result<(Vec<i64>, Vec<i64>)> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let wrong = || unusable("its tokenizer.json contains an invalid post-processor");
    for step in steps(step, "processors") {
        match step["type"].as_str().unwrap_or_default() {
            "TemplateProcessing" => {
                let mut is_before = true;
                for part in step["single"].as_array().ok_or_else(wrong)? {
                    if part["Sequence"].is_object() {
                        is_before = false;
                        continue;
                    }
                    let name = part["SpecialToken"]["id"].as_str().ok_or_else(wrong)?;
                    let ids = step["special_tokens"][name]["ids"].as_array().ok_or_else(wrong)?;
                    let ids = ids.iter().map(|id| id.as_i64().ok_or_else(wrong)).collect::<Result<Vec<_>>>()?;
                    if is_before { before.extend(ids) } else { after.extend(ids) }
                }
            }
            "BertProcessing" | "RobertaProcessing" => {
                before.push(step["cls"][1].as_i64().ok_or_else(wrong)?);
                after.push(step["sep"][1].as_i64().ok_or_else(wrong)?);
            }
            "ByteLevel" => {}
            other => return Err(unusable(format!("its tokenizer's post-processor {other:?} is not supported"))),
        }
    }
    Ok((before, after))
}
