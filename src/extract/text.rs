//! Decoding of bytes to text, and which texts are not indexed.
//!
//! Owns decoding and the rules for binary, minified and generated content. Rules by path are `scan`'s.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{Language, Options};
use crate::model::{RepoPath, SkipReason};

/// How much of a file is checked to distinguish binary from text.
const SAMPLE_BYTES: usize = 64 * 1024;

/// More control characters than one in this many, and it is not a text.
const CHARACTERS_PER_CONTROL: usize = 50;

/// UTF-16 without a byte order mark needs at least this many bytes to be distinguished from tables of numbers.
const LEAST_UTF16: usize = 16;

/// A file with more invalid sequences is not UTF-8.
const MOST_WRONG: usize = 20;
/// One in this many bytes may be invalid if nothing else suggests UTF-8.
const BYTES_PER_WRONG: usize = 1000;
/// This many letters in UTF-8 per invalid sequence suggest UTF-8: no other encoding has such bytes by chance.
const LETTERS_PER_WRONG: usize = 10;
/// Letters in UTF-8 per invalid sequence that suffice where no other encoding fits.
const LETTERS_AT_LEAST: usize = 3;

pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// `None` is UTF-8.
    pub encoding: Option<&'static str>,
    /// Invalid sequences that U+FFFD replaces.
    pub wrong: usize,
}

/// The text of a file's bytes: UTF-8 as it is, without its mark; UTF-16 by its mark, or by its zeros; UTF-8 with a few
/// wrong bytes; else what detection finds plausible. Bytes that are not text are `Binary`, text that no encoding
/// fits is `Encoding`.
///
/// Each invalid byte becomes U+FFFD, and a line break is never invalid: lines are those on disk.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded<'_>, SkipReason> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes).filter(|(encoding, _)| *encoding != UTF_8) {
        return by(encoding, &bytes[mark..]);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if memchr::memchr(0, bytes).is_some() {
        return unmarked_utf16(bytes).ok_or(SkipReason::Binary);
    }
    if has_controls(bytes[..bytes.len().min(SAMPLE_BYTES)].iter().map(|byte| char::from(*byte))) {
        return Err(SkipReason::Binary);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Decoded { text: Cow::Borrowed(text), encoding: None, wrong: 0 });
    }
    let (wrong, letters) = faults(bytes);
    if wrong <= MOST_WRONG && letters >= wrong * LETTERS_PER_WRONG {
        return Ok(repaired(bytes, wrong));
    }
    match by(detected(bytes), bytes) {
        Ok(decoded) if is_plausible(&decoded.text) => Ok(decoded),
        _ if wrong <= MOST_WRONG && (wrong * BYTES_PER_WRONG <= bytes.len() || letters >= wrong * LETTERS_AT_LEAST) => {
            Ok(repaired(bytes, wrong))
        }
        Ok(_) => Err(SkipReason::Encoding),
        Err(reason) => Err(reason),
    }
}

/// Counts invalid UTF-8 sequences, and letters beyond ASCII; stops at one sequence too many.
fn faults(bytes: &[u8]) -> (usize, usize) {
    let (mut wrong, mut letters) = (0, 0);
    for part in bytes.utf8_chunks() {
        letters += part.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!part.invalid().is_empty());
        if wrong > MOST_WRONG {
            break;
        }
    }
    (wrong, letters)
}

fn repaired(bytes: &[u8], wrong: usize) -> Decoded<'_> {
    Decoded { text: String::from_utf8_lossy(bytes), encoding: None, wrong }
}

/// The text of bytes that hold zeros, at the offsets of UTF-16 of mostly Latin letters: in nearly every pair, always on
/// the same side, and what comes of it is words.
fn unmarked_utf16(bytes: &[u8]) -> Option<Decoded<'_>> {
    if bytes.len() < LEAST_UTF16 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let pairs = sample.chunks_exact(2);
    let most = pairs.len() / 10 * 9;
    let (first, second) = pairs
        .fold((0, 0), |(first, second), pair| (first + usize::from(pair[0] == 0), second + usize::from(pair[1] == 0)));
    let encoding = match (first, second) {
        (0, zeros) if zeros > most => UTF_16LE,
        (zeros, 0) if zeros > most => UTF_16BE,
        _ => return None,
    };
    let decoded = by(encoding, bytes).ok()?;
    let words =
        |text: &str| text.chars().take(SAMPLE_BYTES).filter(|c| c.is_alphanumeric() || c.is_whitespace()).count();
    let is_words = words(&decoded.text) * 2 >= sample.len() / 2;
    (is_words && is_plausible(&decoded.text)).then_some(decoded)
}

/// Decodes with an encoding that must fit everywhere.
fn by<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Result<Decoded<'a>, SkipReason> {
    let is_utf16 = encoding == UTF_16LE || encoding == UTF_16BE;
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes).ok_or(SkipReason::Encoding)?;
    if text.contains('\0') || (is_utf16 && has_controls(text.chars().take(SAMPLE_BYTES))) {
        return Err(SkipReason::Binary);
    }
    Ok(Decoded { text, encoding: Some(encoding.name()), wrong: 0 })
}

/// Whether there are too many control characters for a text. Escape is one of terminal recordings and ISO-2022-JP.
/// Bytes above ASCII say nothing here: in half of the encodings they are letters.
fn has_controls(characters: impl Iterator<Item = char>) -> bool {
    let is_odd = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x08' | '\x1b');
    let (total, odd) = characters.fold((0_usize, 0_usize), |(total, odd), c| (total + 1, odd + usize::from(is_odd(c))));
    odd > 1 && odd > total / CHARACTERS_PER_CONTROL
}

/// The likeliest encoding of bytes that are known not to be UTF-8.
fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether a text that was decoded by guess reads as one: single-byte encodings decode any noise.
fn is_plausible(text: &str) -> bool {
    let (mut foreign, mut letters, mut total) = (0_usize, 0_usize, 0_usize);
    for c in text.chars() {
        total += 1;
        if matches!(c, '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fffd}') {
            return false;
        }
        if !c.is_ascii() {
            foreign += 1;
            letters += usize::from(c.is_alphabetic() || is_of_prose(c));
        }
    }
    // Source with a few odd characters in a comment is read correctly whichever encoding those were in.
    foreign * 10 <= total || letters * 5 >= foreign * 4
}

/// Punctuation between letters: of Chinese and Japanese, and the quotes, dashes and symbols of offices.
const fn is_of_prose(c: char) -> bool {
    matches!(
        c,
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '\u{2013}'..='\u{2026}' | '\u{a0}' | '«' | '»' | '€' | '£' | '§'
            | '°' | '©' | '®' | '™'
    )
}

/// Why a text is not indexed.
pub(super) fn refuse(path: &RepoPath, text: &str, language: &Language, options: &Options) -> Result<(), SkipReason> {
    if options.skip_minified && is_minified(path, language, text) {
        return Err(SkipReason::Minified);
    }
    if options.skip_generated && is_generated(path, language, text) {
        return Err(SkipReason::Generated);
    }
    Ok(())
}

const WEB_EXTENSIONS: &[&str] = &["js", "mjs", "cjs", "jsx", "css", "html", "htm", "xhtml"];

/// Below this a file is small enough to be indexed whatever its shape.
const LEAST_MINIFIED: usize = 4 * 1024;

/// A longer mean line length is minified.
const MINIFIED_MEAN: usize = 250;

/// A page or script whose bytes are mostly in lines above this holds minified code between its own.
const LONG_LINE: usize = 1000;

/// Parts of this size are either data or code.
const DATA_BYTES: usize = 200;

/// Minified code has at least one of `(){};` in this many bytes.
const BYTES_PER_MARK: usize = 25;

/// By the shape of its lines; only scripts, styles and pages, since prose may have one line per paragraph.
fn is_minified(path: &RepoPath, language: &Language, text: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_web = WEB_EXTENSIONS.contains(&extension.as_str()) || matches!(language.name, "javascript" | "css");
    if !is_web || text.len() < LEAST_MINIFIED {
        return false;
    }
    let is_page = matches!(extension.as_str(), "html" | "htm" | "xhtml");
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let in_long_lines: usize = text.lines().map(str::len).filter(|length| *length > LONG_LINE).sum();
    // A page's paragraphs may be long lines, but they have spaces between words as prose has.
    let is_dense = !is_page || is_dense(text);
    let is_long = text.len() / lines > MINIFIED_MEAN || in_long_lines > text.len() / 10 * 8;
    is_dense && is_long && (code_in_long_lines(text) >= LEAST_MINIFIED || !has_short_line_of_code(text))
}

/// The bytes of long lines that are code: data, such as the path of a picture, a font or a table, has hardly any punctuation of
/// statements.
fn code_in_long_lines(text: &str) -> usize {
    let parts =
        text.lines().filter(|line| line.len() > MINIFIED_MEAN).flat_map(|line| line.as_bytes().chunks(DATA_BYTES));
    let marks = |part: &[u8]| part.iter().filter(|byte| b"(){};".contains(byte)).count();
    parts.filter(|part| marks(part) * BYTES_PER_MARK >= part.len()).map(<[u8]>::len).sum()
}

fn has_short_line_of_code(text: &str) -> bool {
    let short = text.lines().map(str::trim).filter(|line| line.len() <= MINIFIED_MEAN);
    { short }.any(|line| {
        line.contains(char::is_alphanumeric)
            && !["//", "/*", "*", "<!--"].iter().any(|opening| line.starts_with(opening))
    })
}

/// Fewer spaces than prose and hand-written code have.
fn is_dense(text: &str) -> bool {
    memchr::memchr3_iter(b' ', b'\n', b'\t', text.as_bytes()).count() < text.len() / 12
}

/// Programs put the mark at the top.
const HEADER_BYTES: usize = 2048;

/// No tool writes its mark further down than this.
const HEADER_LINES: usize = 40;

const COMMENT_OPENINGS: &[&str] = &[
    "//", "#", "/*", "*", "--", ";", "<!--", "\"\"\"", "'''", "{-", "(*", "%", "'", "rem ", "dnl ", "@rem ", "..", "{#",
];

/// By the mark that generators leave in the comment at the top of a file.
///
/// Only comment lines before the first line of code count, and only in the wording that generators use: a text that
/// talks about generated code is prose or has code around it.
fn is_generated(path: &RepoPath, language: &Language, text: &str) -> bool {
    if is_prose(path, language) {
        return false;
    }
    let mut end = text.len().min(HEADER_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (mut says_generated, mut forbids) = (false, false);
    for line in header(&text[..end]) {
        let line = line.to_lowercase();
        let mark = HeaderMark::recognize(&line);
        if mark == HeaderMark::Certain {
            return true;
        }
        says_generated |=
            mark == HeaderMark::Generated || (mark == HeaderMark::DoNotEdit && line.contains("generated"));
        forbids |= line.contains("do not edit") || line.contains("do not modify") || line.contains("don't edit");
    }
    says_generated && forbids
}

/// Prose has no header; a name without extension, such as README, is taken for prose unless its language is known.
fn is_prose(path: &RepoPath, language: &Language) -> bool {
    match path.extension() {
        Some(extension) => matches!(extension, "md" | "markdown" | "rst" | "adoc" | "txt" | "org" | "log"),
        None => language.name == "text",
    }
}

/// Mark of generated code in one line of a header comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeaderMark {
    Nothing,
    Generated,
    DoNotEdit,
    Certain,
}

impl HeaderMark {
    fn recognize(line: &str) -> Self {
        let bare = line.trim_matches(|c: char| !c.is_alphanumeric() && c != '@');
        let is_tag = ["@generated", "@partially-generated"].iter().any(|tag| {
            // The tag is alone or before its details; "the @generated tag" talks about it.
            bare.strip_prefix(tag).is_some_and(|rest| rest.is_empty() || !rest.starts_with(char::is_alphanumeric))
        });
        let is_go = bare.starts_with("code generated ") && bare.contains("do not edit");
        let is_plain = ["autogenerated", "auto-generated", "automatically generated", "generated by", "generated from"]
            .iter()
            .any(|words| line.contains(words))
            || bare.starts_with("generated ");
        let forbids = line.contains("do not edit") || line.contains("do not modify");
        if is_tag || is_go || bare == "<auto-generated>" || bare == "auto-generated" {
            Self::Certain
        } else if is_plain {
            Self::Generated
        } else if forbids {
            Self::DoNotEdit
        } else {
            Self::Nothing
        }
    }
}

/// The comment lines before the first line of code.
fn header(text: &str) -> impl Iterator<Item = &str> {
    let mut open: Option<&str> = None;
    text.lines().take(HEADER_LINES).map(str::trim).take_while(move |line| {
        if let Some(closing) = open {
            if line.contains(closing) {
                open = None;
            }
            return true;
        }
        if line.is_empty() || is_before_code(line) {
            return true;
        }
        let lower = line.to_ascii_lowercase();
        let Some(opening) = COMMENT_OPENINGS.iter().find(|opening| lower.starts_with(**opening)) else { return false };
        let rest = &line[opening.len()..];
        open = closing_of(opening).filter(|closing| !rest.contains(closing));
        true
    })
}

/// Lines that may be above a header comment.
fn is_before_code(line: &str) -> bool {
    line.starts_with("<?xml") || line == "<?php" || line.starts_with("<!DOCTYPE") || line == "@echo off"
}

fn closing_of(opening: &str) -> Option<&'static str> {
    match opening {
        "/*" => Some("*/"),
        "<!--" => Some("-->"),
        "\"\"\"" => Some("\"\"\""),
        "'''" => Some("'''"),
        "{-" => Some("-}"),
        "(*" => Some("*)"),
        "{#" => Some("#}"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
