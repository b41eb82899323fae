//! Parses a text into symbols, references and edges.
//!
//! Owns the order of the work (parse, fill gaps, find, recover) and how the found nodes become rows. Does not own what
//! the patterns find (`found_nodes`).

use std::cell::LazyCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::iter;
use std::ops::Range;

use foldhash::fast::RandomState;
use tree_sitter::Tree;

use super::Language;
use super::captures::Compiled;
use super::found_nodes::FoundNodes;
use super::gaps::Filled;
use super::kinds::TYPES;
use super::recover;
use super::scopes::{Names, Scope, drop_locals, drop_uncounted, extend_levels, innermost, join_clauses, nest};
use super::source::{Lines, bare_type, last_name, module_name};
use super::syntax::{self, Syntax};
use crate::model::{Edge, Problem, References, Symbol};

#[derive(Default)]
pub(super) struct Parsed {
    pub syntax: Option<Syntax>,
    pub symbols: Vec<Symbol>,
    /// The range of each symbol's definition, in bytes.
    pub extents: Vec<Range<usize>>,
    pub references: Vec<References>,
    pub edges: Vec<Edge>,
    pub problems: Vec<Problem>,
}

/// Brackets open at once above which no text is parsed: recovery from unclosed ones takes quadratic time in their
/// number in most grammars (20 000 a second, 200 000 half a minute).
const OPEN_BRACKETS: usize = 10_000;

fn nests_too_deep(text: &str) -> bool {
    // Most texts do not have that many in all, and counting takes no branches.
    if text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() <= OPEN_BRACKETS {
        return false;
    }
    let mut open = [0usize; 3];
    text.bytes().any(|byte| {
        for (kind, (opening, closing)) in [(b'(', b')'), (b'[', b']'), (b'{', b'}')].into_iter().enumerate() {
            if byte == opening {
                open[kind] += 1;
            } else if byte == closing {
                open[kind] = open[kind].saturating_sub(1);
            }
        }
        open.iter().sum::<usize>() > OPEN_BRACKETS
    })
}

impl Parsed {
    fn without_syntax(why: &str) -> Self {
        let reason = format!("{why}; indexed as plain text");
        Self { problems: vec![Problem { line: None, reason }], ..Self::default() }
    }
}

pub(super) fn parse(language: &'static Language, text: &str) -> Parsed {
    if language.grammar.is_none() {
        return Parsed::default();
    }
    if is_beyond(language, text) {
        return Parsed::without_syntax(&format!("nested too deep for the grammar of {}", language.name));
    }
    let parts = language.parts.map_or_else(|| iter::once(0..text.len()).collect(), |parts| parts(text));
    let mut read = Vec::new();
    let others = language.outside.map(|other| (other(), between(&parts, text.len())));
    for (language, parts) in iter::once((language, parts)).chain(others) {
        if parts.is_empty() {
            continue;
        }
        match read_parts(language, text, &parts) {
            Some(found) => read.push(found),
            None => return Parsed::without_syntax(&format!("parsing as {} was given up", language.name)),
        }
    }
    let mut read = read.into_iter();
    let Some((syntax, mut found)) = read.next() else { return Parsed::default() };
    read.for_each(|(_, other)| found.append(other));
    let mut parsed = found.resolve(language, text);
    parsed.syntax = Some(syntax);
    parsed
}

/// Returns the ranges outside of `parts`, which are in order and do not overlap.
fn between(parts: &[Range<usize>], end: usize) -> Vec<Range<usize>> {
    let starts = iter::once(0).chain(parts.iter().map(|part| part.end));
    let ends = parts.iter().map(|part| part.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
}

/// Parses some parts of a text; returns their tree and definitions, or `None` where the parser gave them up.
fn read_parts(language: &'static Language, text: &str, parts: &[Range<usize>]) -> Option<(Syntax, FoundNodes)> {
    let compiled = language.compiled()?;
    let is_whole = parts.len() == 1 && parts[0].len() == text.len();
    let (tree, mut syntax) = if is_whole {
        let tree = syntax::parse(&compiled.grammar, text)?;
        let syntax = Syntax::from_tree(&compiled.grammar, &tree);
        (syntax.has_errors().then_some(tree), syntax)
    } else {
        (None, Syntax::parse_ranges(&compiled.grammar, text.as_bytes(), parts)?)
    };
    // The definitions of `syntax`: collected late, because a better tree often replaces one with errors.
    let mut found = None;
    let collect = |syntax: &Syntax| FoundNodes::collect(compiled, syntax, text);
    let mut source = None;
    let is_damaged = syntax.has_errors() || !found.get_or_insert_with(|| collect(&syntax)).misread.is_empty();
    if is_damaged && let Some((filled, again)) = without_gaps(compiled, text, parts, tree, &syntax) {
        let (before, after) = (syntax.error_bytes(), again.error_bytes());
        let mut read = collect(&again);
        let mut has_fewer_misread = || read.misread.len() < found.get_or_insert_with(|| collect(&syntax)).misread.len();
        if after < before || (after == before && has_fewer_misread()) {
            // What only one branch of a conditional has was read before, if at all.
            if !filled.dropped.is_empty() {
                let mut first = found.unwrap_or_else(|| collect(&syntax));
                first.keep_within(&filled.dropped);
                read.append(first);
            }
            found = Some(read);
            syntax = again;
            source = Some(filled.text);
        }
    }
    let mut found = found.unwrap_or_else(|| collect(&syntax));
    let source = source.as_deref().unwrap_or(text.as_bytes());
    recover::recover(compiled, text, source, parts, &syntax, &mut found);
    Some((syntax, found))
}

/// Parses a text again without the parts that the grammar does not know; `None` where it has none.
fn without_gaps(
    compiled: &Compiled,
    text: &str,
    parts: &[Range<usize>],
    tree: Option<Tree>,
    syntax: &Syntax,
) -> Option<(Filled, Syntax)> {
    let filled = compiled.gaps.fill(text, syntax)?;
    let again = match tree {
        Some(tree) => {
            let tree = syntax::parse_replaced(&compiled.grammar, tree, text.as_bytes(), &filled.text)?;
            Syntax::from_tree(&compiled.grammar, &tree)
        }
        None => Syntax::parse_ranges(&compiled.grammar, &filled.text, parts)?,
    };
    Some((filled, again))
}

/// The nodes of a text's syntax tree; none where it is not parsed.
pub(super) fn nodes(language: &Language, text: &str) -> usize {
    let Some(grammar) = language.grammar.filter(|_| !is_beyond(language, text)) else { return 0 };
    syntax::parse(&grammar(), text).map_or(0, |tree| tree.root_node().descendant_count())
}

/// Whether the text is too hostile for the grammar.
pub(super) fn is_beyond(language: &Language, text: &str) -> bool {
    nests_too_deep(text) || language.overfills.is_some_and(|overfills| overfills(text))
}

impl FoundNodes {
    fn resolve(mut self, language: &Language, text: &str) -> Parsed {
        let lines = Lines::new(text);
        first_pattern_wins(&mut self.scopes, |scope| scope.name.start);
        self.bindings.extend(drop_locals(&mut self.scopes, self.locals));
        extend_levels(&mut self.scopes, text.len());
        self.scopes.sort_by_key(|(_, scope)| (scope.range.start, std::cmp::Reverse(scope.range.end), scope.name.start));
        let mut scopes: Vec<Scope> = self.scopes.into_iter().map(|(_, scope)| scope).collect();
        drop_uncounted(&mut scopes, text);
        let defined = Names::from_scopes(&scopes, text);
        let scopes = join_clauses(scopes.into_iter(), text);
        let (symbols, symbol_indexes) = nest(&scopes, language.separator, text, &lines);
        let extents = scopes.iter().filter(|scope| scope.kind.is_some()).map(|scope| scope.range.clone()).collect();

        let mut heritage = self.heritage;
        first_pattern_wins(&mut heritage, |heritage| heritage.target.start);
        let mut imports = self.imports;
        first_pattern_wins(&mut imports, |import| {
            (import.name.as_ref().unwrap_or(&import.module).start, import.module.start)
        });

        let by_name: HashSet<usize> =
            imports.iter().filter(|(_, import)| import.name.is_some()).map(|(_, import)| import.module.start).collect();
        imports
            .retain(|(_, import)| import.name.is_some() || import.wildcard || !by_name.contains(&import.module.start));

        // The kind of a reference: heritage and imports are more specific than a plain reference.
        let mut found = self.references;
        found.extend(heritage.iter().map(|(_, found)| (0, found.kind, found.target.clone())));
        found.extend(imports.iter().filter_map(|(_, import)| Some((0, "import", import.name.clone()?))));
        let locals = local_names(&self.bindings, &scopes, text);
        found.retain(|(_, kind, name)| {
            let is_local = *kind == "use" && locals.contains(&text[name.clone()]) && !is_member(text, name.start);
            !is_local && (*kind == "inherits" || !defined.hold(name.start))
        });
        found.sort_by_key(|(pattern, kind, name)| (name.start, rank(kind), *pattern));
        found.dedup_by_key(|(_, _, name)| name.start);
        let found = found.into_iter().map(|(_, kind, name)| {
            let last = last_name(&text[name.clone()], language.separator);
            (if text[..name.end].ends_with(last) { name.end - last.len() } else { name.start }, kind, last)
        });
        let references = references(found.collect(), text, &lines);

        let mut edges: Vec<(usize, Edge)> = Vec::new();
        for (_, import) in imports {
            let start = import.name.as_ref().unwrap_or(&import.module).start;
            let edge = Edge {
                kind: "imports",
                symbol: None,
                line: lines.line(import.module.start),
                target: module_name(&text[import.module]),
                name: import.name.map(|name| text[name].to_owned()).or_else(|| import.wildcard.then(|| "*".to_owned())),
                alias: import.alias,
            };
            edges.push((start, edge));
        }
        // Few files state elsewhere what a type implements.
        let named: LazyCell<HashMap<&str, usize>, _> = LazyCell::new(|| {
            let types = symbols.iter().enumerate().filter(|(_, s)| implements(s.kind));
            types.rev().map(|(i, s)| (s.name.as_str(), i)).collect()
        });
        for (_, found) in heritage {
            let symbol = match &found.implementor {
                Some(name) => named.get(bare_type(name)).copied(),
                None => innermost(&scopes, &symbol_indexes, found.target.start),
            };
            let name = found.implementor.filter(|_| symbol.is_none()).map(|name| bare_type(&name).to_owned());
            let start = found.target.start;
            let line = lines.line(start);
            let edge =
                Edge { kind: found.kind, symbol, target: text[found.target].to_owned(), name, alias: None, line };
            edges.push((start, edge));
        }
        edges.sort_by_key(|(start, _)| *start);
        let edges = edges.into_iter().map(|(_, edge)| edge).collect();
        Parsed { symbols, extents, references, edges, ..Parsed::default() }
    }
}

/// Whether a definition of that kind may implement something.
fn implements(kind: &str) -> bool {
    TYPES.contains(&kind) || matches!(kind, "type" | "module")
}

/// Names that mean a parameter or a local variable in this file, and no symbol of it: their references are dropped.
fn local_names<'t>(bindings: &[Range<usize>], scopes: &[Scope], text: &'t str) -> HashSet<&'t str, RandomState> {
    let mut names: HashSet<&str, RandomState> = bindings.iter().map(|name| &text[name.clone()]).collect();
    for scope in scopes.iter().filter(|scope| scope.kind.is_some()) {
        names.remove(&text[scope.name.clone()]);
    }
    names
}

/// Whether the name at `at` is read from something: then it is not a local variable, whatever it is called.
fn is_member(text: &str, at: usize) -> bool {
    text[..at].ends_with(['.', ':']) || text[..at].ends_with("->")
}

/// References by name and kind, in the order in which each is met first.
fn references(mut found: Vec<(usize, &'static str, &str)>, text: &str, lines: &Lines) -> Vec<References> {
    // Two may end in one and the same name.
    found.sort_by_key(|(at, ..)| *at);
    found.dedup_by_key(|(at, ..)| *at);
    let mut references: Vec<References> = Vec::new();
    let mut known: HashMap<(&str, &str), usize, RandomState> = HashMap::default();
    for (at, kind, name) in found {
        let position = lines.position(text, at);
        match known.entry((name, kind)) {
            Entry::Occupied(index) => references[*index.get()].add(position),
            Entry::Vacant(index) => {
                index.insert(references.len());
                references.push(References::new(name, kind, position));
            }
        }
    }
    references
}

/// A more specific kind of reference comes first.
fn rank(kind: &str) -> u8 {
    match kind {
        "inherits" | "implements" => 0,
        "import" | "signature" => 1,
        "call" => 2,
        "type" => 3,
        _ => 4,
    }
}

fn first_pattern_wins<T, K: Eq + std::hash::Hash>(found: &mut Vec<(usize, T)>, key: impl Fn(&T) -> K) {
    found.sort_by_key(|(pattern, _)| *pattern);
    let mut seen: HashSet<K, RandomState> = HashSet::default();
    found.retain(|(_, item)| seen.insert(key(item)));
}
