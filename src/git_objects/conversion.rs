//! Conversion of a file of the work tree into the bytes that git would commit: with line ends, keywords and encoding as
//! in the repository.
//!
//! Owns the conversions, by the rules of git's `convert.c`. A clean filter is a program that the repository configures:
//! it is not run, so that its output is not known. Pure.

use std::borrow::Cow;

use encoding_rs::{UTF_16BE, UTF_16LE};
use faster_hex::hex_string;
use sha2::{Digest, Sha256};

/// How git would convert a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Its attributes cannot be read.
    Unknown,
    /// By a program; Git LFS commits a pointer.
    Filter {
        is_lfs: bool,
    },
    Text {
        lines: Lines,
        has_id: bool,
        encoding: Encoding,
    },
}

/// Which line ends become `\n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    Binary,
    Text,
    /// Line ends of a file that looks like text, unless the committed one has `\r
    /// `.
    Auto,
}

/// Encoding that is converted to UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// It is UTF-8, or nothing says what it is.
    Kept,
    /// A byte order mark says which.
    Utf16,
    Utf16Le,
    Utf16Be,
    /// By its name. Tables of encodings differ in a few characters.
    Other(String),
}

impl Encoding {
    /// The value of `working-tree-encoding`.
    pub(super) fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "unspecified" | "" | "utf-8" | "utf8" => Self::Kept,
            "utf-16" | "utf16" | "utf-16le-bom" | "utf16le-bom" => Self::Utf16,
            "utf-16le" | "utf16le" => Self::Utf16Le,
            "utf-16be" | "utf16be" => Self::Utf16Be,
            name => Self::Other(name.to_owned()),
        }
    }

    fn decoded<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        let has_mark = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
        let (encoding, bytes) = match self {
            Self::Kept => return Some(Cow::Borrowed(bytes)),
            _ if bytes.is_empty() => return Some(Cow::Borrowed(bytes)),
            Self::Utf16 if bytes.starts_with(&[0xff, 0xfe]) => (UTF_16LE, &bytes[2..]),
            Self::Utf16 if has_mark => (UTF_16BE, &bytes[2..]),
            // Git refuses these.
            Self::Utf16 => return None,
            Self::Utf16Le | Self::Utf16Be if has_mark => return None,
            Self::Utf16Le => (UTF_16LE, bytes),
            Self::Utf16Be => (UTF_16BE, bytes),
            Self::Other(name) => (encoding_rs::Encoding::for_label(name.as_bytes())?, bytes),
        };
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        Some(Cow::Owned(text.into_owned().into_bytes()))
    }
}

/// How a file of the work tree compares with a blob.
#[derive(Debug, PartialEq, Eq)]
pub enum Comparison<'b> {
    Same,
    /// The bytes that git would commit.
    Differs(Cow<'b, [u8]>),
    /// Why it is not known.
    Undecided(&'static str),
}

const FILTERED: &str = "git converts it with a filter, which is not run here";
const UNKNOWN: &str = "git's attributes of it cannot be read";
const ENCODED: &str = "its `working-tree-encoding` cannot be converted as git does";

impl Conversion {
    /// Whether the blob in git's index decides the conversion of these bytes, too.
    pub(super) fn reads_staged(&self, bytes: &[u8]) -> bool {
        matches!(self, Self::Text { lines: Lines::Auto, .. }) && bytes.contains(&b'\r')
    }

    /// Compares the bytes of a file with the committed blob. `staged` is the blob in git's index.
    pub(super) fn compare<'b>(&self, bytes: &'b [u8], blob: Option<&[u8]>, staged: Option<&[u8]>) -> Comparison<'b> {
        match self {
            // An encoded file whose key is missing is in the work tree as it is committed.
            Self::Filter { .. } | Self::Unknown if blob == Some(bytes) => Comparison::Same,
            Self::Filter { is_lfs: true } if blob.is_some_and(|blob| is_pointer_to(blob, bytes)) => Comparison::Same,
            Self::Filter { .. } => Comparison::Undecided(FILTERED),
            Self::Unknown => Comparison::Undecided(UNKNOWN),
            Self::Text { lines, has_id, encoding } => {
                let Some(decoded) = encoding.decoded(bytes) else { return Comparison::Undecided(ENCODED) };
                let converted = map(decoded, |bytes| with_plain_lines(bytes, *lines, staged));
                let converted = map(converted, |bytes| has_id.then(|| without_ids(bytes)));
                match encoding {
                    _ if blob.is_some_and(|blob| *blob == *converted) => Comparison::Same,
                    Encoding::Other(_) => Comparison::Undecided(ENCODED),
                    _ => Comparison::Differs(converted),
                }
            }
        }
    }
}

/// Whether git may commit other bytes than these, even if they are as committed: attributes may have come later. Encodings and
/// filters apart.
pub fn is_convertible(bytes: &[u8]) -> bool {
    bytes.contains(&b'\r') || memchr::memmem::find(bytes, b"$Id:").is_some()
}

fn map<'b>(bytes: Cow<'b, [u8]>, change: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Cow<'b, [u8]> {
    match change(&bytes) {
        Some(changed) => Cow::Owned(changed),
        None => bytes,
    }
}

/// Counts by which git guesses whether a file is text.
#[derive(Default)]
struct Counts {
    nul: usize,
    lone_cr: usize,
    crlf: usize,
    printable: usize,
    unprintable: usize,
}

impl Counts {
    fn taken(bytes: &[u8]) -> Self {
        let mut counts = Self::default();
        let mut rest = bytes.iter().peekable();
        while let Some(byte) = rest.next() {
            match byte {
                b'\r' if rest.next_if_eq(&&b'\n').is_some() => counts.crlf += 1,
                b'\r' => counts.lone_cr += 1,
                b'\n' => {}
                0 => {
                    counts.nul += 1;
                    counts.unprintable += 1;
                }
                b'\t' | 0x08 | 0x0c | 0x1b => counts.printable += 1,
                ..0x20 | 0x7f => counts.unprintable += 1,
                _ => counts.printable += 1,
            }
        }
        // The end of a file in DOS.
        if bytes.last() == Some(&0x1a) {
            counts.unprintable -= 1;
        }
        counts
    }

    fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable >> 7 < self.unprintable
    }
}

/// The bytes with `\n` for `\r\n`; `None`: as they are.
fn with_plain_lines(bytes: &[u8], lines: Lines, staged: Option<&[u8]>) -> Option<Vec<u8>> {
    if lines == Lines::Binary || !bytes.contains(&b'\r') {
        return None;
    }
    if lines == Lines::Auto {
        let has_crlf = |bytes: &[u8]| {
            let counts = Counts::taken(bytes);
            counts.crlf > 0 && !counts.is_binary()
        };
        if !has_crlf(bytes) || staged.is_some_and(has_crlf) {
            return None;
        }
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    Some(plain)
}

/// The bytes with `$Id$` for `$Id: … $`.
fn without_ids(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(dollar) = memchr::memchr(b'$', rest) {
        let (before, after) = rest.split_at(dollar + 1);
        plain.extend_from_slice(before);
        rest = after;
        let Some(keyword) = after.strip_prefix(b"Id:").filter(|keyword| !keyword.is_empty()) else { continue };
        let Some(end) = memchr::memchr(b'$', keyword) else { break };
        if !keyword[..end].contains(&b'\n') {
            plain.extend_from_slice(b"Id$");
            rest = &keyword[end + 1..];
        }
    }
    plain.extend_from_slice(rest);
    plain
}

/// Whether a blob is the pointer that Git LFS makes of these bytes (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
fn is_pointer_to(blob: &[u8], bytes: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(blob).ok().filter(|text| text.starts_with("version https://git-lfs.")) else {
        return false;
    };
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    value("size") == Some(&bytes.len().to_string())
        && value("oid").is_some_and(|oid| oid == format!("sha256:{}", hex_string(&Sha256::digest(bytes))))
}
