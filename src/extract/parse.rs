//! The tree-sitter driver: runs a language's query and turns captures into symbols, references and edges.
//!
//! Owns the meaning of captures. A `.scm` may use these, and nothing else:
//!
//! | capture | on | gives |
//! |---|---|---|
//! | `@definition.KIND` + `@name` | whole definition, its name | a symbol of that kind |
//! | `@signature`, `@body` | with a definition | where its signature starts (else the definition), and ends (else the field `body`, else the first line) |
//! | `@container` | with a definition | the type or namespace it belongs to by its own words (a Go receiver, `A` in `A::b`) |
//! | `@scope` + `@name` | a block | contains what stands in it, is no symbol (Rust's `impl`) |
//! | `@reference.KIND` + `@name` | a use | a reference: call, type or use |
//! | `@inherits`, `@implements` | a type's name | an edge from the definition around it, and a reference |
//! | `@implementor` | with `@implements` | the edge's source, where it stands outside its definition |
//! | `@import.module`, `@import.name`, `@import.alias`, `@import.wildcard` | an import | an edge to the module (its name is `*` with a wildcard); a reference of kind import for the name |
//! | `@_anything` | | only for predicates |
//!
//! **The first pattern wins**: of several that name the same node, the one that stands first in the file counts.
//! A function directly inside a type or a scope is a method.

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
    Scope,
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

/// A parse is given up after this many of tree-sitter's progress calls (one each some hundred steps), so that a
/// hostile file costs seconds, not hours. Counting steps keeps the outcome a function of the bytes.
const PARSE_STEPS: u32 = 1_000_000;

/// A signature is cut at this many characters.
const SIGNATURE_CHARS: usize = 200;

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
        Some(match name {
            "name" => Self::Name,
            "signature" => Self::Signature,
            "body" => Self::Body,
            "container" => Self::Container,
            "scope" => Self::Scope,
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
    let Some(tree) = tree(&compiled.grammar, text) else {
        let reason = format!("parsing as {} was given up; indexed as plain text", language.name);
        return Parsed { problems: vec![Problem { line: None, reason }], ..Parsed::default() };
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
    container: Option<String>,
    signature: Option<String>,
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
        let range = |wanted: Capture| node(wanted).map(|node| node.byte_range());
        let words = |wanted: Capture| node(wanted).map(|node| text[node.byte_range()].to_owned());
        for capture in matched.captures() {
            match compiled.captures[capture.index as usize] {
                Capture::Definition(kind) => {
                    let Some(name) = range(Capture::Name) else { continue };
                    let start = node(Capture::Signature).unwrap_or(capture.node);
                    let signature = signature(start, node(Capture::Body), text);
                    let scope = Scope {
                        range: capture.node.byte_range(),
                        kind: Some(kind),
                        name,
                        container: words(Capture::Container),
                        signature,
                    };
                    self.scopes.push((pattern, scope));
                }
                Capture::Scope => {
                    let Some(name) = range(Capture::Name) else { continue };
                    let range = capture.node.byte_range();
                    self.scopes.push((pattern, Scope { range, kind: None, name, container: None, signature: None }));
                }
                Capture::Reference(kind) => {
                    let Some(name) = range(Capture::Name) else { continue };
                    self.references.push((pattern, kind, name));
                }
                found @ (Capture::Inherits | Capture::Implements) => {
                    let kind = if found == Capture::Inherits { "inherits" } else { "implements" };
                    let target = capture.node.byte_range();
                    let implementor = words(Capture::Implementor);
                    self.heritage.push((pattern, Heritage { kind, target, implementor }));
                }
                Capture::ImportModule => {
                    let import = Import {
                        module: capture.node.byte_range(),
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
        self.scopes.sort_by_key(|(_, scope)| (scope.range.start, std::cmp::Reverse(scope.range.end), scope.name.start));
        let scopes: Vec<Scope> = self.scopes.into_iter().map(|(_, scope)| scope).collect();
        let defined: HashSet<usize> =
            scopes.iter().filter(|scope| scope.kind.is_some()).map(|scope| scope.name.start).collect();
        let (symbols, places) = nest(&scopes, language.separator, text, &lines);

        let mut heritage = self.heritage;
        first_pattern_wins(&mut heritage, |heritage| heritage.target.start);
        let mut imports = self.imports;
        first_pattern_wins(&mut imports, |import| {
            (import.name.as_ref().unwrap_or(&import.module).start, import.module.start)
        });

        // What a name is used as: heritage and imports say more than a plain reference does.
        let mut uses = self.references;
        uses.extend(heritage.iter().map(|(_, found)| (0, found.kind, found.target.clone())));
        uses.extend(imports.iter().filter_map(|(_, import)| Some((0, "import", import.name.clone()?))));
        let mut references: Vec<Reference> = Vec::new();
        uses.retain(|(_, _, name)| !defined.contains(&name.start));
        uses.sort_by_key(|(pattern, kind, name)| (name.start, rank(kind), *pattern));
        uses.dedup_by_key(|(_, _, name)| name.start);
        for (_, kind, name) in uses {
            let (line, column) = lines.position(text, name.start);
            references.push(Reference { name: last_name(&text[name]).to_owned(), kind, line, column });
        }

        let mut edges: Vec<Edge> = Vec::new();
        for (_, import) in imports {
            let line = lines.line(import.module.start);
            edges.push(Edge {
                kind: "imports",
                symbol: None,
                target: unquoted(&text[import.module]).to_owned(),
                name: import.name.map(|name| text[name].to_owned()).or_else(|| import.wildcard.then(|| "*".to_owned())),
                alias: import.alias,
                line,
            });
        }
        let by_name: HashMap<&str, usize> =
            symbols.iter().enumerate().rev().map(|(i, s)| (s.name.as_str(), i)).collect();
        for (_, found) in heritage {
            let symbol = match &found.implementor {
                Some(name) => by_name.get(bare_type(name)).copied(),
                None => innermost(&scopes, &places, found.target.start),
            };
            let name = found.implementor.filter(|_| symbol.is_none()).map(|name| bare_type(&name).to_owned());
            edges.push(Edge {
                kind: found.kind,
                symbol,
                target: text[found.target.clone()].to_owned(),
                name,
                alias: None,
                line: lines.line(found.target.start),
            });
        }
        edges.sort_by_key(|edge| edge.line);
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

/// Symbols in order of their definitions, with parents and containers; and for each scope its symbol's place.
fn nest(scopes: &[Scope], separator: &str, text: &str, lines: &Lines) -> (Vec<Symbol>, Vec<Option<usize>>) {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    // Scopes around the current one, each with its qualified name.
    let mut around: Vec<(usize, String)> = Vec::new();
    for (at, scope) in scopes.iter().enumerate() {
        while around.last().is_some_and(|(outer, _)| scopes[*outer].range.end < scope.range.end) {
            around.pop();
        }
        let name = unquoted(&text[scope.name.clone()]).to_owned();
        let outer = around.last();
        let container = match (outer, &scope.container) {
            (Some((_, outer)), Some(own)) => Some(format!("{outer}{separator}{own}")),
            (Some((_, outer)), None) => Some(outer.clone()),
            (None, own) => own.clone(),
        };
        let qualified = container.as_ref().map_or_else(|| name.clone(), |outer| format!("{outer}{separator}{name}"));
        let place = scope.kind.map(|kind| {
            let in_type = outer.is_some_and(|(outer, _)| scopes[*outer].kind.is_none_or(|kind| TYPES.contains(&kind)));
            let (line, column) = lines.position(text, scope.name.start);
            symbols.push(Symbol {
                name,
                kind: if kind == "function" && in_type { "method" } else { kind },
                parent: around.iter().rev().find_map(|(outer, _)| places[*outer]),
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
        around.push((at, qualified));
    }
    (symbols, places)
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
    let body = body.or_else(|| start.child_by_field_name("body"));
    let head = match body {
        Some(body) => &text[start.start_byte()..body.start_byte().max(start.start_byte())],
        None => text[start.byte_range()].lines().next().unwrap_or_default(),
    };
    let mut words = String::new();
    let mut chars = 0;
    for word in head.split_whitespace() {
        chars += word.chars().count() + 1;
        if chars > SIGNATURE_CHARS {
            words.push('…');
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    let words = words.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '{' | ':' | '='));
    (!words.is_empty()).then(|| words.to_owned())
}

/// `a.b.C`, `a::C`, `a/C` and `'C'` name `C`.
fn last_name(text: &str) -> &str {
    let text = unquoted(text);
    text.rsplit(['.', ':', '\\']).next().filter(|name| is_name(name)).unwrap_or(text)
}

/// The name of a type without its arguments: `Vec` for `&mut Vec<T>`.
fn bare_type(text: &str) -> &str {
    let head = text.split(['<', '[', '(']).next().unwrap_or(text).trim();
    head.rsplit([' ', '.', ':', '&', '*']).next().unwrap_or(head)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let quoted = text.len() >= 2
        && ((text.starts_with(['"', '\'', '`']) && text.ends_with(&text[..1]))
            || (text.starts_with('<') && text.ends_with('>')));
    if quoted { &text[1..text.len() - 1] } else { text }
}

fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) || text.contains('_')
}

/// Where lines start, in bytes.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Self { starts }
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
        let column = text[start..at].chars().count() + 1;
        (line, u32::try_from(column).unwrap_or(u32::MAX))
    }
}
