//! A model's own `tokenizer.json`: from text to the numbers that the model was trained on.
//!
//! Owns the steps of the two sorts that encoders of sentences have, WordPiece (BERT, MiniLM, MPNet) and unigrams (ALBERT,
//! XLM-R), and the tokens that a text is put between. The library that these files come from cannot be had without its
//! trainers; a test holds this to what it gives. Names of special tokens inside a text are text.

use std::collections::HashMap;

use serde_json::Value;

use super::normal::Step;
use super::unfit;
use crate::error::Result;

/// Longer words are unknown, where the file does not say.
const LONGEST_WORD: u64 = 100;
/// How much worse than its worst piece a unigram model likes a character that it does not know.
const UNKNOWN: f64 = 10.0;
const METASPACE: char = '▁';

pub struct Tokenizer {
    normal: Vec<Step>,
    cuts: Vec<Cut>,
    sort: Sort,
    /// Before and after every text.
    before: Vec<i64>,
    after: Vec<i64>,
}

/// How a text is cut before the model sees it.
enum Cut {
    Spaces,
    /// At spaces, and around each mark of punctuation.
    Words,
    /// Spaces become a letter of their own, which begins each word.
    Meta {
        first: bool,
    },
}

enum Sort {
    WordPiece { tokens: HashMap<String, i64>, continuing: String, unknown: i64, longest: usize },
    Unigram { tokens: HashMap<String, (i64, f64)>, unknown: i64, worst: f64, longest: usize },
}

impl Tokenizer {
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let file: Value = serde_json::from_slice(bytes).map_err(|_| unfit("its tokenizer.json is no JSON"))?;
        let mut normal = Vec::new();
        for step in steps(&file["normalizer"], "normalizers") {
            normal.extend(Step::read(step)?);
        }
        let cuts = steps(&file["pre_tokenizer"], "pretokenizers").into_iter().map(cut).collect::<Result<_>>()?;
        let sort = sort(&file["model"])?;
        let (before, after) = frame(&file["post_processor"])?;
        Ok(Self { normal, cuts, sort, before, after })
    }

    /// How many tokens stand around a text.
    pub fn frame(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The tokens of a text, without those around it.
    pub fn tokens(&self, text: &str) -> Vec<i64> {
        let mut text = text.to_owned();
        for step in &self.normal {
            text = step.apply(text);
        }
        let mut parts = vec![text];
        for cut in &self.cuts {
            parts = parts.iter().flat_map(|part| cut.apply(part)).collect();
        }
        let mut found = Vec::new();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            self.sort.tokens(part, &mut found);
        }
        found
    }

    /// Tokens with those that stand around every text.
    pub fn framed(&self, tokens: &[i64]) -> Vec<i64> {
        [&self.before, tokens, &self.after].concat()
    }
}

/// One step, or those of a sequence.
fn steps<'f>(step: &'f Value, list: &str) -> Vec<&'f Value> {
    match step["type"].as_str() {
        None => Vec::new(),
        Some("Sequence") => step[list].as_array().into_iter().flatten().flat_map(|inner| steps(inner, list)).collect(),
        Some(_) => vec![step],
    }
}

fn cut(step: &Value) -> Result<Cut> {
    Ok(match step["type"].as_str().unwrap_or_default() {
        "BertPreTokenizer" => Cut::Words,
        "WhitespaceSplit" => Cut::Spaces,
        "Metaspace" => {
            let scheme = step["prepend_scheme"].as_str();
            let first = scheme.map_or(step["add_prefix_space"].as_bool().unwrap_or(true), |scheme| scheme != "never");
            if step["replacement"].as_str().is_some_and(|with| with != "▁") || step["split"] == Value::Bool(false) {
                return Err(unfit("its tokenizer marks spaces in a way that is not known here"));
            }
            Cut::Meta { first }
        }
        other => return Err(unfit(format!("its tokenizer cuts texts by {other:?}, which is not known here"))),
    })
}

impl Cut {
    fn apply(&self, text: &str) -> Vec<String> {
        match self {
            Self::Spaces => text.split_whitespace().map(str::to_owned).collect(),
            Self::Words => {
                let mut words = Vec::new();
                for word in text.split_whitespace() {
                    let mut rest = word;
                    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| super::normal::is_punctuation(*c)) {
                        words.push(rest[..at].to_owned());
                        words.push(mark.to_string());
                        rest = &rest[at + mark.len_utf8()..];
                    }
                    words.push(rest.to_owned());
                }
                words
            }
            Self::Meta { first } => {
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

fn sort(model: &Value) -> Result<Sort> {
    let wrong = || unfit("its tokenizer.json has no vocabulary that can be read");
    match (model["type"].as_str(), &model["vocab"]) {
        // Old files do not say it.
        (Some("WordPiece") | None, Value::Object(vocabulary)) if model["continuing_subword_prefix"].is_string() => {
            let tokens: HashMap<String, i64> = vocabulary
                .iter()
                .map(|(token, number)| Ok((token.clone(), number.as_i64().ok_or_else(wrong)?)))
                .collect::<Result<_>>()?;
            let unknown = model["unk_token"].as_str().unwrap_or("[UNK]");
            let unknown = *tokens.get(unknown).ok_or_else(wrong)?;
            let continuing = model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned();
            let longest = model["max_input_chars_per_word"].as_u64().unwrap_or(LONGEST_WORD);
            Ok(Sort::WordPiece { tokens, continuing, unknown, longest: usize::try_from(longest).unwrap_or(usize::MAX) })
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
                return Err(unfit("its tokenizer falls back to bytes, which is not known here"));
            }
            let unknown = model["unk_id"].as_i64().ok_or_else(wrong)?;
            Ok(Sort::Unigram { tokens, unknown, worst, longest })
        }
        (sort, _) => {
            let told = match sort {
                Some(sort) => format!("its tokenizer is of the sort {:?}", crate::model::printable(sort)),
                None => "its tokenizer.json does not say which sort it is of".to_owned(),
            };
            Err(unfit(format!("{told}; WordPiece and Unigram are known here")))
        }
    }
}

impl Sort {
    fn tokens(&self, word: &str, found: &mut Vec<i64>) {
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
                unigrams(word, tokens, (*unknown, worst - UNKNOWN), *longest, found);
            }
        }
    }
}

/// The likeliest way to put `word` together (Viterbi). Unknown characters beside each other are one token.
fn unigrams(
    word: &str,
    tokens: &HashMap<String, (i64, f64)>,
    (unknown, penalty): (i64, f64),
    longest: usize,
    found: &mut Vec<i64>,
) {
    // For each end: the likeliest score, where its last token begins, and which it is.
    let mut best: Vec<Option<(f64, usize, i64)>> = vec![None; word.len() + 1];
    for (start, first) in word.char_indices() {
        let so_far = if start == 0 { 0.0 } else { best[start].map_or(f64::MIN, |(score, ..)| score) };
        let mut put = |end: usize, score: f64, token: i64| {
            if best[end].is_none_or(|(known, ..)| score > known) {
                best[end] = Some((score, start, token));
            }
        };
        let mut knows_one = false;
        for (at, c) in word[start..].char_indices() {
            let end = start + at + c.len_utf8();
            if end - start > longest {
                break;
            }
            if let Some(&(token, score)) = tokens.get(&word[start..end]) {
                put(end, so_far + score, token);
                knows_one |= at == 0;
            }
        }
        if !knows_one {
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

/// What stands before and after a single text.
fn frame(step: &Value) -> Result<(Vec<i64>, Vec<i64>)> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let wrong = || unfit("its tokenizer.json frames texts in a way that cannot be read");
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
            other => return Err(unfit(format!("its tokenizer frames texts by {other:?}, which is not known here"))),
        }
    }
    Ok((before, after))
}
