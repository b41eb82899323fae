//! Evidence of the history for a query: files that were changed by commits about the same.
//!
//! Owns both measures. *Votes*: the commits whose messages hold most of the query, by how rare its words are in the history, vote for the
//! files that they changed; a commit of few files and a recent one count more. *Subjects*: BM25 of the query over the subjects of
//! all commits that changed a file. Does not own the weights (`weights`), or what is stored of commits (`store`).

use std::sync::Arc;

use super::parsed_query::{ParsedQuery, Word};
use super::rarity::rarity;
use super::weights::{Part, Parts};
use crate::error::Result;
use crate::query::corpus::{ChunkAt, Corpus, CorpusScope};
use crate::store::{CommitId, CommittedFiles, FtsQuery};

/// The commits that vote.
const VOTERS: usize = 100;
/// A commit of this age counts half.
const HALF_LIFE: f64 = 3.0 * 365.25 * 86_400.0;
/// BM25's k1 and b.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// A word in more commits says too little for what it costs.
const COMMON: usize = 20_000;
/// The best files by the history become candidates, if no chunk of theirs is one.
const FILES: usize = 10;
/// Chunks of such a file.
const CHUNKS: usize = 2;
/// Chunks of a file that are looked at, from its beginning.
const MOST_CHUNKS: usize = 40;

/// Evidence from the history of each source.
#[derive(Default)]
pub(super) struct Past(Vec<OfSource>);

/// Evidence for each file, by number.
#[derive(Default)]
struct OfSource {
    committed: Arc<CommittedFiles>,
    votes: Vec<f64>,
    subjects: Vec<f64>,
    /// The commit with the most weight among those that voted for the file.
    spoke: Vec<Option<(f64, CommitId)>>,
}

impl Past {
    /// Asks the history of all sources. The best file has 1 in each measure.
    pub fn load(query: &ParsedQuery, corpus: &Corpus) -> Result<Self> {
        let mut sources = Vec::with_capacity(corpus.source_count());
        for at in 0..corpus.source_count() {
            sources.push(OfSource::load(query, corpus, at)?);
        }
        scale(sources.iter_mut().map(|source| &mut source.votes).collect());
        scale(sources.iter_mut().map(|source| &mut source.subjects).collect());
        Ok(Self(sources))
    }

    /// Sets what the history says of a file.
    pub fn set(&self, source: usize, path: &str, parts: &mut Parts) {
        let Some((of, number)) = self.file(source, path) else { return };
        parts.set(Part::Votes, of.votes[number]);
        parts.set(Part::Subjects, of.subjects[number]);
    }

    /// The commit that is the strongest evidence for a file.
    pub fn spoke(&self, source: usize, path: &str) -> Option<CommitId> {
        let (of, number) = self.file(source, path)?;
        of.spoke[number].map(|(_, commit)| commit)
    }

    fn file(&self, source: usize, path: &str) -> Option<(&OfSource, usize)> {
        let of = self.0.get(source)?;
        let number = of.committed.number(path)? as usize;
        (number < of.votes.len()).then_some((of, number))
    }

    /// The files for which the history is the strongest evidence: sources and paths.
    fn best(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<(f64, usize, &str)> = Vec::new();
        for (at, of) in self.0.iter().enumerate() {
            for (number, (votes, subjects)) in of.votes.iter().zip(&of.subjects).enumerate() {
                if votes + subjects > 0.0 {
                    all.push((votes + subjects, at, &of.committed.paths[number]));
                }
            }
        }
        let order =
            |a: &(f64, usize, &str), b: &(f64, usize, &str)| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)));
        if all.len() > FILES {
            all.select_nth_unstable_by(FILES, order);
            all.truncate(FILES);
        }
        all.sort_unstable_by(order);
        all.into_iter().map(|(_, source, path)| (source, path)).collect()
    }

    /// Chunks of the best files, except those that have a candidate already.
    pub fn candidates(
        &self,
        corpus: &Corpus,
        is_known: impl Fn(usize, &str) -> bool,
        scope: Option<&CorpusScope>,
        cosines: impl Fn(&[ChunkAt]) -> Result<Vec<Option<f64>>>,
    ) -> Result<Vec<ChunkAt>> {
        let mut found = Vec::new();
        for (source, path) in self.best() {
            if is_known(source, path) {
                continue;
            }
            let ids = corpus.ask(source, |snapshot| snapshot.chunks_of_path(path, MOST_CHUNKS))?;
            let mut ids: Vec<ChunkAt> = ids.into_iter().map(|id| ChunkAt { source, id }).collect();
            ids.retain(|id| scope.is_none_or(|scope| scope.contains(*id)));
            if ids.len() > CHUNKS {
                let near = cosines(&ids)?;
                let mut order: Vec<usize> = (0..ids.len()).collect();
                order.sort_by(|a, b| near[*b].unwrap_or_default().total_cmp(&near[*a].unwrap_or_default()));
                ids = order.into_iter().take(CHUNKS).map(|at| ids[at]).collect();
            }
            found.extend(ids);
        }
        Ok(found)
    }
}

/// Divides all by the largest.
fn scale(mut values: Vec<&mut Vec<f64>>) {
    let best = values.iter().flat_map(|values| values.iter().copied()).fold(0.0, f64::max);
    if best > 0.0 {
        values.iter_mut().flat_map(|values| values.iter_mut()).for_each(|value| *value /= best);
    }
}

impl OfSource {
    #[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
    fn load(query: &ParsedQuery, corpus: &Corpus, at: usize) -> Result<Self> {
        let committed = corpus.ask(at, |source| source.committed_files())?;
        let (commits, files) = (committed.commits.len(), committed.paths.len());
        if files == 0 {
            return Ok(Self::default());
        }
        let mut scores = vec![0.0; commits];
        let mut subjects = vec![0.0; files];
        let mean = committed.commits_of.iter().map(|count| f64::from(*count)).sum::<f64>() / files as f64;
        let mut counts = vec![0_u32; files];
        let words = query.words.iter().filter(|word| !word.is_stop).filter_map(Word::asked);
        let compounds = query.terms.iter().filter(|term| term.is_compound());
        for asked in words.chain(compounds.filter_map(|term| FtsQuery::phrase(&term.whole()))) {
            let found = corpus.ask(at, |source| source.commits_with(&asked, &committed, COMMON))?;
            let weight = rarity(commits as u64, found.all.len());
            found.all.iter().for_each(|at| scores[*at as usize] += weight);
            let mut named: Vec<u32> = Vec::new();
            for at in &found.in_subject {
                for file in committed.files_of(*at as usize) {
                    if counts[*file as usize] == 0 {
                        named.push(*file);
                    }
                    counts[*file as usize] += 1;
                }
            }
            let weight = rarity(files as u64, named.len());
            for file in named {
                let file = file as usize;
                let count = f64::from(std::mem::take(&mut counts[file]));
                let long = 1.0 - LENGTH + LENGTH * f64::from(committed.commits_of[file]) / mean;
                subjects[file] += weight * count * (SATURATION + 1.0) / (count + SATURATION * long);
            }
        }
        let mut of = Self { votes: vec![0.0; files], spoke: vec![None; files], subjects, committed };
        of.vote(&scores);
        Ok(of)
    }

    #[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
    fn vote(&mut self, scores: &[f64]) {
        let commits = &self.committed.commits;
        let mut voters: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        let order = |a: &usize, b: &usize| {
            scores[*b].total_cmp(&scores[*a]).then(commits[*b].time.cmp(&commits[*a].time)).then(a.cmp(b))
        };
        if voters.len() > VOTERS {
            voters.select_nth_unstable_by(VOTERS, order);
            voters.truncate(VOTERS);
        }
        voters.sort_unstable_by(order);
        for at in voters {
            let age = (self.committed.newest - commits[at].time).max(0) as f64;
            let weight =
                scores[at].powi(3) / f64::from(commits[at].file_count.max(1)).sqrt() * 0.5_f64.powf(age / HALF_LIFE);
            for file in self.committed.files_of(at) {
                let file = *file as usize;
                self.votes[file] += weight;
                if self.spoke[file].is_none_or(|(most, _)| weight > most) {
                    self.spoke[file] = Some((weight, commits[at].id));
                }
            }
        }
    }
}
