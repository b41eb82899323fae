//! What a ranking needs of the index of one repository.
//!
//! Owns the seam between searches and what they read: the trait [`Source`], and SQLite as its first implementation. Does
//! not own how several are searched as one ([`super::corpus`]).

use std::sync::Arc;

use super::exact::{self, Pattern};
use super::{Hit, Page, PathFilter, symbols};
use crate::budget::Budget;
use crate::error::Result;
use crate::store::{
    ChunkHit, ChunkId, Definition, DocumentPiece, FtsQuery, NearChunk, Scope, Snapshot, SpaceId, SpaceKey, TaggedKind,
    Unembedded, VectorSearch,
};

/// Declares the trait, and for each function what SQLite answers it by.
macro_rules! source {
    ($($(#[doc = $about:literal])+ fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $by:path;)*) => {
        /// One state of the index of a repository. Ids are valid in that state alone.
        pub trait Source {
            $($(#[doc = $about])+ fn $name(&self, $($argument: $type),*) -> Result<$answer>;)*
        }

        impl Source for Snapshot<'_> {
            $(fn $name(&self, $($argument: $type),*) -> Result<$answer> {
                $by(self, $($argument),*)
            })*
        }
    };
}

source! {
    /// In how many chunks a query matches, `most` for more, and how many chunks there are.
    fn frequency(query: &FtsQuery, most: usize) -> (usize, u64) = Snapshot::frequency;
    /// How many chunks there are.
    fn all_chunks() -> u64 = Snapshot::all_chunks;
    /// The first chunks that match a query, in the order of ids.
    fn chunks_with(query: &FtsQuery, most: usize) -> Vec<ChunkId> = Snapshot::chunks_with;
    /// The first `most` chunks in path order that match a query, if that is quicker than to look at all that match.
    fn first_of_many(query: &FtsQuery, most: usize) -> Option<Vec<ChunkId>> = Snapshot::first_of_many;
    /// The query, narrowed to little more than the chunks of a scope.
    fn narrowed(scope: &Scope, query: &FtsQuery) -> FtsQuery = Snapshot::narrowed;
    /// The first `most` of these chunks, in path order.
    fn first_in_path_order(chunks: Vec<ChunkId>, most: usize) -> Vec<ChunkId> = Snapshot::first_in_path_order;

    /// Chunks that contain a definition of that name, in any case.
    fn chunks_defining(name: &str, most: usize) -> Vec<ChunkId> = Snapshot::chunks_defining;
    /// Those whose symbol is of one of these kinds, and whose name begins with an uppercase letter.
    fn chunks_defining_kinds(name: &str, kinds: &[&str], most: usize) -> Vec<ChunkId> = Snapshot::chunks_defining_kinds;
    /// Chunks that define a qualified name.
    fn chunks_of_qualified(name: &str, qualifier: &[&str]) -> Vec<ChunkId> = symbols::chunks_of_qualified;
    /// How many files reference a name; `most` for more.
    fn files_using(name: &str, most: usize) -> usize = Snapshot::files_using;
    /// All names that something defines.
    fn defined_names() -> Vec<String> = Snapshot::defined_names;

    /// Chunks with their texts, their positions and their names, in the order of the ids.
    fn chunks(ids: &[ChunkId]) -> Vec<ChunkHit> = Snapshot::chunks;
    /// A chunk as a document shows it.
    fn piece(id: ChunkId) -> DocumentPiece = Snapshot::piece;
    /// Whether a file that precedes the piece's, by path, contains the same text.
    fn is_said_before(piece: &DocumentPiece) -> bool = Snapshot::is_said_before;
    /// How many chunks of the same file with the same text precede a chunk.
    fn same_before(id: ChunkId) -> u64 = Snapshot::same_before;
    /// The definitions that overlap these lines of a file, without their signatures.
    fn unsigned_between(path: &str, from: u32, to: u32) -> Vec<Definition> = Snapshot::unsigned_between;
    /// The innermost definition around a line, without its signature.
    fn symbol_around(path: &str, line: u32) -> Option<Definition> = Snapshot::symbol_around;
    /// These lines of a file.
    fn lines(path: &str, first: u32, last: u32) -> Vec<String> = Snapshot::lines;
    /// The text of a file.
    fn text_of(path: &str) -> String = Snapshot::text_of;
    /// The lines that contain a text.
    fn containing(
        pattern: &Pattern,
        filter: &PathFilter,
        context: u32,
        page: (usize, usize),
        budget: &Budget
    ) -> Page<Hit> = containing;

    /// Paths and languages of the files of a language, or of all.
    fn paths(language: Option<&str>) -> Vec<(String, String)> = Snapshot::paths;
    /// The language of a file, if it is indexed.
    fn language_of(path: &str) -> Option<String> = language_of;
    /// Languages with their numbers of files and lines.
    fn language_counts() -> Vec<(String, u64, u64)> = Snapshot::language_counts;
    /// Whether something of that kind is defined.
    fn has_kind(kind: &str) -> bool = Snapshot::has_kind;
    /// The files of a language that are not entities.
    fn document_paths(language: &str) -> Vec<String> = Snapshot::document_paths;
    /// The files of entities, of a kind or of all.
    fn entity_paths(kind: Option<&str>) -> Vec<String> = Snapshot::entity_paths;
    /// Whether there is an entity of that kind.
    fn has_entity_of(kind: &str) -> bool = Snapshot::has_entity_of;
    /// The files that carry a tag.
    fn paths_tagged(tag: &str) -> Vec<String> = Snapshot::paths_tagged;
    /// Tags, and how many carry each.
    fn tag_counts(of: TaggedKind) -> Vec<(String, u64)> = Snapshot::tag_counts;
    /// The chunks of the files whose path and language are admitted; `by` identifies what admits them.
    fn scope_of_files(by: &str, admits: &dyn Fn(&str, &str) -> bool) -> Arc<Scope> = Snapshot::scope_of_files;

    /// The embedding space of that key, if anything is embedded in it.
    fn space(key: &SpaceKey) -> Option<SpaceId> = Snapshot::space;
    /// Whether every chunk has a vector in a space.
    fn is_whole(space: SpaceId) -> bool = Snapshot::is_whole;
    /// The chunks in scope nearest to a vector, nearest first; equally near ones by path and position.
    fn nearest(space: SpaceId, vector: &[i8], limit: usize, scope: Option<&Scope>) -> Vec<NearChunk> = Snapshot::nearest;
    /// The first of two steps of the same, between which another thread can run the search; `None` without vectors.
    fn vector_search(space: SpaceId, vector: &[i8], limit: usize) -> Option<VectorSearch> = Snapshot::vector_search;
    /// The second step: the nearest of the chunks that the search found and that still exist.
    fn nearest_of(search: &VectorSearch, near: Vec<NearChunk>, scope: Option<&Scope>) -> Vec<NearChunk> = Snapshot::nearest_of;
    /// How near chunks are to a vector; `None` for those without one.
    fn cosines(space: SpaceId, vector: &[i8], chunks: &[ChunkId]) -> Vec<Option<f64>> = Snapshot::cosines;
    /// How near some chunks are to a vector, drawn evenly from all texts.
    fn some_cosines(space: SpaceId, vector: &[i8], most: usize) -> Vec<f64> = Snapshot::some_cosines;
    /// The components of a chunk's vector, if it has one.
    fn vector_of(space: SpaceId, chunk: ChunkId) -> Option<Vec<i8>> = Snapshot::vector_of;
    /// The texts of chunks as they are embedded.
    fn to_embed(chunks: &[ChunkId]) -> Vec<Unembedded> = Snapshot::to_embed;
    /// The vector of a chunk, or of another with its text.
    fn known_vector(space: SpaceId, chunk: ChunkId, hash: &[u8]) -> Option<Vec<i8>> = Snapshot::known_vector;
}

fn containing(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    exact::search(snapshot, None, pattern, filter, context, page, budget)
}

fn language_of(snapshot: &Snapshot, path: &str) -> Result<Option<String>> {
    Ok(snapshot.file(path)?.map(|(_, language)| language))
}
