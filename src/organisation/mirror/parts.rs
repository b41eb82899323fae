//! More published repositories than can be mirrored: the server names the files that may match, and those alone are mirrored.
//!
//! Owns what a call must want for that, and its limits. A mirror of a part of a repository is one like all others, with an id of its own.
//! It keeps what was fetched for other calls until the repository is published again. Does not own which literals a pattern needs
//! (`query`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;

use tokio_postgres::IsolationLevel;

use super::{
    ATTEMPTS, Answers, Files, MAX_BYTES, MAX_TEXT, Mirror, Mirroring, REPOSITORY, States, id_of, in_digits, path_of,
    published_too_often, push,
};
use crate::error::{Error, Result};
use crate::organisation::LISTING_BYTES;
use crate::organisation::access::Published;
use crate::organisation::publication::term;

const FILES_WITH: &str = "SELECT repo, path, key, bytes FROM ixmcp.files_with($1, $2, $3)";
const FILES_DEFINING: &str = "SELECT repo, path, key, bytes FROM ixmcp.files_defining($1, $2, $3)";

/// Files that may match in all repositories, where the server names them.
const MAX_CANDIDATES: usize = 20_000;

/// What a call reads of published repositories, where those are more than can be mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All files.
    Everything,
    /// Files with any text: the pattern has too few letters in a row.
    AnyText,
    /// The files that contain all literals of one of the lists, in any case, or that define the name.
    Files { literals: Vec<Vec<String>>, name: Option<String> },
}

/// Files that may match, and their repositories as they are listed, by the names of these.
type Candidates = BTreeMap<String, (Published, Files)>;

impl Mirroring<'_> {
    /// Of the listed repositories, which `scope` describes, those with files that are wanted.
    pub(super) fn many(
        &mut self,
        patterns: &BTreeSet<String>,
        listed: &BTreeSet<&str>,
        wanted: &Wanted,
        known: States,
        (scope, most): (String, usize),
        mut answers: Answers,
    ) -> Result<Answers> {
        let narrow = format!("Narrow it: one call searches at most {most} with {} MiB.", MAX_BYTES >> 20);
        let (literals, name) = match wanted {
            Wanted::Everything => {
                return Err(Error::invalid_argument(scope).hint(format!(
                    "{narrow} `get_symbol`, and `query` with the mode literal or regex, take any number."
                )));
            }
            Wanted::AnyText => {
                let what = format!("{scope}, and the pattern has no three letters or digits in a row");
                return Err(Error::invalid_argument(what).hint(format!("Lengthen the pattern. {narrow}")));
            }
            Wanted::Files { literals, name } => (literals, name),
        };
        let mut candidates = self.candidates(patterns, literals, name.as_deref())?;
        candidates.retain(|name, _| listed.contains(name.as_str()));
        answers.without = listed.len() - candidates.len();
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
        let (listed, rows) = self.connection.run_for(LISTING_BYTES, self.budget, async |client| {
            let builder = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
            let transaction = builder.start().await?;
            let mut listed: BTreeMap<String, Published> = BTreeMap::new();
            for pattern in &patterns {
                for row in transaction.query(REPOSITORY, &[pattern]).await? {
                    let one = Published::of(&row)?;
                    listed.insert(one.name.clone(), one);
                }
            }
            let mut found = transaction.query(FILES_WITH, &[&patterns, &needs, &most]).await?;
            if !terms.is_empty() {
                found.extend(transaction.query(FILES_DEFINING, &[&patterns, &terms, &most]).await?);
            }
            let mut rows: Vec<(String, String, Vec<u8>, i32)> = Vec::new();
            for row in found {
                rows.push((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?));
            }
            transaction.commit().await?;
            Ok((listed, rows))
        })?;
        if rows.len() > MAX_CANDIDATES {
            return Err(too_many(format!("more than {MAX_CANDIDATES} files may match")));
        }
        let mut candidates = Candidates::new();
        for (repo, path, key, bytes) in rows {
            let Some(listed) = listed.get(&repo) else { continue };
            let (_, files) = candidates.entry(repo).or_insert_with(|| (listed.clone(), Files::new()));
            files.insert(path_of(&path)?, (in_digits(&key), i64::from(bytes).clamp(0, MAX_TEXT)));
        }
        Ok(candidates)
    }

    /// Mirrors of repositories with the files that may match, or whole ones that are there.
    fn mirror_parts(
        &mut self,
        candidates: Candidates,
        mut known: States,
        most: usize,
        answers: &mut Answers,
    ) -> Result<()> {
        let of_all = candidates.values().flat_map(|(_, files)| files.values());
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
            let mirror = self.part(&listed, &files);
            push(answers, &name, mirror)?;
        }
        known.retain(|id, _| !used.contains(id));
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

fn too_many(what: String) -> Error {
    Error::invalid_argument(what).hint("Lengthen the pattern or the name, or name fewer repositories.")
}
