//! The nesting of definitions: which are local, which are clauses of one, and which contain others.
//!
//! Owns parents, containers and qualified names. `parse` decides what is a definition.

use std::collections::HashSet;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::heading_text;
use super::kinds::TYPES;
use super::source::{Head, Lines};
use crate::model::Symbol;

/// Kinds that contain nothing: what is in their range (a conditional after a rule) is next to them.
const LEAVES: &[&str] = &["target"];

/// Kinds whose types may have members.
const SHAPES: &[&str] = &["variable", "constant", "field", "type"];

/// Qualified names grow no further than this many nested definitions: a file that nests thousands must not make
/// names of a megabyte.
const DEEPEST_CONTAINER: usize = 32;

/// Where a definition is a symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    Always,
    /// Where no other has its name.
    Alone,
    /// In a variable, constant, field or type.
    InShape,
}

/// Something with a range that can contain others: a definition, or a scope.
pub(super) struct Scope {
    pub(super) range: Range<usize>,
    /// `None` for a scope that is not a symbol.
    pub(super) kind: Option<&'static str>,
    pub(super) name: Range<usize>,
    pub(super) container: Vec<Range<usize>>,
    pub(super) level: Option<u8>,
    pub(super) is_clause: bool,
    /// Number of parameters: clauses with another number belong to another definition.
    pub(super) arity: usize,
    /// Whether it belongs to the type around it, even from inside a function.
    pub(super) is_member: bool,
    pub(super) counts: Counts,
    pub(super) head: Option<Head>,
    pub(super) has_body: bool,
}

impl Scope {
    pub(super) fn without_symbol(range: Range<usize>, name: Range<usize>) -> Self {
        Self {
            range,
            kind: None,
            name,
            container: Vec::new(),
            level: None,
            is_clause: false,
            arity: 0,
            is_member: false,
            counts: Counts::Always,
            head: None,
            has_body: true,
        }
    }

    /// Whether this does not contain `other`, which starts no earlier.
    fn ends_before(&self, other: &Self) -> bool {
        self.range.end < other.range.end || self.range == other.range
    }

    /// Whether this is local to a block.
    fn stays_local(&self) -> bool {
        match self.kind {
            Some("variable") => true,
            Some("constant") => !self.is_member,
            Some("function") => !self.has_body,
            _ => false,
        }
    }
}

/// The ranges of the names of definitions.
pub(super) struct Names(Vec<Range<usize>>);

impl Names {
    /// A name in brackets is an expression, in which others occur.
    pub(super) fn from_scopes(scopes: &[Scope], text: &str) -> Self {
        let is_name = |scope: &&Scope| scope.kind.is_some() && !text[scope.name.start..].starts_with('[');
        let symbols = scopes.iter().filter(is_name);
        let mut names: Vec<Range<usize>> = symbols.map(|scope| scope.name.clone()).collect();
        names.sort_by_key(|name| name.start);
        Self(names)
    }

    pub(super) fn hold(&self, at: usize) -> bool {
        let before = self.0.partition_point(|name| name.start <= at);
        before > 0 && self.0[before - 1].end > at
    }
}

/// Symbols in order of their definitions, with parents and containers; and for each scope its symbol's index.
pub(super) fn nest(scopes: &[Scope], separator: &str, text: &str, lines: &Lines) -> (Vec<Symbol>, Vec<Option<usize>>) {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut symbol_indexes: Vec<Option<usize>> = Vec::new();
    // Scopes around the current one, each with its qualified name.
    let mut around: Vec<(usize, String)> = Vec::new();
    for (at, scope) in scopes.iter().enumerate() {
        while around.last().is_some_and(|(outer, _)| scopes[*outer].ends_before(scope)) {
            around.pop();
        }
        let name = name_of(scope, text);
        // What a constructor's parameters declare belongs to the type.
        let is_member = matches!(scope.kind, Some("field" | "property"));
        let is_set = scope.is_member && !matches!(scope.kind, Some("variable" | "function"));
        let holds = |outer: usize| {
            let kind = scopes[outer].kind;
            let is_parameter = scopes[outer].head.as_ref().is_none_or(|head| scope.name.start < head.end);
            // `typedef struct {} Sail, *Sails;`
            let is_neighbour = scope
                .head
                .as_ref()
                .is_some_and(|head| head.start < scope.range.start && head.start == scopes[outer].range.start);
            let is_passed_over = is_neighbour
                || is_chained(&scopes[outer], scope, text)
                || (is_member && kind == Some("constructor") && is_parameter)
                || (scope.is_member && matches!(kind, Some("variable" | "attribute")))
                || (is_set && kind.is_some_and(|kind| !TYPES.contains(&kind)));
            !is_passed_over
        };
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
        let index = scope.kind.map(|kind| {
            let in_type = outer.is_some_and(|(outer, _)| scopes[*outer].kind.is_none_or(|kind| TYPES.contains(&kind)));
            let (line, column) = lines.position(text, scope.name.start);
            let signature = scope.head.as_ref().and_then(|head| head.signature(text));
            let written = scope.head.as_ref().zip(signature.as_deref());
            let written = written.and_then(|(head, signature)| head.written(signature, text));
            symbols.push(Symbol {
                name,
                kind: match kind {
                    "function" if in_type || (scope.is_member && container.is_some()) => "method",
                    "variable" if in_type && scope.is_member => "attribute",
                    kind => kind,
                },
                parent: around
                    .iter()
                    .rev()
                    .filter(|(outer, _)| holds(*outer))
                    .find_map(|(outer, _)| symbol_indexes[*outer]),
                container,
                signature,
                written: written.map(|range| {
                    let start = lines.offset(text, range.start);
                    start..lines.offset(text, range.end)
                }),
                line,
                column,
                start_line: lines.line(scope.range.start),
                end_line: lines.end_line(text, &scope.range),
            });
            symbols.len() - 1
        });
        symbol_indexes.push(index);
        if !scope.kind.is_some_and(|kind| LEAVES.contains(&kind)) {
            around.push((at, qualified));
        }
    }
    (symbols, symbol_indexes)
}

/// Whether a definition is assigned what `inner` is assigned: `a.b = c.d = function () {}`.
fn is_chained(outer: &Scope, inner: &Scope, text: &str) -> bool {
    let is_target = |c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '_' | '$' | '.' | '=');
    outer.range.end == inner.range.end
        && text[inner.name.end..].trim_start().starts_with('=')
        && text
            .get(outer.name.end..inner.range.start)
            .is_some_and(|between| between.trim_end().ends_with('=') && between.chars().all(is_target))
}

/// The name as it is usually written: on one line, without quotes; of a heading, what it shows.
fn name_of(scope: &Scope, text: &str) -> String {
    let mut name = &text[scope.name.clone()];
    if scope.level.is_some() {
        let head = name.trim_end_matches('#');
        name = if head.ends_with(char::is_whitespace) { head.trim_end() } else { name };
        return heading_text::shown(name).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if name.contains('\n') { name.split_whitespace().collect::<Vec<_>>().join(" ") } else { name.to_owned() }
}

/// Drops definitions that do not count where they are. `scopes` come in order of their starts.
pub(super) fn drop_uncounted(scopes: &mut Vec<Scope>, text: &str) {
    if scopes.iter().all(|scope| scope.counts == Counts::Always) {
        return;
    }
    let mut around: Vec<usize> = Vec::new();
    // Names, by the definition around them.
    let mut declared: HashSet<(Option<usize>, &str), RandomState> = HashSet::default();
    let mut assigned = Vec::new();
    let mut counted = vec![true; scopes.len()];
    for (at, scope) in scopes.iter().enumerate() {
        while around.last().is_some_and(|outer| scopes[*outer].ends_before(scope)) {
            around.pop();
        }
        let name = &text[scope.name.clone()];
        let kind = around.last().and_then(|outer| scopes[*outer].kind);
        match scope.counts {
            Counts::Always => _ = declared.insert((around.last().copied(), name)),
            Counts::Alone => {
                let is_type = |outer: &&usize| scopes[**outer].kind.is_some_and(|kind| TYPES.contains(&kind));
                assigned.push((at, (around.iter().rev().find(is_type).or(around.last()).copied(), name)));
            }
            Counts::InShape => counted[at] = kind.is_some_and(|kind| SHAPES.contains(&kind)),
        }
        if counted[at] {
            around.push(at);
        }
    }
    for (at, name) in assigned {
        counted[at] = declared.insert(name);
    }
    let mut counted = counted.into_iter();
    scopes.retain(|_| counted.next().unwrap_or(true));
}

/// Clauses of one name that follow each other become one definition. `scopes` come in order of their starts.
pub(super) fn join_clauses(scopes: impl Iterator<Item = Scope>, text: &str) -> Vec<Scope> {
    let mut joined: Vec<Scope> = Vec::new();
    // The last clause, and where the definition around it would have ended.
    let mut last: Option<usize> = None;
    for scope in scopes {
        if !scope.is_clause {
            // What is inside the last clause is not a break between it and the next.
            if last.is_some_and(|at| joined[at].range.end <= scope.range.start) {
                last = None;
            }
            joined.push(scope);
            continue;
        }
        let continued = last.filter(|&at| {
            let before = &joined[at];
            before.range.end <= scope.range.start
                && before.arity == scope.arity
                && text[before.name.clone()] == text[scope.name.clone()]
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

/// Drops definitions that are local to blocks; returns their names.
pub(super) fn drop_locals(scopes: &mut Vec<(usize, Scope)>, mut locals: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let key = |block: &Range<usize>| (block.start, std::cmp::Reverse(block.end));
    locals.sort_by_key(key);
    scopes.retain(|(_, scope)| locals.binary_search_by_key(&key(&scope.name), key).is_err());
    let blocks = locals.clone();
    let mut end = 0;
    locals.retain(|block| {
        let outermost = block.start >= end;
        end = end.max(block.end);
        outermost
    });
    let is_type = |scope: &&Scope| scope.kind.is_some_and(|kind| TYPES.contains(&kind));
    let mut types: Vec<Range<usize>> =
        scopes.iter().map(|(_, scope)| scope).filter(is_type).map(|scope| scope.range.clone()).collect();
    types.sort_by_key(key);
    // In a type that is itself in the block.
    let is_attribute = |scope: &Scope, block: usize| {
        let start_around = |ranges: &[Range<usize>], from: usize| {
            let before = &ranges[..ranges.partition_point(|range| range.start <= scope.name.start)];
            let mut nearest = before.iter().rev().take_while(|range| range.start >= from);
            nearest.find(|range| range.end > scope.name.start).map(|range| range.start)
        };
        let has_own_block = |start: usize| start_around(&blocks, start + 1).is_some();
        scope.is_member && start_around(&types, block).is_some_and(|start| !has_own_block(start))
    };
    let mut dropped = Vec::new();
    scopes.retain(|(_, scope)| {
        let block = locals.partition_point(|block| block.start <= scope.name.start).checked_sub(1);
        let block = block.map(|block| &locals[block]).filter(|block| scope.name.end <= block.end);
        let stays = block.is_none_or(|block| !scope.stays_local() || is_attribute(scope, block.start));
        if !stays {
            dropped.push(scope.name.clone());
        }
        stays
    });
    dropped
}

/// Definitions with a level reach to the next of the same or a lower number.
pub(super) fn extend_levels(scopes: &mut [(usize, Scope)], end: usize) {
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

/// The symbol of the smallest definition around `at`, which is not the name of it. Scopes are in order of their starts.
pub(super) fn innermost(scopes: &[Scope], symbol_indexes: &[Option<usize>], at: usize) -> Option<usize> {
    let before = scopes.partition_point(|scope| scope.range.start <= at);
    let is_around =
        |i: &usize| scopes[*i].range.end > at && scopes[*i].name.start != at && symbol_indexes[*i].is_some();
    (0..before).rev().find(is_around).and_then(|i| symbol_indexes[i])
}
