//! Real files cut and spliced at random, then queries about the names in them: whatever a text holds, nothing panics.
//!
//! Each round takes one language: its fixtures, and the files of the trees that `IXMCP_SPLICE_TREES` lists (as `PATH`
//! lists folders). It calls the extractor and the resolver in this process, so that a panic fails the test with its own
//! message. A round depends on its seed alone: a failure prints it, and `IXMCP_SEED=N` runs that round again. The suite
//! runs one round a language; `.ci/soak splices` runs `IXMCP_SPLICE_MINUTES` of them.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::error::ErrorKind;
use ixmcp::extract::{self, LANGUAGES, Options, languages, position};
use ixmcp::model::RepoPath;
use ixmcp::query::corpus::Corpus;
use ixmcp::query::occurrences::{self, ReadingTime};
use ixmcp::query::relations::{self, Resolver};
use ixmcp::query::symbols::{self, Match, OtherFiles};
use ixmcp::query::{PathFilter, positions, slice, smart};
use ixmcp::store::{DefinitionNode, Reference, Snapshot};
use ixmcp::workspace::Workspace;

use crate::support::harness::Repo;
use crate::support::sound::{number, open, sync};
use crate::support::tree::Random;

/// How much one round does.
struct Size {
    files: u64,
    /// Longer files give a part of this many bytes.
    longest: usize,
    /// Symbols, uses and other positions that are asked about in each file.
    asked: usize,
}

const SHORT: Size = Size { files: 2, longest: 2 << 10, asked: 2 };
const LONG: Size = Size { files: 3, longest: 8 << 10, asked: 6 };

/// The beginning of a file that its language is known by.
const SAMPLE: usize = 4 << 10;
/// Files of one language that are taken from the trees.
const POOLED: usize = 3_000;

/// Text in wrong positions: halves of pairs, operators that end in a bracket, letters of several bytes, marks.
const PIECES: &[&str] = &[
    "<",
    ">",
    "->",
    "=>",
    "::",
    "..",
    ".",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "\\",
    "/",
    "#",
    "@",
    "$",
    "*/",
    "/*",
    "//",
    ";",
    ",",
    ":",
    "=",
    "é",
    "ß",
    "İ",
    "ǆ",
    "名前",
    "𝔘",
    "e\u{301}",
    "\u{feff}",
    "\u{200b}",
    "\0",
    "\t",
    "\r",
    "\r\n",
    "\n\n",
    " > ",
    "() -> ",
    "self.",
    "this->",
    "super.",
    "crate::",
    "use ::{a};",
    "import ",
    "from . import ",
    "template <",
    "operator",
    "class ",
    "fn ",
    "def ",
    "'a",
    "r#\"",
    "\"\"\"",
    "<<EOF",
    "#!",
    "---\n",
    "%",
];

/// Sources by language.
struct Pool(BTreeMap<&'static str, Vec<PathBuf>>);

impl Pool {
    fn of_fixtures() -> Self {
        let mut pool = Self(BTreeMap::new());
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages");
        for language in LANGUAGES {
            pool.add_tree(&fixtures.join(language.name));
        }
        pool
    }

    fn add_tree(&mut self, folder: &Path) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                self.add_tree(&path);
                continue;
            }
            let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| !name.ends_with(".expect"))
            else {
                continue;
            };
            let Some(name) = RepoPath::new(name) else { continue };
            let bytes = fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SAMPLE)]);
            let files = self.0.entry(languages::of_file(&name, &text).name).or_default();
            if files.len() < POOLED {
                files.push(path);
            }
        }
    }
}

/// A file made of others.
struct Spliced {
    path: String,
    bytes: Vec<u8>,
}

/// Some bytes of a text: now and then from the middle of a character to the middle of another.
fn part<'t>(random: &mut Random, bytes: &'t [u8], longest: usize) -> &'t [u8] {
    if bytes.is_empty() {
        return bytes;
    }
    let start = random.index(bytes.len());
    let mut end = start + random.index(longest.min(bytes.len() - start) + 1);
    let mut start = start;
    if random.below(20) > 0 {
        let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        while is_inside(start) {
            start += 1;
        }
        while is_inside(end) {
            end += 1;
        }
    }
    &bytes[start..end.max(start).min(bytes.len())]
}

fn spliced(random: &mut Random, files: &[PathBuf], longest: usize) -> Spliced {
    let source = random.pick(files);
    let other = fs::read(random.pick(files)).unwrap();
    let mut bytes = fs::read(source).unwrap();
    if bytes.len() > longest {
        let start = random.index(bytes.len() - longest);
        bytes = bytes[start..start + longest].to_vec();
    }
    for _ in 0..random.below(24) {
        let at = random.index(bytes.len() + 1);
        match random.below(8) {
            0 => {
                let end = at + random.index((bytes.len() - at).min(400) + 1);
                bytes.drain(at..end);
            }
            1 => drop(bytes.splice(at..at, part(random, &other, 2_000).to_vec())),
            2 => {
                let own = part(random, &bytes, 400).to_vec();
                bytes.splice(at..at, own);
            }
            // A line goes on in the next.
            3 => {
                if let Some(newline) = bytes[at..].iter().position(|byte| *byte == b'\n') {
                    bytes.remove(at + newline);
                }
            }
            _ => {
                let piece = random.pick(PIECES).as_bytes();
                // Next to a name more often than in the middle of one.
                let edge = |at: usize| bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric());
                let at = if random.below(3) > 0 { at + edge(at).unwrap_or(0) } else { at };
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    // With the folders that imports may name.
    let mut parts: Vec<&str> = source.iter().filter_map(|part| part.to_str()).collect();
    parts.drain(..parts.len().saturating_sub(1 + random.index(3)));
    let folder = *random.pick(&["", "src/", "tests/", "lib/a-b/", "src/main/java/", "größe/"]);
    Spliced { path: format!("{folder}{}", parts.join("/")), bytes }
}

/// Up to `count` of them.
fn some<T>(random: &mut Random, mut items: Vec<T>, count: usize) -> Vec<T> {
    while items.len() > count {
        let at = random.index(items.len());
        items.swap_remove(at);
    }
    items
}

/// A query that fails has an answer; one that ended in a fault of the program has none.
fn answered<T>(answer: ixmcp::error::Result<T>) -> Option<T> {
    answer.inspect_err(|error| assert_ne!(error.kind, ErrorKind::Internal, "{error}")).ok()
}

fn ask_of_symbol(snapshot: &Snapshot, resolver: &mut Resolver, declared: &DefinitionNode) {
    answered(relations::of_symbol(resolver, declared, 20));
    let name = &declared.definition.name;
    let container = declared.definition.container.as_deref().unwrap_or_default();
    let beginning: String = name.chars().take(2).collect();
    let time = ReadingTime::unlimited();
    for (wanted, how) in [
        (name.clone(), Match::Exact),
        (format!("{container}.{name}"), Match::Exact),
        (format!("{container}::{name}"), Match::Exact),
        (beginning.clone(), Match::Prefix),
        (beginning, Match::Fuzzy),
    ] {
        answered(symbols::occurrences(snapshot, &wanted, None, how, OtherFiles::default(), (0, Some(20)), &time));
        answered(symbols::subjects(snapshot, &wanted));
    }
}

/// Asks about a position as `goto_definition` and `find_references` do without types.
fn ask_at(snapshot: &Snapshot, path: &str, bytes: &[u8], line: u32, column: u32) {
    if answered(slice::slice(bytes, line.into(), line.into(), 1, None)).is_none() {
        return;
    }
    answered(slice::slice(bytes, line.into(), u64::from(line) + 3, column.into(), Some(64)));
    let named = RepoPath::new(path).map(|path| position::names_at(&path, bytes, line, column)).unwrap_or_default();
    if let Some(found) = answered(positions::definitions_at(snapshot, path, line, &named)) {
        answered(occurrences::mentions(snapshot, &found.definitions, &ReadingTime::unlimited()));
    }
}

fn ask(snapshot: &Snapshot, files: &[Spliced], count: usize, random: &mut Random) {
    let budget = Budget::unlimited();
    for Spliced { path, bytes } in files {
        answered(relations::of_file(snapshot, path, 20));
        answered(positions::outline(snapshot, path));
        let Some((file, _)) = answered(snapshot.file(path)).flatten() else { continue };
        let mut resolver = Resolver::new(snapshot);
        let declared = answered(snapshot.declared_in(file)).unwrap_or_default();
        for one in some(random, declared, count) {
            ask_of_symbol(snapshot, &mut resolver, &one);
        }
        let uses: Vec<Reference> = answered(snapshot.references_within(file, 0, u32::MAX)).unwrap_or_default();
        for used in some(random, uses, count) {
            answered(resolver.resolve(&used));
            ask_at(snapshot, path, bytes, used.line, used.column);
        }
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        for _ in 0..count {
            let (line, column) = (1 + random.below(lines), 1 + random.below(80));
            ask_at(snapshot, path, bytes, line.try_into().unwrap(), column.try_into().unwrap());
        }
        let text = String::from_utf8_lossy(part(random, bytes, 60)).into_owned();
        answered(smart::search(&Corpus::single(snapshot), None, &text, &PathFilter::default(), 2, (0, 5), &budget));
    }
}

fn round(repo: &Repo, workspace: &Workspace, language: &str, files: &[PathBuf], size: &Size, seed: u64) {
    let mut random = Random(seed);
    let files: Vec<Spliced> = (0..size.files).map(|_| spliced(&mut random, files, size.longest)).collect();
    let work = || {
        for entry in fs::read_dir(repo.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if !entry.ends_with(".git") && !entry.ends_with(".ixmcp") {
                if entry.is_dir() { fs::remove_dir_all(entry) } else { fs::remove_file(entry) }.unwrap();
            }
        }
        for Spliced { path, bytes } in &files {
            // An update survives what the extractor does.
            let _skipped = extract::extract(&RepoPath::new(path.as_str()).unwrap(), bytes, &Options::default());
            repo.save_if_possible(&repo.path().join(path), bytes);
        }
        sync(workspace);
        let asked = workspace.read(&Budget::unlimited(), |snapshot| {
            ask(snapshot, &files, size.asked, &mut random);
            Ok(())
        });
        asked.unwrap();
    };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        println!("IXMCP_SEED={seed} with {language}: {paths:?}");
        resume_unwind(panic);
    }
}

#[test]
fn spliced_files_of_every_language_are_asked_about_without_a_panic() {
    let repo = Repo::new("");
    let workspace = open(repo.path());
    let pool = Pool::of_fixtures();
    assert_eq!(pool.0.len(), LANGUAGES.len(), "every language has a fixture");
    for (at, (language, files)) in pool.0.iter().enumerate() {
        round(&repo, &workspace, language, files, &SHORT, number("IXMCP_SEED", at as u64));
    }
}

#[test]
#[ignore = "takes minutes"]
fn spliced_files_of_real_trees_are_asked_about_without_a_panic() {
    let mut pool = Pool::of_fixtures();
    for tree in std::env::split_paths(&std::env::var_os("IXMCP_SPLICE_TREES").unwrap_or_default()) {
        pool.add_tree(&tree);
    }
    let languages: Vec<_> = pool.0.into_iter().collect();
    let repo = Repo::new("");
    let workspace = open(repo.path());
    let lasts = Duration::from_secs(60 * number("IXMCP_SPLICE_MINUTES", 10));
    let (begun, mut rounds, mut slowest) = (Instant::now(), 0_u64, (Duration::ZERO, 0));
    let only = number("IXMCP_SEED", u64::MAX);
    while begun.elapsed() < lasts {
        let seed = if only == u64::MAX { 1_000_000 + rounds } else { only };
        let (language, files) = Random(!seed).pick(&languages);
        let started = Instant::now();
        round(&repo, &workspace, language, files, &LONG, seed);
        slowest = slowest.max((started.elapsed(), seed));
        rounds += 1;
        if only != u64::MAX {
            break;
        }
    }
    println!("{rounds} rounds without a panic; the slowest took {:?}, IXMCP_SEED={}", slowest.0, slowest.1);
}
