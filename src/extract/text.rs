//! Bytes to text, and which texts are not worth an index.
//!
//! Owns decoding and the rules for binary, minified and generated content. Rules by path are `scan`'s.

use std::borrow::Cow;

use super::{Language, Options};
use crate::model::{RepoPath, SkipReason};

pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// `None` is UTF-8.
    pub encoding: Option<&'static str>,
}

pub(super) fn decode(bytes: &[u8]) -> Result<Decoded<'_>, SkipReason> {
    let text = std::str::from_utf8(bytes).map_err(|_| SkipReason::Encoding)?;
    Ok(Decoded { text: Cow::Borrowed(text), encoding: None })
}

pub(super) fn refuse(_: &RepoPath, _: &str, _: &Language, _: &Options) -> Result<(), SkipReason> {
    Ok(())
}
