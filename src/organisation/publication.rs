//! Publishing the files of a commit.
//!
//! Owns which files are published, and the protocol: texts that the server asks for are sent and staged, then one short transaction
//! makes them visible. What is published is read from the commit, so that untracked files and uncommitted changes stay here, unless
//! the caller asks for uncommitted changes of tracked files ([`work_tree`]). Secrets, and files that the settings leave out of the
//! local index, are not sent. A publisher that is killed leaves an upload that a sweep removes; what was published before stays as
//! it was.

use std::collections::{BTreeSet, HashMap};
use std::panic::catch_unwind;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::packing::packed;
use super::published::{DIRTY, path_of, term};
use super::transaction::Isolation;
use super::work_tree;
use super::{Connection, LISTING_BYTES, Purpose, own};
use crate::budget::{Budget, Progress};
use crate::config::{Environment, Index, ServerAddress};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::{self, Options};
use crate::git_objects::Objects;
use crate::model::{RepoPath, printable};
use crate::scan::Rules;
use crate::threads::{WorkList, on_threads};

const BEGIN: &str = "SELECT upload, commit, generation FROM ixmcp.begin_publication($1)";
const PUBLISHED: &str = "SELECT path, blob FROM ixmcp.published($1)";
const MISSING: &str = "SELECT ixmcp.missing($1, $2)";
const SEND_TEXTS: &str = "SELECT ixmcp.send_texts($1, $2, $3)";
const STAGE_FILES: &str = "SELECT ixmcp.stage_files($1, $2, $3, $4, $5, $6, $7)";
const STAGE_GONE: &str = "SELECT ixmcp.stage_gone($1, $2)";
const UNDERIVED: &str = "SELECT path FROM ixmcp.underived($1, $2)";
const SEND_TERMS: &str = "SELECT ixmcp.send_terms($1, $2, $3, $4)";
const FINISH: &str = "SELECT generation, files FROM ixmcp.finish_publication($1, $2)";
/// A name is a pattern that matches itself.
const FILES: &str = "SELECT files FROM ixmcp.repositories($1)";
const ABANDON: &str = "SELECT ixmcp.abandon_publication($1)";
const UNPUBLISH: &str = "SELECT ixmcp.unpublish($1)";

/// Files that are read, sent and staged at a time.
const FILES_AT_ONCE: usize = 200;
/// Bytes of text in one statement.
const BYTES_AT_ONCE: usize = 4 << 20;
/// Incremented when other terms are made of the same symbols.
const TERMS: u32 = 1;

/// Settings of a publication.
pub struct Publication<'p> {
    pub address: &'p ServerAddress,
    pub root: &'p Path,
    pub environment: &'p Environment,
    /// The settings of the repository.
    pub settings: &'p Index,
    /// The name of the repository on the server.
    pub name: &'p str,
    /// Publishes changes of tracked files that are not committed, too.
    pub dirty: bool,
    /// Replaces what is published even if that is newer or has another history, and sends all files again.
    pub force: bool,
}

/// Result of a publication.
#[derive(Debug)]
pub struct Report {
    pub commit: String,
    /// How many times the repository was published.
    pub generation: i64,
    /// Whether that commit was published already.
    pub is_unchanged: bool,
    /// Files that are published now.
    pub files: i32,
    /// Files that are new or differ, and files that are gone.
    pub changed: usize,
    pub gone: usize,
    /// Files of the commit that are not published: secrets, binary files and others that the local index skips.
    pub skipped: usize,
    /// Files that are published as committed because it is not known what git would commit of them, with the reason.
    pub undecided: Vec<(String, &'static str)>,
    /// Texts that the server asked for, and their size as they are sent: compressed.
    pub sent: usize,
    pub sent_bytes: u64,
}

/// A file to publish.
struct Prepared {
    path: RepoPath,
    blob: String,
    text: String,
    key: Vec<u8>,
}

/// Removes a repository. Whether it was there.
pub fn unpublish(connection: &mut Connection, name: &str, budget: &Budget) -> Result<bool> {
    connection.run(budget, async |client| client.query_one(UNPUBLISH, &[&name]).await?.try_get(0))
}

/// Publishes the commit that is checked out.
pub fn publish(publication: &Publication, progress: &Progress, budget: &Budget) -> Result<Report> {
    let root = publication.root;
    let objects = Objects::open(root, publication.environment)?;
    let commit = objects.commit("HEAD", budget)?.id.ok_or_else(|| {
        Error::invalid_argument("nothing is committed yet").hint("Commit something: only commits are published.")
    })?;
    let mut connection = Connection::open(publication.address, Purpose::Write, budget)?;
    let (id, head, generation): (i64, Option<String>, i64) = connection.run(budget, async |client| {
        let row = client.query_one(BEGIN, &[&publication.name]).await?;
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    })?;
    let mut upload = Upload { connection: &mut connection, id, budget };
    let published = upload.publish(publication, &objects, &commit, head.as_deref(), generation, progress);
    if !matches!(&published, Ok(report) if !report.is_unchanged) {
        // If that fails, a sweep does it.
        let _ = upload.abandon();
    }
    if published.is_ok() {
        own::note(publication.address, publication.environment, root, publication.name)?;
    }
    published
}

/// An upload that was begun.
struct Upload<'u> {
    connection: &'u mut Connection,
    id: i64,
    budget: &'u Budget,
}

impl Upload<'_> {
    fn publish(
        &mut self,
        publication: &Publication,
        objects: &Objects,
        commit: &str,
        head: Option<&str>,
        generation: i64,
        progress: &Progress,
    ) -> Result<Report> {
        let mut report = Report {
            commit: commit.to_owned(),
            generation,
            is_unchanged: false,
            files: 0,
            changed: 0,
            gone: 0,
            skipped: 0,
            undecided: Vec::new(),
            sent: 0,
            sent_bytes: 0,
        };
        if !publication.force {
            if head == Some(commit) && !publication.dirty {
                return self.unchanged(publication.name, report);
            }
            if let Some(head) = head {
                check_descends(objects, head.trim_end_matches(DIRTY), commit, self.budget)?;
            }
        }
        let rules = Rules::new(publication.settings);
        let published = self.published()?;
        let mut tree = objects.tree(commit, self.budget)?;
        let largest = publication.settings.max_file_size;
        let changes = if publication.dirty {
            let committed = tree.len();
            let changes = work_tree::apply(publication.root, objects, &mut tree, largest, self.budget)?;
            if committed != tree.len() || !changes.bytes.is_empty() {
                report.commit += DIRTY;
            }
            report.undecided = changes.undecided;
            changes.bytes
        } else {
            HashMap::new()
        };
        let mut files: Vec<(RepoPath, &str)> = Vec::new();
        for (path, blob) in &tree {
            // Mirrors refuse others.
            match path_of(path).ok().filter(|path| !rules.leaves_out(path, 0)) {
                Some(path) => files.push((path, blob)),
                None => report.skipped += 1,
            }
        }
        files.sort_unstable();
        let known: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let mut gone: Vec<String> = published.keys().filter(|path| !known.contains(path.as_str())).cloned().collect();
        let is_same = |path: &RepoPath, blob: &str| published.get(path.as_str()).is_some_and(|known| known == blob);
        let differing: Vec<(RepoPath, &str)> =
            files.iter().filter(|(path, blob)| publication.force || !is_same(path, blob)).cloned().collect();
        progress.set(0, differing.len() as u64);
        let options = options(publication.settings);
        let extractor =
            blake3::hash(format!("{TERMS} {}", extract::fingerprint()).as_bytes()).to_hex()[..16].to_owned();
        for (at, some) in differing.chunks(FILES_AT_ONCE).enumerate() {
            let is_committed = |(path, _): &&(RepoPath, &str)| !changes.contains_key(path.as_str());
            let ids: Vec<&str> = some.iter().filter(is_committed).map(|(_, blob)| *blob).collect();
            let mut committed = objects.blobs(&ids, largest, self.budget)?.into_iter();
            let mut prepared = Vec::new();
            for (path, blob) in some {
                let bytes = match changes.get(path.as_str()) {
                    Some(bytes) => Some(bytes.clone()),
                    None => committed.next().flatten(),
                };
                let text = bytes.filter(|bytes| !rules.leaves_out(path, bytes.len() as u64));
                let text = text.and_then(|bytes| extract::searchable_text(path, &bytes, &options));
                // The server's texts cannot have this character.
                match text.filter(|text| !text.contains('\0')) {
                    Some(text) => {
                        let key = Sha256::digest(text.as_bytes()).to_vec();
                        prepared.push(Prepared { path: path.clone(), blob: (*blob).to_owned(), text, key });
                    }
                    None => {
                        report.skipped += 1;
                        gone.extend(published.contains_key(path.as_str()).then(|| path.as_str().to_owned()));
                    }
                }
            }
            report.changed += prepared.len();
            self.send(&prepared, &mut report)?;
            self.stage(&prepared)?;
            self.derive(&prepared, &extractor, &options)?;
            progress.set(((at + 1) * FILES_AT_ONCE).min(differing.len()) as u64, differing.len() as u64);
        }
        if !publication.force && head == Some(&report.commit) && report.changed == 0 && gone.is_empty() {
            return self.unchanged(publication.name, report);
        }
        report.gone = gone.len();
        let id = self.id;
        self.connection.run(self.budget, async |client| client.execute(STAGE_GONE, &[&id, &gone]).await)?;
        let label = report.commit.as_str();
        (report.generation, report.files) = self.connection.run(self.budget, async |client| {
            let row = client.query_one(FINISH, &[&id, &label]).await?;
            Ok((row.try_get(0)?, row.try_get(1)?))
        })?;
        Ok(report)
    }

    /// The report about a commit that is published already.
    fn unchanged(&mut self, name: &str, mut report: Report) -> Result<Report> {
        report.is_unchanged = true;
        report.skipped = 0;
        report.files = self.connection.run(self.budget, async |client| {
            let row = client.query_opt(FILES, &[&name]).await?;
            row.map_or(Ok(0), |row| row.try_get(0))
        })?;
        Ok(report)
    }

    /// The paths that are published, with git's ids of their files.
    fn published(&mut self) -> Result<HashMap<String, String>> {
        let id = self.id;
        self.connection.run_for(LISTING_BYTES, Isolation::EachStatement, self.budget, async |client| {
            let rows = client.query(PUBLISHED, &[&id]).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        })
    }

    /// Sends the texts that the server asks for.
    fn send(&mut self, prepared: &[Prepared], report: &mut Report) -> Result<()> {
        let id = self.id;
        let keys: Vec<&[u8]> = prepared.iter().map(|file| file.key.as_slice()).collect();
        let mut missing: BTreeSet<Vec<u8>> = self.connection.run(self.budget, async |client| {
            client.query(MISSING, &[&id, &keys]).await?.iter().map(|row| row.try_get(0)).collect()
        })?;
        let mut rest = prepared.iter().filter(|file| missing.remove(&file.key)).peekable();
        while rest.peek().is_some() {
            let (mut texts, mut bytes) = (Vec::new(), 0);
            while let Some(file) = rest.next_if(|file| texts.is_empty() || bytes + file.text.len() <= BYTES_AT_ONCE) {
                bytes += file.text.len();
                texts.push(file.text.as_str());
            }
            let sizes: Vec<i32> = texts.iter().map(|text| i32::try_from(text.len()).unwrap_or(i32::MAX)).collect();
            let message = packed(&texts).map_err(|error| Error::internal("texts cannot be sent").caused_by(error))?;
            self.connection
                .run(self.budget, async |client| client.execute(SEND_TEXTS, &[&id, &message, &sizes]).await)?;
            report.sent += texts.len();
            report.sent_bytes += message.len() as u64;
        }
        Ok(())
    }

    fn stage(&mut self, prepared: &[Prepared]) -> Result<()> {
        let id = self.id;
        let paths: Vec<&str> = prepared.iter().map(|file| file.path.as_str()).collect();
        let keys: Vec<&[u8]> = prepared.iter().map(|file| file.key.as_slice()).collect();
        let languages: Vec<&str> = prepared.iter().map(|file| extract::language_of(&file.path)).collect();
        let blobs: Vec<&str> = prepared.iter().map(|file| file.blob.as_str()).collect();
        let lines: Vec<i32> =
            prepared.iter().map(|file| i32::try_from(file.text.lines().count()).unwrap_or(i32::MAX)).collect();
        // Extraction reads the name of a file, not its folder, to find what it defines.
        let inputs: Vec<&str> = prepared.iter().map(|file| file.path.file_name()).collect();
        self.connection.run(self.budget, async |client| {
            client.execute(STAGE_FILES, &[&id, &paths, &keys, &languages, &blobs, &lines, &inputs]).await
        })?;
        Ok(())
    }

    /// Sends the terms of texts for which the publisher's trust group has none.
    fn derive(&mut self, prepared: &[Prepared], extractor: &str, options: &Options) -> Result<()> {
        let id = self.id;
        let underived: BTreeSet<String> = self.connection.run(self.budget, async |client| {
            client.query(UNDERIVED, &[&id, &extractor]).await?.iter().map(|row| row.try_get(0)).collect()
        })?;
        let wanted: Vec<&Prepared> = prepared.iter().filter(|file| underived.contains(file.path.as_str())).collect();
        let terms = terms_of(&wanted, options)?;
        let paths: Vec<&str> = wanted.iter().map(|file| file.path.as_str()).collect();
        self.connection
            .run(self.budget, async |client| client.execute(SEND_TERMS, &[&id, &extractor, &paths, &terms]).await)?;
        Ok(())
    }

    fn abandon(&mut self) -> Result<()> {
        let id = self.id;
        self.connection.run(&Budget::unlimited(), async |client| client.execute(ABANDON, &[&id]).await).map(drop)
    }
}

/// Hashes the names that files define, for each file as the text of an array of integers.
fn terms_of(files: &[&Prepared], options: &Options) -> Result<Vec<String>> {
    let list = WorkList::new(files);
    let work = || {
        let mut own = Vec::new();
        while let Some((at, file)) = list.take() {
            // A file that a parser cannot read defines nothing.
            let extracted = catch_unwind(|| extract::extract(&file.path, file.text.as_bytes(), options));
            let Ok(Ok(extracted)) = extracted else { continue };
            let found: BTreeSet<String> =
                extracted.symbols.iter().map(|symbol| term(&symbol.name).to_string()).collect();
            own.push((at, format!("{{{}}}", found.into_iter().collect::<Vec<_>>().join(","))));
        }
        own
    };
    let mut terms = vec!["{}".to_owned(); files.len()];
    for (at, found) in on_threads(list.threads(), work)?.into_iter().flatten() {
        terms[at] = found;
    }
    Ok(terms)
}

fn options(settings: &Index) -> Options {
    Options {
        chunk_bytes: settings.chunk_size,
        folder: None,
        skip_minified: settings.skip_minified,
        skip_generated: settings.skip_generated,
        // Whatever the settings say: others read what is published.
        skip_secrets: true,
        mask_secrets: true,
        notes: settings.notes.clone(),
    }
}

/// The error unless a commit descends from the published one.
fn check_descends(objects: &Objects, head: &str, commit: &str, budget: &Budget) -> Result<()> {
    let shown: String = printable(head).chars().take(12).collect();
    let (what, hint) = match objects.is_ancestor(head, commit, budget)? {
        Some(true) => return Ok(()),
        Some(false) if objects.is_ancestor(commit, head, budget)? == Some(true) => {
            (format!("a newer commit is published: {shown}"), "Nothing was changed. `--force` publishes the older one.")
        }
        Some(false) => (
            format!("the published commit {shown} is not in the history of this one"),
            "Publish a branch as `--branch NAME`. After a rewritten history, `--force` replaces what is published.",
        ),
        None => (
            format!("this clone does not know whether the published commit {shown} is older"),
            "Run `git fetch --unshallow` or `git fetch`, or replace what is published with `--force`.",
        ),
    };
    Err(Error::new(ErrorKind::InvalidArgument, what).hint(hint))
}
