//! The line that a hit shows.
//!
//! Owns the choice among the lines of a chunk. Does not own how a line is cut (`preview`), nor the order of hits.

use super::parsed_query::{MAX_WORDS, ParsedQuery};
use super::rank::RankedCandidate;
use super::scan::{self, WordMatches};
use crate::error::Result;
use crate::query::preview;
use crate::store::Snapshot;

/// The factor for the words of a line that imports something.
const OF_IMPORT: f64 = 0.5;

/// Chooses the line with the rarest words of the query: among the definitions if one was found by its name or kinds are asked for,
/// else among all lines. The first one where several have the same words.
pub(super) fn choose(source: &Snapshot, query: &ParsedQuery, found: &RankedCandidate) -> Result<u32> {
    let chunk = &found.chunk;
    let lines: Vec<&str> = chunk.text.lines().collect();
    let scores = LineScores::new(query, &found.seen);
    let score = |line: u32| {
        let at = line.saturating_sub(chunk.start_line) as usize;
        lines.get(at).map_or(0.0, |text| scores.of_line(text, found.seen.lines.get(at).copied().unwrap_or(0)))
    };
    if found.name.is_some() || query.filters.are_of_kinds() {
        let defined = source.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line)?;
        let of_kind =
            || defined.iter().filter(|symbol| symbol.line <= chunk.end_line && query.filters.admit_kind(symbol));
        let named = of_kind().find(|symbol| found.name.as_ref() == Some(&symbol.name));
        let first = named.or_else(|| of_kind().next().filter(|_| query.filters.are_of_kinds()));
        if let Some(first) = first.map(|symbol| symbol.line.max(chunk.start_line)) {
            // In `Class.method`, the last name is asked for.
            let others = of_kind().filter(|_| !query.is_name()).map(|symbol| symbol.line.max(chunk.start_line));
            let better = |best: u32, line: u32| if score(line) > score(best) { line } else { best };
            return Ok(others.fold(first, better));
        }
    }
    let numbered = || (chunk.start_line..).zip(lines.iter().copied());
    let best = numbered()
        .map(|(line, _)| (score(line), line))
        .fold((0.0, None), |best, (score, line)| if score > best.0 { (score, Some(line)) } else { best });
    // Beginnings of words, and letters without their accents, are in no line's set.
    let first = || query.first_line(&chunk.text).map(|at| chunk.start_line + at);
    let says_something = |text: &str| text.contains(char::is_alphanumeric) && !scan::imports(text);
    let telling =
        || numbered().find(|(_, text)| says_something(text) && preview::is_telling(text)).map(|(line, _)| line);
    let any = || numbered().find(|(_, text)| says_something(text)).map(|(line, _)| line);
    Ok(best.1.or_else(first).or_else(telling).or_else(any).unwrap_or(chunk.start_line).min(chunk.end_line))
}

/// Scores of the lines of one chunk for a query.
struct LineScores {
    /// The weight of each word: the rarer it is in the index and in the chunk, the larger.
    words: [f64; MAX_WORDS],
    /// Parts of the query with punctuation between their letters, in lower case: an address, a path, a call.
    spelled: Vec<String>,
}

impl LineScores {
    #[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
    fn new(query: &ParsedQuery, seen: &WordMatches) -> Self {
        let mut words = [0.0; MAX_WORDS];
        for (at, word) in query.words.iter().enumerate() {
            let lines = seen.lines.iter().filter(|set| **set >> at & 1 == 1).count();
            words[at] = word.weight * (seen.lines.len() as f64 / lines.max(1) as f64).ln_1p();
        }
        let is_spelled =
            |part: &&str| part.trim_matches(|c: char| !c.is_alphanumeric()).contains(|c: char| !c.is_alphanumeric());
        let spelled = query.rest.split_whitespace().filter(is_spelled).map(str::to_lowercase).collect();
        Self { words, spelled }
    }

    fn of_line(&self, text: &str, set: u64) -> f64 {
        let of_words: f64 =
            self.words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, word)| word).sum();
        let lower = if set == 0 || self.spelled.is_empty() { String::new() } else { text.to_lowercase() };
        let spelled = self.spelled.iter().filter(|part| lower.contains(part.as_str())).count();
        let whole = u32::try_from(spelled).map_or(0.0, f64::from);
        of_words * (1.0 + whole) * if scan::imports(text) { OF_IMPORT } else { 1.0 }
    }
}
