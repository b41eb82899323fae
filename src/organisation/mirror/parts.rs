//! More published repositories than can be mirrored: the server names the files that may match, and only those are mirrored.
//!
//! Owns what a call must want for that, and its limits. A mirror of a part of a repository is one like all others, with an id of its own.
//! It keeps what was fetched for other calls until the repository is published again. Does not own which literals a pattern needs
//! (`query`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;

use faster_hex::hex_string;

use super::{
    ATTEMPTS, Answers, Files, MAX_BYTES, MAX_TEXT, Mirror, Mirroring, REPOSITORY, States, id_of, published_too_often,
    push,
};
use crate::error::{Error, Result};
use crate::organisation::LISTING_BYTES;
use crate::organisation::access::Published;
use crate::organisation::published::{path_of, term};
use crate::organisation::transaction::Isolation;
use crate::wording::Tool;

const FILES_WITH: &str = "SELECT repo, path, key, bytes FROM ixmcp.files_with($1, $2, $3)";
const FILES_DEFINING: &str = "SELECT repo, path, key, bytes FROM ixmcp.files_defining($1, $2, $3)";

/// Files that may match in all repositories, where the server names them.
const MAX_CANDIDATES: usize = 20_000;

/// Files that a call reads of published repositories, if those are more than can be mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorRequest {
    /// All files.
    Everything,
    /// Files with any text: the pattern or name has too few letters in a row.
    AnyText { of: &'static str },
    /// The files that contain all literals of one of the lists, in any case of ASCII letters, or that define the
    /// name.
    Files { literals: Vec<Vec<String>>, name: Option<String> },
}

/// Files that may match, or why they cannot be read, and their repositories as they are listed, by the names of these.
type Candidates = BTreeMap<String, (Published, Result<Files>)>;

/// A file that the server names: the repository, the path, the key and the size of the text.
type Row = (String, String, Vec<u8>, i32);

impl Mirroring<'_> {
    /// Mirrors those of the listed repositories that have wanted files; `scope` describes the listed ones for errors.
    pub(super) fn many(
        &mut self,
        patterns: &BTreeSet<String>,
        listed: &BTreeSet<&str>,
        wanted: &MirrorRequest,
        known: States,
        (scope, most): (String, usize),
        mut answers: Answers,
    ) -> Result<Answers> {
        let mebibytes = MAX_BYTES >> 20;
        let narrow = format!("Narrow it: one call searches at most {most} repositories with {mebibytes} MiB of text.");
        let (literals, name) = match wanted {
            MirrorRequest::Everything => {
                return Err(Error::invalid_argument(scope).hint((
                    format!("{narrow} "),
                    Tool("get_symbol"),
                    " of a name without a qualifier, and ",
                    Tool("query"),
                    " with the mode literal or regex, accept any number of repositories.",
                )));
            }
            MirrorRequest::AnyText { of } => {
                let what = format!("{scope}, and the {of} has no run of three ASCII letters or digits");
                return Err(Error::invalid_argument(what).hint(format!("Lengthen the {of}. {narrow}")));
            }
            MirrorRequest::Files { literals, name } => (literals, name),
        };
        let mut candidates = self.candidates(patterns, literals, name.as_deref())?;
        candidates.retain(|name, _| listed.contains(name.as_str()));
        answers.without = listed.len() - candidates.len();
        answers.in_parts = true;
        self.mirror_parts(candidates, known, most, &mut answers)?;
        Ok(answers)
    }

    /// The files that may match, with their repositories, of one moment.
    fn candidates(
        &mut self,
        patterns: &BTreeSet<String>,
        literals: &[Vec<String>],
        name: Option<&str>,
    ) -> Result<Candidates> {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let needs: Vec<String> = literals.iter().map(|list| list.join("\n")).collect();
        let terms: Vec<i32> = name.map(term).into_iter().collect();
        let most = i32::try_from(MAX_CANDIDATES + 1).unwrap_or(i32::MAX);
        let (listed, rows) =
            self.connection.run_for(LISTING_BYTES, Isolation::OneMoment, self.budget, async |transaction| {
                let mut listed: BTreeMap<String, Published> = BTreeMap::new();
                for pattern in &patterns {
                    for row in transaction.query(REPOSITORY, &[pattern]).await? {
                        let one = Published::from_row(&row)?;
                        listed.insert(one.name.clone(), one);
                    }
                }
                let mut found = transaction.query(FILES_WITH, &[&patterns, &needs, &most]).await?;
                if !terms.is_empty() {
                    found.extend(transaction.query(FILES_DEFINING, &[&patterns, &terms, &most]).await?);
                }
                let mut rows: Vec<Row> = Vec::new();
                for row in found {
                    rows.push((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?));
                }
                Ok((listed, rows))
            })?;
        gathered(&listed, &rows)
    }

    /// Mirrors of repositories with the files that may match, or complete mirrors if they exist.
    fn mirror_parts(
        &mut self,
        candidates: Candidates,
        mut known: States,
        most: usize,
        answers: &mut Answers,
    ) -> Result<()> {
        let of_all = candidates.values().flat_map(|(_, files)| files.iter().flat_map(Files::values));
        let bytes = of_all.fold(0_i64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if candidates.len() > most || bytes > MAX_BYTES {
            let (count, mebibytes) = (candidates.len(), bytes >> 20);
            return Err(too_many(format!("files of {count} repositories with {mebibytes} MiB of text may match")));
        }
        let mut used = HashSet::new();
        for (name, (listed, files)) in candidates {
            if let Some(mirror) = self.if_current(&name, &listed, &known)? {
                used.insert(name.clone());
                answers.mirrors.push((name, Ok(mirror)));
                continue;
            }
            used.insert(id_of(&name, true));
            let mirror = files.and_then(|files| self.part(&listed, &files));
            push(answers, &name, mirror)?;
        }
        known.retain(|id, _| !used.contains(id));
        // A part has what was fetched for other calls, too.
        let kept = used.iter().filter_map(|id| self.state(id));
        let bytes = kept.fold(0_i64, |sum, state| sum.saturating_add(state.bytes));
        self.evict(known.into_values().collect(), bytes)
    }

    /// The mirror of a part of a repository, with these files and those of the same publication that were fetched before.
    fn part(&mut self, listed: &Published, wanted: &Files) -> Result<Mirror> {
        let id = id_of(&listed.name, true);
        for _ in 0..ATTEMPTS {
            let lock = self.lock_file(&id)?;
            self.acquire(|| lock.try_lock())?;
            let known = self.state_of(&id, listed);
            let mut files = wanted.clone();
            let mut is_there = false;
            if let Some(state) = &known {
                let root = self.folder.join(&state.folder);
                let before: BTreeMap<String, String> = Self::read(&self.file(&id, "files")).unwrap_or_default();
                let there = before.into_iter().filter_map(|(path, key)| {
                    let path = path_of(&path).ok()?;
                    let found = fs::symlink_metadata(path.to_path(&root)).ok().filter(fs::Metadata::is_file)?;
                    Some((path, (key, i64::try_from(found.len()).unwrap_or(i64::MAX))))
                });
                let there: Files = there.collect();
                is_there = files.iter().all(|(path, (key, _))| there.get(path).is_some_and(|(known, _)| known == key));
                files.extend(there);
            }
            if !is_there {
                let bytes = files.values().fold(0_i64, |sum, (_, bytes)| sum.saturating_add(*bytes));
                self.write_mirror(&Published { bytes, ..listed.clone() }, &files, true)?;
            }
            lock.unlock().map_err(|error| Error::io("unlock", &self.folder, error))?;
            self.acquire(|| lock.try_lock_shared())?;
            if let Some(mirror) = self.current(&id, listed, None, lock) {
                return Ok(mirror);
            }
        }
        Err(published_too_often())
    }
}

/// The files by their repositories, as far as these are listed. Several of the needs and names may name the same file.
fn gathered(listed: &BTreeMap<String, Published>, rows: &[Row]) -> Result<Candidates> {
    let mut distinct = HashSet::new();
    let mut candidates = Candidates::new();
    for (repo, path, key, bytes) in rows {
        let Some(listed) = listed.get(repo) else { continue };
        if distinct.insert((repo, path)) && distinct.len() > MAX_CANDIDATES {
            return Err(too_many(format!("more than {MAX_CANDIDATES} files may match")));
        }
        let (_, files) = candidates.entry(repo.clone()).or_insert_with(|| (listed.clone(), Ok(Files::new())));
        match (path_of(path), files) {
            (Ok(path), Ok(files)) => {
                files.insert(path, (hex_string(key), i64::from(*bytes).clamp(0, MAX_TEXT)));
            }
            (Err(error), files) => *files = Err(error),
            (Ok(_), Err(_)) => {}
        }
    }
    Ok(candidates)
}

fn too_many(what: String) -> Error {
    Error::invalid_argument(what).hint("Lengthen the pattern or the name, or name fewer repositories.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str) -> Published {
        let (commit, published_at) = (Some("a".repeat(40)), Some("now".to_owned()));
        Published { name: name.to_owned(), commit, generation: 1, published_at, files: 1, bytes: 1 }
    }

    #[test]
    fn files_that_are_named_several_times_count_once() {
        let known = BTreeMap::from([("pay".to_owned(), listed("pay"))]);
        let row = |number: usize| ("pay".to_owned(), format!("{number}.py"), vec![1], 10);
        let twice: Vec<Row> = (0..MAX_CANDIDATES).chain(0..MAX_CANDIDATES).map(row).collect();
        let found = gathered(&known, &twice).unwrap();
        assert_eq!(found["pay"].1.as_ref().unwrap().len(), MAX_CANDIDATES);
        let error = gathered(&known, &(0..=MAX_CANDIDATES).map(row).collect::<Vec<_>>()).unwrap_err();
        assert!(error.to_string().contains("more than 20000 files may match"), "{error}");
    }

    #[test]
    fn a_path_that_is_none_is_an_error_of_its_repository_alone() {
        let known = ["pay", "shop"].map(|name| (name.to_owned(), listed(name)));
        let row = |repo: &str, path: &str| (repo.to_owned(), path.to_owned(), vec![1], 10);
        let rows = vec![row("pay", "a.py"), row("pay", "../x.py"), row("pay", "b.py"), row("shop", "c.py")];
        let found = gathered(&BTreeMap::from(known), &rows).unwrap();
        assert!(found["pay"].1.is_err());
        assert_eq!(found["shop"].1.as_ref().unwrap().len(), 1);
    }
}
