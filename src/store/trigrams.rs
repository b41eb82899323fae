//! `trigram_segments` and `trigrams`: which files may hold a text.
//!
//! A segment is gathered from a snapshot, written in slices between which others write, and takes its files in last:
//! only those that are as they were read. A file leaves its segment in the transaction that changes its text, so a file
//! in a segment always has the trigrams that are there, and one in none is a candidate for everything. Rows
//! that a killed process left belong to no segment and are deleted later.

use rusqlite::{OptionalExtension, params};

use super::statements::statements;
use super::vectors::count;
use super::{Batch, FileId, Snapshot};
use crate::error::Result;
use crate::words::trigrams::Collector;

statements! {
    HAS_ANY = "SELECT 1 FROM trigram_segments WHERE complete";
    SEGMENTS = "SELECT s.id, s.slots, s.bytes, (SELECT count(*) FROM files f WHERE f.trigram_segment = s.id)
        FROM trigram_segments s WHERE s.complete ORDER BY s.id";
    LOOSE_SIZE = "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE trigram_segment IS NULL";
    LOOSE = "SELECT id, size FROM files WHERE trigram_segment IS NULL ORDER BY id";
    TO_GATHER = "SELECT hash, extractor, size FROM files WHERE id = ?1 AND trigram_segment IS NULL";
    TEXT = "SELECT text FROM chunks WHERE file_id = ?1 ORDER BY start_offset";
    IN = "SELECT trigram_slot, id FROM files WHERE trigram_segment = ?1 ORDER BY trigram_slot";
    BEGIN = "INSERT INTO trigram_segments (slots, bytes, complete) VALUES (?1, ?2, 0)";
    EXISTS = "SELECT 1 FROM trigram_segments WHERE id = ?1";
    ADD = "INSERT INTO trigrams (segment, trigram, slots) VALUES (?1, ?2, ?3)";
    END = "UPDATE trigram_segments SET complete = 1 WHERE id = ?1";
    TAKE_IN = "UPDATE files SET trigram_segment = ?1, trigram_slot = ?2
        WHERE id = ?3 AND hash = ?4 AND extractor = ?5 AND trigram_segment IS NULL";
    LET_GO = "UPDATE files SET trigram_segment = NULL, trigram_slot = NULL WHERE trigram_segment = ?1";
    DELETE = "DELETE FROM trigram_segments WHERE id = ?1";
    DELETE_UNFINISHED = "DELETE FROM trigram_segments WHERE NOT complete";
    NEXT_SEGMENT = "SELECT segment FROM trigrams WHERE segment > ?1 ORDER BY segment LIMIT 1";
    SLICE_END = "SELECT trigram FROM trigrams WHERE segment = ?1 ORDER BY trigram LIMIT 1 OFFSET ?2";
    DELETE_BELOW = "DELETE FROM trigrams WHERE segment = ?1 AND trigram < ?2";
    ALL_OF = "SELECT trigram, slots FROM trigrams WHERE segment = ?1 ORDER BY trigram";
    ASTRAY = "SELECT count(*) FROM files f LEFT JOIN trigram_segments s ON s.id = f.trigram_segment WHERE f.trigram_segment IS NOT NULL
        AND (s.complete IS NOT 1 OR f.trigram_slot IS NULL OR f.trigram_slot NOT BETWEEN 0 AND s.slots - 1)";
}

/// The number of bits of a slot.
const SLOT_BITS: u32 = 12;
/// The most files of a segment.
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// Rows that one transaction writes or removes: some milliseconds.
const SLICE: usize = 4_000;
const SLICE_OF_FILES: usize = 500;

/// Trigrams that a text must have for a pattern to match in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrigramNeed {
    Anything,
    Trigram(u32),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// Key of a row in `trigram_segments`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentId(i64);

/// A segment that answers queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentState {
    pub id: SegmentId,
    /// Files that it was made of, and those of them that are still in it.
    pub files: u64,
    pub live: u64,
    pub bytes: u64,
}

/// How much of the text the trigrams cover.
#[derive(Clone, Debug)]
pub struct TrigramState {
    pub segments: Vec<SegmentState>,
    pub loose_files: u64,
    pub loose_bytes: u64,
}

/// The trigrams of some files that are in no segment yet.
#[derive(Default)]
pub struct FoundTrigrams {
    files: Vec<UnindexedText>,
    bytes: u64,
    /// Trigram and slot, in order.
    pairs: Vec<u64>,
}

/// A segment as it is to be written.
pub struct GatheredTrigrams {
    files: Vec<UnindexedText>,
    bytes: u64,
    /// Trigrams in order, and where the slots of each end.
    rows: Vec<(i64, usize)>,
    slots: Vec<u8>,
}

/// A file as it was when its text was read.
struct UnindexedText {
    id: FileId,
    hash: Vec<u8>,
    extractor: u32,
}

impl FoundTrigrams {
    fn pair(trigram: u32, slot: usize) -> u64 {
        u64::from(trigram) << SLOT_BITS | slot as u64
    }

    fn trigram(pair: u64) -> i64 {
        (pair >> SLOT_BITS).cast_signed()
    }

    fn slot(pair: u64) -> usize {
        usize::try_from(pair % (1 << SLOT_BITS)).unwrap_or_default()
    }
}

impl GatheredTrigrams {
    /// Makes a segment of all files of the parts, which have no more than [`MAX_SLOTS`] together.
    pub fn join(parts: Vec<FoundTrigrams>) -> Self {
        let (mut files, mut bytes, mut pairs) = (Vec::new(), 0, Vec::new());
        for part in parts {
            let first = files.len() as u64;
            pairs.extend(part.pairs.iter().map(|pair| pair + first));
            files.extend(part.files);
            bytes += part.bytes;
        }
        // Sorted parts are only merged.
        pairs.sort();
        let (mut rows, mut slots, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
        for same in pairs.chunk_by(|a, b| FoundTrigrams::trigram(*a) == FoundTrigrams::trigram(*b)) {
            SlotSet::encode(same.iter().map(|pair| FoundTrigrams::slot(*pair)), files.len(), &mut encoded);
            slots.extend_from_slice(&encoded);
            rows.push((FoundTrigrams::trigram(same[0]), slots.len()));
        }
        Self { files, bytes, rows, slots }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Where [`Batch::add_trigrams`] and [`Batch::take_in`] end.
    pub fn ends(&self) -> (usize, usize) {
        (self.rows.len(), self.files.len())
    }
}

/// A bit for each slot of a segment.
#[derive(Clone)]
pub(super) struct SlotSet(pub Vec<u64>);

impl SlotSet {
    pub fn none(files: usize) -> Self {
        Self(vec![0; files.div_ceil(64)])
    }

    pub fn all(files: usize) -> Self {
        let mut all = Self(vec![u64::MAX; files.div_ceil(64)]);
        if let Some(last) = all.0.last_mut()
            && !files.is_multiple_of(64)
        {
            *last = (1 << (files % 64)) - 1;
        }
        all
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn has(&self, slot: usize) -> bool {
        self.0.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    fn insert(&mut self, slot: usize) {
        if let Some(word) = self.0.get_mut(slot / 64) {
            *word |= 1 << (slot % 64);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() * 64).filter(|&slot| self.has(slot))
    }

    /// Encodes slots as the table stores them: see the schema.
    fn encode(slots: impl Iterator<Item = usize>, files: usize, into: &mut Vec<u8>) {
        into.clear();
        let mut bits = vec![0_u8; files.div_ceil(8)];
        let mut next = 0;
        for slot in slots {
            bits[slot / 8] |= 1 << (slot % 8);
            let mut gap = slot - next;
            next = slot + 1;
            while gap > 0x7f {
                into.push(gap.to_le_bytes()[0] & 0x7f | 0x80);
                gap >>= 7;
            }
            into.push(gap.to_le_bytes()[0]);
        }
        if into.len() >= bits.len() {
            *into = bits;
        }
    }

    pub fn decode(bytes: &[u8], files: usize) -> Self {
        let mut slots = Self::none(files);
        if bytes.len() == files.div_ceil(8) {
            for (word, bytes) in slots.0.iter_mut().zip(bytes.chunks(8)) {
                *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
            return slots;
        }
        let (mut next, mut gap, mut shift) = (0_usize, 0_usize, 0);
        for byte in bytes {
            gap |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 && shift < 14 {
                shift += 7;
                continue;
            }
            slots.insert(next + gap);
            next += gap + 1;
            (gap, shift) = (0, 0);
        }
        slots
    }
}

impl Snapshot<'_> {
    pub fn trigram_state(&self) -> Result<TrigramState> {
        let mut statement = self.connection.prepare_cached(SEGMENTS)?;
        let number = |row: &rusqlite::Row, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        let segments = statement.query_map([], |row| {
            let (files, bytes, live) = (number(row, 1)?, number(row, 2)?, number(row, 3)?);
            Ok(SegmentState { id: SegmentId(row.get(0)?), files, live, bytes })
        })?;
        let segments = segments.collect::<rusqlite::Result<_>>()?;
        let (loose_files, loose_bytes) = self.loose_size()?;
        Ok(TrigramState { segments, loose_files, loose_bytes })
    }

    fn loose_size(&self) -> Result<(u64, u64)> {
        let mut statement = self.connection.prepare_cached(LOOSE_SIZE)?;
        let (files, bytes): (i64, i64) = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((files.cast_unsigned(), bytes.cast_unsigned()))
    }

    /// Whether there are segments to ask.
    pub fn has_trigrams(&self) -> Result<bool> {
        Ok(self.connection.prepare_cached(HAS_ANY)?.exists([])?)
    }

    /// Files that are in no segment, with their sizes, the oldest first.
    pub fn loose_files(&self) -> Result<Vec<(FileId, u64)>> {
        self.rows(LOOSE, [], |row| Ok((FileId(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned())))
    }

    /// Gathers the trigrams of those of these files, at most [`MAX_SLOTS`], that are in no segment. `check` is called between files
    /// and may end the work.
    pub fn gather_trigrams(&self, files: &[(FileId, u64)], check: impl Fn() -> Result<()>) -> Result<FoundTrigrams> {
        let mut gathered = FoundTrigrams::default();
        let mut collector = Collector::default();
        let mut statement = self.connection.prepare_cached(TO_GATHER)?;
        for &(id, _) in files {
            check()?;
            // The file may have changed since it was listed: its text and hash are from one snapshot.
            let mut rows = statement.query([id.0])?;
            let Some(row) = rows.next()? else { continue };
            let file = UnindexedText { id, hash: row.get(0)?, extractor: row.get(1)? };
            gathered.bytes += row.get::<_, i64>(2)?.cast_unsigned();
            self.collect(id, &mut collector)?;
            let slot = gathered.files.len();
            collector.end(|trigram| gathered.pairs.push(FoundTrigrams::pair(trigram, slot)));
            gathered.files.push(file);
        }
        gathered.pairs.sort_unstable();
        Ok(gathered)
    }

    fn collect(&self, file: FileId, collector: &mut Collector) -> Result<()> {
        let mut statement = self.connection.prepare_cached(TEXT)?;
        let mut rows = statement.query([file.0])?;
        while let Some(row) = rows.next()? {
            collector.push(row.get_ref(0)?.as_str().unwrap_or_default());
        }
        Ok(())
    }

    /// Messages about problems of the trigrams: every file of a segment has those of its text there, and no others.
    pub(super) fn faults_of_trigrams(&self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let astray: i64 = self.connection.query_row(ASTRAY, [], |row| row.get(0))?;
        if astray != 0 {
            faults.push(format!("{astray} files are in no segment of trigrams that could answer for them"));
        }
        let mut collector = Collector::default();
        for segment in self.trigram_state()?.segments {
            let (mut expected, mut live, mut live_slots) = (Vec::new(), SlotSet::none(MAX_SLOTS), 0);
            let mut statement = self.connection.prepare(IN)?;
            let mut rows = statement.query([segment.id.0])?;
            while let Some(row) = rows.next()? {
                let slot = row.get::<_, u32>(0)? as usize;
                self.collect(FileId(row.get(1)?), &mut collector)?;
                collector.end(|trigram| expected.push(FoundTrigrams::pair(trigram, slot)));
                live.insert(slot);
                live_slots += 1;
            }
            expected.sort_unstable();
            let mut found = Vec::with_capacity(expected.len());
            let mut statement = self.connection.prepare(ALL_OF)?;
            let mut rows = statement.query([segment.id.0])?;
            while let Some(row) = rows.next()? {
                let trigram = row.get(0)?;
                let files = usize::try_from(segment.files).unwrap_or(usize::MAX).min(MAX_SLOTS);
                let slots = SlotSet::decode(row.get_ref(1)?.as_blob().unwrap_or_default(), files);
                found
                    .extend(slots.iter().filter(|&slot| live.has(slot)).map(|slot| FoundTrigrams::pair(trigram, slot)));
            }
            if live.len() != live_slots {
                faults.push(format!("two files have one slot in segment {} of the trigrams", segment.id.0));
            } else if expected != found {
                faults.push(format!("segment {} of the trigrams differs from its files", segment.id.0));
            }
        }
        Ok(faults)
    }
}

impl Batch<'_> {
    /// Adds an empty segment for what was gathered. No file is in it before [`Batch::take_in`].
    pub fn begin_segment(&self, gathered: &GatheredTrigrams) -> Result<SegmentId> {
        let (files, bytes) = (count(gathered.files.len()), gathered.bytes.cast_signed());
        self.connection.prepare_cached(BEGIN)?.execute(params![files, bytes])?;
        Ok(SegmentId(self.connection.last_insert_rowid()))
    }

    fn exists(&self, segment: SegmentId) -> Result<bool> {
        Ok(self.connection.prepare_cached(EXISTS)?.exists([segment.0])?)
    }

    /// Writes some of the trigrams, from `at` on: returns where to continue, which is the length of all of them at the end,
    /// or `None` if another has swept the segment away.
    pub fn add_trigrams(
        &self,
        segment: SegmentId,
        gathered: &GatheredTrigrams,
        mut at: usize,
    ) -> Result<Option<usize>> {
        if !self.exists(segment)? {
            return Ok(None);
        }
        let mut add = self.connection.prepare_cached(ADD)?;
        let mut from = at.checked_sub(1).map_or(0, |before| gathered.rows[before].1);
        for (trigram, end) in gathered.rows.iter().skip(at).take(SLICE) {
            add.execute(params![segment.0, trigram, &gathered.slots[from..*end]])?;
            from = *end;
            at += 1;
        }
        Ok(Some(at))
    }

    /// Takes some of the files in, from `at` on, that are still as they were read; as [`Batch::add_trigrams`], and only
    /// after all trigrams are stored.
    pub fn take_in(&self, segment: SegmentId, gathered: &GatheredTrigrams, at: usize) -> Result<Option<usize>> {
        if self.connection.prepare_cached(END)?.execute([segment.0])? == 0 {
            return Ok(None);
        }
        let mut take_in = self.connection.prepare_cached(TAKE_IN)?;
        for (slot, file) in gathered.files.iter().enumerate().skip(at).take(SLICE_OF_FILES) {
            take_in.execute(params![segment.0, count(slot), file.id.0, file.hash, file.extractor])?;
        }
        Ok(Some((at + SLICE_OF_FILES).min(gathered.files.len())))
    }

    /// Removes all files from a segment; its trigrams are left to [`Batch::sweep_trigrams`].
    pub fn dissolve(&self, segment: SegmentId) -> Result<()> {
        self.connection.prepare_cached(LET_GO)?.execute([segment.0])?;
        self.connection.prepare_cached(DELETE)?.execute([segment.0])?;
        Ok(())
    }

    /// Forgets segments that were begun and not ended.
    pub fn forget_unfinished(&self) -> Result<()> {
        self.connection.prepare_cached(DELETE_UNFINISHED)?.execute([])?;
        Ok(())
    }

    /// Removes some of the trigrams that belong to no segment; whether there may be more of them.
    pub fn sweep_trigrams(&self) -> Result<bool> {
        let mut next = self.connection.prepare_cached(NEXT_SEGMENT)?;
        let mut last = 0;
        while let Some(segment) = next.query_row([last], |row| row.get::<_, i64>(0)).optional()? {
            last = segment;
            if self.exists(SegmentId(segment))? {
                continue;
            }
            let mut end = self.connection.prepare_cached(SLICE_END)?;
            let end: Option<i64> = end.query_row(params![segment, count(SLICE)], |row| row.get(0)).optional()?;
            self.connection.prepare_cached(DELETE_BELOW)?.execute(params![segment, end.unwrap_or(i64::MAX)])?;
            return Ok(true);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::budget::Budget;
    use crate::model::{Chunk, ContentHash, Extracted, RepoPath, Stat};
    use crate::store::{FileRow, Mode, Store};
    use crate::words;
    use crate::words::trigrams::{letter, of_letters};

    struct Index {
        store: Store,
        _folder: tempfile::TempDir,
    }

    impl Index {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { store: Store::open(&folder.path().join("index.db"), Mode::Write).unwrap(), _folder: folder }
        }

        fn put(&self, path: &str, text: &str) {
            let chunk = |(at, text): (usize, &str)| Chunk {
                start_line: 1,
                end_line: 1,
                start_offset: u32::try_from(at).unwrap(),
                text: text.to_owned(),
                words: words::compound_parts(text),
                ..Chunk::default()
            };
            // Chunks end anywhere.
            let (first, second) = text.split_at(text.len() / 2);
            let chunks = [(0, first), (first.len().max(1), second)].map(chunk).to_vec();
            let extracted = Extracted { language: "text", chunks, ..Extracted::default() };
            let (path, hash) = (RepoPath::new(path).unwrap(), ContentHash::compute(text.as_bytes()));
            let stat = Stat { size: text.len() as u64, ..Stat::default() };
            let row = FileRow { path: &path, hash, stat, seen_ns: 0, extracted: &extracted, force: false };
            self.store.write(|batch| batch.replace_file(&row)).unwrap();
        }

        fn remove(&self, path: &str) {
            self.store.write(|batch| batch.remove_file(&RepoPath::new(path).unwrap())).unwrap();
        }

        fn gather(&self) -> GatheredTrigrams {
            self.store
                .read(&Budget::unlimited(), |snapshot| {
                    let files = snapshot.loose_files()?;
                    let (some, rest) = files.split_at(files.len() / 3);
                    let gather = |files| snapshot.gather_trigrams(files, || Ok(()));
                    Ok(GatheredTrigrams::join(vec![gather(some)?, gather(rest)?]))
                })
                .unwrap()
        }

        fn write(&self, gathered: &GatheredTrigrams) -> SegmentId {
            let segment = self.store.write(|batch| batch.begin_segment(gathered)).unwrap();
            let (trigrams, files) = gathered.ends();
            let mut at = 0;
            while at < trigrams {
                at = self.store.write(|batch| batch.add_trigrams(segment, gathered, at)).unwrap().unwrap();
            }
            at = 0;
            while at < files {
                at = self.store.write(|batch| batch.take_in(segment, gathered, at)).unwrap().unwrap();
            }
            segment
        }

        /// Candidates for a text, by path.
        fn may_have(&self, text: &str) -> Option<Vec<String>> {
            let letters: Vec<u8> = text.chars().map(letter).collect();
            let need = TrigramNeed::All(of_letters(&letters).map(TrigramNeed::Trigram).collect());
            let ask = |snapshot: &Snapshot| {
                let Some(candidates) = snapshot.candidates(&need)? else { return Ok(None) };
                let listed = snapshot.candidate_files(&candidates)?.into_iter().map(|file| file.path);
                let listed: Vec<String> = listed.collect();
                let mut walked = Vec::new();
                let walk = snapshot.each_candidate(Some(&candidates), |file| {
                    walked.push(file.path);
                    Ok(ControlFlow::Continue(()))
                })?;
                assert!(walk.is_continue());
                assert_eq!(listed, walked);
                assert!(snapshot.most_candidates(&candidates)? >= walked.len());
                Ok(Some(walked))
            };
            self.store.read(&Budget::unlimited(), ask).unwrap()
        }

        fn state(&self) -> TrigramState {
            self.store.read(&Budget::unlimited(), |snapshot| snapshot.trigram_state()).unwrap()
        }

        fn faults(&self) -> Vec<String> {
            self.store.faults().unwrap()
        }
    }

    fn owned(paths: &[&str]) -> Option<Vec<String>> {
        Some(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn slots_are_stored_as_bits_or_distances_whichever_is_shorter() {
        for files in [1, 7, 8, 9, 64, 65, 500, 4096] {
            for step in [1, 2, 3, 7, 100, 129, 300, 4095] {
                let slots: Vec<usize> = (0..files).step_by(step).collect();
                let mut bytes = vec![1, 2, 3];
                SlotSet::encode(slots.iter().copied(), files, &mut bytes);
                assert!(bytes.len() <= files.div_ceil(8), "{files} {step}: {}", bytes.len());
                assert_eq!(SlotSet::decode(&bytes, files).iter().collect::<Vec<_>>(), slots, "{files} {step}");
            }
            assert_eq!(SlotSet::all(files).len(), files);
            // Whatever a damaged file says.
            SlotSet::decode(&[0xff; 600], files);
        }
    }

    #[test]
    fn a_file_leaves_its_segment_with_its_text() {
        let index = Index::new();
        for (path, text) in [("a", "one needle"), ("b", "two"), ("c", "Needles and pins"), ("d", "need le")] {
            index.put(path, text);
        }
        assert_eq!(index.may_have("needle"), None);
        index.write(&index.gather());
        assert_eq!(index.may_have("needle"), owned(&["a", "c"]));
        index.put("a", "none here");
        index.put("e", "a new file");
        index.remove("c");
        // What is in no segment is a candidate for everything.
        assert_eq!(index.may_have("needle"), owned(&["a", "e"]));
        assert_eq!(index.may_have("two"), owned(&["a", "b", "e"]));
        assert_eq!(index.faults(), Vec::<String>::new());
        index.write(&index.gather());
        assert_eq!(index.may_have("needle"), owned(&[]));
        assert_eq!(index.may_have("none here"), owned(&["a"]));
        let state = index.state();
        let counts: Vec<_> = state.segments.iter().map(|segment| (segment.files, segment.live)).collect();
        assert_eq!((counts, state.loose_files), (vec![(4, 2), (2, 2)], 0));
        assert_eq!(index.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_changes_while_trigrams_are_written_is_not_taken_in() {
        let index = Index::new();
        (0..1_200).for_each(|at| index.put(&format!("f{at}"), &format!("this is text number {at}")));
        let gathered = index.gather();
        index.put("f7", "another text");
        index.remove("f8");
        index.put("f9", "for a moment");
        index.put("f9", "this is text number 9");
        index.write(&gathered);
        assert_eq!(
            index.may_have("text number 77"),
            owned(&["f7", "f77", "f770", "f771", "f772", "f773", "f774", "f775", "f776", "f777", "f778", "f779"])
        );
        assert_eq!(index.state().loose_files, 1);
        assert_eq!(index.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_was_begun_and_not_ended_answers_nothing_and_is_swept_away() {
        let index = Index::new();
        (0..600).for_each(|at| index.put(&format!("f{at}"), &format!("{:x}", at * 7_919)));
        let gathered = index.gather();
        let segment = index.store.write(|batch| batch.begin_segment(&gathered)).unwrap();
        let next = index.store.write(|batch| batch.add_trigrams(segment, &gathered, 0)).unwrap().unwrap();
        assert_eq!(index.may_have("abc"), None);
        // Another process, after this one was apparently killed.
        index.store.write(|batch| batch.forget_unfinished()).unwrap();
        while index.store.write(|batch| batch.sweep_trigrams()).unwrap() {}
        assert_eq!(index.store.write(|batch| batch.add_trigrams(segment, &gathered, next)).unwrap(), None);
        assert_eq!(index.store.write(|batch| batch.take_in(segment, &gathered, 0)).unwrap(), None);
        let other = index.write(&index.gather());
        assert_ne!(other, segment);
        assert_eq!(index.faults(), Vec::<String>::new());
        index.store.write(|batch| batch.dissolve(other)).unwrap();
        while index.store.write(|batch| batch.sweep_trigrams()).unwrap() {}
        assert_eq!(index.may_have("abc"), None);
        let rows = index.store.write(|batch| {
            Ok(batch.connection.query_row("SELECT count(*) FROM trigrams", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(rows.unwrap(), 0);
    }

    #[test]
    fn wrong_trigrams_are_a_fault() {
        for damage in [
            "DELETE FROM trigrams WHERE trigram = (SELECT min(trigram) FROM trigrams)",
            "UPDATE trigrams SET slots = x'7f'",
            "UPDATE files SET trigram_slot = 1",
            "UPDATE files SET trigram_segment = 99",
            "INSERT INTO trigrams (segment, trigram, slots) SELECT id, 1, x'01' FROM trigram_segments",
        ] {
            let index = Index::new();
            ["a", "b", "c"].iter().for_each(|path| index.put(path, &format!("the text of {path}{path}{path}")));
            index.write(&index.gather());
            assert_eq!(index.faults(), Vec::<String>::new());
            index.store.write(|batch| Ok(batch.connection.execute_batch(damage)?)).unwrap();
            assert!(!index.faults().is_empty(), "{damage}");
        }
    }
}
