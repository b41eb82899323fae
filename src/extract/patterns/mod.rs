//! A language's patterns, run over a flat tree.
//!
//! Owns the supported syntax of `.scm` files, and matching. It exists because tree-sitter's own query
//! cursor takes as long as its parser: it walks the tree again, and keeps a state for each match that might still come.
//! Here the kind of a node names the few patterns that may begin at it, and each looks ahead.
//!
//! Supported: named and anonymous nodes, `_`, `ERROR`, fields, absent fields (`!name`), alternatives, captures, `?`,
//! `+` on nodes without children, the anchor `.`, and the predicates `#eq?`, `#match?` and their `not-` forms. A
//! pattern has one root. The tests compare with tree-sitter's own queries.

mod read;

use std::num::NonZeroU16;

use regex_automata::meta::Regex;

use super::syntax::{ERROR, Node, Syntax};

/// The patterns of one `.scm`.
pub(in crate::extract) struct Patterns {
    patterns: Vec<Pattern>,
    /// By kind: patterns that may begin at such a node, and which of their roots.
    by_kind: Vec<Vec<(usize, usize)>>,
    at_error: Vec<(usize, usize)>,
    /// By kind: what `(_)` matches.
    is_named: Vec<bool>,
    captures: Vec<String>,
}

/// One node that a pattern captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::extract) struct Captured {
    /// Index into [`Patterns::captures`].
    pub capture: usize,
    pub node: Node,
}

struct Pattern {
    /// Alternatives.
    roots: Vec<Shape>,
    predicates: Vec<Predicate>,
}

/// The shape of one node in a pattern.
struct Shape {
    kind: Kind,
    field: Option<NonZeroU16>,
    absent: Vec<NonZeroU16>,
    captures: Vec<usize>,
    children: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    One(u16),
    /// Kinds of a supertype.
    AnyOf(Vec<u16>),
    Named,
    Any,
}

/// One child, or several.
struct Step {
    /// Alternatives.
    shapes: Vec<Shape>,
    many: Many,
    /// Nothing named is between it and the step before, or its parent's beginning.
    is_next: bool,
    /// Nothing named follows it.
    is_last: bool,
    /// Neither it nor what is below it is captured: where it matches does not matter.
    is_silent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Many {
    One,
    Optional,
    /// Side by side, as many as there are.
    Repeated,
}

struct Predicate {
    capture: usize,
    test: Test,
    /// Result of the test with which the predicate holds.
    wanted: bool,
}

enum Test {
    Is(String),
    IsEqual(usize),
    Matches(Box<Regex>),
}

/// Steps that are still to match after the children of a node, in its parent.
struct RemainingSteps<'a> {
    steps: &'a [Step],
    from: Node,
    end: Node,
    then: Option<&'a Self>,
}

/// One attempt at one pattern.
struct Attempt<'a> {
    patterns: &'a Patterns,
    syntax: &'a Syntax,
    text: &'a str,
    predicates: &'a [Predicate],
    captured: &'a mut Vec<Captured>,
    found: &'a mut dyn FnMut(&[Captured]),
}

impl Patterns {
    /// Names of captures without their `@`, by index.
    pub(in crate::extract) fn captures(&self) -> &[String] {
        &self.captures
    }

    /// Calls `found` with each match: which pattern, and what it captured in the pattern's order. Matches come in order
    /// of their first nodes; those of one pattern at one node in order of the text.
    pub(in crate::extract) fn matches(&self, syntax: &Syntax, text: &str, mut found: impl FnMut(usize, &[Captured])) {
        let mut captured = Vec::new();
        for node in syntax.nodes() {
            let kind = syntax.kind(node);
            let roots = if kind == ERROR { &self.at_error } else { &self.by_kind[usize::from(kind)] };
            for &(pattern, root) in roots {
                let Pattern { roots, predicates } = &self.patterns[pattern];
                let mut found = |captured: &[Captured]| found(pattern, captured);
                let mut attempt =
                    Attempt { patterns: self, syntax, text, predicates, captured: &mut captured, found: &mut found };
                attempt.shape(&roots[root], node, None);
            }
        }
    }

    fn is_named(&self, kind: u16) -> bool {
        kind == ERROR || self.is_named.get(usize::from(kind)).is_some_and(|named| *named)
    }

    fn fits(&self, wanted: &Kind, kind: u16) -> bool {
        match wanted {
            Kind::One(one) => *one == kind,
            Kind::AnyOf(several) => several.contains(&kind),
            Kind::Named => kind != ERROR && self.is_named(kind),
            Kind::Any => kind != ERROR,
        }
    }
}

impl Attempt<'_> {
    /// Whether `node` has the shape and `rest` follows, in one way at least.
    fn shape(&mut self, shape: &Shape, node: Node, rest: Option<&RemainingSteps>) -> bool {
        let syntax = self.syntax;
        let fits = self.patterns.fits(&shape.kind, syntax.kind(node))
            && shape.field.is_none_or(|field| syntax.field(node) == Some(field))
            && shape.absent.iter().all(|field| syntax.child(node, *field).is_none());
        if !fits {
            return false;
        }
        let before = self.captured.len();
        self.captured.extend(shape.captures.iter().map(|&capture| Captured { capture, node }));
        let any = self.steps(&shape.children, syntax.first(node), syntax.next(node), rest);
        self.captured.truncate(before);
        any
    }

    /// Whether the steps match among the nodes from `from` to `end`, and `rest` follows, in one way at least.
    fn steps(&mut self, steps: &[Step], from: Node, end: Node, rest: Option<&RemainingSteps>) -> bool {
        let Some((step, others)) = steps.split_first() else {
            return match rest {
                None => self.finish(),
                Some(rest) => self.steps(rest.steps, rest.from, rest.end, rest.then),
            };
        };
        let syntax = self.syntax;
        let is_anywhere = step.is_silent && !others.first().is_some_and(|next| next.is_next);
        let mut any = false;
        for node in syntax.between(from, end) {
            let behind = syntax.next(node);
            if !step.is_last || !self.has_named(behind, end) {
                if is_anywhere && step.shapes.iter().any(|shape| self.probe(shape, node)) {
                    // The first one leaves most to the others, which would not find more after a later one.
                    return self.steps(others, behind, end, rest);
                }
                any |= match step.many {
                    _ if is_anywhere => false,
                    Many::Repeated => self.repeated(step, others, node, end, rest),
                    Many::One | Many::Optional => {
                        let rest = RemainingSteps { steps: others, from: behind, end, then: rest };
                        step.shapes.iter().filter(|shape| self.shape(shape, node, Some(&rest))).count() > 0
                    }
                };
                if any && step.many == Many::Repeated {
                    break;
                }
            }
            if step.is_next && self.patterns.is_named(syntax.kind(node)) {
                break;
            }
        }
        // With it is more than without it.
        any || (step.many == Many::Optional && self.steps(others, from, end, rest))
    }

    /// Whether `node` has a shape that captures nothing.
    fn probe(&self, shape: &Shape, node: Node) -> bool {
        let Self { patterns, syntax, text, .. } = *self;
        let (captured, found) = (&mut Vec::new(), &mut |_: &[Captured]| {});
        Attempt { patterns, syntax, text, predicates: &[], captured, found }.shape(shape, node, None)
    }

    /// Matches as many adjacent nodes from `first` on as leave enough for the other steps.
    fn repeated(
        &mut self,
        step: &Step,
        others: &[Step],
        first: Node,
        end: Node,
        rest: Option<&RemainingSteps>,
    ) -> bool {
        let syntax = self.syntax;
        let before = self.captured.len();
        let mut reached = Vec::new();
        for node in syntax.between(first, end) {
            let kind = syntax.kind(node);
            let Some(shape) = step.shapes.iter().find(|shape| self.patterns.fits(&shape.kind, kind)) else { break };
            self.captured.extend(shape.captures.iter().map(|&capture| Captured { capture, node }));
            reached.push((self.captured.len(), syntax.next(node)));
        }
        let any = reached.into_iter().rev().any(|(captured, behind)| {
            self.captured.truncate(captured);
            self.steps(others, behind, end, rest)
        });
        self.captured.truncate(before);
        any
    }

    fn has_named(&self, from: Node, end: Node) -> bool {
        self.syntax.between(from, end).any(|node| self.patterns.is_named(self.syntax.kind(node)))
    }

    fn finish(&mut self) -> bool {
        if self.predicates.iter().all(|predicate| self.holds(predicate)) {
            (self.found)(self.captured);
        }
        true
    }

    fn holds(&self, predicate: &Predicate) -> bool {
        let texts = |wanted: usize| {
            let captured = self.captured.iter().filter(move |captured| captured.capture == wanted);
            captured.map(|captured| &self.text[self.syntax.range(captured.node)])
        };
        let mut of_capture = texts(predicate.capture);
        match &predicate.test {
            Test::Is(word) => of_capture.all(|text| (text == word) == predicate.wanted),
            Test::Matches(regex) => of_capture.all(|text| regex.is_match(text) == predicate.wanted),
            Test::IsEqual(other) => {
                of_capture.zip(texts(*other)).all(|(one, other)| (one == other) == predicate.wanted)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::ops::Range;
    use std::path::{Path, PathBuf};

    use streaming_iterator::StreamingIterator;
    use tree_sitter::{Parser, Query, QueryCursor};

    use super::Patterns;
    use crate::extract::languages::{self, LANGUAGES, Language};
    use crate::extract::syntax::{self, Syntax};
    use crate::model::RepoPath;

    type Match = (usize, Vec<(String, Range<usize>)>);

    fn ours(patterns: &Patterns, grammar: &tree_sitter::Language, text: &str) -> BTreeSet<String> {
        let syntax = Syntax::parse(grammar, text).unwrap();
        let mut matches = Vec::new();
        patterns.matches(&syntax, text, |pattern, captured| {
            let name = |capture: usize| patterns.captures()[capture].clone();
            matches.push((pattern, captured.iter().map(|c| (name(c.capture), syntax.range(c.node))).collect()));
        });
        described(matches)
    }

    fn tree_sitters(query: &Query, grammar: &tree_sitter::Language, text: &str) -> BTreeSet<String> {
        let tree = syntax::parse(grammar, text).unwrap();
        let mut cursor = QueryCursor::new();
        let mut found = cursor.matches(query, tree.root_node(), text.as_bytes());
        let mut matches = Vec::new();
        while let Some(matched) = found.next() {
            let name = |index: u32| query.capture_names()[index as usize].to_owned();
            let captured = matched.captures().iter().map(|c| (name(c.index), c.node.byte_range())).collect();
            matches.push((matched.pattern_index, captured));
        }
        described(matches)
    }

    /// Lists matches in no order: callers take the first pattern, and of one pattern the first match in the text.
    fn described(matches: Vec<Match>) -> BTreeSet<String> {
        let line = |(pattern, mut captured): Match| {
            captured.sort_by(|one, other| (one.1.start, &one.0).cmp(&(other.1.start, &other.0)));
            format!("{pattern} {captured:?}")
        };
        matches.into_iter().map(line).collect()
    }

    fn below(folder: &Path) -> Vec<PathBuf> {
        let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_file() {
                    files.push(entry.path());
                }
            }
        }
        files.sort();
        files
    }

    /// tree-sitter sees only the first designator.
    #[test]
    fn a_field_that_repeats_is_matched_each_time() {
        let grammar: tree_sitter::Language = tree_sitter_c::LANGUAGE.into();
        let pattern = "(initializer_pair designator: (field_designator (field_identifier) @name))";
        let patterns = Patterns::read(&grammar, pattern).unwrap();
        let text = "struct user root = { .name.first = a, .age = 1 };";
        let matches = ours(&patterns, &grammar, text);
        let names = [(22, 26), (27, 32), (39, 42)].map(|(start, end)| format!("0 {:?}", [("name", start..end)]));
        assert_eq!(matches, BTreeSet::from(names));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let grammar: tree_sitter::Language = tree_sitter_c::LANGUAGE.into();
        let faults = [
            ("(identifier", "a node"),
            ("(no_such_kind)", "no kind `no_such_kind`"),
            ("(declaration nothing: (_))", "no field `nothing`"),
            ("(declaration (identifier)*)", "`*` is not understood"),
            ("((identifier) @name (#is? @name \"x\"))", "no predicate #is?"),
            ("((identifier) @name (#match? @name \"(\"))", "is not a pattern"),
            ("(identifier) \"", "not closed"),
        ];
        for (source, expected) in faults {
            let fault = Patterns::read(&grammar, source).err().unwrap_or_default();
            assert!(fault.contains(expected), "{source}: {fault}");
        }
    }

    /// Every language's fixtures, and the sources at `IXMCP_SYNTAX_TREE` where that is set. Of those, nothing may be
    /// missing: more is found where a field repeats.
    #[test]
    fn matches_are_those_of_tree_sitters_queries() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages");
        let mut files = below(&fixtures);
        files.extend(std::env::var("IXMCP_SYNTAX_TREE").iter().flat_map(|tree| below(Path::new(tree))));
        let compiled = |language: &'static Language| {
            let grammar = (language.grammar?)();
            let query = Query::new(&grammar, language.query).unwrap();
            let patterns = Patterns::read(&grammar, language.query).unwrap();
            Some((language.name, grammar, query, patterns))
        };
        let compiled: Vec<_> = LANGUAGES.iter().filter_map(compiled).collect();
        let mut seen = BTreeSet::new();
        let (mut compared, mut faults) = (0, Vec::new());
        for file in files {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let Some(path) = RepoPath::new(file.file_name().unwrap().to_string_lossy()) else { continue };
            let language = languages::of_file(&path, &text);
            let Some((name, grammar, query, patterns)) = compiled.iter().find(|known| known.0 == language.name) else {
                continue;
            };
            if text.len() > 1 << 20 || Parser::new().set_language(grammar).is_err() {
                continue;
            }
            let (ours, theirs) = (ours(patterns, grammar, &text), tree_sitters(query, grammar, &text));
            compared += theirs.len();
            seen.extend((!theirs.is_empty()).then_some(*name));
            let missing = theirs.difference(&ours).map(|line| format!("{}: missing {line}", file.display()));
            faults.extend(missing.take(3));
            let extra = ours.difference(&theirs).map(|line| format!("{}: extra {line}", file.display()));
            faults.extend(extra.take(3).filter(|_| file.starts_with(&fixtures)));
        }
        assert!(
            faults.is_empty(),
            "{} of {compared} matches:\n{}",
            faults.len(),
            faults[..faults.len().min(60)].join("\n")
        );
        let unseen: Vec<_> = compiled.iter().map(|known| known.0).filter(|name| !seen.contains(name)).collect();
        assert!(unseen.is_empty(), "no match was compared of {unseen:?}");
    }
}
