//! Masks secrets in a text and keeps its length, lines and columns.

use std::borrow::Cow;

use super::{pem, tokens};

/// Replaces each byte of a secret. Secrets are ASCII.
const MASK: u8 = b'*';
/// Shorter runs inside a key are operators of the surrounding language.
const MIN_RUN: usize = 4;

/// Masks tokens and private keys in a text of any ASCII-compatible encoding. Returns whether there were any.
pub fn mask(text: &mut [u8]) -> bool {
    let mut spans: Vec<std::ops::Range<usize>> = Vec::new();
    for block in pem::blocks(text).filter(|block| block.is_private(text)) {
        spans.extend(runs(text, block.body));
    }
    spans.extend(tokens::secret_parts(text));
    for span in &spans {
        text[span.clone()].fill(MASK);
    }
    !spans.is_empty()
}

/// Masks tokens and private keys in a text.
pub fn mask_text(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut bytes = text.as_bytes().to_vec();
    match mask(&mut bytes).then(|| String::from_utf8(bytes)) {
        Some(Ok(masked)) => Cow::Owned(masked),
        _ => text,
    }
}

/// The runs of base64 in the body of a key. In a string literal its line breaks may be escaped.
fn runs(text: &[u8], body: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let (mut found, mut at) = (Vec::new(), body.start);
    while at < body.end {
        if text[at] == b'\\' {
            at += 2;
            continue;
        }
        let length = text[at..body.end].iter().take_while(|byte| pem::is_base64(**byte)).count();
        if length >= MIN_RUN {
            found.push(at..at + length);
        }
        at += length.max(1);
    }
    found
}
