//! Files that may contain a text, according to the trigrams that it needs.
//!
//! Owns how they are found: where they are few, each by its slot in its segment; where they are many, by a walk over
//! all files in path order, which the caller can end.
//!

use std::collections::HashMap;
use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, Row, params};

use super::statements::statements;
use super::trigrams::{SlotSet, TrigramNeed};
use super::vectors::count;
use super::{FileId, Snapshot, TextVersion};
use crate::error::Result;

statements! {
    WHOLE = "SELECT id, slots FROM trigram_segments WHERE complete ORDER BY id";
    SLOTS = "SELECT slots FROM trigrams WHERE segment = ?1 AND trigram = ?2";
    COUNT_LOOSE = "SELECT count(*) FROM files WHERE trigram_segment IS NULL";
    LOOSE = "SELECT path, id, size, hash, extractor FROM files WHERE trigram_segment IS NULL";
    AT = "SELECT path, id, size, hash, extractor FROM files WHERE trigram_segment = ?1 AND trigram_slot = ?2";
    WALK = "SELECT path, id, size, hash, extractor, trigram_segment, trigram_slot FROM files ORDER BY path";
}

/// A file that may contain the text.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub path: String,
    pub id: FileId,
    pub bytes: u64,
    /// The file's current text.
    pub version: TextVersion,
}

impl Candidate {
    fn from_row(row: &Row) -> rusqlite::Result<Self> {
        let id = FileId(row.get(1)?);
        Ok(Self {
            path: row.get(0)?,
            id,
            bytes: row.get::<_, i64>(2)?.cast_unsigned(),
            version: TextVersion { file: id, hash: row.get(3)?, extractor: row.get(4)? },
        })
    }
}

/// Files in which a text with some need may be: some slots of each segment, and every file that is in no segment.
pub struct Candidates(HashMap<i64, SlotSet>);

impl Candidates {
    fn admit(&self, segment: Option<i64>, slot: Option<u32>) -> bool {
        let slots = segment.and_then(|segment| self.0.get(&segment));
        slots.is_none_or(|slots| slot.is_none_or(|slot| slots.has(slot as usize)))
    }
}

impl Snapshot<'_> {
    /// Files in which a text with that need may be; `None` where all may.
    pub fn candidates(&self, need: &TrigramNeed) -> Result<Option<Candidates>> {
        if *need == TrigramNeed::Anything {
            return Ok(None);
        }
        let segments = self.rows(WHOLE, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)? as usize)))?;
        let mut candidates = HashMap::new();
        for (segment, files) in segments {
            candidates.insert(segment, self.slots(segment, files, need, &mut HashMap::new())?);
        }
        Ok(Some(Candidates(candidates)).filter(|candidates| !candidates.0.is_empty()))
    }

    /// An upper bound of their number.
    pub fn most_candidates(&self, candidates: &Candidates) -> Result<usize> {
        let loose: i64 = self.value(COUNT_LOOSE, [])?;
        Ok(usize::try_from(loose).unwrap_or(usize::MAX) + candidates.0.values().map(SlotSet::len).sum::<usize>())
    }

    /// All of them in path order, for those that are few.
    pub fn candidate_files(&self, candidates: &Candidates) -> Result<Vec<Candidate>> {
        let mut files = self.rows(LOOSE, [], Candidate::from_row)?;
        let mut statement = self.connection.prepare_cached(AT)?;
        for (segment, slots) in &candidates.0 {
            for slot in slots.iter() {
                // A file that changed has left its slot.
                files.extend(statement.query_row(params![segment, count(slot)], Candidate::from_row).optional()?);
            }
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Shows them to `visit` in path order until it has enough; every file if there is no index to choose by.
    pub fn each_candidate(
        &self,
        candidates: Option<&Candidates>,
        mut visit: impl FnMut(Candidate) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let mut statement = self.connection.prepare_cached(WALK)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(candidates) = candidates
                && !candidates.admit(row.get(5)?, row.get(6)?)
            {
                continue;
            }
            if visit(Candidate::from_row(row)?)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn slots(
        &self,
        segment: i64,
        files: usize,
        need: &TrigramNeed,
        known: &mut HashMap<u32, SlotSet>,
    ) -> Result<SlotSet> {
        match need {
            TrigramNeed::Anything => Ok(SlotSet::all(files)),
            TrigramNeed::Trigram(trigram) => {
                if let Some(slots) = known.get(trigram) {
                    return Ok(slots.clone());
                }
                let mut statement = self.connection.prepare_cached(SLOTS)?;
                let mut rows = statement.query(params![segment, trigram])?;
                let slots = match rows.next()? {
                    Some(row) => SlotSet::decode(row.get_ref(0)?.as_blob().unwrap_or_default(), files),
                    None => SlotSet::none(files),
                };
                known.insert(*trigram, slots.clone());
                Ok(slots)
            }
            TrigramNeed::All(parts) => {
                let mut all = SlotSet::all(files);
                for part in parts {
                    let these = self.slots(segment, files, part, known)?;
                    all.0.iter_mut().zip(these.0).for_each(|(word, other)| *word &= other);
                    if all.is_empty() {
                        break;
                    }
                }
                Ok(all)
            }
            TrigramNeed::Any(parts) => {
                let mut any = SlotSet::none(files);
                for part in parts {
                    let these = self.slots(segment, files, part, known)?;
                    any.0.iter_mut().zip(these.0).for_each(|(word, other)| *word |= other);
                }
                Ok(any)
            }
        }
    }
}
