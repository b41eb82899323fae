//! Syntax highlighting for people: which parts of a text are keywords, strings, comments and names.
//!
//! Owns the classes, and the rules that give one to a node of any grammar by its kind, its field and its parents. The rules
//! are the same for all languages, because grammars give the same things the same names. Does not own colors.

mod kinds;

use std::num::NonZeroU16;
use std::ops::Range;

use tree_sitter::Language as Grammar;

pub use kinds::of_fence;

use kinds::{Base, Kind, kind_of};

use super::languages::{self, Language};
use super::parse;
use super::syntax::{Node, ROOT, Syntax};

/// Class of a part of a text. The page knows the classes by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    #[default]
    Plain,
    Comment,
    String,
    Escape,
    Number,
    Constant,
    Keyword,
    Type,
    Function,
    Property,
    Attribute,
    Tag,
    Heading,
}

/// A part of a line with its class. Offsets are UTF-16 code units, as browsers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub length: u32,
    pub class: Class,
}

/// The spans of a line as numbers: start, length and class of each, one after the other.
pub fn flat(spans: &[Span]) -> Vec<u32> {
    spans.iter().flat_map(|span| [span.start, span.length, span.class as u32]).collect()
}

/// Longer texts are not highlighted.
pub const MAX_BYTES: usize = 2 << 20;
/// Lines are highlighted up to this offset, in UTF-16 code units.
const MAX_COLUMN: u32 = 2_000;
/// The number of steps of the parser, of tree-sitter's progress calls, after which a text is left plain: about a second.
const STEPS: u32 = 20_000;

/// The spans of lines `from` to `to`, from 0, of a text in that language; `None` if the language has no grammar or the text
/// is too long or too hostile for it.
pub fn highlight(language: &str, text: &str, lines: Range<usize>) -> Option<Vec<Vec<Span>>> {
    let language = languages::by_name(language)?;
    let (starts, window) = window(text, &lines);
    let mut paint = Paint { classes: vec![Class::Plain; window.len()], window };
    paint.text(language, text)?;
    Some(starts.iter().map(|line| paint.spans(text, line.clone())).collect())
}

/// The ranges of the lines, without their ends, and the range of all of them.
fn window(text: &str, lines: &Range<usize>) -> (Vec<Range<usize>>, Range<usize>) {
    let mut start = 0;
    let mut found = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number >= lines.end {
            break;
        }
        if number >= lines.start {
            found.push(start..start + line.trim_end_matches(['\n', '\r']).len());
        }
        start += line.len();
    }
    let whole = found.first().map_or(0, |first: &Range<usize>| first.start)..found.last().map_or(0, |last| last.end);
    (found, whole)
}

/// The classes of the bytes of a window.
struct Paint {
    classes: Vec<Class>,
    window: Range<usize>,
}

impl Paint {
    fn fill(&mut self, range: &Range<usize>, class: Class) {
        let from = range.start.max(self.window.start) - self.window.start;
        let to = range.end.min(self.window.end).saturating_sub(self.window.start);
        if from < to {
            self.classes[from..to].fill(class);
        }
    }

    fn text(&mut self, language: &Language, text: &str) -> Option<()> {
        let grammar = (language.grammar?)();
        if text.len() > MAX_BYTES || parse::is_beyond(language, text) {
            return None;
        }
        let parts = language.parts.map(|parts| parts(text));
        if parts.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let syntax = Syntax::parse_within(&grammar, text, parts.as_deref(), STEPS)?;
        let embedded = self.nodes(&Rules::new(language.name, &grammar), &syntax, text);
        for (language, range) in embedded {
            self.embedded(language, text, &range);
        }
        Some(())
    }

    /// A part of the text in another language, such as a script in HTML.
    fn embedded(&mut self, language: &Language, text: &str, range: &Range<usize>) {
        let Some(grammar) = language.grammar.filter(|_| !parse::is_beyond(language, &text[range.clone()])) else {
            return;
        };
        let grammar = grammar();
        let ranges = [range.clone()];
        if let Some(syntax) = Syntax::parse_ranges(&grammar, text.as_bytes(), &ranges) {
            self.fill(range, Class::Plain);
            let _deeper = self.nodes(&Rules::new(language.name, &grammar), &syntax, text);
        }
    }

    /// Paints all nodes in the window, outer before inner. Returns the parts in other languages.
    fn nodes(&mut self, rules: &Rules, syntax: &Syntax, text: &str) -> Vec<(&'static Language, Range<usize>)> {
        let mut embedded = Vec::new();
        let mut open: Vec<EnclosingNode> = Vec::new();
        let (mut node, end) = (ROOT, syntax.next(ROOT));
        while node < end {
            while open.pop_if(|outer| outer.next <= node).is_some() {}
            let range = syntax.range(node);
            if range.end <= self.window.start {
                node = syntax.next(node);
                continue;
            }
            if range.start >= self.window.end {
                break;
            }
            let kind = rules.kind(syntax.kind(node));
            let is_solid = open.last().is_some_and(|outer| outer.is_solid);
            let painted = rules.paint(kind, node, &open, syntax, text);
            let mut solid = is_solid;
            match painted {
                Painted::Nothing => {}
                Painted::Reset => {
                    self.fill(&range, Class::Plain);
                    solid = false;
                }
                Painted::Solid(class) => {
                    if !is_solid || class == Class::Escape {
                        self.fill(&range, class);
                    }
                    solid = true;
                }
                Painted::Background(class) => {
                    if !is_solid {
                        self.fill(&range, class);
                    }
                }
            }
            if let Some(language) = kind.embeds.and_then(|how| how.language(node, &open, syntax, text)) {
                embedded.push((language, range.clone()));
            }
            if syntax.has_children(node) {
                let next = syntax.next(node);
                open.push(EnclosingNode { node, kind: syntax.kind(node), next, is_solid: solid });
            }
            node = syntax.first(node);
        }
        embedded
    }

    /// The spans of a line, as UTF-16 counts.
    fn spans(&self, text: &str, line: Range<usize>) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let mut column = 0;
        for (at, character) in text[line.clone()].char_indices() {
            if column >= MAX_COLUMN {
                break;
            }
            let class = self.classes[line.start + at - self.window.start];
            let length = if character.len_utf16() == 2 { 2 } else { 1 };
            match spans.last_mut().filter(|last| last.class == class && last.start + last.length == column) {
                Some(last) => last.length += length,
                None if class == Class::Plain => {}
                None => spans.push(Span { start: column, length, class }),
            }
            column += length;
        }
        spans
    }
}

/// A node around the current one.
struct EnclosingNode {
    node: Node,
    kind: u16,
    next: Node,
    /// Whether only escapes and interpolations in it are painted.
    is_solid: bool,
}

enum Painted {
    Nothing,
    /// Code inside a string.
    Reset,
    /// With everything in it, except escapes and code.
    Solid(Class),
    /// A class for the node, whose parts may have other classes.
    Background(Class),
}

/// The rules of one grammar, by the number of a kind.
struct Rules<'a> {
    language: &'static str,
    grammar: &'a Grammar,
    kinds: Vec<Kind>,
}

const CALLEES: &[&str] = &["function", "method", "name", "macro", "callee", "constructor", "target", "expr"];
const CONSTANTS: &[&str] = &["true", "false", "null", "nil", "none", "undefined", "nullptr", "NaN"];
const OWN: &[&str] = &["self", "this", "super", "cls", "Self", "base"];
/// Macros of Elixir that read as keywords.
const ELIXIR: &[&str] = &[
    "def",
    "defp",
    "defmodule",
    "defmacro",
    "defmacrop",
    "defstruct",
    "defprotocol",
    "defimpl",
    "defdelegate",
    "defguard",
    "defexception",
    "alias",
    "import",
    "require",
    "use",
    "if",
    "unless",
    "case",
    "cond",
    "with",
    "for",
    "raise",
    "quote",
    "unquote",
    "receive",
    "try",
];

impl<'a> Rules<'a> {
    fn new(language: &'static str, grammar: &'a Grammar) -> Self {
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| kind_of(grammar.node_kind_for_id(id).unwrap_or_default(), grammar.node_kind_is_named(id));
        Self { language, grammar, kinds: (0..count).map(kind).collect() }
    }

    fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or_default()
    }

    fn field(&self, field: Option<NonZeroU16>) -> &str {
        field.and_then(|field| self.grammar.field_name_for_id(field.get())).unwrap_or_default()
    }

    fn paint(&self, kind: Kind, node: Node, open: &[EnclosingNode], syntax: &Syntax, text: &str) -> Painted {
        let is_solid = open.last().is_some_and(|outer| outer.is_solid);
        if is_solid {
            return match kind.base {
                Base::Reset => Painted::Reset,
                Base::Solid(Class::Escape) => Painted::Solid(Class::Escape),
                _ => Painted::Nothing,
            };
        }
        if self.is_key(node, open, syntax) {
            return Painted::Solid(Class::Property);
        }
        match kind.base {
            Base::Reset => Painted::Reset,
            Base::Solid(class) => Painted::Solid(class),
            Base::Background(class) => Painted::Background(class),
            Base::Word => match CONSTANTS.contains(&syntax.kind_name(node)) {
                true => Painted::Solid(Class::Constant),
                false => Painted::Solid(Class::Keyword),
            },
            Base::Literal => match text[syntax.range(node)].bytes().next() {
                Some(b'0'..=b'9' | b'-' | b'.') => Painted::Solid(Class::Number),
                Some(b'\'' | b'"' | b'`') => Painted::Solid(Class::String),
                _ => Painted::Nothing,
            },
            Base::Name if !syntax.has_children(node) => {
                let class = match self.name(node, open, syntax, text) {
                    Class::Plain | Class::Type if syntax.kind_name(node) == "atom" => Class::Constant,
                    class => class,
                };
                if class == Class::Plain { Painted::Nothing } else { Painted::Solid(class) }
            }
            Base::Name => Painted::Nothing,
            Base::Other if !syntax.has_children(node) => {
                let word = &text[syntax.range(node)];
                let is_own_word =
                    word.len() > 1 && word.len() < 30 && word.eq_ignore_ascii_case(syntax.kind_name(node));
                match is_own_word && word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                    true if CONSTANTS.contains(&word.to_ascii_lowercase().as_str()) => Painted::Solid(Class::Constant),
                    true => Painted::Solid(Class::Keyword),
                    false => Painted::Nothing,
                }
            }
            Base::Other => Painted::Nothing,
        }
    }

    /// Whether a node is a key in JSON or YAML.
    fn is_key(&self, node: Node, open: &[EnclosingNode], syntax: &Syntax) -> bool {
        let is_data = matches!(self.language, "json" | "yaml");
        is_data
            && open.last().is_some_and(|outer| self.kind(outer.kind).is_pair)
            && self.field(syntax.field(node)) == "key"
    }

    /// The class of a name by its part in the nodes around it.
    fn name(&self, node: Node, open: &[EnclosingNode], syntax: &Syntax, text: &str) -> Class {
        let range = syntax.range(node);
        let word = &text[range.clone()];
        if OWN.contains(&word) {
            return Class::Keyword;
        }
        if CONSTANTS.contains(&word) {
            return Class::Constant;
        }
        // Nodes around the name that contain nothing else are passed over.
        let mut inner = node;
        let mut outer = open.iter().rev().peekable();
        let mut in_type = false;
        while let Some(around) = outer.next_if(|around| syntax.range(around.node) == range) {
            in_type |= self.kind(around.kind).is_type_use;
            inner = around.node;
        }
        let Some(parent) = outer.next() else { return by_case(word, self.language) };
        let (kind, field) = (self.kind(parent.kind), self.field(syntax.field(inner)));
        let is_callee = |inner: Node, field: &str, call: &EnclosingNode| {
            CALLEES.contains(&field) || (field.is_empty() && syntax.range(inner).start == syntax.range(call.node).start)
        };
        let own_field = self.field(syntax.field(node));
        if kind.is_element && (field == "name" || own_field == "name") {
            return Class::Tag;
        }
        if kind.is_call && is_callee(inner, field, parent) {
            let is_word = self.language == "elixir" && ELIXIR.contains(&word);
            return if is_word { Class::Keyword } else { Class::Function };
        }
        if kind.is_member && syntax.range(parent.node).end == range.end && syntax.range(parent.node).start < range.start
        {
            let called = outer.find(|around| !self.kind(around.kind).is_member || around.node == parent.node);
            let member_field = self.field(syntax.field(parent.node));
            if called.is_some_and(|call| self.kind(call.kind).is_call && is_callee(parent.node, member_field, call)) {
                return Class::Function;
            }
            if member_field == "declarator" && called.is_some_and(|outer| self.kind(outer.kind).is_function) {
                return Class::Function;
            }
            return match by_case(word, self.language) {
                Class::Plain => Class::Property,
                class => class,
            };
        }
        if kind.is_function && matches!(field, "name" | "declarator" | "pattern") {
            return Class::Function;
        }
        if kind.is_type && field == "name" {
            return Class::Type;
        }
        if in_type || kind.is_type_use || matches!(field, "type" | "return_type" | "superclass") {
            return Class::Type;
        }
        if kind.is_attribute || open.iter().rev().take(4).any(|around| self.kind(around.kind).is_attribute) {
            return Class::Attribute;
        }
        by_case(word, self.language)
    }
}

/// `MAX_SIZE` is a constant, and `Cart` a type, in languages in which an uppercase letter does not make a name public.
fn by_case(word: &str, language: &str) -> Class {
    let mut characters = word.chars();
    let is_upper = characters.next().is_some_and(char::is_uppercase);
    if !is_upper || word.len() < 2 {
        return Class::Plain;
    }
    if characters.all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_') {
        return Class::Constant;
    }
    if language == "go" { Class::Plain } else { Class::Type }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a text with their classes, as `class text`.
    fn parts(language: &str, text: &str) -> Vec<String> {
        let lines = highlight(language, text, 0..usize::MAX).expect("a grammar");
        let units = |line: &str| line.encode_utf16().collect::<Vec<u16>>();
        let of = |(line, spans): (&str, &Vec<Span>)| {
            let units = units(line);
            let part = |span: &Span| {
                let range = span.start as usize..(span.start + span.length) as usize;
                format!("{:?} {}", span.class, String::from_utf16(&units[range]).unwrap())
            };
            spans.iter().map(part).collect::<Vec<_>>()
        };
        text.lines().zip(&lines).flat_map(of).collect()
    }

    #[track_caller]
    fn check(language: &str, text: &str, wanted: &[&str]) {
        let parts = parts(language, text);
        for wanted in wanted {
            assert!(parts.iter().any(|part| part == wanted), "{language}: {wanted} is not in {parts:#?}");
        }
    }

    #[test]
    fn words_of_each_language_have_their_classes() {
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "python",
                "@cached\ndef total(self, x: Cart):\n    return f\"a {x.price()} \\n\" + MAX  # why\n",
                &[
                    "Keyword def",
                    "Function total",
                    "Keyword self",
                    "Type Cart",
                    "Keyword return",
                    "String f\"a ",
                    "Function price",
                    "Escape \\n",
                    "Constant MAX",
                    "Comment # why",
                ],
            ),
            (
                "rust",
                "#[test]\nfn main() -> Option<u8> { let x = Foo::new(1); x.go(\"s\"); None }",
                &[
                    "Keyword fn",
                    "Function main",
                    "Type Option",
                    "Type u8",
                    "Type Foo",
                    "Function new",
                    "Number 1",
                    "Function go",
                    "String \"s\"",
                ],
            ),
            (
                "go",
                "package a\nfunc (s *Store) Get(k string) error { return fmt.Errorf(\"no %d\", 3) }",
                &[
                    "Keyword package",
                    "Keyword func",
                    "Type Store",
                    "Function Get",
                    "Type string",
                    "Function Errorf",
                    "Number 3",
                ],
            ),
            (
                "javascript",
                "class A extends B { go() { return `a ${this.x}`; } } // c",
                &["Keyword class", "Type A", "Function go", "String `a ", "Keyword this", "Property x", "Comment // c"],
            ),
            (
                "typescript",
                "const a: string = null; interface B { c: number }",
                &["Keyword const", "Type string", "Constant null", "Keyword interface", "Type B", "Type number"],
            ),
            (
                "tsx",
                "const a = <div className=\"x\"><B /></div>;",
                &["Tag div", "Attribute className", "String \"x\"", "Tag B"],
            ),
            (
                "java",
                "@Override public int size() { return list.size(); }",
                &["Keyword public", "Type int", "Function size", "Keyword return"],
            ),
            (
                "c",
                "#include <a.h>\nstatic int f(char *s) { return g(s->x, 'a'); }",
                &[
                    "Keyword #include",
                    "String <a.h>",
                    "Type int",
                    "Function f",
                    "Function g",
                    "Property x",
                    "String 'a'",
                ],
            ),
            (
                "cpp",
                "namespace a { class B { void f() { c.d(); } }; }",
                &["Keyword namespace", "Type B", "Function f", "Function d"],
            ),
            (
                "csharp",
                "class A { string B() => C.D(1); }",
                &["Keyword class", "Type A", "Type string", "Function B", "Function D", "Number 1"],
            ),
            (
                "ruby",
                "class A\n  def b\n    c.d(:e, \"x#{f}\")\n  end\nend",
                &["Keyword class", "Type A", "Keyword def", "Function b", "Function d", "Constant :e"],
            ),
            (
                "php",
                "<?php class A { function b() { return c($d, 'e'); } }",
                &["Keyword class", "Type A", "Function b", "Function c", "String 'e'"],
            ),
            (
                "kotlin",
                "class A { fun b(): Int { return c(\"d\") } }",
                &["Keyword class", "Type A", "Keyword fun", "Function b", "Type Int", "Function c", "String \"d\""],
            ),
            (
                "swift",
                "class A { func b() -> Int { return c(\"d\") } }",
                &["Keyword class", "Type A", "Keyword func", "Function b", "Type Int", "Function c"],
            ),
            (
                "scala",
                "object A { def b(c: Int): Int = d(c) }",
                &["Keyword object", "Type A", "Keyword def", "Function b", "Type Int", "Function d"],
            ),
            (
                "lua",
                "local function a(b) return c.d(\"e\") end -- f",
                &["Keyword local", "Function a", "Function d", "String \"e\"", "Comment -- f"],
            ),
            (
                "shell",
                "# a\nif [ -n \"$B\" ]; then echo c; fi",
                &["Comment # a", "Keyword if", "Keyword then", "Function echo"],
            ),
            (
                "sql",
                "SELECT a FROM b WHERE c = 1 -- d",
                &["Keyword SELECT", "Keyword FROM", "Number 1", "Comment -- d"],
            ),
            ("json", "{\"a\": [1, \"b\", true]}", &["Property \"a\"", "Number 1", "String \"b\"", "Constant true"]),
            ("yaml", "a: b # c\nd: 1\n", &["Property a", "Comment # c", "Property d", "Number 1"]),
            ("toml", "[a]\nb = \"c\" # d\n", &["Property b", "String \"c\"", "Comment # d"]),
            (
                "html",
                "<a href=\"b\">c</a><script>let d = 1;</script>",
                &["Tag a", "Attribute href", "Keyword let", "Number 1"],
            ),
            (
                "css",
                ".a { color: #fff; width: 1px } /* b */",
                &["Property a", "Property color", "Number #fff", "Comment /* b */"],
            ),
            (
                "markdown",
                "# A\n\ntext\n\n```python\ndef b(): pass\n```\n",
                &["Heading # A", "Keyword def", "Function b"],
            ),
            (
                "elixir",
                "defmodule A do\n  def b(c), do: d(c)\nend",
                &["Keyword defmodule", "Type A", "Keyword do", "Keyword def", "Function d"],
            ),
            (
                "haskell",
                "module A where\nf :: Int -> Int\nf x = g x -- c",
                &["Keyword module", "Keyword where", "Comment -- c"],
            ),
            (
                "zig",
                "const a = @import(\"b\"); pub fn c() void {}",
                &["Keyword const", "String \"b\"", "Keyword pub", "Keyword fn", "Function c"],
            ),
            ("proto", "message A { string b = 1; }", &["Keyword message", "Number 1"]),
            ("dockerfile", "FROM a\n# b\nRUN c\n", &["Keyword FROM", "Comment # b", "Keyword RUN"]),
            ("hcl", "a \"b\" {\n  c = true # d\n}", &["Constant true", "Comment # d"]),
            ("nix", "{ a = \"b\"; } # c", &["String \"b\"", "Comment # c"]),
            (
                "r",
                "f <- function(x) g(x, \"a\") # b",
                &["Keyword function", "Function g", "String \"a\"", "Comment # b"],
            ),
            ("julia", "function f(x) g(x) end # c", &["Keyword function", "Function f", "Function g", "Comment # c"]),
            (
                "dart",
                "class A { void b() { return; } } // c",
                &["Keyword class", "Type A", "Function b", "Comment // c"],
            ),
            ("ocaml", "let f x = g x (* c *)", &["Keyword let", "Function f", "Comment (* c *)"]),
            ("erlang", "f(X) -> g(X). % c", &["Function f", "Function g", "Comment % c"]),
            (
                "powershell",
                "function A { if ($b) { return 1 } } # c",
                &["Keyword function", "Keyword if", "Comment # c"],
            ),
            (
                "solidity",
                "contract A { function b() public { c(); } }",
                &["Keyword contract", "Type A", "Function b", "Function c"],
            ),
            ("graphql", "type A { b: Int } # c", &["Keyword type", "Comment # c"]),
            ("make", "# a\nb: c\n\techo d\n", &["Comment # a"]),
            ("cmake", "if(A)\n  b(\"c\") # d\nendif()\n", &["Keyword if", "Function b", "Comment # d"]),
            ("objc", "@interface A : B\n- (void)c;\n@end\n// d\n", &["Keyword @interface", "Comment // d"]),
        ];
        for (language, text, wanted) in cases {
            check(language, text, wanted);
        }
    }

    #[test]
    fn every_grammar_highlights_a_text_of_its_own() {
        for language in languages::LANGUAGES.iter().filter(|language| language.grammar.is_some()) {
            // In a component, the script is highlighted.
            let text = match language.name {
                "astro" => "---\na\n---\n",
                "svelte" | "vue" => "<script>\na\n</script>\n",
                _ => "a\n",
            };
            assert!(highlight(language.name, text, 0..1).is_some(), "{}", language.name);
        }
    }

    #[test]
    fn only_the_lines_of_the_window_have_spans_and_columns_are_those_of_browsers() {
        let text = "x = 1\ns = \"\u{1f600}\"; y = 2\n'''a\nb\n'''\n";
        let spans = highlight("python", text, 1..2).unwrap();
        let number = Span { start: 14, length: 1, class: Class::Number };
        assert_eq!((spans.len(), spans[0].last()), (1, Some(&number)), "{spans:?}");
        let inner = highlight("python", text, 3..4).unwrap();
        assert_eq!(inner, [[Span { start: 0, length: 1, class: Class::String }]]);
        assert_eq!(highlight("python", text, 9..12), Some(Vec::new()));
    }

    #[test]
    fn hostile_texts_stay_plain() {
        assert_eq!(highlight("python", &"(".repeat(20_000), 0..1), None);
        assert_eq!(highlight("python", &"x = 1\n".repeat(MAX_BYTES), 0..1), None);
        assert_eq!(highlight("plain", "x", 0..1), None);
        let long = format!("x = '{}'\n", "a".repeat(1 << 20));
        let spans = highlight("python", &long, 0..1).unwrap();
        assert_eq!(spans[0].iter().map(|span| span.length).sum::<u32>(), MAX_COLUMN - 4);
    }
}
