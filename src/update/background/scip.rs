//! SCIP files as inputs of the index: `index.scip` in the root, those that the setting `scip.files` names, and those that were
//! loaded with `ixmcp scip load`.
//!
//! Owns which files those are, that they are read in a child process, and which of their positions fit the files of the
//! repository. A SCIP file that changed is read again before the next answer that uses it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::scip_packages;
use crate::budget::Budget;
use crate::child_process::{own_end, run_to_end};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::scip::{self as format, ScipDocument, ScipIndex, is_definition};
use crate::locked::locked;
use crate::model::{ContentHash, RepoPath, Stat, printable};
use crate::platform::files::{is_own, stat_of};
use crate::platform::own_folder;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::repository::{Files, Repository};
use crate::store::{ScipDocumentRow, ScipFile, ScipRange, ScipRows};
use crate::wording;

/// The SCIP file that indexers write by default.
const DEFAULT: &str = "index.scip";
/// The folder of loaded files, in the folder of the index.
const LOADED: &str = "scip";
const EXTENSION: &str = "scip";
/// Bytes of a SCIP file. A third is enough for a million lines of code.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes of address space for reading one, for each of its bytes and at least.
const MEMORY_PER_BYTE: u64 = 16;
const LEAST_MEMORY: u64 = 1 << 30;
const MAX_CPU_SECONDS: u64 = 120;
const TIMEOUT: Duration = Duration::from_secs(300);
/// Bytes of what the child process writes.
const MAX_OUTPUT: u64 = 2 << 30;
/// The share of definitions, in percent, whose names must be at their positions for a document to match its file.
const MATCHING: usize = 95;

/// Keeps what SCIP files say.
pub struct Scip {
    repository: Arc<Repository>,
    files: Files,
    /// Held by the thread that loads.
    loading: Mutex<()>,
}

/// Output of the child process.
#[derive(Deserialize, Serialize)]
struct ReadResult {
    index: Option<ScipIndex>,
    problem: Option<String>,
}

impl Scip {
    pub(crate) fn new(repository: Arc<Repository>) -> Self {
        Self { files: Files::new(Arc::clone(&repository)), repository, loading: Mutex::default() }
    }

    /// Returns when the index has what the SCIP files say now.
    pub fn refresh(&self, budget: &Budget) -> Result<()> {
        let known = || self.repository.read(budget, |snapshot| snapshot.scip_stats());
        if self.repository.is_read_only() || self.inputs() == known()? {
            return Ok(());
        }
        let _alone = locked(&self.loading);
        let (inputs, known) = (self.inputs(), known()?);
        for (path, _) in known.iter().filter(|(path, _)| !inputs.iter().any(|(input, _)| input == path)) {
            self.repository.store()?.write(|batch| batch.remove_scip_file(path))?;
        }
        for (path, stat) in inputs.iter().filter(|input| !known.contains(input)) {
            budget.check()?;
            let rows = match self.rows(path, stat) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::warn!("{}: {error}", printable(path));
                    ScipRows { problem: Some(error.message.to_string()), ..ScipRows::default() }
                }
            };
            self.repository.store()?.write(|batch| batch.replace_scip_file(path, stat, &rows))?;
        }
        Ok(())
    }

    /// The SCIP files, with what is used of each.
    pub fn list(&self, budget: &Budget) -> Result<Vec<ScipFile>> {
        self.refresh(budget)?;
        self.repository.read(budget, |snapshot| snapshot.scip_files())
    }

    /// Checks a SCIP file and keeps a copy of it next to the index. Returns the name of the copy.
    pub fn load(&self, file: &Path, budget: &Budget) -> Result<String> {
        let bytes = bytes_of(file)?;
        self.read(&bytes).map_err(|error| error.about(&shown(file)))?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let stem: String =
            stem.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).take(100).collect();
        let name = format!("{}.{EXTENSION}", stem.trim_matches('.'));
        self.repository.check_writable()?;
        let folder = self.repository.folder().join(LOADED);
        let copy = folder.join(&name);
        own_folder::create(&folder).map_err(|error| Error::io("make", &folder, error))?;
        replace(&copy, &bytes, Permissions::Private, Durability::Unsynced)
            .map_err(|error| Error::io("write", &copy, error))?;
        self.refresh(budget)?;
        Ok(name)
    }

    /// Removes a file that was loaded.
    pub fn unload(&self, name: &str, budget: &Budget) -> Result<()> {
        let is_plain = Path::new(name).file_name().is_some_and(|own| own == name);
        let file = self.repository.folder().join(LOADED).join(name);
        if !is_plain || !file.is_file() {
            return Err(Error::invalid_argument(format!("no SCIP file {} was loaded", printable(name)))
                .hint((wording::Command("scip list"), " lists them.")));
        }
        fs::remove_file(&file).map_err(|error| Error::io("remove", &file, error))?;
        self.refresh(budget)
    }

    /// The SCIP files that exist, by the paths that the index gives them, in order.
    fn inputs(&self) -> Vec<(String, Stat)> {
        let settings = self.repository.settings();
        let named = settings.config.scip_files.iter().map(String::as_str).filter_map(RepoPath::new);
        let mut inputs: BTreeMap<String, Stat> = BTreeMap::new();
        for path in RepoPath::new(DEFAULT).into_iter().chain(named) {
            if let Some(stat) = stat_of_file(&path.to_path(&self.repository.root)) {
                inputs.insert(path.as_str().to_owned(), stat);
            }
        }
        let loaded = fs::read_dir(self.repository.folder().join(LOADED)).into_iter().flatten().flatten();
        for file in
            loaded.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|found| found == EXTENSION))
        {
            if let (Some(path), Some(stat)) = (file.to_str(), stat_of_file(&file)) {
                inputs.insert(path.to_owned(), stat);
            }
        }
        inputs.into_iter().collect()
    }

    fn rows(&self, path: &str, stat: &Stat) -> Result<ScipRows> {
        // Within the repository, no link may lead out of it.
        let bytes = match Path::new(path).is_absolute() {
            true => bytes_of(Path::new(path))?,
            false if stat.size > MAX_BYTES => return Err(too_large(stat.size)),
            false => self.files.read_exactly(path)?.1,
        };
        let index = self.read(&bytes)?;
        drop(bytes);
        let folder = self.project_of(path, &index.root);
        let mut rows = ScipRows {
            tool: index.tool,
            symbols: index
                .symbols
                .into_iter()
                .map(|one| (one.symbol, one.name, one.document.map(|at| at as usize)))
                .collect(),
            relationships: index
                .relationships
                .into_iter()
                .map(|(one, other, kinds)| (one as usize, other as usize, kinds))
                .collect(),
            ..ScipRows::default()
        };
        for document in index.documents {
            let document = ScipDocument { path: format!("{folder}{}", document.path), ..document };
            let row = self.document(&document, stat, &mut rows.symbols);
            rows.documents.push(row);
        }
        let mut packages: HashMap<String, Option<String>> = HashMap::new();
        scip_packages::unite(&mut rows, |folder, package| {
            let name = packages.entry(folder.to_owned()).or_insert_with(|| self.package_of(folder));
            name.as_deref() == Some(package)
        });
        Ok(rows)
    }

    /// The name of the npm package in a folder.
    fn package_of(&self, folder: &str) -> Option<String> {
        let (_, bytes) = self.files.read_exactly(&format!("{folder}package.json")).ok()?;
        let manifest: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        Some(manifest["name"].as_str()?.to_owned())
    }

    /// Returns the folder that the paths of the documents begin with: the project is that of the SCIP file's own
    /// folder, unless it states another one in this repository.
    fn project_of(&self, path: &str, stated: &str) -> String {
        let stated = match stated.strip_prefix("file://") {
            // In an address, blanks and letters beyond ASCII are written by their bytes.
            Some(address) => percent_decode_str(address).decode_utf8_lossy(),
            None => stated.into(),
        };
        let stated = Path::new(stated.as_ref()).strip_prefix(&self.repository.root).ok().and_then(Path::to_str);
        let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match stated.unwrap_or(if Path::new(path).is_absolute() { "" } else { own }).trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        }
    }

    /// The occurrences of a document that fit its file. None if there is no such file that callers may read.
    fn document(
        &self,
        document: &ScipDocument,
        scip: &Stat,
        symbols: &mut [(String, String, Option<usize>)],
    ) -> ScipDocumentRow {
        let path = document.path.clone();
        let nothing = ScipDocumentRow { path: path.clone(), hash: None, occurrences: Vec::new() };
        let Some(path) = RepoPath::new(path.as_str()) else { return nothing };
        let Ok((shown, bytes)) = self.files.read_exactly(path.as_str()) else { return nothing };
        let Ok(text) = std::str::from_utf8(&bytes) else { return nothing };
        if shown != path.as_str() {
            return nothing;
        }
        let lines: Vec<&str> = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let placed: Vec<(ScipRange, &str)> =
            document.occurrences.iter().filter_map(|occurrence| placed(document, *occurrence, &lines)).collect();
        let has_name = |(range, held): &&(ScipRange, &str)| {
            symbols.get(range.symbol).is_some_and(|(_, name, _)| format::is_name(name, held))
        };
        let is_named =
            |(range, _): &&(ScipRange, &str)| symbols.get(range.symbol).is_some_and(|(_, name, _)| !name.is_empty());
        let is_current = match &document.text {
            Some(hash) => *hash == blake3::hash(&bytes).to_hex().as_str(),
            None => {
                let is_older = stat_of_file(&path.to_path(&self.repository.root))
                    .is_some_and(|file| file.mtime_ns <= scip.mtime_ns);
                let named: Vec<_> =
                    placed.iter().filter(is_named).filter(|(range, _)| is_definition(range.roles)).collect();
                let matching = named.iter().copied().filter(has_name).count();
                is_older && placed.len() == document.occurrences.len() && matching * 100 >= named.len() * MATCHING
            }
        };
        let occurrences: Vec<ScipRange> = if is_current {
            placed.iter().map(|(range, _)| *range).collect()
        } else {
            placed.iter().filter(has_name).map(|(range, _)| *range).collect()
        };
        name_as_written(&placed, symbols, is_current);
        let hash = is_current.then(|| ContentHash::compute(&bytes).0);
        ScipDocumentRow { path: path.as_str().to_owned(), hash, occurrences }
    }

    /// Reads a SCIP file in a child process.
    fn read(&self, bytes: &[u8]) -> Result<ScipIndex> {
        let unusable = |problem: String| {
            Error::new(ErrorKind::UnsupportedFormat, problem).hint("Have its indexer write it again.")
        };
        let Some(program) = self.repository.program() else { return format::read(bytes).map_err(unusable) };
        let memory = LEAST_MEMORY.max(bytes.len() as u64 * MEMORY_PER_BYTE);
        let mut command = Command::new(program);
        command.arg("read").arg(EXTENSION).arg("--memory").arg(memory.to_string()).env("RUST_BACKTRACE", "0");
        let finished = run_to_end(command, bytes, TIMEOUT, MAX_OUTPUT)
            .map_err(|error| Error::internal("cannot start a process").caused_by(error))?;
        let result = finished.and_then(|finished| serde_json::from_slice(&finished.stdout).ok());
        match result {
            Some(ReadResult { index: Some(index), .. }) => Ok(index),
            Some(ReadResult { problem: Some(problem), .. }) => Err(unusable(problem)),
            _ => Err(unusable("reading it takes too much time or memory".to_owned())),
        }
    }
}

/// An occurrence in code points, from 1, and the text there if it is within a line; `None` if the file ends before.
fn placed<'t>(
    document: &ScipDocument,
    occurrence: (u32, u32, u32, u32, u32, u32),
    lines: &[&'t str],
) -> Option<(ScipRange, &'t str)> {
    let (line, column, end_line, end_column, symbol, roles) = occurrence;
    let (text, end_text) = (*lines.get(line as usize)?, *lines.get(end_line as usize)?);
    let from = document.unit.code_points(text, column)?;
    let to = document.unit.code_points(end_text, end_column)?;
    let held = if line == end_line {
        let at = |points: usize| text.char_indices().nth(points).map_or(text.len(), |(at, _)| at);
        &text[at(from)..at(to)]
    } else {
        ""
    };
    let range = ScipRange {
        line: line + 1,
        column: u32::try_from(from).ok()? + 1,
        end_line: end_line + 1,
        end_column: u32::try_from(to).ok()? + 1,
        symbol: symbol as usize,
        roles,
    };
    Some((range, held))
}

/// Gives local symbols, and those that the indexer numbers, the names that the text has for them.
fn name_as_written(placed: &[(ScipRange, &str)], symbols: &mut [(String, String, Option<usize>)], is_current: bool) {
    for (range, held) in placed.iter().filter(|(range, _)| is_definition(range.roles)) {
        let Some((_, name, document)) = symbols.get_mut(range.symbol) else { continue };
        let is_local = is_current && document.is_some() && name.is_empty();
        if format::is_identifier(held) && (is_local || format::is_name(name, held)) {
            (*held).clone_into(name);
        }
    }
}

fn stat_of_file(path: &Path) -> Option<Stat> {
    let found = fs::symlink_metadata(path).ok()?;
    (found.is_file() && is_own(&found)).then(|| stat_of(&found))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let size = fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len();
    if size > MAX_BYTES {
        return Err(too_large(size));
    }
    fs::read(path).map_err(|error| Error::io("read", path, error))
}

fn too_large(size: u64) -> Error {
    let problem = format!("it has {} MB; at most {} MB are read", size >> 20, MAX_BYTES >> 20);
    Error::new(ErrorKind::UnsupportedFormat, problem).hint("Have its indexer write one file for each project.")
}

fn shown(file: &Path) -> String {
    printable(&file.to_string_lossy())
}

/// The main function of the child process: reads one SCIP file from stdin.
pub fn serve_scip_reader(memory: u64) -> Result<()> {
    own_end::limit(memory, Some(MAX_CPU_SECONDS))?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| Error::internal("cannot read from a pipe").caused_by(error))?;
    let (index, problem) = match format::read(&bytes) {
        Ok(index) => (Some(index), None),
        Err(problem) => (None, Some(problem)),
    };
    own_end::send(&ReadResult { index, problem }, &[]);
    Ok(())
}
