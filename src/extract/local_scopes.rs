//! Local bindings of a text: the variables, parameters and types that blocks bind, and which words refer to them.
//!
//! Owns the patterns in `languages/scopes`. A pattern there may capture:
//!
//! | capture | on | gives |
//! |---|---|---|
//! | `@block`, `@function` | a node | what is bound in it is seen in it alone |
//! | `@binding` | a name, or a pattern with names | they are bound in the innermost block around them, from there on |
//! | `@after` | with a binding | … from where this node ends, the last one if several patterns match |
//! | `@until` | with a block | the block ends where this node begins |
//! | `@again` | with a binding | another variable, although the block has one of that name |
//! | `@early` | the same | bound in all of the innermost block |
//! | `@hoisted` | the same | bound in all of the innermost function |
//! | `@outer` | the same | bound in all of the block around the innermost one |
//! | `@type` | with a binding | the type that the variable is said to have |
//! | `@key`, `@of` | a name | a field or parameter of what `@of` captures, if anything does |
//! | `@shorthand`, `@of` | a name | that and a variable: `{ name }` |
//! | `@declared` | a name | declares a label or a field of something without a name, or refers to one |
//! | `@taken` | a name | the function takes it from outside: nothing in it binds it |
//! | `@free` | a name | refers to what is outside of all blocks |
//!
//! A name bound outside of all blocks is a symbol of the file, and not local.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::patterns::{Captured, Patterns};
use super::read_word::{ReadWord, hash};
use super::syntax::{Node, Syntax};

/// A language's grammar and the patterns of its scopes.
pub(super) struct Compiled {
    pub(super) grammar: tree_sitter::Language,
    patterns: Patterns,
    captures: Vec<Capture>,
    /// Whether names in patterns that begin with an uppercase letter are constants.
    has_constant_patterns: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Capture {
    Block,
    Function,
    Bind(Reach),
    After,
    Until,
    Again,
    Key,
    Shorthand,
    Of,
    Type,
    Declared,
    Free,
    Taken,
}

/// Where a binding is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    FromHere,
    Block,
    Function,
    Outer,
}

/// A word that a pattern classifies without binding it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A key or field, with the range of the thing that it belongs to.
    Key(Option<Range<usize>>),
    Shorthand(Option<Range<usize>>),
    Declared,
    Free,
}

impl Mark {
    /// The precedence of a mark: the more specific one wins.
    fn rank(&self) -> u8 {
        match self {
            Self::Free => 4,
            Self::Key(Some(_)) | Self::Shorthand(Some(_)) => 3,
            Self::Key(None) => 2,
            Self::Shorthand(None) => 1,
            Self::Declared => 0,
        }
    }
}

struct Block {
    range: Range<usize>,
    is_function: bool,
    /// By name, then by where they are seen from.
    bound: Vec<Bound>,
}

#[derive(Clone, Debug)]
struct Bound {
    hash: u64,
    from: usize,
    at: usize,
    is_again: bool,
    is_type: bool,
}

/// The bindings of all blocks, and the marks of words by their start.
pub(super) struct Bindings {
    blocks: Vec<Block>,
    /// The ranges of the types of variables, by where these are bound.
    pub(super) types: HashMap<usize, Range<usize>>,
    /// The names that the text binds outside of all blocks.
    pub(super) outermost: HashSet<u64>,
    pub(super) marks: HashMap<usize, Mark>,
}

impl Compiled {
    /// Reads the patterns of a language.
    pub(super) fn read(language: &str, grammar: tree_sitter::Language, scopes: &[&str]) -> Result<Self, String> {
        let patterns = Patterns::read(&grammar, &scopes.concat())
            .map_err(|fault| format!("the scopes of {language} cannot be read: {fault}"))?;
        let known = |name: &String| {
            Capture::from_name(name).ok_or_else(|| format!("the scopes of {language} have an unknown capture @{name}"))
        };
        let captures = patterns.captures().iter().map(known).collect::<Result<_, _>>()?;
        let has_constant_patterns = matches!(language, "rust" | "scala");
        Ok(Self { grammar, patterns, captures, has_constant_patterns })
    }

    /// Returns the local bindings of a text.
    pub(super) fn bindings(&self, syntax: &Syntax, text: &str) -> Bindings {
        let mut found = FoundScopes::default();
        self.patterns.matches(syntax, text, |_, captured| found.take(self, captured, syntax, text));
        found.resolve()
    }
}

impl Capture {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "block" => Self::Block,
            "function" => Self::Function,
            "binding" => Self::Bind(Reach::FromHere),
            "early" => Self::Bind(Reach::Block),
            "hoisted" => Self::Bind(Reach::Function),
            "outer" => Self::Bind(Reach::Outer),
            "after" => Self::After,
            "until" => Self::Until,
            "again" => Self::Again,
            "key" => Self::Key,
            "shorthand" => Self::Shorthand,
            "of" => Self::Of,
            "type" => Self::Type,
            "declared" => Self::Declared,
            "free" => Self::Free,
            "taken" => Self::Taken,
            _ => return None,
        })
    }
}

#[derive(Default)]
struct FoundScopes {
    blocks: Vec<(Range<usize>, bool)>,
    bound: Vec<(Reach, Bound)>,
    /// Names that functions take from outside, and where they say so.
    taken: Vec<(u64, usize)>,
    marks: HashMap<usize, Mark>,
    types: HashMap<usize, Range<usize>>,
}

impl FoundScopes {
    fn take(&mut self, compiled: &Compiled, captured: &[Captured], syntax: &Syntax, text: &str) {
        let kind = |captured: &Captured| compiled.captures[captured.capture];
        let first = |wanted: Capture| captured.iter().find(|one| kind(one) == wanted).map(|one| syntax.range(one.node));
        let is_again = first(Capture::Again).is_some();
        for one in captured {
            let mut mark = |mark: &dyn Fn() -> Mark| {
                for name in names_in(syntax, one.node) {
                    // A name with a sign is read without it, too.
                    let range = syntax.range(name);
                    let sign = text[range.clone()].find(|c: char| c.is_alphanumeric() || c == '_').unwrap_or_default();
                    for start in [range.start, range.start + sign] {
                        let known = self.marks.get(&start).map(Mark::rank);
                        if known.is_none_or(|known| known < mark().rank()) {
                            self.marks.insert(start, mark());
                        }
                    }
                }
            };
            match kind(one) {
                Capture::Block => {
                    let range = syntax.range(one.node);
                    let end = first(Capture::Until).map_or(range.end, |until| until.start);
                    self.blocks.push((range.start..end, false));
                }
                Capture::Function => self.blocks.push((syntax.range(one.node), true)),
                Capture::Key => mark(&|| Mark::Key(first(Capture::Of))),
                Capture::Shorthand => mark(&|| Mark::Shorthand(first(Capture::Of))),
                Capture::Declared => mark(&|| Mark::Declared),
                Capture::Free => mark(&|| Mark::Free),
                Capture::Taken => {
                    let range = syntax.range(one.node);
                    self.taken.push((hash(&text[range.clone()]), range.start));
                }
                Capture::Bind(reach) => {
                    let names = names_in(syntax, one.node);
                    let is_pattern = names.first() != Some(&one.node);
                    // The alternatives of a pattern bind one variable.
                    let mut seen = HashSet::new();
                    for name in names {
                        let range = syntax.range(name);
                        let word = text[range.clone()].trim_matches('`');
                        let is_constant = word.starts_with(char::is_uppercase)
                            && compiled.has_constant_patterns
                            && (is_pattern || reach == Reach::FromHere);
                        if is_constant {
                            continue;
                        }
                        let at =
                            range.start + text[range.clone()].len() - text[range.clone()].trim_start_matches('`').len();
                        let from = match reach {
                            Reach::FromHere => first(Capture::After).map_or(at, |after| after.end),
                            _ => 0,
                        };
                        // What is inferred is not said.
                        if let Some(stated) = first(Capture::Type)
                            && !matches!(&text[stated.clone()], "var" | "val" | "auto")
                        {
                            self.types.entry(at).or_insert(stated);
                        }
                        let is_type = syntax.kind_name(name).contains("type_identifier");
                        let hash = hash(word);
                        let is_again = is_again && seen.insert(hash);
                        self.bound.push((reach, Bound { hash, from, at, is_again, is_type }));
                    }
                }
                Capture::After | Capture::Until | Capture::Again | Capture::Of | Capture::Type => {}
            }
        }
    }

    fn resolve(mut self) -> Bindings {
        self.blocks.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        self.blocks.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            kept.1 |= is_same && later.1;
            is_same
        });
        let mut blocks: Vec<Block> = self
            .blocks
            .into_iter()
            .map(|(range, is_function)| Block { range, is_function, bound: Vec::new() })
            .collect();
        self.bound.sort_by_key(|(_, bound)| bound.at);
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        let mut outermost = HashSet::new();
        for (reach, bound) in self.bound {
            enter(&blocks, bound.at, &mut open, &mut next, &mut |_| {}, &mut |_| {});
            let innermost = match reach {
                Reach::FromHere | Reach::Block => open.last(),
                Reach::Function => open.iter().rev().find(|at| blocks[**at].is_function),
                Reach::Outer => open.len().checked_sub(2).and_then(|at| open.get(at)),
            };
            match innermost {
                Some(&block) => blocks[block].bound.push(bound),
                None => {
                    outermost.insert(bound.hash);
                }
            }
        }
        for (name, at) in self.taken {
            let is_around = |block: &&mut Block| block.is_function && block.range.contains(&at);
            if let Some(function) = blocks.iter_mut().rfind(is_around) {
                function.bound.retain(|bound| bound.hash != name);
            }
        }
        for block in &mut blocks {
            // A name that several patterns bind.
            block.bound.sort_by_key(|bound| (bound.hash, bound.at, std::cmp::Reverse(bound.from), !bound.is_again));
            block.bound.dedup_by(|later, kept| {
                let is_same = later.at == kept.at;
                is_same && later.hash == kept.hash
            });
            block.bound.sort_by_key(|bound| (bound.hash, bound.from, bound.at));
        }
        Bindings { blocks, types: self.types, outermost, marks: self.marks }
    }
}

/// Leaves the blocks that end before a position and enters those that begin up to it.
fn enter(
    blocks: &[Block],
    at: usize,
    open: &mut Vec<usize>,
    next: &mut usize,
    entered: &mut dyn FnMut(usize),
    left: &mut dyn FnMut(usize),
) {
    loop {
        let start = blocks.get(*next).map(|block| block.range.start).filter(|start| *start <= at);
        let upto = start.unwrap_or(at);
        while let Some(&last) = open.last() {
            if blocks[last].range.end > upto {
                break;
            }
            open.pop();
            left(last);
        }
        if start.is_none() {
            return;
        }
        open.push(*next);
        entered(*next);
        *next += 1;
    }
}

impl Bindings {
    /// For each word, in order: where the word starts that binds it.
    pub(super) fn binders(&self, words: &[ReadWord]) -> Vec<Option<usize>> {
        // The blocks that are open and bind a name.
        let binding = std::cell::RefCell::new(HashMap::<u64, Vec<usize>>::new());
        let (mut open, mut next) = (Vec::new(), 0);
        let names = |block: usize| {
            let mut names: Vec<u64> = self.blocks[block].bound.iter().map(|bound| bound.hash).collect();
            names.dedup();
            names
        };
        let mut entered = |block: usize| {
            for name in names(block) {
                binding.borrow_mut().entry(name).or_default().push(block);
            }
        };
        let mut left = |block: usize| {
            for name in names(block) {
                if let Some(blocks) = binding.borrow_mut().get_mut(&name) {
                    blocks.pop();
                }
            }
        };
        let mut found = Vec::with_capacity(words.len());
        for word in words {
            enter(&self.blocks, word.range.start, &mut open, &mut next, &mut entered, &mut left);
            let known = binding.borrow();
            let blocks = known.get(&word.hash).map(Vec::as_slice).unwrap_or_default();
            found.push(blocks.iter().rev().find_map(|block| self.blocks[*block].binder(word)));
        }
        found
    }
}

impl Block {
    /// The binding of the block that a word is.
    fn binder(&self, word: &ReadWord) -> Option<usize> {
        let first = self.bound.partition_point(|bound| bound.hash < word.hash);
        let of_name = &self.bound[first..];
        let of_name = &of_name[..of_name.partition_point(|bound| bound.hash == word.hash)];
        let at = word.range.start;
        let is_seen = |bound: &Bound| !word.is_type || bound.is_type || is_type_name(bound);
        // Begins at the last binding up to the word that is a new variable; a word that binds is its own last one.
        let own = of_name.iter().position(|bound| bound.at == at);
        let seen = own.map_or_else(|| of_name.partition_point(|bound| bound.from <= at), |own| own + 1);
        let seen = &of_name[..seen];
        let last = seen.iter().rposition(|bound| bound.is_again).unwrap_or(0);
        seen[last..].iter().find(|bound| is_seen(bound)).map(|bound| bound.at)
    }
}

/// Whether a variable's binding may be of a type: grammars may have one kind of name for both.
fn is_type_name(bound: &Bound) -> bool {
    bound.from == 0
}

/// Fields of a pattern in which no name is bound.
const NOT_BOUND: &[&str] = &["right", "default_value", "type", "condition", "size", "parameters", "body", "arguments"];

/// Nodes of a pattern in which no name is bound.
const OTHER_NODES: &[&str] = &[
    "computed_property_name",
    "scoped_identifier",
    "qualified_identifier",
    "call",
    "element_reference",
    "member_expression",
    "subscript_expression",
    "macro_invocation",
    "attribute",
    "subscript",
];

const NAMES: &[&str] = &[
    "identifier",
    "simple_identifier",
    "shorthand_property_identifier_pattern",
    "shorthand_property_identifier",
    "shorthand_field_identifier",
    "field_identifier",
    "type_identifier",
    "name",
];

/// The names that a pattern binds: itself, or the names in it.
fn names_in(syntax: &Syntax, pattern: Node) -> Vec<Node> {
    if !syntax.has_children(pattern) {
        return vec![pattern];
    }
    let mut names = Vec::new();
    let (mut node, end) = (syntax.first(pattern), syntax.next(pattern));
    while node < end {
        let field = syntax.field(node).and_then(|field| syntax.grammar().field_name_for_id(field.get()));
        let kind = syntax.kind_name(node);
        let is_other = field.is_some_and(|field| NOT_BOUND.contains(&field))
            || OTHER_NODES.contains(&kind)
            || kind.ends_with("_type")
            // The field that a part of a pattern is for.
            || (kind == "field_identifier" && field == Some("name"));
        if is_other {
            node = syntax.next(node);
        } else if NAMES.contains(&kind) {
            names.push(node);
            node = syntax.next(node);
        } else {
            node = syntax.first(node);
        }
    }
    names
}
