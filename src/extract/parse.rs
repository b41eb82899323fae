//! The tree-sitter driver: runs a language's query and turns captures into symbols, references and edges.
//!
//! Owns the meaning of captures. A `.scm` may use these, and nothing else:
//!
//! | capture | on | gives |
//! |---|---|---|
//! | `@definition.KIND` + `@name` | whole definition, its name | a symbol of that kind |
//! | `@signature`, `@body` | with a definition | where its signature starts (else the definition), and ends (else the field `body`, else the first line) |
//! | `@container` | with a definition | the type or namespace it belongs to by its own words (a Go receiver, `A` in `A::b`); several are its parts, outermost first |
//! | `@level.N` | with a definition | N from 1 to 6: it reaches to the next one of its level or of a lower number (headings) |
//! | `@scope` + `@name` | a block | contains what stands in it, is no symbol (Rust's `impl`) |
//! | `@clause` | the definition | those of one name that follow each other are one symbol (a signature and its equations) |
//! | `@local` | a block | variables, constants and functions without a body are no symbols in it |
//! | `@reference.KIND` + `@name` | a use | a reference: call, type or use |
//! | `@inherits`, `@implements` | a type's name | an edge from the definition around it, and a reference |
//! | `@implementor` | with `@implements` | the edge's source, where it stands outside its definition |
//! | `@import.module`, `@import.name`, `@import.alias`, `@import.wildcard` | an import | an edge to the module (its name is `*` with a wildcard); a reference of kind import for the name. Several modules are the parts of one; where the name ends it, the module is what stands before |
//! | `@_anything` | | only for predicates |
//!
//! **The first pattern wins**: of several that name the same node, the one that stands first in the file counts.
//! A function directly inside a type or a scope is a method; a field declared by a constructor's parameter is the type's. Definitions of one and the same range (`int a, b;`) are
//! neighbours. An import of a module alone counts only where nothing is imported from the same words by name.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Query, QueryCursor, QueryMatch, Tree};

use super::Language;
use crate::model::{Edge, Problem, Reference, Symbol};

/// A language's grammar and query, ready to run.
pub(super) struct Compiled {
    grammar: tree_sitter::Language,
    query: Query,
    /// By capture index.
    captures: Vec<Capture>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Capture {
    Definition(&'static str),
    Reference(&'static str),
    Name,
    Signature,
    Body,
    Container,
    Level(u8),
    Clause,
    Scope,
    Local,
    Inherits,
    Implements,
    Implementor,
    ImportModule,
    ImportName,
    ImportAlias,
    ImportWildcard,
    Predicate,
}

/// Words that a capture may end in; interned here, so that kinds are `&'static str` everywhere.
const KINDS: &[&str] = &[
    "class",
    "struct",
    "enum",
    "union",
    "interface",
    "trait",
    "protocol",
    "object",
    "record",
    "module",
    "namespace",
    "package",
    "function",
    "method",
    "constructor",
    "macro",
    "type",
    "constant",
    "variable",
    "field",
    "attribute",
    "property",
    "variant",
    "event",
    "heading",
    "key",
    "table",
    "section",
    "selector",
    "rule",
    "target",
    "stage",
    "service",
    "message",
    "resource",
    "view",
    "index",
    "trigger",
    "element",
    "id",
    "label",
    "operator",
    "extension",
    "call",
    "use",
    "implementation",
    "instance",
    "signature",
    "exception",
    "mixin",
    "block",
    "import",
];

/// Kinds in which a function is a method.
const TYPES: &[&str] = &[
    "class",
    "struct",
    "enum",
    "union",
    "interface",
    "trait",
    "protocol",
    "object",
    "record",
    "mixin",
    "extension",
    "instance",
    "exception",
];

#[derive(Default)]
pub(super) struct Parsed {
    pub tree: Option<Tree>,
    pub symbols: Vec<Symbol>,
    pub references: Vec<Reference>,
    pub edges: Vec<Edge>,
    pub problems: Vec<Problem>,
}

/// Kinds that contain nothing: what stands in their range (a conditional after a rule) is beside them.
const LEAVES: &[&str] = &["target"];

/// Brackets open at once above which no text is parsed: recovery from what never closes takes the square of their
/// number in most grammars (20 000 a second, 200 000 half a minute).
const OPEN_BRACKETS: usize = 10_000;

fn nests_too_deep(text: &str) -> bool {
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
    fn without_syntax(why: String) -> Self {
        let reason = format!("{why}; indexed as plain text");
        Self { problems: vec![Problem { line: None, reason }], ..Self::default() }
    }
}

/// A parse is given up after this many of tree-sitter's progress calls (one each some hundred steps), so that a
/// hostile file costs seconds, not hours. Counting steps keeps the outcome a function of the bytes.
const PARSE_STEPS: u32 = 200_000;

/// A signature is cut at this many characters.
const SIGNATURE_CHARS: usize = 200;

/// Qualified names grow no further than this many nested definitions: a file that nests thousands must not make
/// names of a megabyte.
const DEEPEST_CONTAINER: usize = 32;

impl Compiled {
    fn new(language: &Language, grammar: tree_sitter::Language) -> Self {
        let query = Query::new(&grammar, language.query)
            .unwrap_or_else(|error| panic!("the query of {} does not compile: {error}", language.name));
        let captures = query
            .capture_names()
            .iter()
            .map(|name| {
                Capture::from_name(name)
                    .unwrap_or_else(|| panic!("the query of {} has an unknown capture @{name}", language.name))
            })
            .collect();
        Self { grammar, query, captures }
    }

    /// What a match captured as `wanted`, in order of the text.
    fn ranges(&self, matched: &QueryMatch, wanted: Capture) -> Vec<Range<usize>> {
        let captures = matched.captures().iter().filter(|c| self.captures[c.index as usize] == wanted);
        captures.map(|capture| capture.node.byte_range()).collect()
    }

    /// The words of an import's module: from its first capture to its last, up to the name where that ends it.
    fn module(&self, matched: &QueryMatch, name: Option<Range<usize>>, text: &str) -> Range<usize> {
        let parts = self.ranges(matched, Capture::ImportModule);
        let start = parts.iter().map(|part| part.start).min().unwrap_or_default();
        let end = parts.iter().map(|part| part.end).max().unwrap_or_default();
        let end = name.filter(|name| name.end == end && name.start > start).map_or(end, |name| name.start);
        if end < parts.iter().map(|part| part.end).max().unwrap_or_default() || parts.len() > 1 {
            return start..start + text[start..end].trim_end_matches(['.', ':', '/', '\\', ' ']).len();
        }
        start..end
    }

    fn level(&self, matched: &QueryMatch) -> Option<u8> {
        matched.captures().iter().find_map(|capture| match self.captures[capture.index as usize] {
            Capture::Level(level) => Some(level),
            _ => None,
        })
    }
}

impl Capture {
    fn from_name(name: &str) -> Option<Self> {
        let kind = |kind: &str| KINDS.iter().find(|known| **known == kind).copied();
        if let Some(word) = name.strip_prefix("definition.") {
            return kind(word).map(Self::Definition);
        }
        if let Some(word) = name.strip_prefix("reference.") {
            return kind(word).map(Self::Reference);
        }
        if let Some(level) = name.strip_prefix("level.") {
            return level.parse().ok().filter(|level| (1..=6).contains(level)).map(Self::Level);
        }
        Some(match name {
            "name" => Self::Name,
            "signature" => Self::Signature,
            "body" => Self::Body,
            "container" => Self::Container,
            "scope" => Self::Scope,
            "clause" => Self::Clause,
            "local" => Self::Local,
            "inherits" => Self::Inherits,
            "implements" => Self::Implements,
            "implementor" => Self::Implementor,
            "import.module" => Self::ImportModule,
            "import.name" => Self::ImportName,
            "import.alias" => Self::ImportAlias,
            "import.wildcard" => Self::ImportWildcard,
            name if name.starts_with('_') => Self::Predicate,
            _ => return None,
        })
    }
}

pub(super) fn parse(language: &'static Language, text: &str) -> Parsed {
    let Some(grammar) = language.grammar else {
        return Parsed::default();
    };
    let compiled = language.compiled.get_or_init(|| Compiled::new(language, grammar()));
    if nests_too_deep(text) || language.overfills.is_some_and(|overfills| overfills(text)) {
        return Parsed::without_syntax(format!("nested too deep for the grammar of {}", language.name));
    }
    let Some(tree) = tree(&compiled.grammar, text) else {
        return Parsed::without_syntax(format!("parsing as {} was given up", language.name));
    };
    let mut found = Found::default();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&compiled.query, tree.root_node(), text.as_bytes());
    while let Some(matched) = matches.next() {
        found.take(compiled, matched, text);
    }
    let mut parsed = found.resolve(language, text);
    parsed.tree = Some(tree);
    parsed
}

fn tree(grammar: &tree_sitter::Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let mut steps = 0;
    let mut count = |_: &ParseState| {
        steps += 1;
        if steps > PARSE_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Something with a range that can contain others: a definition, or a scope.
struct Scope {
    range: Range<usize>,
    /// `None` for a scope that is no symbol.
    kind: Option<&'static str>,
    name: Range<usize>,
    container: Vec<Range<usize>>,
    level: Option<u8>,
    is_clause: bool,
    signature: Option<String>,
    has_body: bool,
}

impl Scope {
    fn without_symbol(range: Range<usize>, name: Range<usize>) -> Self {
        Self {
            range,
            kind: None,
            name,
            container: Vec::new(),
            level: None,
            is_clause: false,
            signature: None,
            has_body: true,
        }
    }

    /// Whether a block that has locals keeps this to itself.
    fn stays_local(&self) -> bool {
        matches!(self.kind, Some("variable" | "constant")) || (self.kind == Some("function") && !self.has_body)
    }
}

struct Heritage {
    kind: &'static str,
    target: Range<usize>,
    implementor: Option<String>,
}

struct Import {
    module: Range<usize>,
    name: Option<Range<usize>>,
    /// Everything the module offers.
    wildcard: bool,
    alias: Option<String>,
}

/// What the matches gave, by pattern, before nesting is known.
#[derive(Default)]
struct Found {
    scopes: Vec<(usize, Scope)>,
    locals: Vec<Range<usize>>,
    references: Vec<(usize, &'static str, Range<usize>)>,
    heritage: Vec<(usize, Heritage)>,
    imports: Vec<(usize, Import)>,
}

impl Found {
    fn take(&mut self, compiled: &Compiled, matched: &QueryMatch, text: &str) {
        let pattern = matched.pattern_index;
        let node = |wanted: Capture| {
            let capture = matched.captures().iter().find(|c| compiled.captures[c.index as usize] == wanted);
            capture.map(|capture| capture.node)
        };
        let range =
            |wanted: Capture| node(wanted).map(|node| bare(node.byte_range(), text)).filter(|range| !range.is_empty());
        let words = |wanted: Capture| node(wanted).map(|node| text[node.byte_range()].to_owned());
        for capture in matched.captures() {
            match compiled.captures[capture.index as usize] {
                Capture::Definition(kind) => {
                    let Some(name) = range(Capture::Name) else {
                        continue;
                    };
                    let start = node(Capture::Signature).unwrap_or(capture.node);
                    let body = node(Capture::Body).or_else(|| start.child_by_field_name("body"));
                    let scope = Scope {
                        range: capture.node.byte_range(),
                        kind: Some(kind),
                        name,
                        container: compiled.ranges(matched, Capture::Container),
                        level: compiled.level(matched),
                        is_clause: node(Capture::Clause).is_some(),
                        signature: signature(start, body, text),
                        has_body: body.is_some(),
                    };
                    self.scopes.push((pattern, scope));
                }
                Capture::Scope => {
                    let Some(name) = range(Capture::Name) else {
                        continue;
                    };
                    self.scopes.push((pattern, Scope::without_symbol(capture.node.byte_range(), name)));
                }
                Capture::Local => self.locals.push(capture.node.byte_range()),
                Capture::Reference(kind) => {
                    let Some(name) = range(Capture::Name) else {
                        continue;
                    };
                    self.references.push((pattern, kind, name));
                }
                found @ (Capture::Inherits | Capture::Implements) => {
                    let kind = if found == Capture::Inherits { "inherits" } else { "implements" };
                    let target = capture.node.byte_range();
                    let implementor = words(Capture::Implementor);
                    self.heritage.push((pattern, Heritage { kind, target, implementor }));
                }
                Capture::ImportModule if Some(capture.node) == node(Capture::ImportModule) => {
                    let import = Import {
                        module: compiled.module(matched, range(Capture::ImportName), text),
                        name: range(Capture::ImportName),
                        wildcard: node(Capture::ImportWildcard).is_some(),
                        alias: words(Capture::ImportAlias),
                    };
                    self.imports.push((pattern, import));
                }
                _ => {}
            }
        }
    }

    fn resolve(mut self, language: &Language, text: &str) -> Parsed {
        let lines = Lines::of(text);
        first_pattern_wins(&mut self.scopes, |scope| scope.name.start);
        drop_locals(&mut self.scopes, self.locals);
        extend_levels(&mut self.scopes, text.len());
        self.scopes.sort_by_key(|(_, scope)| (scope.range.start, std::cmp::Reverse(scope.range.end), scope.name.start));
        let scopes = join_clauses(self.scopes.into_iter().map(|(_, scope)| scope), text);
        let defined = Names::of(&scopes);
        let (symbols, places) = nest(&scopes, language.separator, text, &lines);

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

        // What a name is used as: heritage and imports say more than a plain reference does.
        let mut uses = self.references;
        uses.extend(heritage.iter().map(|(_, found)| (0, found.kind, found.target.clone())));
        uses.extend(imports.iter().filter_map(|(_, import)| Some((0, "import", import.name.clone()?))));
        let mut references: Vec<Reference> = Vec::new();
        uses.retain(|(_, _, name)| !defined.hold(name.start));
        uses.sort_by_key(|(pattern, kind, name)| (name.start, rank(kind), *pattern));
        uses.dedup_by_key(|(_, _, name)| name.start);
        for (_, kind, name) in uses {
            let last = last_name(&text[name.clone()], language.separator);
            let start = if text[..name.end].ends_with(last) { name.end - last.len() } else { name.start };
            let (line, column) = lines.position(text, start);
            references.push(Reference { name: last.to_owned(), kind, line, column });
        }

        let mut edges: Vec<(usize, Edge)> = Vec::new();
        for (_, import) in imports {
            let start = import.name.as_ref().unwrap_or(&import.module).start;
            let edge = Edge {
                kind: "imports",
                symbol: None,
                line: lines.line(import.module.start),
                target: module_name(&text[import.module]).to_owned(),
                name: import.name.map(|name| text[name].to_owned()).or_else(|| import.wildcard.then(|| "*".to_owned())),
                alias: import.alias,
            };
            edges.push((start, edge));
        }
        let by_name: HashMap<&str, usize> =
            symbols.iter().enumerate().rev().map(|(i, s)| (s.name.as_str(), i)).collect();
        for (_, found) in heritage {
            let symbol = match &found.implementor {
                Some(name) => by_name.get(bare_type(name)).copied(),
                None => innermost(&scopes, &places, found.target.start),
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
        Parsed { symbols, references, edges, ..Parsed::default() }
    }
}

/// A reference that says more comes first.
fn rank(kind: &str) -> u8 {
    match kind {
        "inherits" | "implements" => 0,
        "import" => 1,
        "call" => 2,
        "type" => 3,
        _ => 4,
    }
}

/// Where the names of definitions stand.
struct Names(Vec<Range<usize>>);

impl Names {
    fn of(scopes: &[Scope]) -> Self {
        let symbols = scopes.iter().filter(|scope| scope.kind.is_some());
        let mut names: Vec<Range<usize>> = symbols.map(|scope| scope.name.clone()).collect();
        names.sort_by_key(|name| name.start);
        Self(names)
    }

    fn hold(&self, at: usize) -> bool {
        let before = self.0.partition_point(|name| name.start <= at);
        before > 0 && self.0[before - 1].end > at
    }
}

/// Symbols in order of their definitions, with parents and containers; and for each scope its symbol's place.
fn nest(scopes: &[Scope], separator: &str, text: &str, lines: &Lines) -> (Vec<Symbol>, Vec<Option<usize>>) {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    // Scopes around the current one, each with its qualified name.
    let mut around: Vec<(usize, String)> = Vec::new();
    for (at, scope) in scopes.iter().enumerate() {
        let ends_before = |outer: &Range<usize>| outer.end < scope.range.end || *outer == scope.range;
        while around.last().is_some_and(|(outer, _)| ends_before(&scopes[*outer].range)) {
            around.pop();
        }
        let name = name_of(scope, text);
        // What a constructor's parameters declare belongs to the type.
        let is_member = matches!(scope.kind, Some("field" | "property"));
        let holds = |outer: usize| !(is_member && scopes[outer].kind == Some("constructor"));
        let outer = around.iter().rev().find(|(outer, _)| holds(*outer));
        let own = scope.container.iter().map(|part| &text[part.clone()]);
        let parts: Vec<&str> = outer.map(|(_, outer)| outer.as_str()).into_iter().chain(own).collect();
        let container = (!parts.is_empty()).then(|| parts.join(separator));
        let qualified = match &container {
            Some(container) if around.len() < DEEPEST_CONTAINER => {
                format!("{container}{separator}{name}")
            }
            Some(container) => container.clone(),
            None => name.clone(),
        };
        let place = scope.kind.map(|kind| {
            let in_type = outer.is_some_and(|(outer, _)| scopes[*outer].kind.is_none_or(|kind| TYPES.contains(&kind)));
            let (line, column) = lines.position(text, scope.name.start);
            symbols.push(Symbol {
                name,
                kind: if kind == "function" && in_type { "method" } else { kind },
                parent: around.iter().rev().filter(|(outer, _)| holds(*outer)).find_map(|(outer, _)| places[*outer]),
                container,
                signature: scope.signature.clone(),
                line,
                column,
                start_line: lines.line(scope.range.start),
                end_line: lines.end_line(text, &scope.range),
            });
            symbols.len() - 1
        });
        places.push(place);
        if !scope.kind.is_some_and(|kind| LEAVES.contains(&kind)) {
            around.push((at, qualified));
        }
    }
    (symbols, places)
}

/// The name as people say it: on one line, without quotes, without the closing marks of a heading.
fn name_of(scope: &Scope, text: &str) -> String {
    let mut name = &text[scope.name.clone()];
    if scope.level.is_some() {
        let head = name.trim_end_matches('#');
        name = if head.ends_with(char::is_whitespace) { head.trim_end() } else { name };
    }
    if name.contains('\n') { name.split_whitespace().collect::<Vec<_>>().join(" ") } else { name.to_owned() }
}

/// Clauses of one name that follow each other become one definition. `scopes` come in order of their starts.
fn join_clauses(scopes: impl Iterator<Item = Scope>, text: &str) -> Vec<Scope> {
    let mut joined: Vec<Scope> = Vec::new();
    // The last clause, and where the definition around it would have ended.
    let mut last: Option<usize> = None;
    for scope in scopes {
        if !scope.is_clause {
            // What stands inside the last clause is no break between it and the next.
            if last.is_some_and(|at| joined[at].range.end <= scope.range.start) {
                last = None;
            }
            joined.push(scope);
            continue;
        }
        let continued = last.filter(|&at| {
            let before = &joined[at];
            before.range.end <= scope.range.start && text[before.name.clone()] == text[scope.name.clone()]
        });
        match continued {
            Some(at) => joined[at].range.end = scope.range.end,
            None => {
                last = Some(joined.len());
                joined.push(scope);
            }
        }
    }
    joined
}

/// Drops what blocks keep to themselves.
fn drop_locals(scopes: &mut Vec<(usize, Scope)>, mut locals: Vec<Range<usize>>) {
    locals.sort_by_key(|block| (block.start, std::cmp::Reverse(block.end)));
    let mut end = 0;
    locals.retain(|block| {
        let outermost = block.start >= end;
        end = end.max(block.end);
        outermost
    });
    scopes.retain(|(_, scope)| {
        let block = locals.partition_point(|block| block.start <= scope.name.start).checked_sub(1);
        let inside = block.is_some_and(|block| scope.name.end <= locals[block].end);
        !(inside && scope.stays_local())
    });
}

/// Definitions with a level reach to the next of the same or a lower number.
fn extend_levels(scopes: &mut [(usize, Scope)], end: usize) {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut outline: Vec<usize> = (0..scopes.len()).filter(|&at| scopes[at].1.level.is_some()).collect();
    outline.sort_by_key(|&at| scopes[at].1.range.start);
    for at in outline {
        let Some(level) = scopes[at].1.level else {
            continue;
        };
        let start = scopes[at].1.range.start;
        while let Some((_, before)) = open.pop_if(|(outer, _)| *outer >= level) {
            scopes[before].1.range.end = start;
        }
        open.push((level, at));
    }
    for (_, at) in open {
        scopes[at].1.range.end = end;
    }
}

/// The symbol of the smallest definition around `at`. Scopes are in order of their starts.
fn innermost(scopes: &[Scope], places: &[Option<usize>], at: usize) -> Option<usize> {
    let before = scopes.partition_point(|scope| scope.range.start <= at);
    (0..before).rev().find(|&i| scopes[i].range.end > at && places[i].is_some()).and_then(|i| places[i])
}

fn first_pattern_wins<T, K: Eq + std::hash::Hash>(found: &mut Vec<(usize, T)>, key: impl Fn(&T) -> K) {
    found.sort_by_key(|(pattern, _)| *pattern);
    let mut seen = HashSet::new();
    found.retain(|(_, item)| seen.insert(key(item)));
}

/// The words of a definition up to its body, on one line.
fn signature(start: Node, body: Option<Node>, text: &str) -> Option<String> {
    let whole =
        &text[start.start_byte()..body.map_or(start.end_byte(), |body| body.start_byte().max(start.start_byte()))];
    let head = if body.is_some() { whole } else { whole.lines().next().unwrap_or_default() };
    // No character is above four bytes, so this is more than enough; white space alone could be without end.
    let head = &head[..head.floor_char_boundary(SIGNATURE_CHARS * 16)];
    let mut words = String::new();
    for word in head.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    if let Some((cut, _)) = words.char_indices().nth(SIGNATURE_CHARS) {
        let cut = words[..cut].rfind(' ').unwrap_or(cut);
        words.truncate(cut);
        words.push_str(" …");
    }
    let words = words.strip_suffix("=>").unwrap_or(&words);
    let words = words.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '{' | ':' | '='));
    (!words.is_empty()).then(|| words.to_owned())
}

/// `a.b.C`, `a::C` and `'C'` name `C`.
fn last_name<'a>(text: &'a str, separator: &str) -> &'a str {
    let text = unquoted(text);
    text.rsplit(separator).next().filter(|name| is_name(name)).unwrap_or(text)
}

/// The name of a type without its arguments: `Vec` for `&mut Vec<T>`.
fn bare_type(text: &str) -> &str {
    let head = text.split(['<', '[', '(']).next().unwrap_or(text).trim();
    head.rsplit([' ', '.', ':', '&', '*']).next().unwrap_or(head)
}

/// `text` without white space and quotes around it. `'a'.'b'` is two quoted words, not one.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for (open, close) in [('"', '"'), ('\'', '\''), ('`', '`')] {
        let inner = between(text, open, close);
        if let Some(inner) = inner.filter(|inner| !inner.contains(open)) {
            return inner;
        }
    }
    text
}

fn between(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// A module as it is meant: `<stdio.h>` and `"stdio.h"` are `stdio.h`.
fn module_name(text: &str) -> &str {
    between(text, '<', '>').unwrap_or_else(|| unquoted(text))
}

/// The range of a name without quotes around it, or the colon of a Ruby symbol before it.
fn bare(range: Range<usize>, text: &str) -> Range<usize> {
    let name = unquoted(&text[range.clone()]);
    let symbol = name.strip_prefix(':').filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let name = symbol.unwrap_or(name);
    let start = range.start + text[range].find(name).unwrap_or_default();
    start..start + name.len()
}

fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) || text.contains('_')
}

/// Where lines start, in bytes.
struct Lines {
    starts: Vec<usize>,
    /// The last byte asked for and its column: questions come in order, and a line may be the whole file.
    last: Cell<(usize, u32)>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Self { starts, last: Cell::new((0, 1)) }
    }

    /// The 1-based line of a byte.
    fn line(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    /// The last line that has something of `range`: a range that ends with its line break ends on that line.
    fn end_line(&self, text: &str, range: &Range<usize>) -> u32 {
        let ended = text[range.clone()].trim_end().len();
        self.line(range.start + ended.saturating_sub(1))
    }

    /// 1-based line and column of a byte; the column counts code points.
    fn position(&self, text: &str, at: usize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.starts[line as usize - 1];
        let (last, last_column) = self.last.get();
        let (from, column) = if (start..=at).contains(&last) { (last, last_column) } else { (start, 1) };
        let column = column.saturating_add(u32::try_from(text[from..at].chars().count()).unwrap_or(u32::MAX));
        self.last.set((at, column));
        (line, column)
    }
}
