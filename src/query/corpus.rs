//! The corpus of a search: the chunks of one repository or of several, searched as one index.
//!
//! Owns how answers of several sources are combined: counts are added, so that the rarity of a word is that in all
//! sources together, and candidates are ranked once. Sources are in the order of the caller; in a tie, the first source
//! wins. Does not own what a source answers ([`Snapshot`]).

use std::cell::Cell;
use std::sync::Arc;

use super::symbols;
use crate::error::Result;
use crate::store::{ChunkHit, ChunkId, FtsQuery, Scope, Snapshot, SpaceId, SpaceKey, TaggedKind, VectorSearch};
use crate::words::search_words::{HeldByPiece, LastPicked};

/// Comparing fewer vectors takes less time than starting a thread for it.
const MANY_VECTORS: usize = 50_000;

/// A chunk of a corpus: in order by source, then by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkAt {
    /// The index of its source.
    pub source: usize,
    pub id: ChunkId,
}

/// The sources of a search.
pub struct Corpus<'s> {
    sources: Vec<&'s Snapshot<'s>>,
    /// The source that failed last.
    failed: Cell<Option<usize>>,
    /// Chunks that no source has yet: for each word how many of them contain it, and how many there are in all.
    unindexed: (Vec<(FtsQuery, usize)>, u64),
    /// How much of the query each of the best unindexed chunks contains, best first.
    held_by_unindexed: Vec<HeldByPiece>,
    last_picked: Option<LastPicked>,
    /// Lower bound: the nearest of all chunks are at least this similar to the query.
    least_near: f64,
}

/// Chunks of a corpus to search among.
#[derive(Clone, Debug)]
pub struct CorpusScope(Vec<Arc<Scope>>);

impl CorpusScope {
    /// Combines one scope for each source.
    pub fn new(scopes: Vec<Arc<Scope>>) -> Self {
        Self(scopes)
    }

    /// How many chunks the scope has.
    pub fn chunk_count(&self) -> usize {
        self.0.iter().map(|scope| scope.len()).sum()
    }

    /// The chunks of one source.
    pub fn of_source(&self, at: usize) -> &Scope {
        &self.0[at]
    }

    pub fn contains(&self, chunk: ChunkAt) -> bool {
        self.0.get(chunk.source).is_some_and(|scope| scope.contains(chunk.id))
    }

    /// Whether an FTS query can be narrowed to little more than these chunks.
    pub fn is_in_folders(&self) -> bool {
        self.0.iter().all(|scope| scope.is_in_folders())
    }

    /// The chunks that are in both scopes.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| Arc::new(one.and(other))).collect())
    }
}

/// The embedding space of each source that has it.
pub type Spaces = Vec<Option<SpaceId>>;

impl<'s> Corpus<'s> {
    /// The index of one repository.
    pub fn single(source: &'s Snapshot<'s>) -> Self {
        Self::new(vec![source])
    }

    /// Joins the indexes of several repositories.
    pub fn new(sources: Vec<&'s Snapshot<'s>>) -> Self {
        Self {
            sources,
            failed: Cell::new(None),
            unindexed: (Vec::new(), 0),
            held_by_unindexed: Vec::new(),
            last_picked: None,
            least_near: 0.0,
        }
    }

    /// Adds chunks that no source has yet. `counts`: how many of them contain each word; `chunks`: how many there are;
    /// `held`: how much of the query each of the best contains. The rarity of words is then computed as if these chunks
    /// were indexed, and an indexed chunk is left out if enough of these contain more of the query.
    #[must_use]
    pub fn with_unindexed_matches(mut self, counts: Vec<(FtsQuery, usize)>, chunks: u64, held: &[HeldByPiece]) -> Self {
        self.held_by_unindexed.extend(held);
        self.held_by_unindexed.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        self.unindexed.1 += chunks;
        for (query, count) in counts {
            match self.unindexed.0.iter_mut().find(|(known, _)| *known == query) {
                Some((_, known)) => *known += count,
                None => self.unindexed.0.push((query, count)),
            }
        }
        self
    }

    /// Restricts the corpus to what a search of all chunks would pick: nothing after `last`, and nothing that is less
    /// near to the query than `least_near`.
    #[must_use]
    pub fn with_bounds(mut self, last: Option<LastPicked>, least_near: f64) -> Self {
        self.last_picked = last.filter(|_| self.sources.len() == 1);
        self.least_near = self.least_near.max(least_near);
        self
    }

    /// The last chunk that a search by words would pick if all files were indexed; `None` if that is not known.
    pub fn last_picked(&self) -> Option<&LastPicked> {
        self.last_picked.as_ref()
    }

    /// The lowest similarity to the query among the chunks that a vector search would find if all chunks had vectors.
    pub fn least_near(&self) -> f64 {
        self.least_near
    }

    /// How much of the query each of the best unindexed chunks contains, the best first.
    pub fn held_by_unindexed(&self) -> &[HeldByPiece] {
        &self.held_by_unindexed
    }

    /// How many chunks the sources have.
    pub fn chunk_count(&self) -> Result<u64> {
        Ok(self.ask_all(|_, source| source.all_chunks())?.into_iter().sum())
    }

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// The source, where there is only one.
    pub fn only(&self) -> Option<&'s Snapshot<'s>> {
        if let [only] = self.sources[..] { Some(only) } else { None }
    }

    /// The source that a query failed in.
    pub fn failed(&self) -> Option<usize> {
        self.failed.get()
    }

    /// Asks one source.
    pub fn ask<T>(&self, at: usize, ask: impl FnOnce(&'s Snapshot<'s>) -> Result<T>) -> Result<T> {
        ask(self.sources[at]).inspect_err(|_| self.failed.set(Some(at)))
    }

    /// Asks every source, in order.
    fn ask_all<T>(&self, mut ask: impl FnMut(usize, &'s Snapshot<'s>) -> Result<T>) -> Result<Vec<T>> {
        (0..self.sources.len()).map(|at| self.ask(at, |source| ask(at, source))).collect()
    }

    /// Runs `ask` on every source and concatenates the results.
    fn gather<T>(&self, mut ask: impl FnMut(&'s Snapshot<'s>) -> Result<Vec<T>>) -> Result<Vec<T>> {
        Ok(self.ask_all(|_, source| ask(source))?.into_iter().flatten().collect())
    }

    /// Runs `ask` on every source and concatenates the chunks, each with its source.
    fn chunks_of(&self, mut ask: impl FnMut(usize, &'s Snapshot<'s>) -> Result<Vec<ChunkId>>) -> Result<Vec<ChunkAt>> {
        let found = self.ask_all(|at, source| {
            Ok(ask(at, source)?.into_iter().map(|id| ChunkAt { source: at, id }).collect::<Vec<_>>())
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Whether a condition holds for any source.
    fn any(&self, mut holds: impl FnMut(&'s Snapshot<'s>) -> Result<bool>) -> Result<bool> {
        for at in 0..self.sources.len() {
            if self.ask(at, &mut holds)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the chunks that match a query, at most `most`, and all chunks. With a scope, the query is narrowed, so
    /// that few chunks outside the scope match.
    pub fn frequency(&self, query: &FtsQuery, within: Option<&CorpusScope>, most: usize) -> Result<(usize, u64)> {
        let counts = self.ask_all(|at, source| match within {
            Some(within) => source.frequency(&source.narrowed(&within.0[at], query)?, most),
            None => source.frequency(query, most),
        })?;
        let (words, more) = &self.unindexed;
        let known = words.iter().find(|(known, _)| within.is_none() && known == query);
        let unindexed = known.map_or((0, *more), |(_, chunks)| (*chunks, *more));
        let (chunks, all) = counts.into_iter().fold(unindexed, |(chunks, all), (more, of)| (chunks + more, all + of));
        Ok((chunks.min(most), all))
    }

    /// The chunks that match a query, at most `most` of each source, in the order of ids. With a scope, the query is
    /// narrowed, so that few chunks outside the scope match. `in_names`: only among the names that chunks define.
    pub fn chunks_with(
        &self,
        query: &FtsQuery,
        within: Option<&CorpusScope>,
        in_names: bool,
        most: usize,
    ) -> Result<Vec<ChunkAt>> {
        self.chunks_of(|at, source| {
            let narrowed = within.map(|within| source.narrowed(&within.0[at], query)).transpose()?;
            let query = narrowed.as_ref().unwrap_or(query);
            if in_names { source.chunks_with(&query.clone().in_names(), most) } else { source.chunks_with(query, most) }
        })
    }

    /// The first `most` of these chunks: by source, then in path order.
    pub fn first_in_path_order(&self, chunks: Vec<ChunkAt>, most: usize) -> Result<Vec<ChunkAt>> {
        if chunks.len() <= most {
            return Ok(chunks);
        }
        let mut first = Vec::new();
        for (at, ids) in self.by_source(&chunks).into_iter().enumerate() {
            let left = most - first.len();
            if left == 0 {
                break;
            }
            let ids = ids.into_iter().map(|(_, id)| id).collect();
            let ordered = self.ask(at, |source| source.first_in_path_order(ids, left))?;
            first.extend(ordered.into_iter().map(|id| ChunkAt { source: at, id }));
        }
        Ok(first)
    }

    /// Groups chunks by source, each with its index in the list.
    fn by_source(&self, chunks: &[ChunkAt]) -> Vec<Vec<(usize, ChunkId)>> {
        let mut of_source = vec![Vec::new(); self.sources.len()];
        for (index, chunk) in chunks.iter().enumerate() {
            of_source[chunk.source].push((index, chunk.id));
        }
        of_source
    }

    /// Chunks that define a name; at most `most` of each source.
    pub fn chunks_defining(&self, name: &str, most: usize) -> Result<Vec<ChunkAt>> {
        self.chunks_of(|_, source| source.chunks_defining(name, most))
    }

    /// Chunks that define a name as a symbol of one of these kinds; at most `most` of each source.
    pub fn chunks_defining_kinds(&self, name: &str, kinds: &[&str], most: usize) -> Result<Vec<ChunkAt>> {
        self.chunks_of(|_, source| source.chunks_defining_kinds(name, kinds, most))
    }

    /// Chunks that define a qualified name.
    pub fn chunks_of_qualified(&self, written: &str) -> Result<Vec<ChunkAt>> {
        self.chunks_of(|_, source| symbols::chunks_of_qualified(source, written))
    }

    /// How many files reference a name, at most `most`.
    pub fn files_using(&self, name: &str, most: usize) -> Result<usize> {
        Ok(self.ask_all(|_, source| source.files_using(name, most))?.into_iter().sum::<usize>().min(most))
    }

    pub fn defined_names(&self) -> Result<Vec<String>> {
        self.gather(|source| source.defined_names())
    }

    /// Whether any chunk matches a query.
    pub fn has_match(&self, query: &FtsQuery) -> Result<bool> {
        self.any(|source| Ok(!source.chunks_with(query, 1)?.is_empty()))
    }

    /// Chunks with their texts, in the order of the list.
    pub fn chunks(&self, chunks: &[ChunkAt]) -> Result<Vec<ChunkHit>> {
        let mut hits = vec![None; chunks.len()];
        for (at, of_source) in self.by_source(chunks).into_iter().enumerate().filter(|(_, some)| !some.is_empty()) {
            let ids: Vec<ChunkId> = of_source.iter().map(|(_, id)| *id).collect();
            let found = self.ask(at, |source| source.chunks(&ids))?;
            for ((index, _), hit) in of_source.into_iter().zip(found) {
                hits[index] = Some(hit);
            }
        }
        Ok(hits.into_iter().flatten().collect())
    }

    /// Paths and languages of the files of a language, or of all.
    pub fn paths(&self, language: Option<&str>) -> Result<Vec<(String, String)>> {
        self.gather(|source| source.paths(language))
    }

    pub fn has_language(&self, language: &str) -> Result<bool> {
        self.any(|source| Ok(!source.paths(Some(language))?.is_empty()))
    }

    /// The languages of all sources, each with the lines of its files; a language of several sources is listed once for
    /// each.
    pub fn language_sizes(&self) -> Result<Vec<(String, u64)>> {
        let counts = self.gather(|source| source.language_counts())?;
        Ok(counts.into_iter().map(|(language, _, lines)| (language, lines)).collect())
    }

    /// The languages of all sources, without duplicates, by name.
    pub fn languages(&self) -> Result<Vec<String>> {
        let counts = self.gather(|source| source.language_counts())?;
        let mut languages: Vec<String> = counts.into_iter().map(|(language, ..)| language).collect();
        languages.sort();
        languages.dedup();
        Ok(languages)
    }

    pub fn has_kind(&self, kind: &str) -> Result<bool> {
        self.any(|source| source.has_kind(kind))
    }

    pub fn has_documents(&self, language: &str) -> Result<bool> {
        self.any(|source| Ok(!source.document_paths(language)?.is_empty()))
    }

    pub fn has_entity_of(&self, kind: &str) -> Result<bool> {
        self.any(|source| source.has_entity_of(kind))
    }

    pub fn has_tagged(&self, tag: &str) -> Result<bool> {
        self.any(|source| Ok(!source.paths_tagged(tag)?.is_empty()))
    }

    /// The tags of entities and documents, the most frequent first.
    pub fn tags(&self) -> Result<Vec<String>> {
        let mut counts = self.gather(|source| source.tag_counts(TaggedKind::Entities))?;
        counts.extend(self.gather(|source| source.tag_counts(TaggedKind::Documents))?);
        counts.sort_by(|(one, times), (other, others)| others.cmp(times).then_with(|| one.cmp(other)));
        let mut tags: Vec<String> = Vec::new();
        for (tag, _) in counts {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(tags)
    }

    /// Makes a scope for each source.
    pub fn scope(&self, scope: impl FnMut(usize, &'s Snapshot<'s>) -> Result<Arc<Scope>>) -> Result<CorpusScope> {
        Ok(CorpusScope(self.ask_all(scope)?))
    }

    /// The embedding space of that key in each source; `None` if no source has it.
    pub fn spaces(&self, key: &SpaceKey) -> Result<Option<Spaces>> {
        let spaces: Spaces = self.ask_all(|_, source| source.space(key))?;
        Ok(spaces.iter().any(Option::is_some).then_some(spaces))
    }

    /// The chunks in scope nearest to a vector with their cosines, nearest first; equally near ones by source, path and
    /// position. If there are many vectors, another thread compares them while this one runs `meanwhile`.
    pub fn nearest_while<T>(
        &self,
        spaces: &[Option<SpaceId>],
        vector: &[i8],
        limit: usize,
        scope: Option<&CorpusScope>,
        meanwhile: impl FnOnce() -> Result<T>,
    ) -> Result<(Vec<(ChunkAt, f64)>, T)> {
        let searches = self.ask_all(|at, source| match spaces[at] {
            Some(space) => source.vector_search(space, vector, limit),
            None => Ok(None),
        })?;
        let of_source = |at: usize| scope.map(|scope| &*scope.0[at]);
        let run = |(at, search): (usize, &Option<VectorSearch>)| {
            search.as_ref().map_or_else(Vec::new, |search| search.run(of_source(at)))
        };
        let compare = || searches.iter().enumerate().map(run).collect::<Vec<_>>();
        let (compared, done) =
            if searches.iter().flatten().map(VectorSearch::vector_count).sum::<usize>() < MANY_VECTORS {
                (compare(), meanwhile()?)
            } else {
                let (compared, done) = std::thread::scope(|threads| {
                    let comparing = threads.spawn(compare);
                    let done = meanwhile();
                    (comparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), done)
                });
                (compared, done?)
            };
        let mut near: Vec<(ChunkAt, f64)> = Vec::new();
        for (at, (search, found)) in searches.iter().zip(compared).enumerate() {
            let Some(search) = search else { continue };
            let found = self.ask(at, |source| source.nearest_of(search, found, of_source(at)))?;
            near.extend(found.into_iter().map(|near| (ChunkAt { source: at, id: near.id }, near.cosine)));
        }
        if self.sources.len() > 1 {
            near.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            near.truncate(limit);
        }
        Ok((near, done))
    }

    /// How near chunks are to a vector; `None` for those without one.
    pub fn cosines(&self, spaces: &[Option<SpaceId>], vector: &[i8], chunks: &[ChunkAt]) -> Result<Vec<Option<f64>>> {
        let mut cosines = vec![None; chunks.len()];
        for (at, of_source) in self.by_source(chunks).into_iter().enumerate() {
            let Some(space) = spaces[at].filter(|_| !of_source.is_empty()) else { continue };
            let ids: Vec<ChunkId> = of_source.iter().map(|(_, id)| *id).collect();
            let found = self.ask(at, |source| source.cosines(space, vector, &ids))?;
            for ((index, _), cosine) in of_source.into_iter().zip(found) {
                cosines[index] = cosine;
            }
        }
        Ok(cosines)
    }

    /// The texts of chunks as they are embedded; `None` for those that are gone.
    pub fn texts_to_embed(&self, chunks: &[ChunkAt]) -> Result<Vec<Option<String>>> {
        let mut texts = vec![None; chunks.len()];
        for (at, of_source) in self.by_source(chunks).into_iter().enumerate() {
            let ids: Vec<ChunkId> = of_source.iter().map(|(_, id)| *id).collect();
            let found = self.ask(at, |source| source.to_embed(&ids))?;
            let mut found = found.into_iter().peekable();
            for (index, id) in of_source {
                texts[index] = found.next_if(|text| text.id == id).map(|text| text.text);
            }
        }
        Ok(texts)
    }

    /// Cosines of some chunks to a vector: about `most` chunks, drawn evenly from all texts.
    pub fn some_cosines(&self, spaces: &[Option<SpaceId>], vector: &[i8], most: usize) -> Result<Vec<f64>> {
        let counts = self.ask_all(|_, source| source.all_chunks())?;
        let all = counts.iter().sum::<u64>().max(1);
        let drawn = self.ask_all(|at, source| {
            let Some(space) = spaces[at] else { return Ok(Vec::new()) };
            let share = (most as u64 * counts[at]).div_ceil(all);
            source.some_cosines(space, vector, usize::try_from(share).unwrap_or(most))
        })?;
        Ok(drawn.into_iter().flatten().collect())
    }
}
