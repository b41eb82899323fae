//! `embedding_spaces` and `vectors`: which chunks have a vector, and which are still to be embedded.
//!
//! A chunk whose text is unchanged keeps its id when its file is replaced, and so keeps its vector. A new chunk gets an
//! id higher than those of all existing and all embedded chunks. So one number per space says what is still to be
//! embedded, and an id that had a vector never gets another text.

use rusqlite::{Row, named_params, params};

use super::statements::statements;
use super::{Batch, ChunkId, Scope, Snapshot};
use crate::error::Result;

statements! {
    SPACE = "SELECT id FROM embedding_spaces WHERE model = :model AND hash = :hash AND dimension = :dimension";
    SPACES = "SELECT id FROM embedding_spaces";
    LAST_OF_MODEL = "SELECT hash, dimension FROM embedding_spaces WHERE model = ?1 ORDER BY id DESC LIMIT 1";
    ADD_SPACE = "INSERT INTO embedding_spaces (model, hash, dimension, embedded, vector_count)
        VALUES (:model, :hash, :dimension, 0, 0)";
    STATE = "SELECT embedded, vector_count, dimension, build FROM embedding_spaces WHERE id = :space";
    VECTOR = "SELECT vector FROM vectors WHERE space_id = ?1 AND chunk_id = ?2";
    VECTORS_ABOVE = "SELECT chunk_id, vector FROM vectors WHERE space_id = ?1 AND chunk_id > ?2 ORDER BY chunk_id";
    COUNT_VECTORS_ABOVE = "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE space_id = ?1 AND chunk_id > ?2 LIMIT ?3)";
    ADD = "INSERT INTO vectors (space_id, chunk_id, vector) VALUES (?1, ?2, ?3)";
    REMOVE = "DELETE FROM vectors WHERE space_id = ?1 AND chunk_id = ?2";
    ADDED = "UPDATE embedding_spaces SET embedded = :embedded, vector_count = vector_count + :added WHERE id = :space";
    REMOVED = "UPDATE embedding_spaces SET vector_count = vector_count - :removed WHERE id = :space";
    NEXT = "SELECT id, hash FROM chunks WHERE id > :embedded ORDER BY id LIMIT :limit";
    UNEMBEDDED = "SELECT id, hash, headings, overlap, text FROM chunks
        WHERE id > (SELECT embedded FROM embedding_spaces WHERE id = :space) ORDER BY id LIMIT :limit";
    NEXT_UNEMBEDDED = "SELECT min(id) FROM chunks WHERE id > (SELECT embedded FROM embedding_spaces WHERE id = :space)";
    LAST = "SELECT max(id) FROM chunks";
    ABOVE = "SELECT count(*) FROM chunks WHERE id > ?1";
    /// Served by an index without text.
    ABOVE_OF_ALL = "SELECT count(*) FROM chunks WHERE +id > ?1";
}

/// Where more ids may be above another, they are counted by an index of all.
const A_LOOK_AT_EACH: i64 = 10_000;

/// Key of a row in `spaces`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub(super) i64);

/// Name of a space: the model, a hash of its files, and the number of dimensions.
#[derive(Clone, Copy, Debug)]
pub struct SpaceKey<'a> {
    pub model: &'a str,
    pub hash: &'a str,
    pub dimension: usize,
}

/// A chunk that has no vector yet.
#[derive(Clone, Debug)]
pub struct Unembedded {
    pub id: ChunkId,
    /// Hash of the text: a chunk that has changed since is not given this text's vector.
    pub hash: Vec<u8>,
    pub text: String,
}

/// A chunk and its cosine similarity: 1 for the same direction, 0 for unrelated vectors.
#[derive(Clone, Copy, Debug)]
pub struct NearChunk {
    pub id: ChunkId,
    pub cosine: f64,
}

/// The progress of a space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpaceState {
    pub embedded: i64,
    pub vectors: i64,
    pub dimension: usize,
    /// Build of the index: another build has other ids.
    pub build: [u8; 8],
}

/// Encodes a vector as it is stored: a signed byte per dimension.
pub(super) fn blob(components: &[i8]) -> Vec<u8> {
    components.iter().map(|component| component.cast_unsigned()).collect()
}

pub(super) fn components(blob: Vec<u8>) -> Vec<i8> {
    blob.into_iter().map(u8::cast_signed).collect()
}

/// A chunk's text as it is embedded: under its headings, after what is read with it. Each may be empty.
fn text_to_embed(headings: &str, lead: &str, text: &str) -> String {
    let line_break = if headings.is_empty() { "" } else { "\n" };
    [headings, line_break, lead, text].concat()
}

/// Reads a row with the columns `id, hash, headings, overlap, text`.
pub(super) fn unembedded(row: &Row) -> rusqlite::Result<Unembedded> {
    let part = |at: usize| Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str_or_null()?.unwrap_or_default());
    let text = text_to_embed(part(2)?, part(3)?, part(4)?);
    Ok(Unembedded { id: ChunkId(row.get(0)?), hash: row.get(1)?, text })
}

impl Snapshot<'_> {
    /// The space, if anything was ever embedded in it.
    pub fn space(&self, key: &SpaceKey) -> Result<Option<SpaceId>> {
        let parameters = named_params! { ":model": key.model, ":hash": key.hash, ":dimension": count(key.dimension) };
        self.row(SPACE, parameters, |row| Ok(SpaceId(row.get(0)?)))
    }

    /// The hash and the dimension of the last space that a model of that name was used in.
    pub fn last_space_of(&self, model: &str) -> Result<Option<(String, usize)>> {
        let space = |row: &Row| Ok((row.get(0)?, row.get::<_, u32>(1)? as usize));
        self.row(LAST_OF_MODEL, [model], space)
    }

    /// Chunks that have no vector in this space yet, even if the space does not exist.
    pub fn vectors_pending(&self, key: &SpaceKey) -> Result<u64> {
        self.vectors_missing(key, None, None)
    }

    /// Chunks of a scope that have no vector in this space yet; `reached` says up to which chunk of a space vectors
    /// count.
    pub(super) fn vectors_missing(
        &self,
        key: &SpaceKey,
        reached: Option<(SpaceId, i64)>,
        scope: Option<&Scope>,
    ) -> Result<u64> {
        let Some(space) = self.space(key)? else {
            return scope.map_or_else(|| self.all_chunks(), |scope| Ok(scope.len() as u64));
        };
        let reached = reached.filter(|(reached_in, _)| *reached_in == space).map(|(_, reached)| reached);
        let embedded = reached.map_or_else(|| self.state(space).map(|state| state.embedded), Ok)?;
        match scope {
            Some(scope) => Ok(scope.count_above(ChunkId(embedded)) as u64),
            None if reached == Some(0) => self.all_chunks(),
            None => self.chunks_above(embedded),
        }
    }

    /// Chunks of ids above one.
    fn chunks_above(&self, id: i64) -> Result<u64> {
        let last: Option<i64> = self.value(LAST, [])?;
        let statement = if last.unwrap_or(0) - id > A_LOOK_AT_EACH { ABOVE_OF_ALL } else { ABOVE };
        self.number(statement, [id])
    }

    /// The next chunks to be embedded, in the order in which [`Batch::add_vectors`] takes them.
    pub fn unembedded(&self, space: SpaceId, limit: usize) -> Result<Vec<Unembedded>> {
        self.rows(UNEMBEDDED, named_params! { ":space": space.0, ":limit": count(limit) }, unembedded)
    }

    /// The first chunk that has no vector yet.
    pub fn next_unembedded(&self, space: SpaceId) -> Result<Option<ChunkId>> {
        Ok(self.value::<Option<i64>>(NEXT_UNEMBEDDED, named_params! { ":space": space.0 })?.map(ChunkId))
    }

    /// The components of a chunk's vector, if it has one.
    pub fn vector_of(&self, space: SpaceId, chunk: ChunkId) -> Result<Option<Vec<i8>>> {
        self.row(VECTOR, [space.0, chunk.0], |row| row.get(0).map(components))
    }

    /// How many vectors belong to ids above one, `most` for more.
    pub(super) fn vectors_above(&self, space: SpaceId, id: ChunkId, most: usize) -> Result<usize> {
        let count: i64 = self.value(COUNT_VECTORS_ABOVE, [space.0, id.0, count(most)])?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Shows every vector of a space to `visit`, by the ids of its chunks.
    pub fn each_vector(&self, space: SpaceId, mut visit: impl FnMut(ChunkId, &[i8])) -> Result<()> {
        self.each_vector_above(space, ChunkId(i64::MIN), |id, vector| visit(id, &components(vector.to_vec())))
    }

    /// Shows the vectors of ids above one to `visit`, by their ids.
    pub(super) fn each_vector_above(
        &self,
        space: SpaceId,
        id: ChunkId,
        mut visit: impl FnMut(ChunkId, &[u8]),
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(VECTORS_ABOVE)?;
        let mut rows = statement.query([space.0, id.0])?;
        while let Some(row) = rows.next()? {
            visit(ChunkId(row.get(0)?), row.get_ref(1)?.as_blob().unwrap_or_default());
        }
        Ok(())
    }

    /// Vectors of a space.
    pub fn vector_count(&self, space: SpaceId) -> Result<u64> {
        Ok(self.state(space)?.vectors.cast_unsigned())
    }

    pub(super) fn state(&self, space: SpaceId) -> Result<SpaceState> {
        let mut statement = self.connection.prepare_cached(STATE)?;
        Ok(statement.query_row(named_params! { ":space": space.0 }, |row| {
            Ok(SpaceState {
                embedded: row.get(0)?,
                vectors: row.get(1)?,
                dimension: row.get::<_, u32>(2)? as usize,
                build: row.get(3)?,
            })
        })?)
    }

    pub(super) fn spaces(&self) -> Result<Vec<SpaceId>> {
        self.rows(SPACES, [], |row| Ok(SpaceId(row.get(0)?)))
    }
}

impl Batch<'_> {
    /// The space, made if it is new.
    pub fn use_space(&self, key: &SpaceKey) -> Result<SpaceId> {
        if let Some(space) = self.space(key)? {
            return Ok(space);
        }
        let parameters = named_params! { ":model": key.model, ":hash": key.hash, ":dimension": count(key.dimension) };
        self.connection.prepare_cached(ADD_SPACE)?.execute(parameters)?;
        Ok(SpaceId(self.connection.last_insert_rowid()))
    }

    /// Gives chunks their vectors, in the order in which [`Snapshot::unembedded`] gave them. Ends at the first of them
    /// that is no longer the next: what comes then must be asked for again. `None` is a text that the model knows
    /// nothing of.
    pub fn add_vectors(&self, space: SpaceId, vectors: &[(&Unembedded, Option<&[i8]>)]) -> Result<()> {
        let embedded = self.state(space)?.embedded;
        let mut insert = self.connection.prepare_cached(ADD)?;
        let mut next = self.connection.prepare_cached(NEXT)?;
        let mut next = next.query(named_params! { ":embedded": embedded, ":limit": count(vectors.len()) })?;
        let (mut last, mut added) = (embedded, 0);
        for (chunk, vector) in vectors.iter().skip_while(|(chunk, _)| chunk.id.0 <= embedded) {
            let Some(row) = next.next()? else { break };
            if row.get::<_, i64>(0)? != chunk.id.0 || row.get_ref(1)?.as_blob().ok() != Some(chunk.hash.as_slice()) {
                break;
            }
            if let Some(vector) = vector {
                insert.execute(params![space.0, chunk.id.0, blob(vector)])?;
                added += 1;
            }
            last = chunk.id.0;
        }
        let mut statement = self.connection.prepare_cached(ADDED)?;
        statement.execute(named_params! { ":space": space.0, ":embedded": last, ":added": added })?;
        Ok(())
    }

    /// Takes the vectors of chunks that are gone out of every space.
    pub(super) fn remove_vectors(&self, chunks: &[ChunkId]) -> Result<()> {
        let mut remove = self.connection.prepare_cached(REMOVE)?;
        for space in self.spaces()? {
            let mut removed = 0;
            for chunk in chunks {
                removed += remove.execute([space.0, chunk.0])?;
            }
            if removed > 0 {
                let mut statement = self.connection.prepare_cached(REMOVED)?;
                statement.execute(named_params! { ":space": space.0, ":removed": count(removed) })?;
            }
        }
        Ok(())
    }
}

/// Converts a count to SQLite's integer type.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::model::{Chunk, ContentHash, Extracted, RepoPath, Stat};
    use crate::store::{FileRow, Mode, Scope, Store};
    use crate::words;

    const KEY: SpaceKey = SpaceKey { model: "first letters", hash: "00", dimension: 8 };

    /// Only the first letter counts; nothing is known of what begins with `-`.
    fn vector(text: &str) -> Option<Vec<i8>> {
        let letter = text.bytes().next().filter(|letter| *letter != b'-')?;
        Some((0..8).map(|bit| if letter >> bit & 1 == 1 { 127 } else { -127 }).collect())
    }

    struct Index {
        store: Store,
        _folder: tempfile::TempDir,
    }

    impl Index {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { store: Store::open(&folder.path().join("index.db"), Mode::Write).unwrap(), _folder: folder }
        }

        fn put(&self, path: &str, texts: &[&str]) {
            let chunks = (0..).zip(texts).map(|(at, text)| Chunk {
                start_line: at + 1,
                end_line: at + 1,
                start_offset: at * 100,
                text: (*text).to_owned(),
                words: words::compound_parts(text),
                ..Chunk::default()
            });
            let extracted = Extracted { language: "text", chunks: chunks.collect(), ..Extracted::default() };
            let hash = ContentHash::compute(texts.concat().as_bytes());
            let path = RepoPath::new(path).unwrap();
            let row =
                FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
            self.store.write(|batch| batch.replace_file(&row)).unwrap();
        }

        fn remove(&self, path: &str) {
            self.store.write(|batch| batch.remove_file(&RepoPath::new(path).unwrap())).unwrap();
        }

        fn space(&self) -> SpaceId {
            self.store.write(|batch| batch.use_space(&KEY)).unwrap()
        }

        fn unembedded(&self) -> Vec<Unembedded> {
            let space = self.space();
            self.store.read(&Budget::unlimited(), |snapshot| snapshot.unembedded(space, 100)).unwrap()
        }

        fn pending(&self) -> Vec<String> {
            let pending: Vec<String> = self.unembedded().into_iter().map(|chunk| chunk.text).collect();
            let count = self.store.read(&Budget::unlimited(), |snapshot| snapshot.vectors_pending(&KEY)).unwrap();
            assert_eq!(count, pending.len() as u64);
            pending
        }

        fn add(&self, chunks: &[Unembedded]) {
            let space = self.space();
            let vectors: Vec<_> = chunks.iter().map(|chunk| vector(&chunk.text)).collect();
            let vectors: Vec<_> =
                chunks.iter().zip(&vectors).map(|(chunk, vector)| (chunk, vector.as_deref())).collect();
            self.store.write(|batch| batch.add_vectors(space, &vectors)).unwrap();
            assert_eq!(self.store.faults().unwrap(), Vec::<String>::new());
        }

        fn embed(&self) {
            while !self.unembedded().is_empty() {
                self.add(&self.unembedded());
            }
        }

        /// Texts by nearness to the vector of `text`, and how near.
        fn nearest(&self, text: &str, limit: usize) -> Vec<(String, f64)> {
            let space = self.space();
            let near = |snapshot: &Snapshot| {
                let near = snapshot.nearest(space, &vector(text).unwrap(), limit, None)?;
                near.iter().map(|near| Ok((snapshot.chunk(near.id)?.text, near.cosine))).collect()
            };
            self.store.read(&Budget::unlimited(), near).unwrap()
        }

        fn vectors(&self) -> u64 {
            let space = self.space();
            self.store.read(&Budget::unlimited(), |snapshot| snapshot.vector_count(space)).unwrap()
        }
    }

    /// The cosines of the nearest chunks, by comparing with every stored vector.
    fn nearest_in_table(snapshot: &Snapshot, space: SpaceId, vector: &[i8], limit: usize) -> Result<Vec<f64>> {
        let dot = |a: &[i8], b: &[i8]| -> f64 { a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum() };
        let mut cosines = Vec::new();
        snapshot.each_vector(space, |_, stored| {
            cosines.push(dot(stored, vector) / (dot(stored, stored) * dot(vector, vector)).sqrt());
        })?;
        cosines.sort_by(|a, b| b.total_cmp(a));
        cosines.truncate(limit);
        Ok(cosines)
    }

    #[test]
    fn the_nearest_chunks_come_first_with_their_cosine() {
        let index = Index::new();
        index.put("a.txt", &["apple", "-unknown", "zebra", "banana"]);
        assert_eq!(index.pending().len(), 4);
        index.embed();
        assert_eq!(index.vectors(), 3, "a text that the model knows nothing of has no vector");
        let near = index.nearest("avocado", 2);
        assert_eq!(near[0].0, "apple");
        assert!((near[0].1 - 1.0).abs() < 1e-6, "{near:?}");
        // a is 0110_0001, z 0111_1010: four of eight differ; b is 0110_0010: two do.
        assert_eq!(near[1].0, "banana");
        assert!((near[1].1 - 0.5).abs() < 1e-6, "{near:?}");
    }

    #[test]
    fn equally_near_chunks_are_ordered_by_path_and_position() {
        let mut paths = ["a.txt", "b.txt", "c.txt", "d.txt"];
        for _ in 0..2 {
            let index = Index::new();
            paths.iter().for_each(|path| index.put(path, &["one", "zebra", "other", "of"]));
            index.embed();
            let space = index.space();
            let ask = |snapshot: &Snapshot| {
                let near = snapshot.nearest(space, &vector("o").unwrap(), 7, None)?;
                let position = |near: &NearChunk| snapshot.chunk(near.id).map(|chunk| (chunk.path, chunk.start_line));
                near.iter().map(position).collect::<Result<Vec<_>>>()
            };
            let near = index.store.read(&Budget::unlimited(), ask).unwrap();
            let expected =
                [("a.txt", 1), ("a.txt", 3), ("a.txt", 4), ("b.txt", 1), ("b.txt", 3), ("b.txt", 4), ("c.txt", 1)];
            assert_eq!(near, expected.map(|(path, line)| (path.to_owned(), line)));
            paths.reverse();
        }
    }

    #[test]
    fn a_chunk_whose_text_stays_keeps_its_vector() {
        let index = Index::new();
        index.put("a.txt", &["one", "two", "two", "three"]);
        index.put("b.txt", &["other"]);
        index.embed();
        index.put("a.txt", &["zero", "three", "two", "one"]);
        assert_eq!(index.pending(), ["zero"]);
        assert_eq!(index.vectors(), 4, "one of the doubled chunks is gone");
        index.embed();
        assert_eq!(index.nearest("zz", 1)[0].0, "zero");
        index.remove("a.txt");
        assert_eq!(index.vectors(), 1);
        assert_eq!(index.pending(), Vec::<String>::new());
    }

    #[test]
    fn new_chunks_that_replace_embedded_ones_are_pending() {
        let index = Index::new();
        index.put("a.txt", &["one"]);
        index.put("b.txt", &["two", "three"]);
        index.embed();
        index.remove("b.txt");
        index.put("c.txt", &["three", "four"]);
        assert_eq!(index.pending(), ["three", "four"]);
        index.put("c.txt", &[]);
        index.put("a.txt", &["five"]);
        assert_eq!(index.pending(), ["five"]);
        index.embed();
        assert_eq!(index.nearest("f", 9).len(), 1);
    }

    #[test]
    fn a_batch_that_was_overtaken_is_stored_as_far_as_it_holds() {
        let index = Index::new();
        index.put("a.txt", &["one"]);
        index.put("b.txt", &["two", "three", "four"]);
        let batch = index.unembedded();
        index.remove("b.txt");
        // Where `two` and `three` were; `four` has the number that it had.
        index.put("c.txt", &["six", "seven", "four"]);
        index.add(&batch);
        assert_eq!(index.pending(), ["six", "seven", "four"]);
        // Another has embedded the same.
        let batch = index.unembedded();
        index.embed();
        index.add(&batch);
        assert_eq!(index.vectors(), 4);
        assert_eq!(index.nearest("s", 2).iter().filter(|(text, _)| text.starts_with('s')).count(), 2);
    }

    #[test]
    fn a_renamed_file_keeps_its_vectors() {
        let index = Index::new();
        index.put("a.txt", &["one", "two"]);
        index.embed();
        let (from, to) = (RepoPath::new("a.txt").unwrap(), RepoPath::new("b.txt").unwrap());
        index.store.write(|batch| batch.rename_file(&from, &to, &Stat::default(), 0)).unwrap();
        assert_eq!(index.pending(), Vec::<String>::new());
        assert_eq!(index.vectors(), 2);
    }

    #[test]
    fn memory_and_table_find_the_same_whatever_has_changed() {
        let index = Index::new();
        let text = |number: u32| format!("{}{number}", char::from(u8::try_from(33 + number % 90).unwrap()));
        let file = |number: u32| -> Vec<String> { (0..100).map(|at| text(number * 37 + at)).collect() };
        let put = |path: &str, texts: &[String]| index.put(path, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        for number in 0..60 {
            put(&format!("{number}.txt"), &file(number));
        }
        index.embed();
        let space = index.space();
        let check = |context: &str| {
            let ask = |snapshot: &Snapshot| {
                for wanted in ["!", "A", "m", "z"] {
                    let vector = vector(wanted).unwrap();
                    let cosines = |near: Vec<NearChunk>| near.iter().map(|near| near.cosine).collect::<Vec<_>>();
                    let table = nearest_in_table(snapshot, space, &vector, 50)?;
                    let memory = snapshot.nearest(space, &vector, 50, None)?;
                    let ids: Vec<ChunkId> = memory.iter().map(|near| near.id).collect();
                    let again = snapshot.cosines(space, &vector, &ids)?;
                    let memory = cosines(memory);
                    let close = |a: f64, b: f64| (a - b).abs() < 1e-5;
                    assert!(again.iter().zip(&memory).all(|(a, &b)| a.is_some_and(|a| close(a, b))), "{context}");
                    assert_eq!(memory.len(), table.len(), "{context}");
                    assert!(memory.iter().zip(&table).all(|(&a, &b)| close(a, b)), "{context}: {memory:?} {table:?}");
                    let even = Scope::from_chunks((0..20_000).filter(|id| id % 2 == 0).map(ChunkId));
                    let even = snapshot.nearest(space, &vector, 50, Some(&even))?;
                    assert!(even.len() == 50 && even.iter().all(|near| near.id.0 % 2 == 0), "{context}");
                }
                Ok(())
            };
            index.store.read(&Budget::unlimited(), ask).unwrap();
        };
        check("at first");
        put("7.txt", &file(1_000));
        put("61.txt", &file(2_000));
        index.remove("8.txt");
        index.embed();
        check("a little has changed");
        (9..30).for_each(|number| index.remove(&format!("{number}.txt")));
        check("much is gone");
        (9..40).for_each(|number| put(&format!("{number}.txt"), &file(number + 500)));
        check("much is pending");
        index.embed();
        check("much is new");
    }

    #[test]
    fn spaces_do_not_mix() {
        let index = Index::new();
        index.put("a.txt", &["one"]);
        index.embed();
        let other = SpaceKey { hash: "01", ..KEY };
        let pending = |key| index.store.read(&Budget::unlimited(), |snapshot| snapshot.vectors_pending(key)).unwrap();
        assert_eq!((pending(&KEY), pending(&other)), (0, 1), "a space that is not there yet");
        index.store.write(|batch| batch.use_space(&other)).unwrap();
        assert_eq!((pending(&KEY), pending(&other)), (0, 1));
        index.remove("a.txt");
        assert_eq!((pending(&KEY), pending(&other)), (0, 0));
    }
}
