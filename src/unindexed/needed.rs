//! Which files a query needs first, of those that are not indexed yet.
//!
//! Owns the scan for the words of a query, the choice among the files that contain some of them, and how often the words occur
//! in what is not indexed. The choice follows that of candidates in a search (`query`): pieces of text of the size of chunks, by
//! how much of the query they hold, by what they seem to define, and by how near the query they are. Does not own how they are
//! rated (`query`), nor how files are indexed (`update`).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Instant;

use super::comparison::Unindexed;
use crate::budget::Budget;
use crate::error::Result;
use crate::model::RepoPath;
use crate::threads::{WorkList, on_threads};
use crate::words::definitions::{defined_kind, looks_defined};
use crate::words::search_words::{
    FoundWord, HeldByPiece, KnownTokens, LastPicked, MAX_SEARCH_WORDS, PieceOfFile, SearchWords, WordFinder,
};

/// Files and bytes that a query has indexed first.
const MAX_FILES: usize = 600;
const MAX_BYTES: u64 = 12 << 20;
/// The size of a piece: about that of a chunk.
const PIECE: usize = 1_200;
/// Up to this many bytes of a line that a boundary between pieces cuts belong to both pieces.
const MAX_CUT: usize = 200;
/// A file with a NUL in this many bytes at its beginning is not text, or its encoding is not searched here.
const BINARY_BYTES: usize = 8 << 10;
/// Chunks that a search picks by their words.
const PICKED_PIECES: usize = 200;
/// Pieces that are rated: some more than a search ranks. The files of further ones follow: chunks differ somewhat from pieces.
const MAX_PIECES: usize = 220;
/// Pieces that are chosen if all words are common. A search then picks the first 200 chunks in path order. Chunks may be longer than
/// pieces, so it takes more pieces to cover as many chunks.
const MAX_FIRST: usize = 300;
/// Pieces whose weight is kept. Chunks may hold less than the pieces that they come from; a search of the finished index then picks
/// chunks from further pieces.
const MAX_HELD: usize = 1_000;
/// Pieces that look like the definition of a name that is asked for: more than a search ranks, since some only look so.
const MAX_DEFINITIONS: usize = 100;
/// Pieces that are compared with the query: those that seem nearest by its words.
const MAX_NEAR: usize = 3_000;
/// Limits as in the choice of candidates: a word in more than `COMMON` pieces picks none, nor does one in more than one
/// of `ONE_OF` pieces if rarer ones do; about `PICKED` pieces are picked.
const COMMON: usize = 20_000;
const ONE_OF: usize = 10;
const FEW_THOUSAND: usize = 3_000;
const RARER: u32 = 2;
const PICKED: usize = 60_000;

/// Files that are looked at one after the other, and a factor that mixes the order of such blocks.
const BLOCK: u64 = 64;
const SPREADING: u64 = 0x9e37_79b9_7f4a_7c15;

/// Estimates the scores of pieces, given how often the words of a query occur in files that are not indexed; `None` for a piece that a
/// search would not rank.
pub type Rate<'r> = dyn FnMut(&UnindexedMatches, &[PieceOfFile]) -> Vec<Option<f64>> + 'r;

/// The files that a query needs, of those that are not indexed.
#[derive(Default)]
pub struct NeededFiles {
    /// The files to index first with their sizes, best first.
    pub files: Vec<(RepoPath, u64)>,
    /// How much the best pieces hold, the best first, each with the number of its file.
    held: Vec<(usize, HeldByPiece)>,
    last: Option<LastPicked>,
    scanned: Vec<Scanned>,
    all_pieces: Vec<(RepoPath, usize)>,
    words: usize,
    /// The share of all pieces that was looked at.
    looked_at: f64,
}

/// Estimates of how often the words of a query occur in files that are not indexed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnindexedMatches {
    /// In how many chunks each word is.
    pub counts: Vec<usize>,
    /// How many chunks there are.
    pub chunks: u64,
    /// How much of the query the best of these chunks hold, best first.
    pub held: Vec<HeldByPiece>,
    pub last: Option<LastPicked>,
}

/// Words in a file, as sets.
struct Scanned {
    number: usize,
    is_binary: bool,
    in_path: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy)]
struct Piece {
    at: u32,
    words: u64,
    /// Words that seem to be names of definitions, or parts of them.
    names: u64,
    /// Words that seem to be defined.
    defined: u64,
}

/// A piece that may be near the query.
struct NearPiece {
    /// How near it seems by the words of the query in it.
    near: f64,
    number: usize,
    at: u32,
    text: String,
}

fn pieces_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).div_ceil(PIECE)
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn extrapolated(count: usize, share: f64) -> usize {
    (count as f64 / share) as usize
}

fn has(set: u64, word: usize) -> bool {
    (set >> word) & 1 == 1
}

impl Unindexed {
    /// The files that a query needs first, of those that `admits` lets through. `rate` says how good the best pieces are; without
    /// it, those that hold most are. At `until` the search for them ends: in a large tree they are chosen among a sample.
    pub fn needed_for(
        &self,
        search_words: &SearchWords,
        admits: &dyn Fn(&str) -> bool,
        rate: Option<&mut Rate>,
        until: Instant,
        budget: &Budget,
    ) -> Result<NeededFiles> {
        let Some(finder) = WordFinder::new(search_words).filter(|_| !self.files.is_empty()) else {
            return Ok(NeededFiles::default());
        };
        let admits = |number: usize| admits(self.files[number].0.as_str());
        let (mut scanned, near, looked_at) = self.scan(&finder, search_words, until, budget)?;
        budget.check()?;
        scanned.sort_unstable_by_key(|file| file.number);
        let words = search_words.words.len().min(MAX_SEARCH_WORDS);
        let mut all_pieces: Vec<(RepoPath, usize)> =
            self.files.iter().map(|(path, size)| (path.clone(), pieces_of(*size))).collect();
        scanned.iter().filter(|file| file.is_binary).for_each(|file| all_pieces[file.number].1 = 0);
        scanned.retain(|file| !file.is_binary);
        let mut needed = NeededFiles { scanned, all_pieces, words, looked_at, ..NeededFiles::default() };
        let matches = needed.matches(&|_| true);
        let chosen = needed.choose(search_words, &matches, rate.is_some(), &admits);
        needed.held = chosen.held;
        needed.last = chosen.last;
        let mut near: Vec<NearPiece> = near.into_iter().filter(|piece| admits(piece.number)).collect();
        near.sort_by(|a, b| b.near.total_cmp(&a.near).then(a.number.cmp(&b.number)));
        let nearest: Vec<usize> = near.iter().map(|piece| piece.number).collect();
        let numbers = match rate {
            Some(rate) => self.by_rating(&chosen.pieces, near, &matches, rate, budget)?,
            None => chosen.pieces.iter().map(|(number, _)| *number).collect(),
        };
        let mut known = HashSet::new();
        let numbers = numbers.into_iter().chain(chosen.further).chain(nearest);
        let numbers = numbers.filter(|number| known.insert(*number));
        let mut bytes = 0;
        let few = numbers.take(MAX_FILES).map(|number| &self.files[number]).take_while(|(_, size)| {
            bytes += size;
            bytes <= MAX_BYTES.max(*size)
        });
        needed.files = few.cloned().collect();
        Ok(needed)
    }

    /// How often the words occur in the files that are still not indexed.
    pub fn matches_left(&self, needed: &NeededFiles) -> UnindexedMatches {
        needed.matches(&|path| self.is_outdated(path))
    }

    /// Looks through the files on all cores: those whose paths have a word first, then blocks of files from all over the tree, so
    /// that what was seen by `until` is a sample. Returns the share of all pieces that was.
    fn scan(
        &self,
        finder: &WordFinder,
        search_words: &SearchWords,
        until: Instant,
        budget: &Budget,
    ) -> Result<(Vec<Scanned>, Vec<NearPiece>, f64)> {
        let mut known = KnownTokens::default();
        let words_in_path = self.files.iter().map(|(path, _)| {
            let mut in_path = 0_u64;
            finder.each(path.as_str().as_bytes(), &mut known, |found| in_path |= 1 << found.word);
            in_path
        });
        let mut order: Vec<(usize, u64)> = words_in_path.enumerate().collect();
        let block = |number: usize| (number as u64 / BLOCK).wrapping_mul(SPREADING);
        order.sort_by_key(|(number, in_path)| (Reverse(in_path.count_ones()), block(*number), *number));
        let list = WorkList::new(&order);
        let work = || {
            let (mut own, mut near, mut known) = (Vec::new(), NearPieces::default(), KnownTokens::default());
            let mut looked_at = 0;
            while !budget.is_spent() && Instant::now() < until {
                let Some((_, &(number, in_path))) = list.take() else { break };
                let (path, size) = &self.files[number];
                looked_at += pieces_of(*size);
                let bytes = self.read(path).unwrap_or_default();
                let is_binary = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_BYTES)]).is_some();
                let text: &[u8] = if is_binary { &[] } else { &bytes };
                let file = FileText { number, bytes: text };
                let pieces = file.pieces(finder, search_words, &mut known, &mut near);
                if is_binary || in_path != 0 || !pieces.is_empty() {
                    own.push(Scanned { number, is_binary, in_path, pieces });
                }
            }
            (own, near, looked_at)
        };
        let (mut all, mut near, mut looked_at) = (Vec::new(), NearPieces::default(), 0);
        for (scanned, own, pieces) in on_threads(list.threads(), work)? {
            all.extend(scanned);
            near.pieces.extend(own.pieces);
            looked_at += pieces;
        }
        near.keep_nearest();
        let pieces: usize = self.files.iter().map(|(_, size)| pieces_of(*size)).sum();
        #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more")]
        let share = looked_at as f64 / pieces.max(1) as f64;
        Ok((all, near.pieces, share))
    }

    /// The numbers of the files of these pieces, those with the best pieces first.
    fn by_rating(
        &self,
        chosen: &[(usize, Option<u32>)],
        near: Vec<NearPiece>,
        matches: &UnindexedMatches,
        rate: &mut Rate,
        budget: &Budget,
    ) -> Result<Vec<usize>> {
        // Each file is read once.
        let mut by_file = chosen.to_vec();
        by_file.sort_unstable();
        let files: Vec<&[(usize, Option<u32>)]> = by_file.chunk_by(|one, other| one.0 == other.0).collect();
        let list = WorkList::new(&files);
        let read = || {
            let mut own: Vec<(usize, String, bool)> = Vec::new();
            while !budget.is_spent() {
                let Some((_, pieces)) = list.take() else { break };
                let number = pieces[0].0;
                let has_text = pieces.iter().any(|(_, piece)| piece.is_some());
                let bytes = if has_text { self.read(&self.files[number].0).unwrap_or_default() } else { Vec::new() };
                let file = FileText { number, bytes: &bytes };
                let text = |piece: Option<u32>| piece.map_or_else(String::new, |at| file.piece(at));
                own.extend(pieces.iter().map(|(_, piece)| (number, text(*piece), true)));
            }
            own
        };
        let mut texts: Vec<_> = on_threads(list.threads(), read)?.into_iter().flatten().collect();
        budget.check()?;
        let known: HashSet<(usize, Option<u32>)> = chosen.iter().copied().collect();
        let near = near.into_iter().filter(|piece| !known.contains(&(piece.number, Some(piece.at))));
        texts.extend(near.map(|piece| (piece.number, piece.text, false)));
        // Equally good ones are in path order.
        texts.sort_by_key(|(number, ..)| *number);
        let pieces: Vec<PieceOfFile> = texts
            .iter()
            .map(|(number, text, holds_most)| PieceOfFile {
                path: self.files[*number].0.as_str(),
                text,
                holds_most: *holds_most,
            })
            .collect();
        let ratings = rate(matches, &pieces);
        let rated = ratings.into_iter().zip(&texts).filter_map(|(rating, (number, ..))| Some((rating?, *number)));
        let mut rated: Vec<(f64, usize)> = rated.collect();
        rated.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(rated.into_iter().map(|(_, number)| number).collect())
    }
}

/// The pieces that seem nearest, and some more.
#[derive(Default)]
struct NearPieces {
    pieces: Vec<NearPiece>,
    /// Others are not among the nearest.
    least: f64,
}

impl NearPieces {
    fn add(&mut self, piece: NearPiece) {
        self.pieces.push(piece);
        if self.pieces.len() >= 2 * MAX_NEAR {
            self.keep_nearest();
        }
    }

    fn keep_nearest(&mut self) {
        if self.pieces.len() > MAX_NEAR {
            self.pieces.select_nth_unstable_by(MAX_NEAR, |a, b| b.near.total_cmp(&a.near));
            self.least = self.pieces[MAX_NEAR].near;
            self.pieces.truncate(MAX_NEAR);
        }
    }
}

/// A file with its bytes.
#[derive(Clone, Copy)]
struct FileText<'f> {
    number: usize,
    bytes: &'f [u8],
}

impl FileText<'_> {
    /// The text of a piece, whose first and last line are whole if they are not long.
    fn piece(self, at: u32) -> String {
        let bytes = self.bytes;
        let start = (at as usize * PIECE).min(bytes.len());
        let end = (start + PIECE).min(bytes.len());
        let before = &bytes[start.saturating_sub(MAX_CUT)..start];
        let start = start - memchr::memrchr(b'\n', before).map_or(0, |line_break| before.len() - line_break - 1);
        let end = end + memchr::memchr(b'\n', &bytes[end..(end + MAX_CUT).min(bytes.len())]).unwrap_or(0);
        String::from_utf8_lossy(&bytes[start..end]).into_owned()
    }

    /// The pieces that have some of the words. Those that seem near the query are added to `near`.
    fn pieces(
        self,
        finder: &WordFinder,
        search_words: &SearchWords,
        known: &mut KnownTokens,
        near: &mut NearPieces,
    ) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut counts = [0_u16; MAX_SEARCH_WORDS];
        let mut end = |piece: &Piece, counts: &mut [u16; MAX_SEARCH_WORDS]| {
            let words = search_words.words.iter().take(MAX_SEARCH_WORDS).zip(&*counts);
            let seems: f64 = words.map(|(word, count)| word.near * f64::from(*count).sqrt()).sum();
            if seems > near.least {
                near.add(NearPiece { near: seems, number: self.number, at: piece.at, text: self.piece(piece.at) });
            }
            counts.fill(0);
        };
        finder.each(self.bytes, known, |FoundWord { at, end: token_end, word }| {
            let number = u32::try_from(at / PIECE).unwrap_or(u32::MAX);
            if pieces.last().is_none_or(|last| last.at != number) {
                if let Some(last) = pieces.last() {
                    end(last, &mut counts);
                }
                pieces.push(Piece { at: number, words: 0, names: 0, defined: 0 });
            }
            let Some(piece) = pieces.last_mut() else { return };
            piece.words |= 1 << word;
            counts[word] = counts[word].saturating_add(1);
            if !has(piece.names, word) && looks_defined(self.bytes, at) {
                piece.names |= 1 << word;
            }
            if let Some(token_end) = token_end.filter(|_| search_words.words[word].is_name && !has(piece.defined, word))
                && defined_kind(self.bytes, at, token_end).is_some()
            {
                piece.defined |= 1 << word;
            }
        });
        if let Some(last) = pieces.last() {
            end(last, &mut counts);
        }
        pieces
    }
}

impl NeededFiles {
    /// A single file.
    pub fn file(path: Option<RepoPath>) -> Self {
        Self { files: path.into_iter().map(|path| (path, 0)).collect(), ..Self::default() }
    }

    fn matches(&self, counts_file: &dyn Fn(&str) -> bool) -> UnindexedMatches {
        let mut matches = UnindexedMatches { counts: vec![0; self.words], ..UnindexedMatches::default() };
        let counted: Vec<bool> = self.all_pieces.iter().map(|(path, _)| counts_file(path.as_str())).collect();
        let sizes = self.all_pieces.iter().zip(&counted).filter(|(_, is_counted)| **is_counted);
        matches.chunks = sizes.map(|((_, pieces), _)| *pieces as u64).sum();
        // Once all pieces that a search would pick are indexed, what others hold does not matter.
        let (picked, others) = self.held.split_at(self.held.len().min(MAX_PIECES));
        let are_indexed = !picked.is_empty() && picked.iter().all(|(number, _)| !counted[*number]);
        if !are_indexed {
            let held = picked.iter().chain(others).filter(|(number, _)| counted[*number]);
            matches.held = held.map(|(_, held)| *held).collect();
        }
        matches.last.clone_from(&self.last);
        for file in self.scanned.iter().filter(|file| counted[file.number]) {
            for (word, count) in matches.counts.iter_mut().enumerate() {
                *count += if has(file.in_path, word) {
                    self.all_pieces[file.number].1
                } else {
                    file.pieces.iter().filter(|piece| has(piece.words, word)).count()
                };
            }
        }
        if self.looked_at > 0.0 && self.looked_at < 1.0 {
            let most = usize::try_from(matches.chunks).unwrap_or(usize::MAX);
            matches.counts.iter_mut().for_each(|count| *count = extrapolated(*count, self.looked_at).min(most));
        }
        matches
    }

    /// The best pieces, as a search chooses candidates: by the weights of the words that they hold, those in names counting
    /// twice, equally good ones in path order; if all words are common, the first that have them all.
    fn choose(
        &self,
        search_words: &SearchWords,
        matches: &UnindexedMatches,
        is_search: bool,
        admits: &dyn Fn(usize) -> bool,
    ) -> Chosen {
        let all = search_words.chunks + matches.chunks;
        let count = |word: usize| search_words.words[word].chunks + matches.counts[word];
        let mut words: Vec<usize> = (0..self.words).filter(|word| count(*word) > 0).collect();
        words.sort_by_key(|word| count(*word));
        let common = usize::try_from(all).unwrap_or(COMMON) / ONE_OF;
        let common = common.clamp(FEW_THOUSAND, COMMON);
        let (mut picked, mut represented, mut fetched) = (0_u64, 0_u64, 0);
        for &word in &words {
            let is_left_out = is_search && (count(word) > COMMON || (fetched > 0 && fetched + count(word) > PICKED));
            if is_left_out || (count(word) > common && represented.count_ones() >= RARER) {
                break;
            }
            fetched += count(word);
            picked |= 1 << word;
            represented |= search_words.words[word].represents;
        }
        let are_all_common = picked == 0;
        if are_all_common {
            picked = words
                .iter()
                .filter(|word| search_words.words[**word].represents != 0)
                .fold(0, |set, word| set | 1 << word);
            represented = words.iter().fold(0, |all, word| all | search_words.words[*word].represents);
        }
        let weight = |word: usize| search_words.words[word].counts * rarity(all, count(word));
        let weights: Vec<f64> =
            (0..self.words).map(|word| if has(picked, word) { weight(word) } else { 0.0 }).collect();
        let represents = |set: u64| {
            let words = (0..self.words).filter(|word| has(set & picked, *word));
            words.fold(0, |all, word| all | search_words.words[word].represents)
        };
        let sum = |set: u64| -> f64 { (0..self.words).filter(|word| has(set, *word)).map(|word| weights[word]).sum() };
        let (most, picks) = if are_all_common { (MAX_FIRST, MAX_FIRST) } else { (MAX_PIECES, PICKED_PIECES) };
        let (mut rated, mut defining): (Vec<Rated>, Vec<Rated>) = (Vec::new(), Vec::new());
        for file in self.scanned.iter().filter(|file| admits(file.number)) {
            // Only the path may have them.
            let of_path = (file.in_path != 0).then_some(Rated {
                weight: sum(file.in_path),
                is_whole: represents(file.in_path) == represented,
                number: file.number,
                piece: None,
            });
            // The path is part of each chunk: all pieces of the file hold the words.
            let is_path_enough = are_all_common && file.in_path & picked == picked;
            if let Some(of_path) = of_path.filter(|_| is_path_enough) {
                let all = u32::try_from(self.all_pieces[file.number].1).unwrap_or(u32::MAX);
                let left = most.saturating_sub(rated.len());
                rated.extend((0..all).take(left).map(|at| Rated { piece: Some(at), ..of_path }));
            }
            for piece in &file.pieces {
                let held = piece.words | file.in_path;
                let (weight, is_whole) = (sum(held) + sum(piece.names), represents(held) == represented);
                let one = Rated { weight, is_whole, number: file.number, piece: Some(piece.at) };
                if piece.defined != 0 && defining.len() < MAX_DEFINITIONS {
                    defining.push(one);
                }
                let is_first = || held & picked == picked && !is_path_enough && rated.len() < most;
                if !are_all_common || is_first() {
                    rated.push(one);
                }
            }
            rated.extend(of_path.filter(|_| !are_all_common));
        }
        if search_words.needs_all && rated.iter().any(|one| one.is_whole) {
            rated.retain(|one| one.is_whole);
        }
        rated.retain(|one| one.weight > 0.0);
        if !are_all_common {
            // Pieces are in path order, which a stable sort keeps.
            rated.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        }
        let last = rated.get(picks - 1).filter(|_| is_search);
        let path = |one: &Rated| self.all_pieces[one.number].0.as_str().to_owned();
        let last = last.map(|one| LastPicked { weight: one.weight, path: path(one) });
        let held = |one: &Rated| (one.number, HeldByPiece { weight: one.weight, is_whole: one.is_whole });
        let held = if are_all_common { Vec::new() } else { rated.iter().take(MAX_HELD).map(held).collect() };
        // Of a name, all occurrences are asked for.
        let rest = if is_search { rated.split_off(rated.len().min(most)) } else { Vec::new() };
        let further = rest.iter().map(|one| one.number).collect();
        defining.extend(rated);
        let mut known = HashSet::new();
        let pieces = defining.iter().map(|one| (one.number, one.piece)).filter(|piece| known.insert(*piece)).collect();
        Chosen { pieces, further, held, last }
    }
}

/// Pieces that a query needs.
struct Chosen {
    /// Numbers of files, and of pieces in them; `None` stands for the path alone.
    pieces: Vec<(usize, Option<u32>)>,
    /// The files of further pieces, best first.
    further: Vec<usize>,
    held: Vec<(usize, HeldByPiece)>,
    last: Option<LastPicked>,
}

/// A piece with what it holds of the query.
#[derive(Clone, Copy)]
struct Rated {
    weight: f64,
    /// It has all words.
    is_whole: bool,
    /// Its file.
    number: usize,
    piece: Option<u32>,
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
fn rarity(all: u64, pieces: usize) -> f64 {
    let (all, pieces) = (all as f64, pieces as f64);
    (((all - pieces).max(0.0) + 0.5) / (pieces + 0.5)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::search_words::SearchWord;

    const FILES: usize = 300;
    const PIECES: u32 = 100;

    /// Files whose pieces all have the first word, and one in ten of them the second. The last file defines the first word.
    fn scanned() -> NeededFiles {
        let piece =
            |at: u32| Piece { at, words: if at.is_multiple_of(10) { 0b11 } else { 0b01 }, names: 0, defined: 0 };
        let file = |number| Scanned { number, is_binary: false, in_path: 0, pieces: (0..PIECES).map(piece).collect() };
        let mut scanned: Vec<Scanned> = (0..FILES).map(file).collect();
        scanned[FILES - 1].pieces[1].defined = 0b01;
        let path = |number| (RepoPath::new(format!("m{number:03}.c")).unwrap(), PIECES as usize);
        NeededFiles { scanned, all_pieces: (0..FILES).map(path).collect(), words: 2, ..NeededFiles::default() }
    }

    fn chosen(words: &[&str]) -> Chosen {
        chosen_of(scanned(), words)
    }

    fn chosen_of(mut needed: NeededFiles, words: &[&str]) -> Chosen {
        needed.words = words.len();
        let word = |(at, text): (usize, &&str)| SearchWord {
            text: (*text).to_owned(),
            counts: 1.0,
            represents: 1 << at,
            chunks: 0,
            is_name: true,
            near: 0.0,
        };
        let search_words =
            SearchWords { words: words.iter().enumerate().map(word).collect(), needs_all: false, chunks: 0 };
        let matches = needed.matches(&|_| true);
        assert_eq!(matches.counts[0], FILES * PIECES as usize);
        needed.choose(&search_words, &matches, true, &|_| true)
    }

    /// A search does so as well: it would have to fetch half of the index.
    #[test]
    fn of_a_common_word_the_definitions_and_the_first_pieces_are_chosen() {
        let chosen = chosen(&["return"]);
        assert_eq!(chosen.pieces[0], (FILES - 1, Some(1)));
        let first = (0..MAX_FIRST).map(|at| (at / PIECES as usize, Some(u32::try_from(at).unwrap() % PIECES)));
        assert_eq!(chosen.pieces[1..], first.collect::<Vec<_>>());
        assert!(chosen.held.is_empty());
        assert_eq!(chosen.last.unwrap().path, "m002.c");
    }

    /// The path is part of each chunk.
    #[test]
    fn of_a_common_word_that_a_path_has_all_pieces_of_the_file_are_chosen() {
        let mut needed = scanned();
        needed.scanned[0] = Scanned { number: 0, is_binary: false, in_path: 0b01, pieces: Vec::new() };
        needed.scanned[1].in_path = 0b01;
        let chosen = chosen_of(needed, &["return"]);
        let first = (0..MAX_FIRST).map(|at| (at / PIECES as usize, Some(u32::try_from(at).unwrap() % PIECES)));
        assert_eq!(chosen.pieces[1..], first.collect::<Vec<_>>());
    }

    #[test]
    fn a_common_word_does_not_count_next_to_a_rarer_one() {
        let chosen = chosen(&["return", "value"]);
        let rest = &chosen.pieces[1..];
        assert!(rest.len() == MAX_PIECES && rest.iter().all(|(_, at)| at.is_some_and(|at| at.is_multiple_of(10))));
        assert_eq!(chosen.held.len(), MAX_HELD);
    }

    #[test]
    fn what_pieces_hold_counts_until_all_that_a_search_picks_are_indexed() {
        let chosen = chosen(&["return", "value"]);
        let needed = NeededFiles { held: chosen.held, ..scanned() };
        // Each of the files has ten of the pieces.
        let indexed = |count: usize| needed.matches(&|path| path >= format!("m{count:03}.c").as_str()).held.len();
        assert_eq!([indexed(0), indexed(21), indexed(22)], [MAX_HELD, MAX_HELD - 210, 0]);
    }
}
