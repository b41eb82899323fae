//! Which files of tests are the likeliest to notice a change.
//!
//! Owns the ranking: tests that refer to what changed, the fewer refer to it the more it counts; tests that import a changed file;
//! tests that have its name, in a folder that corresponds to its own (`corresponding`).

use std::collections::{HashMap, HashSet};

use super::corresponding::corresponds;
use super::diff::Entry;
use crate::error::Result;
use crate::query::relations::is_test;
use crate::query::relations::reach::Reach;
use crate::store::Snapshot;
use crate::words;

/// Weight of a reference that only one test has: a certain one, one by name alone, an import of the file.
const CERTAIN: f64 = 4.0;
const BY_NAME: f64 = 1.5;
const IMPORT: f64 = 2.0;
/// Weight of a test whose name equals that of a changed file, and of each word that their paths share.
const SAME_NAME: f64 = 6.0;
const SAME_WORD: f64 = 0.5;

/// Parts of a test's name that say only that it is one.
const TEST_WORDS: &[&str] = &["test", "tests", "spec", "specs", "it", "unit", "unittest"];
/// Names of files that say nothing about their contents.
const HOLLOW: &[&str] = &["init", "index", "mod", "lib", "main", "src", "base", "utils", "util", "common", "helpers"];

/// A test with the words of its path.
struct TestFile {
    path: String,
    /// Words of the file name, without `test`, `spec`, …
    name: Vec<String>,
    words: HashSet<String>,
}

/// The tests, each with its score.
pub(super) struct Ranking {
    tests: Vec<TestFile>,
    scores: HashMap<String, f64>,
}

impl Ranking {
    pub(super) fn new(snapshot: &Snapshot) -> Result<Self> {
        let tests =
            snapshot.paths(None)?.into_iter().map(|(path, _)| path).filter(|path| is_test(path) && is_run(path));
        let tests = tests.map(|path| TestFile { name: name_words(&path), words: path_words(&path), path }).collect();
        Ok(Self { tests, scores: HashMap::new() })
    }

    /// Counts the tests that refer to a definition.
    pub(super) fn add_definition(&mut self, entry: &Entry, reach: &Reach) {
        if is_test(&entry.path) {
            return;
        }
        let certain: HashSet<&str> = reach
            .dependents
            .iter()
            .filter(|found| found.how.is_proof() && is_test(&found.path))
            .map(|found| found.path.as_str())
            .collect();
        for path in &certain {
            *self.scores.entry((*path).to_owned()).or_default() += CERTAIN / rarity(certain.len());
        }
        for path in reach.tests_naming.iter().filter(|path| !certain.contains(path.as_str())) {
            *self.scores.entry(path.clone()).or_default() += BY_NAME / rarity(reach.tests_naming.len());
        }
    }

    /// Counts the tests that import a changed file, which `importers` are, and those that have its name.
    pub(super) fn add_file(&mut self, path: &str, importers: &[String]) {
        if is_test(path) {
            return;
        }
        for importer in importers {
            *self.scores.entry(importer.clone()).or_default() += IMPORT / rarity(importers.len());
        }
        let (name, around) = (name_words(path), path_words(path));
        for test in self.tests.iter().filter(|test| corresponds(path, &test.path)) {
            let is_same = !name.is_empty() && test.name == name;
            let shared = around.intersection(&test.words).count();
            let score = if is_same { SAME_NAME } else { 0.0 } + SAME_WORD * super::diff::as_f64(shared);
            if score > 0.0 {
                *self.scores.entry(test.path.clone()).or_default() += score;
            }
        }
    }

    /// Tests that have the name of a file, the nearest first.
    pub(super) fn tests_named_like(&self, path: &str) -> Vec<&String> {
        let name = name_words(path);
        if name.is_empty() || is_test(path) {
            return Vec::new();
        }
        let around = path_words(path);
        let is_one = |test: &&TestFile| test.name == name && corresponds(path, &test.path);
        let mut found: Vec<&TestFile> = self.tests.iter().filter(is_one).collect();
        found.sort_by_key(|test| std::cmp::Reverse(around.intersection(&test.words).count()));
        found.into_iter().map(|test| &test.path).collect()
    }

    pub(super) fn best(&self, most: usize) -> Vec<String> {
        let scored = self.scores.iter().filter(|(path, _)| is_run(path));
        let mut all: Vec<(&String, f64)> = scored.map(|(path, score)| (path, *score)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        // Tests that share only a word or two of their path are too many to list.
        all.into_iter().filter(|(_, score)| *score > 2.0 * SAME_WORD).take(most).map(|(path, _)| path.clone()).collect()
    }
}

/// Each further test that has it makes it less telling.
fn rarity(count: usize) -> f64 {
    (1.0 + super::diff::as_f64(count)).log2().max(1.0)
}

/// Whether a file of tests is one to run, and not only what others share. Where names decide that: in Python, Ruby, Go and Elixir.
fn is_run(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_test_word = || lowercase_parts(name).iter().any(|word| matches!(word.as_str(), "test" | "tests"));
    is_source(path)
        && match name.rsplit_once('.') {
            Some((_, "py")) => has_test_word(),
            Some((stem, "rb")) => stem.starts_with("test_") || ["_test", "_spec"].iter().any(|end| stem.ends_with(end)),
            Some((stem, "go" | "ex" | "exs")) => stem.ends_with("_test"),
            _ => true,
        }
}

fn is_source(path: &str) -> bool {
    const DATA: &[&str] = &["json", "md", "txt", "yaml", "yml", "toml", "html", "css", "xml", "rst", "snap", "csv"];
    path.rsplit_once('.').is_some_and(|(_, extension)| !DATA.contains(&extension))
}

/// The words of a file's own name, without those of tests.
fn name_words(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let further = name.split('.').skip(1).filter(|part| part.len() > 4 && *part != "test");
    let mut words: Vec<String> = std::iter::once(stem).chain(further).flat_map(lowercase_parts).collect();
    words.retain(|word| !TEST_WORDS.contains(&word.as_str()));
    if words.len() == 1 && HOLLOW.contains(&words[0].as_str()) {
        // The folder says what it is.
        let folder = path.rsplit('/').nth(1).unwrap_or_default();
        return lowercase_parts(folder).into_iter().filter(|word| !TEST_WORDS.contains(&word.as_str())).collect();
    }
    words
}

fn lowercase_parts(text: &str) -> Vec<String> {
    words::parts(text).map(str::to_lowercase).collect()
}

/// The words of a path that say what it is about.
fn path_words(path: &str) -> HashSet<String> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let words = stem.split('/').skip(usize::from(stem.contains('/'))).flat_map(lowercase_parts);
    words
        .filter(|word| word.len() > 2 && !TEST_WORDS.contains(&word.as_str()) && !HOLLOW.contains(&word.as_str()))
        .collect()
}
