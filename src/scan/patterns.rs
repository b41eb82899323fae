//! The patterns of an ignore file, and which of them decides about a path, by the rules of `dir.c` of git 2.47.
//!
//! Owns one file's lines. Does not own the order of files (`ignored`), nor globs (`wildmatch`).

use crate::wildmatch::{self, Mode, is_special};

/// The lines of a file that are patterns.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    all: Vec<Pattern>,
    folds_case: bool,
}

#[derive(Debug)]
struct Pattern {
    /// Without `!`, and without one `/` at either end.
    text: Box<[u8]>,
    /// The bytes before the first that has a meaning.
    literal: usize,
    kind: Kind,
    is_negated: bool,
    needs_folder: bool,
    /// From 1.
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Name,
    /// `*` and a literal.
    Ending,
    NameGlob,
    Path,
}

/// The pattern that decides over a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub ignores: bool,
    /// The number of the line.
    pub line: usize,
}

impl Patterns {
    pub(super) fn parse(bytes: &[u8], folds_case: bool) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let all = lines.filter_map(|(at, line)| Pattern::parse(line, at + 1)).collect();
        Self { all, folds_case }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the decision of the last pattern that matches. `path` is relative to the folder of the patterns.
    pub(super) fn decide(&self, path: &[u8], is_folder: bool) -> Option<Decision> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let found = self.all.iter().rev().find(|pattern| pattern.matches(path, name, is_folder, self.folds_case))?;
        Some(Decision { ignores: !found.is_negated, line: found.line })
    }
}

impl Pattern {
    fn parse(line: &[u8], number: usize) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // For git the line ends at a NUL.
        let line = line.split(|byte| *byte == 0).next().unwrap_or(line);
        let text = without_trailing_spaces(line);
        if text.is_empty() || text[0] == b'#' {
            return None;
        }
        let (text, is_negated) = text.strip_prefix(b"!").map_or((text, false), |rest| (rest, true));
        let literal = |text: &[u8]| text.iter().position(|byte| is_special(*byte)).unwrap_or(text.len());
        // As in git, which looks at the `/` at the end here.
        let is_ending = text.first() == Some(&b'*') && literal(&text[1..]) == text.len() - 1;
        let (text, needs_folder) = text.strip_suffix(b"/").map_or((text, false), |rest| (rest, true));
        let kind = match () {
            () if text.contains(&b'/') => Kind::Path,
            () if literal(text) == text.len() => Kind::Name,
            () if is_ending => Kind::Ending,
            () => Kind::NameGlob,
        };
        let text = if kind == Kind::Path { text.strip_prefix(b"/").unwrap_or(text) } else { text };
        Some(Self { text: text.into(), literal: literal(text), kind, is_negated, needs_folder, line: number })
    }

    fn matches(&self, path: &[u8], name: &[u8], is_folder: bool, folds_case: bool) -> bool {
        if self.needs_folder && !is_folder {
            return false;
        }
        let is_equal = |a: &[u8], b: &[u8]| if folds_case { a.eq_ignore_ascii_case(b) } else { a == b };
        match self.kind {
            Kind::Name => is_equal(&self.text, name),
            Kind::Ending => {
                let ending = &self.text[1..];
                name.len() >= ending.len() && is_equal(&name[name.len() - ending.len()..], ending)
            }
            Kind::NameGlob => wildmatch::matches(&self.text, name, Mode { is_path: false, folds_case }),
            Kind::Path => {
                // Only the rest is a glob, so that a `**` behind the literal is at its beginning:
                // findings/git-stars-behind-a-literal.sh.
                let Some((beginning, rest)) = path.split_at_checked(self.literal) else { return false };
                is_equal(beginning, &self.text[..self.literal])
                    && wildmatch::matches(&self.text[self.literal..], rest, Mode { is_path: true, folds_case })
            }
        }
    }
}

/// The line without the spaces at its end, unless a backslash is before the first of them.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let (mut at, mut end) = (0, None);
    while at < line.len() {
        match line[at] {
            b' ' => end = end.or(Some(at)),
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 1;
                end = None;
            }
            _ => end = None,
        }
        at += 1;
    }
    &line[..end.unwrap_or(line.len())]
}
