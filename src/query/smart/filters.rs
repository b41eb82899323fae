//! The filters of a query: which files and chunks pass them.
//!
//! Owns which words are filters, and the warning about one that matches nothing. Does not own whether filters exclude
//! hits or only raise the score of those that pass: the query decides that.

use std::collections::{BTreeSet, HashSet};

use crate::error::Result;
use crate::extract::entity_kinds::DOCUMENT;
use crate::extract::{self, kinds, languages};
use crate::model::{composed, first_of, printable};
use crate::query::corpus::Corpus;
use crate::query::{PathFilter, entity_kinds, near};
use crate::store::{ChunkHit, Definition, FtsQuery, Snapshot};
use crate::words;

/// Near values that a warning suggests, and existing values that it lists where none is near.
const MAX_NEAR: usize = 3;
const MAX_LISTED: usize = 8;
/// Characters of a filter that a warning repeats.
const MAX_SHOWN: usize = 60;

#[derive(Debug, Default)]
pub(in crate::query) struct Filters {
    phrases: Vec<TextFilter>,
    excluded: Vec<TextFilter>,
    path: Vec<PathFilter>,
    languages: Vec<String>,
    kinds: Vec<String>,
    /// Kinds of files: of entities, or documents.
    kinds_of_files: Vec<String>,
    tags: Vec<String>,
    /// The named filters as they were written.
    written: Vec<String>,
}

/// Filters with the paths of their tags and kinds looked up in one source.
pub(super) struct ResolvedFilters<'f> {
    filters: &'f Filters,
    tagged: Option<HashSet<String>>,
    of_kinds: HashSet<String>,
}

impl<'f> ResolvedFilters<'f> {
    pub fn resolve(source: &Snapshot, filters: &'f Filters) -> Result<Self> {
        let (tagged, of_kinds) = (filters.tagged_paths(source)?, filters.paths_of_kinds(source)?);
        Ok(Self { filters, tagged, of_kinds })
    }

    /// Looks the filters up in each source.
    pub fn resolve_all(corpus: &Corpus, filters: &'f Filters) -> Result<Vec<Self>> {
        (0..corpus.source_count()).map(|at| corpus.ask(at, |source| Self::resolve(source, filters))).collect()
    }

    /// Whether a file passes, regardless of its content.
    pub fn holds(&self, path: &str, language: &str) -> bool {
        self.tagged.as_ref().is_none_or(|paths| paths.contains(path))
            && (!self.filters.are_of_kinds_of_files() || self.of_kinds.contains(path))
            && self.filters.admit_file(path, language)
    }

    /// Whether a chunk passes.
    pub fn admits(&self, source: &Snapshot, chunk: &ChunkHit) -> Result<bool> {
        if !self.holds(&chunk.path, &chunk.language) || !self.filters.admit_text(&chunk.text) {
            return Ok(false);
        }
        if !self.filters.are_of_kinds() || self.of_kinds.contains(&chunk.path) {
            return Ok(true);
        }
        let defined = source.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line)?;
        Ok(defined.iter().any(|symbol| self.filters.admit_kind(symbol)))
    }
}

/// Role of a word in a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilterRole {
    Filter,
    Text,
    /// A filter that nothing in the index matches, with the warning to show.
    Unmatched(String),
}

/// Text that a chunk must contain, or must not contain: lowercase, without accents.
#[derive(Debug)]
struct TextFilter {
    text: String,
    /// Consecutive tokens.
    tokens: Vec<String>,
}

impl TextFilter {
    fn new(text: &str) -> Self {
        let text = words::plain(text.trim()).to_lowercase();
        Self { tokens: words::tokens(&text).map(str::to_owned).collect(), text }
    }

    /// Whether a lowercase text without accents, split into `tokens`, contains it.
    fn is_in(&self, text: &str, tokens: &[&str]) -> bool {
        if words::has_unspaced(&self.text) {
            return text.contains(&self.text);
        }
        !self.tokens.is_empty() && tokens.windows(self.tokens.len()).any(|run| run == self.tokens.as_slice())
    }
}

/// Whether a word is an exclusion, such as `-test`.
fn excluded(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|rest| rest.starts_with(char::is_alphanumeric))
}

/// Name and value of a word that is written as a filter. `path:` and `path::Path` are text.
pub(super) fn named(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once(':')?;
    let is_filter = matches!(name, "path" | "lang" | "kind" | "tag") && !value.is_empty() && !value.starts_with(':');
    is_filter.then_some((name, value))
}

/// Whether a word is written as a named filter.
pub(super) fn is_named(word: &str) -> bool {
    named(word).is_some()
}

impl Filters {
    pub fn take_phrase(&mut self, phrase: &str) {
        let phrase = TextFilter::new(phrase);
        if !phrase.tokens.is_empty() {
            self.phrases.push(phrase);
        }
    }

    /// Takes a word that is an exclusion.
    pub fn take_exclusion(&mut self, word: &str) -> bool {
        let excluded = excluded(word).map(TextFilter::new);
        let is_one = excluded.is_some();
        self.excluded.extend(excluded);
        is_one
    }

    /// Whether no chunk contains one of the phrases.
    pub fn have_phrase_of_nothing(&self, corpus: &Corpus) -> Result<bool> {
        for phrase in self.phrases.iter().filter_map(|phrase| FtsQuery::phrase(&phrase.text)) {
            if corpus.frequency(&phrase, None, 1)?.0 == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the phrases, and returns them as filters of their own.
    pub fn take_phrases(&mut self) -> Self {
        Self { phrases: std::mem::take(&mut self.phrases), ..Self::default() }
    }

    /// Takes a word that is a filter.
    pub fn take(&mut self, word: &str, corpus: &Corpus) -> Result<FilterRole> {
        if self.take_exclusion(word) {
            return Ok(FilterRole::Filter);
        }
        let Some((name, value)) = named(word) else { return Ok(FilterRole::Text) };
        let fault = match name {
            "lang" => self.take_language(value, corpus)?,
            "path" => self.take_path(value, corpus)?,
            "kind" => self.take_kind(value, corpus)?,
            _ => self.take_tag(value, corpus)?,
        };
        Ok(match fault {
            None => {
                self.written.push(word.to_owned());
                FilterRole::Filter
            }
            Some(fault) => {
                let word: String = printable(word).chars().take(MAX_SHOWN).collect();
                FilterRole::Unmatched(format!("`{word}` matches nothing: {fault}"))
            }
        })
    }

    fn take_language(&mut self, value: &str, corpus: &Corpus) -> Result<Option<String>> {
        let known = extract::named(value);
        if let Some(language) = known
            && corpus.has_language(language)?
        {
            self.languages.push(language.to_owned());
            return Ok(None);
        }
        let languages = corpus.languages()?;
        let there: Vec<&str> = languages.iter().map(String::as_str).collect();
        let what = match known {
            Some(language) => format!("no indexed file is in {language}"),
            None => "there is no such language".to_owned(),
        };
        let names = extract::names();
        let near = near::nearest(value, there.iter().copied(), MAX_NEAR);
        let near = if near.is_empty() && known.is_none() { near::nearest(value, names, MAX_NEAR) } else { near };
        Ok(Some(explain(&what, &near, &there)))
    }

    fn take_path(&mut self, value: &str, corpus: &Corpus) -> Result<Option<String>> {
        let Some(filter) = PathFilter::containing(value) else {
            return Ok(Some("it is not a path pattern.".to_owned()));
        };
        let paths = corpus.paths(None)?;
        if paths.iter().any(|(path, _)| filter.admits(path)) {
            self.path.push(filter);
            return Ok(None);
        }
        let parts: BTreeSet<&str> = paths.iter().flat_map(|(path, _)| path.split('/')).collect();
        let mut near = near::nearest(value, parts, MAX_NEAR);
        if near.is_empty() {
            near = near::nearest(value, paths.iter().map(|(path, _)| path.as_str()), MAX_NEAR);
        }
        Ok(Some(explain("no indexed path has it", &near, &[])))
    }

    fn take_kind(&mut self, value: &str, corpus: &Corpus) -> Result<Option<String>> {
        let kind = value.to_lowercase();
        let is_defined = corpus.has_kind(&kind)?;
        let of_files = kind_of_files(corpus, value)?;
        if is_defined || of_files.is_some() {
            self.kinds.extend(is_defined.then_some(kind));
            self.kinds_of_files.extend(of_files);
            return Ok(None);
        }
        let mut there: Vec<&str> = Vec::new();
        for kind in kinds::all() {
            if corpus.has_kind(kind)? {
                there.push(kind);
            }
        }
        for kind in entity_kinds::kinds_of_files() {
            if kind_of_files(corpus, kind)?.is_some() && !there.contains(&kind) {
                there.push(kind);
            }
        }
        Ok(Some(explain("nothing is of that kind", &near::nearest(&kind, there.iter().copied(), MAX_NEAR), &there)))
    }

    fn take_tag(&mut self, value: &str, corpus: &Corpus) -> Result<Option<String>> {
        let value = composed(value);
        if corpus.has_tagged(&value)? {
            self.tags.push(value.into_owned());
            return Ok(None);
        }
        let tags = corpus.tags()?;
        let there: Vec<&str> = tags.iter().map(String::as_str).collect();
        Ok(Some(explain("nothing carries that tag", &near::nearest(&value, there.iter().copied(), MAX_NEAR), &there)))
    }

    pub fn is_empty(&self) -> bool {
        !self.are_named() && !self.are_of_text()
    }

    /// Whether there is a named filter, such as `lang:rust`.
    pub fn are_named(&self) -> bool {
        !self.written.is_empty()
    }

    /// Whether there are phrases or exclusions.
    pub fn are_of_text(&self) -> bool {
        self.require_phrases() || self.exclude_words()
    }

    /// The named filters as they were written.
    pub fn written(&self) -> String {
        self.written.join(" ")
    }

    /// Whether files are excluded regardless of their content.
    pub fn leave_files_out(&self) -> bool {
        let no_files = self.path.is_empty() && self.languages.is_empty() && self.tags.is_empty();
        !no_files || self.are_of_kinds_of_files()
    }

    /// Whether chunks are excluded by their content.
    pub fn leave_chunks_out(&self) -> bool {
        !self.kinds.is_empty() || self.are_of_text()
    }

    /// Identifies the filters of files: equal names admit the same files of one index.
    pub fn name(&self) -> String {
        format!("{:?}", self.written)
    }

    pub fn require_phrases(&self) -> bool {
        !self.phrases.is_empty()
    }

    pub fn exclude_words(&self) -> bool {
        !self.excluded.is_empty()
    }

    /// Whether only definitions of certain kinds pass.
    pub fn are_of_kinds(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether only files of certain kinds pass, regardless of their definitions.
    pub fn are_of_kinds_of_files(&self) -> bool {
        !self.kinds_of_files.is_empty() && self.kinds.is_empty()
    }

    /// The paths of the requested kinds of files: entities of a kind, documents.
    pub fn paths_of_kinds(&self, source: &Snapshot) -> Result<HashSet<String>> {
        let mut paths = HashSet::new();
        for kind in &self.kinds_of_files {
            match kind.as_str() {
                DOCUMENT => paths.extend(source.document_paths(languages::MARKDOWN)?),
                kind => paths.extend(source.entity_paths(Some(kind))?),
            }
        }
        Ok(paths)
    }

    /// The paths that have all requested tags; `None` where no tag is requested.
    pub fn tagged_paths(&self, source: &Snapshot) -> Result<Option<HashSet<String>>> {
        let mut all: Option<HashSet<String>> = None;
        for tag in &self.tags {
            let paths: HashSet<String> = source.paths_tagged(tag)?.into_iter().collect();
            all = Some(match all {
                Some(known) => known.intersection(&paths).cloned().collect(),
                None => paths,
            });
        }
        Ok(all)
    }

    pub fn admit_file(&self, path: &str, language: &str) -> bool {
        self.path.iter().all(|filter| filter.admits(path))
            && (self.languages.is_empty() || self.languages.iter().any(|wanted| wanted == language))
    }

    /// Whether a definition is of a requested kind.
    pub fn admit_kind(&self, symbol: &Definition) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&symbol.kind)
    }

    /// Whether a text contains every phrase and no excluded word, ignoring case.
    pub fn admit_text(&self, text: &str) -> bool {
        if !self.are_of_text() {
            return true;
        }
        let lower = words::plain(text).to_lowercase();
        let tokens: Vec<&str> = words::tokens(&lower).collect();
        !self.excluded.iter().any(|excluded| excluded.is_in(&lower, &tokens))
            && self.phrases.iter().all(|phrase| phrase.is_in(&lower, &tokens))
    }
}

/// A kind of files as it is stored, if such a file exists.
fn kind_of_files(corpus: &Corpus, typed: &str) -> Result<Option<String>> {
    let kind = entity_kinds::kind(typed);
    let is_there = match kind.as_str() {
        DOCUMENT => corpus.has_documents(languages::MARKDOWN)?,
        kind => corpus.has_entity_of(kind)?,
    };
    Ok(is_there.then_some(kind))
}

/// The reason why a value matches nothing, with near values, or with existing ones.
fn explain(what: &str, near: &[&str], there: &[&str]) -> String {
    match near::did_you_mean(near) {
        Some(query) => format!("{what}. {query}"),
        None if there.is_empty() => format!("{what}."),
        None => format!("{what}. There are: {}.", first_of(there, MAX_LISTED)),
    }
}

/// Whether a text looks pasted: several lines, a line of a log or of a stack trace, or a long sentence. `words` are
/// those that are not filters.
pub(super) fn looks_pasted(text: &str, words: usize) -> bool {
    /// A sentence, by its words.
    const SENTENCE: usize = 8;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    words >= SENTENCE || lines > 1 || is_logged(text.trim(), words)
}

/// Whether a line begins as logs, compilers and stack traces write theirs.
pub(super) fn is_logged(line: &str, words: usize) -> bool {
    /// Fewer words after a level are more likely a search for a constant of that name.
    const MESSAGE: usize = 4;
    const OPENINGS: &[&str] =
        &["error:", "error[", "warning:", "panic:", "Traceback (", "Exception in thread", "Caused by:", "File \""];
    let is_time = |word: &str| {
        let is_separator = |c: char| c.is_ascii_digit() || "-:/.,TZ+[]".contains(c);
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        digits >= 4 && word.contains(['-', ':', '/']) && word.chars().all(is_separator)
    };
    let is_level = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        matches!(word, "ERROR" | "WARN" | "WARNING" | "INFO" | "DEBUG" | "TRACE" | "FATAL" | "CRITICAL" | "PANIC")
    };
    let mut first = line.split_whitespace().take(3);
    first.any(|word| is_time(word) || (words >= MESSAGE && is_level(word)))
        || (line.starts_with("at ") && line.contains('(') && line.ends_with(')'))
        || OPENINGS.iter().any(|opening| line.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_filter_by_its_name_and_its_value() {
        for (word, filter) in [
            ("lang:pyhton", Some(("lang", "pyhton"))),
            ("path:src/*.rs", Some(("path", "src/*.rs"))),
            ("kind:klass", Some(("kind", "klass"))),
            ("tag:a:b", Some(("tag", "a:b"))),
            ("path:", None),
            ("path::Path", None),
            ("std::path:", None),
            ("foo::bar", None),
            ("http://x", None),
            ("f(path:str)", None),
        ] {
            assert_eq!(named(word), filter, "{word}");
        }
    }

    #[test]
    fn pasted_text_is_distinguished_from_a_query() {
        for text in [
            "2024-05-01 12:00:00 kind:io refused",
            "[12:00:01,334] path:src refused",
            "ERROR path:src connection refused by host",
            "error[E0308]: mismatched types",
            "File \"a.py\", line 3, in f",
            "at com.acme.Main.run(Main.java:12)",
            "first line\nsecond line",
        ] {
            assert!(looks_pasted(text, 5), "{text}");
        }
        assert!(looks_pasted("how is a file opened when it is locked", 9));
        for text in ["lang:rust walk", "ERROR lang:rust", "error handling", "at exit", "user-id 2024", "a::b 12:3"] {
            assert!(!looks_pasted(text, 2), "{text}");
        }
    }
}
