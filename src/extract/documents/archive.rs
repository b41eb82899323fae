//! ZIP archives of DOCX, ODT and EPUB: their parts, unpacked within bounds.
//!
//! Owns the limits of unpacking, and the detection of encrypted archives.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use encoding_rs::Encoding;
use zip::ZipArchive;
use zip::result::ZipError;

use super::flow::Flow;
use super::xml;
use crate::model::SkipReason;

/// Text and markup of the longest books take a fraction of this; an archive of a few kilobytes may unpack to any size.
const MOST_UNPACKED: u64 = 128 << 20;
const MOST_PARTS: usize = 20_000;

/// How an encrypted DOCX begins: Word wraps it in its older container.
const OLD_CONTAINER: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Parts that may hold text; pictures stay packed.
const TEXT_PARTS: &[&str] = &[".xml", ".xhtml", ".html", ".htm", ".opf"];

/// How much text and markup is in an archive, according to its own sizes, as far as it is read; `None` for what is not
/// an archive.
pub(super) fn unpacked(bytes: &[u8]) -> Option<u64> {
    let mut parts = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut sum: u64 = 0;
    for at in 0..parts.len().min(MOST_PARTS) {
        let Ok(part) = parts.by_index_raw(at) else { continue };
        if TEXT_PARTS.iter().any(|end| part.name().ends_with(end)) {
            sum = sum.saturating_add(part.size());
        }
    }
    Some(sum.min(MOST_UNPACKED))
}

/// Reports a part that a document can be read without; `None` if it was not read.
pub(super) fn unless_broken<T>(
    read: Result<T, SkipReason>,
    name: &str,
    flow: &mut Flow,
) -> Result<Option<T>, SkipReason> {
    match read {
        Err(reason @ (SkipReason::BrokenArchive | SkipReason::BrokenXml)) => {
            flow.problem(&format!("{name} was not read ({})", reason.explained()));
            Ok(None)
        }
        read => read.map(Some),
    }
}

pub(super) struct Archive<'a> {
    parts: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

impl<'a> Archive<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, SkipReason> {
        if bytes.starts_with(OLD_CONTAINER) {
            return Err(SkipReason::Encrypted);
        }
        let parts = ZipArchive::new(Cursor::new(bytes)).map_err(|_| SkipReason::BrokenArchive)?;
        if parts.len() > MOST_PARTS {
            return Err(SkipReason::Overfull);
        }
        Ok(Self { parts, left: MOST_UNPACKED })
    }

    /// The text of a part; `None` where there is no such part.
    pub fn part(&mut self, name: &str) -> Result<Option<String>, SkipReason> {
        let part = match self.parts.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(SkipReason::Encrypted),
            Err(_) => return Err(SkipReason::BrokenArchive),
        };
        let declared = part.size();
        if declared > self.left {
            return Err(SkipReason::Overfull);
        }
        self.left -= declared;
        let mut bytes = Vec::with_capacity(usize::try_from(declared).unwrap_or_default());
        part.take(declared + 1).read_to_end(&mut bytes).map_err(|_| SkipReason::BrokenArchive)?;
        if bytes.len() as u64 > declared {
            return Err(SkipReason::BrokenArchive);
        }
        if std::str::from_utf8(&bytes).is_err()
            && Encoding::for_bom(&bytes).is_none()
            && let Some(declared) = xml::declared_encoding(&bytes)
            && let Some(text) = declared.decode_without_bom_handling_and_without_replacement(&bytes)
        {
            return Ok(Some(text.into_owned()));
        }
        let decoded = super::super::text::decode(&bytes).map_err(|_| SkipReason::BrokenXml)?;
        let other = match decoded.text {
            // The bytes are the text: a large part needs no second copy.
            Cow::Borrowed(text) if text.len() == bytes.len() => None,
            text => Some(text.into_owned()),
        };
        match other {
            Some(text) => Ok(Some(text)),
            None => String::from_utf8(bytes).map(Some).map_err(|_| SkipReason::BrokenXml),
        }
    }

    /// A required part.
    pub fn needed(&mut self, name: &str) -> Result<String, SkipReason> {
        self.part(name)?.ok_or(SkipReason::MissingPart)
    }
}
