//! How a question is read: words, phrases, exclusions and filters.

use crate::error::Result;
use crate::extract::languages;
use crate::query::PathFilter;
use crate::store::{Definition, FtsQuestion, Snapshot};
use crate::words;

/// Words that begin so are looked for only from this many characters on: shorter ones match half of everything.
const PREFIX_CHARS: usize = 3;
/// Words of a question that count; the rest of a pasted page adds nothing.
const MAX_TERMS: usize = 32;

/// A question, read.
#[derive(Debug, Default)]
pub(super) struct Question {
    pub terms: Vec<Term>,
    excluded: Vec<String>,
    path: Vec<PathFilter>,
    languages: Vec<String>,
    kinds: Vec<String>,
}

/// One word or phrase that is asked for.
#[derive(Debug)]
pub(super) struct Term {
    /// As written, lower-case.
    pub text: String,
    /// The parts of a compound word, lower-case; one for a plain word.
    pub parts: Vec<String>,
}

impl Term {
    fn new(text: &str) -> Self {
        let parts: Vec<String> = words::parts(text).map(str::to_lowercase).collect();
        Self { text: text.to_lowercase(), parts }
    }

    /// The term as it stands, or all its parts in one chunk.
    fn question(&self) -> Option<FtsQuestion> {
        let whole = FtsQuestion::phrase(&self.text);
        let parts = (self.parts.len() > 1)
            .then(|| FtsQuestion::all(self.parts.iter().filter_map(|part| FtsQuestion::phrase(part))))
            .flatten();
        FtsQuestion::any(whole.into_iter().chain(parts))
    }
}

impl Question {
    /// Reads filters, exclusions and phrases; a filter whose value nothing has is text.
    pub fn read(text: &str, snapshot: &Snapshot) -> Result<Self> {
        let mut question = Self::default();
        let mut plain = String::new();
        for word in split(text) {
            match word {
                Piece::Phrase(phrase) => question.terms.push(Term::new(phrase)),
                Piece::Word(word) => {
                    if !question.take_filter(word, snapshot)? {
                        plain.push_str(word);
                        plain.push(' ');
                    }
                }
            }
        }
        question.add_words(&plain);
        Ok(question)
    }

    /// All of `text` as words.
    pub fn of_words(text: &str) -> Self {
        let mut question = Self::default();
        question.add_words(text);
        question
    }

    fn add_words(&mut self, text: &str) {
        for token in words::tokens(text) {
            let term = Term::new(token);
            if self.terms.len() < MAX_TERMS && self.terms.iter().all(|known| known.text != term.text) {
                self.terms.push(term);
            }
        }
    }

    fn take_filter(&mut self, word: &str, snapshot: &Snapshot) -> Result<bool> {
        if let Some(excluded) = word.strip_prefix('-').filter(|rest| rest.starts_with(char::is_alphanumeric)) {
            self.excluded.push(excluded.to_owned());
            return Ok(true);
        }
        let Some((name, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else { return Ok(false) };
        match name {
            "lang" => {
                let Some(language) = languages::by_name(value) else { return Ok(false) };
                self.languages.push(language.name.to_owned());
            }
            "path" => {
                let Some(filter) = PathFilter::containing(value) else { return Ok(false) };
                if !snapshot.paths(None)?.iter().any(|(path, _)| filter.admits(path)) {
                    return Ok(false);
                }
                self.path.push(filter);
            }
            "kind" if snapshot.has_kind(value)? => self.kinds.push(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn has_filters(&self) -> bool {
        !(self.excluded.is_empty() && self.path.is_empty() && self.languages.is_empty() && self.kinds.is_empty())
    }

    /// What to ask the FTS, from the narrowest question to the widest.
    pub fn steps(&self) -> Vec<FtsQuestion> {
        let terms = || self.terms.iter().filter_map(Term::question);
        let prefixes = self.terms.iter().filter(|term| term.text.chars().count() >= PREFIX_CHARS);
        let prefixes = prefixes.filter_map(|term| FtsQuestion::prefix(&term.text));
        let steps = [FtsQuestion::all(terms()), FtsQuestion::any(terms()), FtsQuestion::any(prefixes)];
        let excluded = FtsQuestion::any(self.excluded.iter().filter_map(|word| FtsQuestion::phrase(word)));
        let mut steps: Vec<FtsQuestion> = steps
            .into_iter()
            .flatten()
            .map(|step| match &excluded {
                Some(excluded) => step.without(excluded),
                None => step,
            })
            .collect();
        steps.dedup();
        steps
    }

    pub fn admits_file(&self, path: &str, language: &str) -> bool {
        self.path.iter().all(|filter| filter.admits(path))
            && (self.languages.is_empty() || self.languages.iter().any(|wanted| wanted == language))
    }

    pub fn admits_kinds(&self, symbols: &[Definition]) -> bool {
        self.kinds.is_empty() || symbols.iter().any(|symbol| self.kinds.contains(&symbol.kind))
    }

    /// Where in a line the first word of the question stands, in bytes; 0 when none does.
    pub fn first_match(&self, line: &str) -> usize {
        let lower = line.to_lowercase();
        let found = self.terms.iter().filter_map(|term| lower.find(&term.text));
        // Lower-casing may move bytes; a preview needs no better.
        found.min().unwrap_or(0).min(line.len())
    }
}

enum Piece<'t> {
    Word(&'t str),
    Phrase(&'t str),
}

/// Words at white space; text between two `"` is one phrase.
fn split(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let phrase = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        match phrase {
            Some((phrase, tail)) => {
                pieces.push(Piece::Phrase(phrase));
                rest = tail.trim_start();
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                pieces.push(Piece::Word(&rest[..end]));
                rest = rest[end..].trim_start();
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_makes_a_question_the_fts_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::store::Store::open(&folder.path().join("index.db"), crate::store::Mode::Write).unwrap();
        let texts = [
            "foo-bar",
            "a:b",
            "\"",
            "*",
            "NEAR(",
            "AND",
            "x.y()",
            "-",
            "--",
            "-a",
            "\"open",
            "lang:",
            "lang:python x",
            "path:[",
            "kind:class",
            "\0",
            "é ß \u{202e}",
            "NOT x",
            "{",
            "^a",
            "col : x",
        ];
        for text in texts {
            let budget = crate::budget::Budget::unlimited();
            store
                .read(&budget, |snapshot| {
                    for step in Question::read(text, snapshot)?.steps() {
                        snapshot.best_chunks(&step, 5)?;
                    }
                    Ok(())
                })
                .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        }
    }
}
