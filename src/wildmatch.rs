//! Matches a glob against a path as git does: a port of `wildmatch.c` (git 2.47).
//!
//! Owns the dialect of ignore files, attributes and conditions of git's configuration. No crate has it exactly: globs of
//! `globset` have alternations and no POSIX classes, and `gix-glob` limits the number of stars and classes them by the whole
//! pattern, where git has removed the literal beginning (`x**/z`). Patterns come from repositories, so both the depth and the
//! number of steps are bounded: a pattern that needs more does not match.

/// More nested stars are not a pattern that a person wrote.
const MAX_DEPTH: usize = 500;
/// Steps of one match. A path of 4096 bytes takes a few thousand.
const MAX_STEPS: usize = 1_000_000;

/// How characters compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// `*`, `?` and classes do not match `/`, and `**` has its meaning.
    pub is_path: bool,
    /// Letters of ASCII match in both cases.
    pub folds_case: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Match,
    NoMatch,
    /// No other length of a star before it leads to a match.
    AbortAll,
    /// Only another length of a `**` before it may lead to a match.
    AbortToStarStar,
}

/// Whether `pattern` matches all of `text`.
pub fn matches(pattern: &[u8], text: &[u8], mode: Mode) -> bool {
    Matching { mode, steps: 0 }.outcome(pattern, text, 0) == Outcome::Match
}

/// Whether the byte has a meaning in a pattern.
pub const fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// The byte at a position, or 0 behind the end, where neither patterns nor paths have one.
fn at(bytes: &[u8], position: usize) -> u8 {
    bytes.get(position).copied().unwrap_or_default()
}

struct Matching {
    mode: Mode,
    steps: usize,
}

impl Matching {
    fn folded(&self, byte: u8) -> u8 {
        if self.mode.folds_case { byte.to_ascii_lowercase() } else { byte }
    }

    fn outcome(&mut self, pattern: &[u8], text: &[u8], depth: usize) -> Outcome {
        if depth > MAX_DEPTH {
            return Outcome::AbortAll;
        }
        let (mut p, mut t) = (0, 0);
        while p < pattern.len() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Outcome::AbortAll;
            }
            let in_text = self.folded(at(text, t));
            if in_text == 0 && pattern[p] != b'*' {
                return Outcome::AbortAll;
            }
            match pattern[p] {
                b'*' => match self.star(pattern, text, (p, t), depth) {
                    Ok(next) => (p, t) = next,
                    Err(outcome) => return outcome,
                },
                b'?' if self.mode.is_path && in_text == b'/' => return Outcome::NoMatch,
                b'?' => {}
                b'[' => match self.class(pattern, p, in_text) {
                    Some((true, end)) => p = end,
                    Some((false, _)) => return Outcome::NoMatch,
                    None => return Outcome::AbortAll,
                },
                b'\\' => {
                    p += 1;
                    if at(pattern, p) != in_text {
                        return Outcome::NoMatch;
                    }
                }
                literal if self.folded(literal) != in_text => return Outcome::NoMatch,
                _ => {}
            }
            p += 1;
            t += 1;
        }
        if t < text.len() { Outcome::NoMatch } else { Outcome::Match }
    }

    /// The positions of the slashes that a `*` before a `/` leads to; otherwise the outcome of the rest of the pattern.
    fn star(
        &mut self,
        pattern: &[u8],
        text: &[u8],
        (first, mut t): (usize, usize),
        depth: usize,
    ) -> Result<(usize, usize), Outcome> {
        let mut p = first + 1;
        let mut crosses = !self.mode.is_path;
        if at(pattern, p) == b'*' {
            while at(pattern, p) == b'*' {
                p += 1;
            }
            let (next, after) = (at(pattern, p), at(pattern, p + 1));
            let ends_a_part = p >= pattern.len() || next == b'/' || (next == b'\\' && after == b'/');
            if self.mode.is_path && (first == 0 || pattern[first - 1] == b'/') && ends_a_part {
                // `a/**/b` matches `a/b`.
                if next == b'/' && self.outcome(&pattern[p + 1..], &text[t..], depth + 1) == Outcome::Match {
                    return Err(Outcome::Match);
                }
                crosses = true;
            }
        }
        if p >= pattern.len() {
            return Err(if !crosses && text[t..].contains(&b'/') { Outcome::AbortToStarStar } else { Outcome::Match });
        }
        if !crosses && pattern[p] == b'/' {
            let slash = text[t..].iter().position(|byte| *byte == b'/').ok_or(Outcome::AbortAll)?;
            return Ok((p, t + slash));
        }
        while t < text.len() {
            // What is before the next literal belongs to the star.
            if !is_special(pattern[p]) {
                let literal = self.folded(pattern[p]);
                let is_end = |byte: &u8| self.folded(*byte) == literal || (!crosses && *byte == b'/');
                let end = text[t..].iter().position(is_end);
                let found = end.filter(|end| self.folded(text[t + end]) == literal);
                let none = if crosses { Outcome::AbortAll } else { Outcome::AbortToStarStar };
                t += found.ok_or(none)?;
            }
            match self.outcome(&pattern[p..], &text[t..], depth + 1) {
                Outcome::NoMatch if !crosses && text[t] == b'/' => return Err(Outcome::AbortToStarStar),
                Outcome::AbortToStarStar if crosses => {}
                Outcome::NoMatch => {}
                outcome => return Err(outcome),
            }
            t += 1;
        }
        Err(Outcome::AbortAll)
    }

    /// Whether the class that begins at `start` has a byte, and the position of its `]`. `None`: it is not a class.
    fn class(&self, pattern: &[u8], start: usize, byte: u8) -> Option<(bool, usize)> {
        let mut p = start + 1;
        let is_negated = matches!(at(pattern, p), b'!' | b'^');
        p += usize::from(is_negated);
        let mut previous = 0;
        let mut has = false;
        loop {
            let mut current = *pattern.get(p)?;
            let next = at(pattern, p + 1);
            if current == b'\\' {
                p += 1;
                current = *pattern.get(p)?;
                has |= byte == current;
            } else if current == b'-' && previous != 0 && next != 0 && next != b']' {
                p += 1 + usize::from(next == b'\\');
                let last = *pattern.get(p)?;
                let is_within = |byte: u8| byte <= last && byte >= previous;
                has |= is_within(byte) || (self.mode.folds_case && is_within(byte.to_ascii_uppercase()));
                current = 0;
            } else if current == b'[' && next == b':' {
                let name = p + 2;
                let end = name + pattern[name..].iter().position(|byte| *byte == b']')?;
                if end > name && pattern[end - 1] == b':' {
                    has |= self.is_in(&pattern[name..end - 1], byte)?;
                    (p, current) = (end, 0);
                } else {
                    has |= byte == b'[';
                }
            } else {
                has |= byte == current;
            }
            previous = current;
            p += 1;
            if at(pattern, p) == b']' {
                let excludes = is_negated == has || (self.mode.is_path && byte == b'/');
                return Some((!excludes, p));
            }
        }
    }

    /// Whether a POSIX class has a byte; `None` if there is no such class.
    fn is_in(&self, class: &[u8], byte: u8) -> Option<bool> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let is_printed = byte == b' ' || byte.is_ascii_graphic();
        Some(match class {
            b"alnum" => byte.is_ascii_alphanumeric(),
            b"alpha" => byte.is_ascii_alphabetic(),
            b"blank" => matches!(byte, b' ' | b'\t'),
            b"cntrl" => byte.is_ascii_control(),
            b"digit" => byte.is_ascii_digit(),
            b"graph" => is_printed && !is_space,
            b"lower" => byte.is_ascii_lowercase(),
            b"print" => is_printed,
            b"punct" => byte.is_ascii_punctuation(),
            b"space" => is_space,
            b"upper" => byte.is_ascii_uppercase() || (self.mode.folds_case && byte.is_ascii_lowercase()),
            b"xdigit" => byte.is_ascii_hexdigit(),
            _ => return None,
        })
    }
}
