//! Code that a text names: paths, `path:line`, identifiers between backticks.
//!
//! Owns how such words are recognized and looked up: a word that the index does not have is not a mention.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::qualified_name::qualified;
use super::symbols;
use crate::error::Result;
use crate::extract::languages;
use crate::extract::prose::{self, ProseMark};
use crate::store::Snapshot;

/// A file or symbol in the code that a text names.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Mention {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The words that name it.
    #[serde(skip)]
    pub words: String,
    /// Definitions that have the name, where this is one of several.
    #[serde(skip)]
    pub of: usize,
}

/// Words of one text that are looked up.
const MAX_WORDS: usize = 300;
/// Definitions of one name that are shown.
const DEFINITIONS: usize = 3;
/// A name with more definitions than this is not specific.
const TOO_COMMON: usize = 20;
const MAX_CHARS: usize = 200;

/// Lists the definitions, files and entities that `text` names, in its order, each once.
pub fn mentions(snapshot: &Snapshot, text: &str) -> Result<Vec<Mention>> {
    let mut found: Vec<Mention> = Vec::new();
    let mut unknown: Vec<(usize, PathMention)> = Vec::new();
    for words in candidates(text) {
        match words {
            Words::PathMention(path_mention) => {
                if snapshot.file(&path_mention.path)?.is_some() {
                    found.push(mention_of_path(snapshot, path_mention.path.clone(), &path_mention)?);
                } else {
                    unknown.push((found.len(), path_mention));
                }
            }
            Words::Name(name) => found.extend(named(snapshot, &name)?),
        }
    }
    // People leave out the folders above a file; that counts if only one file matches.
    if !unknown.is_empty() {
        let ends = by_end(snapshot, unknown.iter().map(|(_, path_mention)| path_mention.path.as_str()))?;
        for (at, path_mention) in unknown.into_iter().rev() {
            if let Some(Some(path)) = ends.get(&path_mention.path) {
                found.insert(at, mention_of_path(snapshot, path.clone(), &path_mention)?);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|mention| seen.insert((mention.path.clone(), mention.symbol.clone(), mention.line)));
    Ok(found)
}

fn mention_of_path(snapshot: &Snapshot, path: String, path_mention: &PathMention) -> Result<Mention> {
    let symbol = match path_mention.line {
        Some(line) => snapshot.symbol_around(&path, line)?.map(|symbol| qualified(&symbol)),
        None => None,
    };
    Ok(Mention { path, symbol, line: path_mention.line, words: path_mention.words.clone(), of: 1 })
}

fn named(snapshot: &Snapshot, name: &str) -> Result<Vec<Mention>> {
    let mut defined = symbols::subjects(snapshot, name)?;
    defined.retain(|declared| declared.definition.language != languages::MARKDOWN);
    let of = defined.len();
    if of > TOO_COMMON {
        return Ok(Vec::new());
    }
    let shown = defined.into_iter().take(DEFINITIONS).map(|declared| Mention {
        symbol: Some(qualified(&declared.definition)),
        line: Some(declared.definition.line),
        path: declared.definition.path,
        words: name.to_owned(),
        of,
    });
    Ok(shown.collect())
}

/// For each wanted end of a path, the one indexed path that has it; `None` for several.
fn by_end<'w>(snapshot: &Snapshot, wanted: impl Iterator<Item = &'w str>) -> Result<BTreeMap<String, Option<String>>> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for end in wanted {
        by_name.entry(end.rsplit('/').next().unwrap_or(end)).or_default().push(end);
    }
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (path, _) in snapshot.paths(None)? {
        let name = path.rsplit('/').next().unwrap_or(&path);
        for end in by_name.get(name).into_iter().flatten() {
            if path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/')) {
                let known = found.entry((*end).to_owned()).or_insert_with(|| Some(path.clone()));
                if known.as_deref() != Some(path.as_str()) {
                    *known = None;
                }
            }
        }
    }
    Ok(found)
}

enum Words {
    PathMention(PathMention),
    Name(String),
}

struct PathMention {
    path: String,
    line: Option<u32>,
    words: String,
}

/// Words that may name code, each once.
fn candidates(text: &str) -> Vec<Words> {
    let mut all: Vec<(usize, Words)> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut add = |line: usize, words: &str, all: &mut Vec<(usize, Words)>, may_be_name: bool| {
        if words.len() > MAX_CHARS || all.len() >= MAX_WORDS || !seen.insert(words.to_owned()) {
            return;
        }
        if let Some(path_mention) = path_mention(words) {
            all.push((line, Words::PathMention(path_mention)));
        } else if let Some(name) = may_be_name.then(|| name(words)).flatten() {
            all.push((line, Words::Name(name)));
        }
    };
    prose::marks(text, 1, |mark, line| {
        if let ProseMark::Code(words) = mark {
            add(line as usize, &words, &mut all, true);
        }
    });
    let between =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';');
    for (line, words) in (1..).zip(text.lines()) {
        for word in words.split(between) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_'));
            add(line, word.trim_end_matches(['.', ':', '/']), &mut all, false);
        }
    }
    all.sort_by_key(|(line, _)| *line);
    all.into_iter().map(|(_, words)| words).collect()
}

/// `src/a.rs`, `a.rs:12`, `a.rs:12:5`, `a.rs:12-20`, `a.rs#L12`.
fn path_mention(words: &str) -> Option<PathMention> {
    let (path, rest) = match words.split_once("#L") {
        Some((path, rest)) => (path, rest),
        None => words.split_once(':').unwrap_or((words, "")),
    };
    let digits: &str = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
    let is_line =
        rest.is_empty() || (!digits.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b":-L,".contains(&b)));
    let path = path.trim_start_matches("./").trim_start_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=12).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric)
    });
    let is_path = !path.contains(char::is_whitespace) && (has_extension || path.contains('/')) && path.len() > 2;
    (is_line && is_path && !path.contains("..") && !last.is_empty()).then(|| PathMention {
        path: path.to_owned(),
        line: digits.parse().ok(),
        words: words.to_owned(),
    })
}

/// `name`, `Type::name`, `module.name()`, `Class#method`.
fn name(words: &str) -> Option<String> {
    let bare = words.split(['(', '<', '!']).next()?.trim().trim_start_matches(['&', '*', '@', '$']);
    let is_name = !bare.is_empty()
        && bare.len() > 1
        && bare.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '#'))
        && !bare.ends_with([':', '.', '#']);
    is_name.then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_distinguished_from_prose() {
        let text = "See `open_store()`, `Store::read` and src/store/mod.rs:12; also `a b`, http://x/y.rs, e.g. main.rs#L3-L9.\n\
            `1.0` and `it` (lib.rs:4:7). ../../etc/passwd, `Vec<T>`, and/or.";
        let shown: Vec<String> = candidates(text)
            .into_iter()
            .map(|words| match words {
                Words::PathMention(path_mention) => format!("{} {:?}", path_mention.path, path_mention.line),
                Words::Name(name) => name,
            })
            .collect();
        assert_eq!(
            shown,
            [
                "open_store",
                "Store::read",
                "src/store/mod.rs Some(12)",
                "e.g None",
                "main.rs Some(3)",
                "1.0 None",
                "it",
                "Vec",
                "lib.rs Some(4)",
                "and/or None"
            ]
        );
    }
}
