//! Valid syntax that a grammar does not know.
//!
//! Owns how it is taken out of a text that did not parse. What is taken out, or written instead, has the same length, so
//! positions stay those of the text. Which syntax that is, by language, is in `languages::gaps`.

use std::ops::Range;

use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternID, PatternSet};

use super::blocks::Blocks;
use super::languages::nesting;
use super::syntax::Syntax;

/// How a text is read around what its grammar does not know.
pub struct Gap {
    /// The text to replace: its first group, or all of it.
    pub pattern: &'static str,
    pub filling: Filling,
}

/// The text that fills a gap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// Words, with spaces up to the length of the replaced text.
    Words(&'static str),
    /// Spaces, also for the brace that closes the block that it opens: the contents of the block then belong to the
    /// code around it.
    Block,
    /// Spaces for the here-document that it begins.
    HereDocument,
    /// Spaces for the lines of preprocessor conditionals whose branches are not whole, and for all branches but the
    /// first.
    Conditional,
}

/// Bytes of the lazy automaton of all patterns of a language, per thread. With the crate's default of 2 MiB, a pass with the
/// patterns of C over the kernel's `fs` takes 1.5 times as long.
const CACHE_BYTES: usize = 8 << 20;

pub(super) struct Compiled {
    gaps: Vec<(Regex, Filling)>,
    /// All patterns as one: a single pass finds which of them match a text.
    any: Regex,
}

/// A text without its gaps.
pub(super) struct Filled {
    pub(super) text: Vec<u8>,
    /// Branches and directives that were left out, in order.
    pub(super) dropped: Vec<Range<usize>>,
}

impl Compiled {
    pub(super) fn new(gaps: &[Gap]) -> Result<Self, Box<BuildError>> {
        let syntax = syntax::Config::new().multi_line(true).unicode(false).utf8(false);
        let any = Regex::config().match_kind(MatchKind::All).hybrid_cache_capacity(CACHE_BYTES);
        let patterns: Vec<&str> = gaps.iter().map(|gap| gap.pattern).collect();
        let any = Regex::builder().syntax(syntax).configure(any).build_many(&patterns).map_err(Box::new)?;
        let compile = |gap: &Gap| Ok((Regex::builder().syntax(syntax).build(gap.pattern)?, gap.filling));
        let gaps = gaps.iter().map(compile).collect::<Result<_, Box<BuildError>>>()?;
        Ok(Self { gaps, any })
    }

    /// The text of a tree with its gaps filled; `None` where it has none.
    pub(super) fn fill(&self, text: &str, syntax: &Syntax) -> Option<Filled> {
        let mut found = self.find(text.as_bytes());
        if found.is_empty() {
            return None;
        }
        let mut filled = Filled { text: text.as_bytes().to_vec(), dropped: Vec::new() };
        let quoted = syntax.quoted();
        let mut blocks = None;
        for (at, gap) in self.gaps.iter().enumerate() {
            // Later patterns search the text that this one leaves.
            if found.contains(PatternID::must(at)) && fill_gap(gap, &mut filled, text, &quoted, &mut blocks) {
                found = self.find(&filled.text);
            }
        }
        (filled.text != text.as_bytes()).then_some(filled)
    }

    /// The patterns that match a text.
    fn find(&self, text: &[u8]) -> PatternSet {
        let mut found = PatternSet::new(self.any.pattern_len());
        self.any.which_overlapping_matches(&Input::new(text), &mut found);
        found
    }
}

/// Fills the gaps of one pattern; returns whether anything was written. `quoted` are the comments and strings of the
/// text, in order.
fn fill_gap(
    (pattern, filling): &(Regex, Filling),
    filled: &mut Filled,
    text: &str,
    quoted: &[Range<usize>],
    blocks: &mut Option<Blocks>,
) -> bool {
    if *filling == Filling::Conditional {
        filled.drop_branches(text, quoted);
        return !filled.dropped.is_empty();
    }
    let mut captures = pattern.create_captures();
    let mut from = 0;
    let mut has_written = false;
    while let Some(gap) = next(pattern, &filled.text, from, &mut captures) {
        from = gap.end.max(from + 1);
        match filling {
            // The line after a comment does not belong to it.
            Filling::Words(_) if filled.text[gap.clone()] == *b"\n" && ends_line_comment(text, quoted, gap.start) => {
                continue;
            }
            Filling::Words(words) => filled.write(gap, words),
            Filling::Block => {
                let blocks = blocks.get_or_insert_with(|| Blocks::find(text, quoted.to_vec()));
                let Some(close) = blocks.close(gap.end - 1) else { continue };
                filled.write(gap, "");
                filled.write(close..close + 1, "");
            }
            Filling::HereDocument => {
                for range in nesting::here_document(text, gap.start) {
                    filled.write(range, "");
                }
            }
            Filling::Conditional => {}
        }
        has_written = true;
    }
    has_written
}

/// The next gap from `from` on.
fn next(pattern: &Regex, text: &[u8], from: usize, captures: &mut Captures) -> Option<Range<usize>> {
    let input = Input::new(text).range(from.min(text.len())..);
    pattern.search_captures(&input, captures);
    let gap = captures.get_group(1).or_else(|| captures.get_group(0))?.range();
    Some(gap)
}

/// Whether a comment up to the end of its line, one of the ranges in order, ends at `at`.
fn ends_line_comment(text: &str, quoted: &[Range<usize>], at: usize) -> bool {
    let found = quoted.binary_search_by_key(&at, |range| range.end);
    found.is_ok_and(|found| text[quoted[found].clone()].starts_with("//"))
}

/// A preprocessor conditional that is being read.
struct Conditional {
    /// Lines of its directives.
    lines: Vec<Range<usize>>,
}

impl Filled {
    fn write(&mut self, range: Range<usize>, words: &str) {
        let words = words.as_bytes();
        for (at, byte) in self.text[range].iter_mut().enumerate() {
            match words.get(at) {
                Some(word) => *byte = *word,
                None if *byte == b'\n' => {}
                None => *byte = b' ',
            }
        }
    }

    /// Leaves one branch of each conditional whose branches are not whole by themselves.
    fn drop_branches(&mut self, text: &str, quoted: &[Range<usize>]) {
        // Brackets in comments and strings, and those of inner branches that were left out, do not count.
        let mut code = Self { text: self.text.clone(), dropped: Vec::new() };
        quoted.iter().for_each(|range| code.write(range.clone(), ""));
        let mut open: Vec<Conditional> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
            let directive = directive.trim_start();
            if directive.starts_with("if") {
                open.push(Conditional { lines: vec![range] });
            } else if directive.starts_with("el") {
                if let Some(inner) = open.last_mut() {
                    inner.lines.push(range);
                }
            } else if directive.starts_with("endif")
                && let Some(mut conditional) = open.pop()
            {
                conditional.lines.push(range);
                if !conditional.is_whole(&code.text) {
                    for range in conditional.left_out() {
                        code.write(range.clone(), "");
                        self.write(range.clone(), "");
                        self.dropped.push(range);
                    }
                }
            }
        }
        self.dropped.sort_by_key(|range| range.start);
    }
}

impl Conditional {
    /// Whether each branch closes what it opens, and nothing that a branch begins ends after the last.
    fn is_whole(&self, code: &[u8]) -> bool {
        let is_balanced = |branch: &[u8]| {
            let mut depth = 0_i32;
            for byte in branch {
                depth += i32::from(matches!(byte, b'{' | b'(')) - i32::from(matches!(byte, b'}' | b')'));
                if depth < 0 {
                    return false;
                }
            }
            // The declaration of a template follows.
            let last = branch.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            depth == 0 && !(last.ends_with(b">") && last.trim_ascii_start().starts_with(b"template"))
        };
        let ended = self.lines.last().map_or(0, |line| line.end);
        let goes_on = matches!(code[ended..].trim_ascii_start().first(), Some(b'{' | b',' | b')' | b':' | b';'));
        !goes_on && self.lines.windows(2).all(|pair| is_balanced(&code[pair[0].end..pair[1].start]))
    }

    /// The lines of its directives, and all branches but the first.
    fn left_out(&self) -> impl Iterator<Item = Range<usize>> {
        let branches = self.lines.windows(2).skip(1).map(|pair| pair[0].end..pair[1].start);
        self.lines.iter().cloned().chain(branches)
    }
}

#[cfg(test)]
mod tests {
    use crate::extract::LANGUAGES;

    #[test]
    fn one_pass_finds_the_patterns_that_match_by_themselves() {
        let text =
            b"#ifdef DEEP\nint \xc3\xa9;\n#endif\nstatic int __init open_gate(int width)\n{\n\treturn width;\n}\n\
                     static int depth __read_mostly = 3;\nstruct __packed sail { int area; } __aligned(8);\n";
        let gaps = &LANGUAGES.iter().find(|one| one.name == "c").and_then(|c| c.compiled()).unwrap().gaps;
        let found: Vec<usize> = gaps.find(text).iter().map(|pattern| pattern.as_usize()).collect();
        let matches = |at: &usize| gaps.gaps[*at].0.is_match(text);
        assert_eq!(found, (0..gaps.gaps.len()).filter(matches).collect::<Vec<_>>());
        assert!(found.len() > 2, "{found:?}");
    }
}
