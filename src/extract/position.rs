//! Positions in a text, by its syntax tree: the name at one, and the extents of definitions.
//!
//! Owns which characters are one name, in any language, and where definitions begin and end within a line. Does not own what a name
//! refers to.

use std::ops::Range;

use super::languages::{self, Language};
use super::parse::{self, Parsed};
use super::scip::is_name_part;
use super::source::{Lines, bare};
use super::syntax::{Node, Syntax};
use super::{Options, text};
use crate::model::RepoPath;
use crate::panics;

/// A name in a line, and the column where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub column: u32,
}

/// The lines and columns of a definition, from 1; the end is behind its last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where its name begins.
    pub name: (u32, u32),
    pub start: (u32, u32),
    pub end: (u32, u32),
}

impl Extent {
    pub fn holds(&self, position: (u32, u32)) -> bool {
        self.start <= position && position < self.end
    }
}

/// Punctuation that may precede a name where it is used, and is not a part of it in all languages.
const SIGILS: &[char] = &['$', '@', '#', '&', '.', '%', ':', '\'', '"', '`'];
/// Words in the kinds of nodes that hold text or values, not a name.
const NO_NAMES: &[&str] = &[
    "comment", "string", "char", "number", "integer", "float", "literal", "text", "content", "heredoc", "regex",
    "escape",
];
/// Kinds of nodes that are one name although they have parts.
const JOINED: &[&str] = &["identifier", "destructor_name", "operator_name", "setter", "operator_cast"];

/// Lists readings of the name at a position of a file, the likeliest first: a definition there, else a name of the
/// syntax tree, with and without what its language writes around it, else a word. Empty where there is no name.
pub fn names_at(path: &RepoPath, bytes: &[u8], line: u32, column: u32) -> Vec<Named> {
    let Some((text, _)) = super::decoded(bytes) else { return Vec::new() };
    let mut found = read(path, &text, line, column);
    if let Some(named) = found.first().filter(|_| languages::of_file(path, &text).name == "ruby") {
        // What is assigned is given to the method `name=`.
        let line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let end = named.column as usize - 1 + named.name.chars().count();
        let after: String = line.chars().skip(end).collect();
        let is_assigned = after.trim_start().strip_prefix('=').is_some_and(|rest| !rest.starts_with(['=', '~', '>']));
        if is_assigned {
            found.insert(0, Named { name: format!("{}=", named.name), column: named.column });
        }
    }
    found
}

fn read(path: &RepoPath, text: &str, line: u32, column: u32) -> Vec<Named> {
    let Some(parsed) = parsed(path, text) else { return word_at(text, line, column).into_iter().collect() };
    let lines = Lines::new(text);
    let characters: Vec<char> = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().chars().collect();
    let on = |start: u32, end: u32| start <= column && column < end;
    let behind = |start: u32, end: u32| start < column && column == end;
    let found = of_tree(&parsed, text, &lines, line, &on);
    let found = if found.is_empty() { of_tree(&parsed, text, &lines, line, &behind) } else { found };
    if !found.is_empty() {
        return found;
    }
    // On the sigil of a name: `$x`, `${x}`, `@{x}`.
    let at = column.saturating_sub(1) as usize;
    let sigils = characters.iter().skip(at).take_while(|c| SIGILS.contains(c) || matches!(c, '{' | '(')).count();
    if (1..=3).contains(&sigils) && characters.get(at).is_some_and(|c| SIGILS.contains(c)) {
        let name = column + u32::try_from(sigils).unwrap_or(0);
        let found = of_tree(&parsed, text, &lines, line, &|start, end| start <= name && name < end);
        if !found.is_empty() {
            return found;
        }
    }
    word_at(text, line, column).into_iter().collect()
}

/// The extents of a file's definitions, in no order. Empty for a text without syntax.
pub fn extents(path: &RepoPath, text: &str) -> Vec<Extent> {
    let Some(parsed) = parsed(path, text) else { return Vec::new() };
    let lines = Lines::new(text);
    let extent = |(symbol, range): (&crate::model::Symbol, &Range<usize>)| Extent {
        name: (symbol.line, symbol.column),
        start: lines.position(text, range.start),
        end: lines.position(text, range.end),
    };
    parsed.symbols.iter().zip(&parsed.extents).map(extent).collect()
}

/// Parses a text by its language; `None` for a text without syntax, and for one that is not parsed.
fn parsed(path: &RepoPath, text: &str) -> Option<Parsed> {
    let language: &'static Language = languages::of_file(path, text);
    language.grammar?;
    text::refuse(path, text, language, &Options::default()).ok()?;
    let parsed = panics::caught(|| Ok(parse::parse(language, text))).ok()?;
    (parsed.syntax.is_some() || !parsed.symbols.is_empty()).then_some(parsed)
}

/// The names of a line whose columns, from the first to the one behind the last, are such.
fn of_tree(parsed: &Parsed, text: &str, lines: &Lines, line: u32, is_there: &dyn Fn(u32, u32) -> bool) -> Vec<Named> {
    let named = |at: u32, own: u32, name: &str| -> Option<Named> {
        let end = own + u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
        (at == line && is_there(own, end)).then(|| Named { name: name.to_owned(), column: own })
    };
    let defined = parsed.symbols.iter().find_map(|symbol| named(symbol.line, symbol.column, &symbol.name));
    if let Some(defined) = defined {
        return vec![defined];
    }
    let mut found = Vec::new();
    let used = parsed
        .references
        .iter()
        .find_map(|references| references.positions().find_map(|(at, column)| named(at, column, &references.name)));
    for range in parsed
        .syntax
        .as_ref()
        .and_then(|syntax| leaf(syntax, text, lines, line, is_there))
        .into_iter()
        .flat_map(|range| spellings(range, text))
    {
        let (at, column) = lines.position(text, range.start);
        found.extend(
            named(at, column, &text[range.clone()])
                .or_else(|| (at == line).then(|| Named { name: text[range].to_owned(), column })),
        );
    }
    found.extend(used);
    found.dedup();
    found
}

/// The node without parts, or the joined one, that is a name and that `is_there` accepts.
fn leaf(
    syntax: &Syntax,
    text: &str,
    lines: &Lines,
    line: u32,
    is_there: &dyn Fn(u32, u32) -> bool,
) -> Option<Range<usize>> {
    let is_name = |node: Node| {
        let kind = syntax.kind_name(node);
        (!syntax.has_children(node) && syntax.is_named(node) && !NO_NAMES.iter().any(|word| kind.contains(word)))
            || JOINED.contains(&kind)
    };
    let fits = |node: &Node| {
        let range = syntax.range(*node);
        let written = &text[range.clone()];
        let is_quoted = written.ends_with(['`', '"', '\'']) && !written.contains('\n');
        if written.is_empty()
            || lines.line(range.start) != line
            || (written.contains(char::is_whitespace) && !is_quoted)
        {
            return false;
        }
        let (start, end) = (lines.position(text, range.start).1, lines.position(text, range.end).1);
        is_there(start, end) && is_name(*node)
    };
    syntax.nodes().find(fits).map(|node| syntax.range(node))
}

/// A name with and without what its language may write around it, the longest first.
fn spellings(range: Range<usize>, text: &str) -> Vec<Range<usize>> {
    let is_part = |name: &str| name.chars().any(|c| c.is_alphanumeric() || c == '_');
    let unquoted = bare(range.clone(), text);
    let inner = text[unquoted.clone()].trim_start_matches(SIGILS).trim_end_matches([':', '"', '\'', '`']);
    let start = unquoted.end - text[unquoted.clone()].trim_start_matches(SIGILS).len();
    let plain = start..start + inner.len();
    // `$script:limit` of PowerShell.
    let scope = if text[range].starts_with(['$', '@']) { inner.rfind(':').map_or(0, |at| at + 1) } else { 0 };
    let mut all = vec![unquoted, plain.clone(), plain.start + scope..plain.end];
    all.retain(|range| !range.is_empty() && is_part(&text[range.clone()]));
    all.dedup();
    all
}

/// The word that a column of a line is on, or just past.
fn word_at(text: &str, line: u32, column: u32) -> Option<Named> {
    let characters: Vec<char> = text.lines().nth(line.checked_sub(1)? as usize)?.chars().collect();
    let at = usize::try_from(column).ok()?.checked_sub(1)?;
    let on = if characters.get(at).copied().is_some_and(is_name_part) { at } else { at.checked_sub(1)? };
    if !characters.get(on).copied().is_some_and(is_name_part) {
        return None;
    }
    let start = characters[..on].iter().rposition(|c| !is_name_part(*c)).map_or(0, |before| before + 1);
    let end = characters[on..].iter().position(|c| !is_name_part(*c)).map_or(characters.len(), |after| on + after);
    let name: String = characters[start..end].iter().collect();
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some(Named { name, column: u32::try_from(start + 1).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_on_a_word_or_just_past_it_finds_it() {
        let line = "    héllo(wörld)";
        for column in 5..=10 {
            assert_eq!(word_at(line, 1, column), Some(Named { name: "héllo".to_owned(), column: 5 }), "{column}");
        }
        assert_eq!(word_at(line, 1, 11).map(|named| named.column), Some(11));
        assert_eq!(word_at(line, 1, 1), None);
        assert_eq!(word_at("x = 12", 1, 5), None);
    }

    #[test]
    fn a_name_is_a_leaf_of_the_syntax_tree() {
        for (path, text, column, name) in [
            ("a.php", "<?php $count = $this->count;", 23, "count"),
            ("a.php", "<?php echo $count;", 12, "count"),
            ("a.js", "this.#key();", 7, "#key"),
            ("a.ex", "save!(x)", 2, "save!"),
            ("a.sh", "log-it one", 5, "log-it"),
            ("a.sh", "echo \"${VERSION}\"", 7, "VERSION"),
            ("a.ps1", "Get-Berth 1", 9, "Get-Berth"),
            ("a.kt", "fun f() { `my-name`() }", 13, "my-name"),
            ("main.tf", "locals {\n  a = 1 }", 3, "locals"),
        ] {
            let found = names_at(&RepoPath::new(path).unwrap(), text.as_bytes(), 1, column);
            assert_eq!(found.first().map(|named| named.name.as_str()), Some(name), "{path}: {text}");
        }
        assert_eq!(names_at(&RepoPath::new("a.rs").unwrap(), b"fn f() { 1 + 2 }", 1, 12), []);
    }
}
