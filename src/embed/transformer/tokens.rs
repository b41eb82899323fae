//! The tokenizer of a model, as its `tokenizer.json` defines it, run by the `tokenizers` library.
//!
//! Owns how that library is used: without the file's own limits on length, because [`super::Transformer`] splits long texts
//! into windows; with the names of special tokens inside a text as plain text; and guarded against files that would exhaust
//! the stack or memory, or return different tokens for the same text. The library panics at other malformed files, which
//! the callers catch.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokenizers::{Encoding, ModelWrapper, Token};

use super::{reason, unusable};
use crate::error::{Error, Result};

/// The maximum length of a token of a unigram model, in bytes. Protects the stack.
const MAX_TOKEN_BYTES: usize = 1024;
/// The maximum size of the tokens of a unigram model. The library needs many times as much memory.
const MAX_VOCABULARY_BYTES: usize = 16 << 20;
/// Text of which no vocabulary contains a token: a hieroglyph, which no normalizer changes.
const UNKNOWN: &str = "\u{13000}";

pub struct Tokenizer {
    library: tokenizers::Tokenizer,
    /// The special tokens before and after every text.
    before: Vec<i64>,
    after: Vec<i64>,
}

impl Tokenizer {
    pub fn read(bytes: &[u8]) -> Result<Self> {
        check(bytes)?;
        let mut library = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| refused(&error))?;
        if matches!(library.get_model(), ModelWrapper::BPE(bpe) if bpe.dropout.is_some_and(|share| share > 0.0)) {
            return Err(unusable("its tokenizer drops tokens at random"));
        }
        library.with_truncation(None).map_err(|error| refused(&error))?;
        library.with_padding(None);
        library.set_encode_special_tokens(true);
        // Special tokens are added to one token that is not special, to see where they are.
        let text = Encoding::from_tokens(vec![Token::new(0, String::new(), (0, 0))], 0);
        let around = library.post_process(text, None, true).map_err(|error| refused(&error))?;
        let (ids, special) = (ids(&around), around.get_special_tokens_mask());
        let at = special.iter().position(|is_special| *is_special == 0);
        let Some(at) = at.filter(|at| special[at + 1..].iter().all(|is_special| *is_special == 1)) else {
            return Err(unusable("its tokenizer.json does not define one position for a text"));
        };
        let tokenizer = Self { library, before: ids[..at].to_vec(), after: ids[at + 1..].to_vec() };
        // Fails if an unknown word has no token.
        tokenizer.tokens(UNKNOWN)?;
        Ok(tokenizer)
    }

    /// The number of special tokens around a text.
    pub fn special_tokens(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The tokens of a text, without special tokens.
    pub fn tokens(&self, text: &str) -> Result<Vec<i64>> {
        let encoding = self.library.encode_fast(text, false).map_err(|error| refused(&error))?;
        Ok(ids(&encoding))
    }

    /// Adds the special tokens around a text.
    pub fn with_special_tokens(&self, tokens: &[i64]) -> Vec<i64> {
        [&self.before, tokens, &self.after].concat()
    }
}

fn ids(encoding: &Encoding) -> Vec<i64> {
    encoding.get_ids().iter().map(|id| i64::from(*id)).collect()
}

fn refused(error: &dyn std::fmt::Display) -> Error {
    unusable(format!("its tokenizer.json is not valid: {}", reason(error)))
}

/// Rejects a file whose unigram model has a token that is too long, or too many tokens.
fn check(bytes: &[u8]) -> Result<()> {
    #[derive(Deserialize)]
    struct File<'f> {
        #[serde(borrow)]
        model: Model<'f>,
    }
    #[derive(Deserialize)]
    struct Model<'f> {
        #[serde(borrow)]
        vocab: Option<&'f RawValue>,
    }
    let file: File = serde_json::from_slice(bytes).map_err(|error| refused(&error))?;
    let vocabulary = file.model.vocab.map_or("", RawValue::get);
    if vocabulary.starts_with('[') {
        let tokens: Vec<(Cow<str>, f64)> = serde_json::from_str(vocabulary).map_err(|error| refused(&error))?;
        if tokens.iter().any(|(token, _)| token.len() > MAX_TOKEN_BYTES) {
            return Err(unusable("its tokenizer.json contains a token that is too long"));
        }
        if tokens.iter().map(|(token, _)| token.len()).sum::<usize>() > MAX_VOCABULARY_BYTES {
            return Err(unusable("its tokenizer.json contains too many tokens"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_files_are_rejected_with_a_reason() {
        let reason = |file: &str| Tokenizer::read(file.as_bytes()).err().unwrap().to_string();
        let model = |model: &str| format!(r#"{{"version": "1.0", "model": {model}}}"#);
        let pieces =
            |token: &str| model(&format!(r#"{{"type": "Unigram", "unk_id": 0, "vocab": [["{token}", -1.0]]}}"#));
        expect_test::expect![[r#"
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json is not valid: expected ident at line 1 column 2. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json is not valid: missing field `model` at line 1 column 2. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json is not valid: data did not match any variant of untagged enum ModelUntagged at line 1 column 59. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json is not valid: Token `\u{1b}[31m` out of vocabulary at line 1 column 90. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer drops tokens at random. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json is not valid: WordPiece error: Missing [UNK] token from the vocabulary. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json contains too many tokens. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json contains a token that is too long. Select another with `ixmcp model use`, or download its files again.
            UNSUPPORTED_FORMAT: the model cannot be used: its tokenizer.json contains a token that is too long. Select another with `ixmcp model use`, or download its files again."#]].assert_eq(
            &[
                reason("no JSON"),
                reason("{}"),
                reason(&model(r#"{"type": "Other", "vocab": {}}"#)),
                reason(&model(r#"{"type": "BPE", "vocab": {}, "merges": [["\u001b[31m", "b"]]}"#)),
                reason(&model(r#"{"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1}"#)),
                reason(&model(
                    r###"{"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}"###,
                )),
                reason(&pieces(&vec!["a".repeat(1000); 20_000].join(r#"", -1.0], [""#))),
                reason(&pieces(&"a".repeat(1_000_000))),
                reason(&pieces(&r#"\""#.repeat(1_000_000))),
            ]
            .join("\n"),
        );
        assert!(Tokenizer::read(pieces(&"a".repeat(MAX_TOKEN_BYTES)).as_bytes()).is_ok());
    }
}
