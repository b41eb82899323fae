//! Nodes of a syntax tree that a language's patterns found, before nesting is known.
//!
//! Owns how captures become definitions, references, edges and imports. Does not own which text is parsed (`parse`, `recover`).

use std::ops::Range;

use super::captures::{Capture, Compiled};
use super::patterns::Captured;
use super::scopes::{Counts, Scope};
use super::source::{Head, bare};
use super::syntax::{self, Syntax};

/// A match, with the text and the tree in which it was found.
struct Match<'a> {
    compiled: &'a Compiled,
    syntax: &'a Syntax,
    text: &'a str,
    captured: &'a [Captured],
}

impl Match<'_> {
    fn kind(&self, captured: &Captured) -> Capture {
        self.compiled.captures[captured.capture]
    }

    fn first(&self, wanted: Capture) -> Option<syntax::Node> {
        self.captured.iter().find(|captured| self.kind(captured) == wanted).map(|captured| captured.node)
    }

    /// Returns the ranges captured as `wanted`, in text order.
    fn ranges(&self, wanted: Capture) -> Vec<Range<usize>> {
        let captured = self.captured.iter().filter(|captured| self.kind(captured) == wanted);
        captured.map(|captured| self.syntax.range(captured.node)).collect()
    }

    /// Without quotes around it.
    fn range(&self, wanted: Capture) -> Option<Range<usize>> {
        let range = bare(self.syntax.range(self.first(wanted)?), self.text);
        (!range.is_empty()).then_some(range)
    }

    fn name(&self) -> Option<Range<usize>> {
        let signed = || {
            let range = self.range(Capture::SignedName)?;
            let name = self.text[range]
                .trim_end_matches(':')
                .rsplit(['$', ':'])
                .next()
                .unwrap_or_default()
                .trim_matches(['{', '}']);
            let start = name.as_ptr().addr() - self.text.as_ptr().addr();
            Some(start..start + name.len()).filter(|range| !range.is_empty())
        };
        self.range(Capture::Name).or_else(signed)
    }

    fn words(&self, wanted: Capture) -> Option<String> {
        Some(self.text[self.syntax.range(self.first(wanted)?)].to_owned())
    }

    /// The words of an import's module: from its first capture to its last, up to the name where that ends it.
    fn module(&self, name: Option<Range<usize>>) -> Range<usize> {
        let parts = self.ranges(Capture::ImportModule);
        let start = parts.iter().map(|part| part.start).min().unwrap_or_default();
        let last = parts.iter().map(|part| part.end).max().unwrap_or_default();
        let end = name.filter(|name| name.end == last && name.start > start).map_or(last, |name| name.start);
        if end < last || parts.len() > 1 {
            return start..start + self.text[start..end].trim_end_matches(['.', ':', '/', '\\', ' ']).len();
        }
        start..end
    }

    fn counts(&self) -> Counts {
        let captures = self.captured.iter().map(|captured| self.kind(captured));
        captures.fold(Counts::Always, |counts, capture| match capture {
            Capture::Assigned => Counts::Alone,
            Capture::Shape => Counts::InShape,
            _ => counts,
        })
    }

    fn level(&self) -> Option<u8> {
        self.captured.iter().find_map(|captured| match self.kind(captured) {
            Capture::Level(level) => Some(level),
            _ => None,
        })
    }
}

pub(super) struct Heritage {
    pub(super) kind: &'static str,
    pub(super) target: Range<usize>,
    pub(super) implementor: Option<String>,
}

pub(super) struct Import {
    pub(super) module: Range<usize>,
    pub(super) name: Option<Range<usize>>,
    /// Everything the module offers.
    pub(super) wildcard: bool,
    pub(super) alias: Option<String>,
}

/// The captured nodes of all matches, by pattern, before nesting is known.
#[derive(Default)]
pub(super) struct FoundNodes {
    pub(super) scopes: Vec<(usize, Scope)>,
    pub(super) locals: Vec<Range<usize>>,
    pub(super) bindings: Vec<Range<usize>>,
    pub(super) references: Vec<(usize, &'static str, Range<usize>)>,
    pub(super) heritage: Vec<(usize, Heritage)>,
    pub(super) imports: Vec<(usize, Import)>,
    /// To parse again, with their brackets.
    pub(super) items: Vec<Range<usize>>,
    /// Where the names of definitions start that the grammar took for something else.
    pub(super) misread: Vec<usize>,
}

impl FoundNodes {
    pub(super) fn collect(compiled: &Compiled, syntax: &Syntax, text: &str) -> Self {
        let mut found = Self::default();
        let mut types: Vec<Range<usize>> = Vec::new();
        compiled.patterns.matches(syntax, text, |pattern, captured| {
            let matched = Match { compiled, syntax, text, captured };
            types.extend(matched.ranges(Capture::Types));
            found.take(pattern, &matched);
        });
        types.sort_by_key(|range| range.start);
        for (_, kind, name) in found.references.iter_mut().filter(|_| !types.is_empty()) {
            let before = types.partition_point(|range| range.start <= name.start);
            if matches!(*kind, "call" | "use") && types[..before].last().is_some_and(|range| name.start < range.end) {
                *kind = "type";
            }
        }
        found
    }

    fn take(&mut self, pattern: usize, matched: &Match) {
        let Match { compiled, syntax, text, captured } = *matched;
        for capture in captured {
            let node = capture.node;
            match matched.kind(capture) {
                Capture::Definition(kind) => {
                    let Some(name) = matched.name() else {
                        continue;
                    };
                    let start = matched.first(Capture::Signature).unwrap_or(node);
                    let body = matched
                        .first(Capture::Body)
                        .or_else(|| compiled.body.and_then(|field| syntax.child(start, field)));
                    let body = body.map(|body| syntax.range(body).start);
                    let mut range = syntax.range(start);
                    // A description before the name says nothing of the signature.
                    let is_comment = |child: &syntax::Node| {
                        compiled.comments.get(usize::from(syntax.kind(*child))).is_some_and(|is_comment| *is_comment)
                    };
                    if syntax.children(start).next().is_some_and(|first| is_comment(&first))
                        && let Some(first) = syntax.children(start).find(|child| !is_comment(child))
                    {
                        range.start = syntax.range(first).start.min(name.start);
                    }
                    let mut head = Head::find(&range, body, text, name.end, compiled.whole_heads);
                    head.comments = syntax.comments(start, head.end, &compiled.comments);
                    let arity = matched.first(Capture::Arity);
                    let definition = syntax.range(node);
                    let scope = Scope {
                        range: definition.start.min(name.start)..definition.end,
                        kind: Some(kind),
                        name,
                        container: matched
                            .ranges(Capture::Container)
                            .into_iter()
                            .map(|part| bare(part, text))
                            .collect(),
                        level: matched.level(),
                        is_clause: matched.first(Capture::Clause).is_some(),
                        arity: arity.map_or(0, |parameters| syntax.count_named(parameters)),
                        is_member: matched.first(Capture::Member).is_some(),
                        counts: matched.counts(),
                        head: Some(head),
                        has_body: body.is_some(),
                    };
                    self.scopes.push((pattern, scope));
                }
                Capture::Scope => {
                    let Some(name) = matched.name() else {
                        continue;
                    };
                    self.scopes.push((pattern, Scope::without_symbol(syntax.range(node), name)));
                }
                Capture::Local => self.locals.push(syntax.range(node)),
                Capture::Binding => self.bindings.push(syntax.range(node)),
                Capture::Items => self.items.push(syntax.range(node)),
                Capture::Misread => self.misread.extend(matched.name().map(|name| name.start)),
                Capture::Reference(kind) => {
                    let Some(name) = matched.name() else {
                        continue;
                    };
                    self.references.push((pattern, kind, name));
                }
                found @ (Capture::Inherits | Capture::Implements) => {
                    let kind = if found == Capture::Inherits { "inherits" } else { "implements" };
                    let target = syntax.range(node);
                    let implementor = matched.words(Capture::Implementor);
                    self.heritage.push((pattern, Heritage { kind, target, implementor }));
                }
                Capture::ImportModule if Some(node) == matched.first(Capture::ImportModule) => {
                    let name = matched.range(Capture::ImportName);
                    let import = Import {
                        module: matched.module(name.clone()),
                        name,
                        wildcard: matched.first(Capture::ImportWildcard).is_some(),
                        alias: matched.words(Capture::ImportAlias),
                    };
                    self.imports.push((pattern, import));
                }
                _ => {}
            }
        }
    }
}
