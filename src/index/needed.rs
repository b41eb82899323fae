//! Which files a query needs first, of those that are not indexed yet.
//!
//! Owns the scan for the words of a query, the choice among the files that contain some of them, and how often the words occur
//! in what is not indexed. The choice follows that of candidates in a search (`query`): pieces of text of the size of chunks, by
//! how much of the query they hold. Does not own how files are indexed (`update`).

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::locked;
use super::unindexed::Unindexed;
use crate::budget::Budget;
use crate::error::Result;
use crate::model::RepoPath;
use crate::words::sought::{
    FoundWord, HeldByPiece, KnownTokens, MAX_SOUGHT, PieceOfFile, Sought, WordFinder, looks_defined,
};

/// Files and bytes that a query has indexed first.
const MAX_FILES: usize = 600;
const MAX_BYTES: u64 = 12 << 20;
/// The size of a piece: about that of a chunk.
const PIECE: usize = 1_200;
/// A file with a NUL in so many bytes has no text, or it is of an encoding that no query is looked for in here.
const BINARY_BYTES: usize = 8 << 10;
/// Pieces whose files are needed: more than a search ranks.
const MAX_PIECES: usize = 300;
/// Pieces that look like the definition of a name that is asked for.
const MAX_DEFINITIONS: usize = 60;
/// As in the choice of candidates: a word in more pieces than this, or in more than one of so many, counts only if there are
/// no rarer ones.
const COMMON: usize = 20_000;
const ONE_OF: usize = 10;
const FEW_THOUSAND: usize = 3_000;
const RARER: u32 = 2;

/// What a query needs of the files that are not indexed.
#[derive(Default)]
pub struct Needed {
    /// The files to index first, best first.
    pub files: Vec<RepoPath>,
    /// How much the best pieces hold, the best first, each with the number of its file.
    held: Vec<(usize, HeldByPiece)>,
    scanned: Vec<Scanned>,
    all_pieces: Vec<(RepoPath, usize)>,
    words: usize,
}

/// How often words occur in what is not indexed, about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// In how many chunks each word is.
    pub counts: Vec<usize>,
    /// How many chunks there are.
    pub chunks: u64,
    /// How much of what is sought the best of them hold, the best first.
    pub held: Vec<HeldByPiece>,
}

/// What a file contains of the words, as sets.
struct Scanned {
    number: usize,
    is_binary: bool,
    in_path: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    words: u64,
    /// Those that seem to be names of definitions.
    names: u64,
}

fn pieces_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).div_ceil(PIECE)
}

fn has(set: u64, word: usize) -> bool {
    (set >> word) & 1 == 1
}

impl Unindexed {
    /// The files that a query needs first, of those that `admits` lets through. `rate` says how good the best pieces are.
    pub fn needed_for(
        &self,
        sought: &Sought,
        admits: &dyn Fn(&str) -> bool,
        rate: &mut dyn FnMut(&Elsewhere, &[PieceOfFile]) -> Vec<f64>,
        budget: &Budget,
    ) -> Result<Needed> {
        let Some(finder) = WordFinder::new(sought).filter(|_| !self.files.is_empty()) else {
            return Ok(Needed::default());
        };
        let mut scanned = self.scan(&finder, budget);
        budget.check()?;
        scanned.sort_unstable_by_key(|file| file.number);
        let words = sought.words.len().min(MAX_SOUGHT);
        let mut all_pieces: Vec<(RepoPath, usize)> =
            self.files.iter().map(|(path, size)| (path.clone(), pieces_of(*size))).collect();
        scanned.iter().filter(|file| file.is_binary).for_each(|file| all_pieces[file.number].1 = 0);
        scanned.retain(|file| !file.is_binary);
        let mut needed = Needed { scanned, all_pieces, words, ..Needed::default() };
        let elsewhere = needed.elsewhere(&|_| true);
        let chosen = needed.choose(sought, &elsewhere, &|number| admits(self.files[number].0.as_str()));
        needed.held = chosen.held.clone();
        let chosen = needed.by_rating(&chosen, |pieces| rate(&elsewhere, pieces));
        let mut bytes = 0;
        let few = chosen.into_iter().take(MAX_FILES).map(|number| &self.files[number]).take_while(|(_, size)| {
            bytes += size;
            bytes <= MAX_BYTES.max(*size)
        });
        needed.files = few.map(|(path, _)| path.clone()).collect();
        Ok(needed)
    }

    /// How often the words occur in the files that are still not indexed.
    pub fn elsewhere(&self, needed: &Needed) -> Elsewhere {
        needed.elsewhere(&|path| self.is_outdated(path))
    }

    /// Looks through all files, on all cores.
    fn scan(&self, finder: &WordFinder, budget: &Budget) -> Vec<Scanned> {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let (mut own, mut known) = (Vec::new(), KnownTokens::default());
                    while !budget.is_spent() {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((path, _)) = self.files.get(number) else { break };
                        let mut in_path = 0;
                        finder.each(path.as_str().as_bytes(), &mut known, |found| in_path |= 1 << found.word);
                        let bytes = self.read(path).unwrap_or_default();
                        let is_binary = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_BYTES)]).is_some();
                        let pieces = if is_binary { Vec::new() } else { pieces(finder, &bytes, &mut known) };
                        if is_binary || in_path != 0 || !pieces.is_empty() {
                            own.push(Scanned { number, is_binary, in_path, pieces });
                        }
                    }
                    locked(&found).append(&mut own);
                });
            }
        });
        found.into_inner().unwrap_or_default()
    }
}

/// The pieces of a text that have some of the words.
fn pieces(finder: &WordFinder, text: &[u8], known: &mut KnownTokens) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    finder.each(text, known, |FoundWord { at, word }| {
        let number = at / PIECE;
        if pieces.last().is_none_or(|last| last.at != number) {
            pieces.push(Piece { at: number, words: 0, names: 0 });
        }
        let Some(piece) = pieces.last_mut() else { return };
        piece.words |= 1 << word;
        if !has(piece.names, word) && looks_defined(text, at) {
            piece.names |= 1 << word;
        }
    });
    pieces
}

impl Needed {
    /// One file alone.
    pub fn file(path: Option<RepoPath>) -> Self {
        Self { files: path.into_iter().collect(), ..Self::default() }
    }

    fn elsewhere(&self, counts_file: &dyn Fn(&str) -> bool) -> Elsewhere {
        let mut elsewhere = Elsewhere { counts: vec![0; self.words], ..Elsewhere::default() };
        let counted: Vec<bool> = self.all_pieces.iter().map(|(path, _)| counts_file(path.as_str())).collect();
        let sizes = self.all_pieces.iter().zip(&counted).filter(|(_, is_counted)| **is_counted);
        elsewhere.chunks = sizes.map(|((_, pieces), _)| *pieces as u64).sum();
        let held = self.held.iter().filter(|(number, _)| counted[*number]);
        elsewhere.held = held.map(|(_, held)| *held).collect();
        for file in self.scanned.iter().filter(|file| counted[file.number]) {
            for (word, count) in elsewhere.counts.iter_mut().enumerate() {
                *count += if has(file.in_path, word) {
                    self.all_pieces[file.number].1
                } else {
                    file.pieces.iter().filter(|piece| has(piece.words, word)).count()
                };
            }
        }
        elsewhere
    }

    /// The best pieces, as a search chooses candidates: by the weights of the words that they hold, those in names counting
    /// twice, equally good ones in path order.
    fn choose(&self, sought: &Sought, elsewhere: &Elsewhere, admits: &dyn Fn(usize) -> bool) -> Chosen {
        let all = sought.chunks + elsewhere.chunks;
        let count = |word: usize| sought.words[word].chunks + elsewhere.counts[word];
        let mut words: Vec<usize> = (0..self.words).filter(|word| count(*word) > 0).collect();
        words.sort_by_key(|word| count(*word));
        let common = usize::try_from(all).unwrap_or(COMMON) / ONE_OF;
        let common = common.clamp(FEW_THOUSAND, COMMON);
        let (mut picked, mut represented) = (0_u64, 0_u64);
        for word in &words {
            if count(*word) > common && represented.count_ones() >= RARER {
                break;
            }
            picked |= 1 << word;
            represented |= sought.words[*word].represents;
        }
        let weight = |word: usize| sought.words[word].counts * rarity(all, count(word));
        let weights: Vec<f64> =
            (0..self.words).map(|word| if has(picked, word) { weight(word) } else { 0.0 }).collect();
        let represents = |set: u64| {
            let words = (0..self.words).filter(|word| has(set & picked, *word));
            words.fold(0, |all, word| all | sought.words[word].represents)
        };
        let sum = |set: u64| -> f64 { (0..self.words).filter(|word| has(set, *word)).map(|word| weights[word]).sum() };
        let asked = (0..self.words).filter(|word| sought.words[*word].is_name).fold(0, |set, word| set | 1 << word);
        let (mut rated, mut defining): (Vec<Rated>, Vec<Rated>) = (Vec::new(), Vec::new());
        for (at, file) in self.scanned.iter().enumerate().filter(|(_, file)| admits(file.number)) {
            let rest = Piece { at: usize::MAX, words: 0, names: 0 };
            // The path alone may have them.
            let pieces = file.pieces.iter().chain(std::iter::once(&rest).filter(|_| file.in_path != 0));
            for piece in pieces {
                let held = piece.words | file.in_path;
                let is_whole = represents(held) == represented;
                let one = Rated { weight: sum(held) + sum(piece.names), is_whole, file: at, piece: *piece };
                if piece.names & asked != 0 && defining.len() < MAX_DEFINITIONS {
                    defining.push(one);
                }
                rated.push(one);
            }
        }
        if sought.needs_all && rated.iter().any(|one| one.is_whole) {
            rated.retain(|one| one.is_whole);
        }
        rated.retain(|one| one.weight > 0.0);
        // Pieces are in path order, which a stable sort keeps.
        rated.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let held =
            |one: &Rated| (self.scanned[one.file].number, HeldByPiece { weight: one.weight, is_whole: one.is_whole });
        let held = rated.iter().take(MAX_PIECES).map(held).collect();
        // Of one name, all occurrences are asked for.
        let further = if sought.needs_all && self.words == 1 {
            Vec::new()
        } else {
            rated.split_off(rated.len().min(MAX_PIECES)).iter().map(|one| one.file).collect()
        };
        defining.extend(rated);
        Chosen { pieces: defining, further, held }
    }

    /// The numbers of the files of these pieces, those with the best pieces first.
    fn by_rating(&self, chosen: &Chosen, rate: impl FnOnce(&[PieceOfFile]) -> Vec<f64>) -> Vec<usize> {
        let piece = |one: &Rated| PieceOfFile {
            path: self.all_pieces[self.scanned[one.file].number].0.as_str(),
            in_path: self.scanned[one.file].in_path,
            in_text: one.piece.words,
            names: one.piece.names,
        };
        let ratings = rate(&chosen.pieces.iter().map(piece).collect::<Vec<_>>());
        let mut rated: Vec<(f64, &Rated)> = ratings.into_iter().zip(&chosen.pieces).collect();
        rated.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut known = HashSet::new();
        let files = rated.into_iter().map(|(_, one)| one.file).chain(chosen.further.iter().copied());
        let numbers = files.map(|file| self.scanned[file].number);
        numbers.filter(|number| known.insert(*number)).collect()
    }
}

/// Pieces that a query needs.
struct Chosen {
    pieces: Vec<Rated>,
    /// The files of further pieces, best first, as indexes among those scanned: the more of them are indexed, the better a search
    /// knows how good the best pieces are.
    further: Vec<usize>,
    held: Vec<(usize, HeldByPiece)>,
}

/// A piece with what it holds of the query.
#[derive(Clone, Copy)]
struct Rated {
    weight: f64,
    /// It has all words.
    is_whole: bool,
    /// Its file, by its index among those scanned.
    file: usize,
    piece: Piece,
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
fn rarity(all: u64, pieces: usize) -> f64 {
    let (all, pieces) = (all as f64, pieces as f64);
    (((all - pieces).max(0.0) + 0.5) / (pieces + 0.5)).ln_1p()
}
