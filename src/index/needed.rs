//! Which files a query needs first, of those that are not indexed yet.
//!
//! Owns the scan for the words of a query and the choice among the files that contain some of them. Does not own how they are
//! indexed (`update`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};

use super::locked;
use super::unindexed::Unindexed;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::RepoPath;
use crate::words;

/// Words that count; a bit each.
const MAX_WORDS: usize = 32;
/// Files and bytes that a query has indexed first: about a second's work.
const MAX_FILES: usize = 300;
const MAX_BYTES: u64 = 6 << 20;
/// A word in a path counts so many times a word in the text.
const PATH_FACTOR: f64 = 2.0;

/// The words of a query to look for in files: its tokens and their parts, without endings.
pub fn words_of(text: &str) -> Vec<String> {
    let whole = words::tokens(text).filter(|token| words::parts(token).nth(1).is_some());
    let parts = words::tokens(text).flat_map(words::parts);
    let mut found: Vec<String> = Vec::new();
    for word in whole.chain(parts).map(str::to_lowercase) {
        let stem = words::stem(&word);
        let word = if stem.len() > 2 && word.starts_with(&stem) { stem } else { word };
        if word.chars().nth(1).is_some() && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The words that a file contains.
#[derive(Clone, Copy)]
struct Found {
    number: usize,
    in_text: u32,
    in_path: u32,
}

impl Unindexed {
    /// The files in which most of the words are, the rarest counting most. Case does not matter, and a word may be part of
    /// another one.
    pub fn needed_for(&self, words: &[String], budget: &Budget) -> Result<Vec<RepoPath>> {
        let words: Vec<&String> = words.iter().take(MAX_WORDS).collect();
        if words.is_empty() || self.files.is_empty() {
            return Ok(Vec::new());
        }
        let mut finder = AhoCorasick::builder();
        let finder = finder.ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&words);
        let finder = finder.map_err(|error| Error::internal("words cannot be searched").caused_by(error))?;
        let found = self.scan(&finder, words.len(), budget);
        budget.check()?;
        let has = |bits: u32, word: usize| (bits >> word) & 1 == 1;
        let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        let all = number(self.files.len());
        let weight = |word: usize| {
            let files = found.iter().filter(|one| has(one.in_text | one.in_path, word)).count();
            (1.0 + all / (1.0 + number(files))).ln()
        };
        let weights: Vec<f64> = (0..words.len()).map(weight).collect();
        let sum =
            |bits: u32| -> f64 { (0..words.len()).filter(|word| has(bits, *word)).map(|word| weights[word]).sum() };
        let mut ranked: Vec<(f64, usize)> =
            found.iter().map(|one| (sum(one.in_text) + PATH_FACTOR * sum(one.in_path), one.number)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut bytes = 0;
        let chosen =
            ranked.into_iter().take(MAX_FILES).map(|(_, number)| &self.files[number]).take_while(|(_, size)| {
                bytes += size;
                bytes <= MAX_BYTES.max(*size)
            });
        Ok(chosen.map(|(path, _)| path.clone()).collect())
    }

    /// Looks through all files, on all cores.
    fn scan(&self, finder: &AhoCorasick, words: usize, budget: &Budget) -> Vec<Found> {
        let all = u32::MAX >> (u32::BITS as usize - words);
        let bits = |text: &[u8]| {
            let mut bits = 0;
            for found in finder.find_overlapping_iter(text) {
                bits |= 1 << found.pattern().as_usize();
                if bits == all {
                    break;
                }
            }
            bits
        };
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut own = Vec::new();
                    while !budget.is_spent() {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((path, _)) = self.files.get(number) else { break };
                        let in_path = bits(path.as_str().as_bytes());
                        let in_text = self.read(path).map_or(0, |bytes| bits(&bytes));
                        if in_path | in_text != 0 {
                            own.push(Found { number, in_text, in_path });
                        }
                    }
                    locked(&found).append(&mut own);
                });
            }
        });
        found.into_inner().unwrap_or_default()
    }
}
