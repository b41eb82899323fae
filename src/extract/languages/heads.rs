//! Definitions recognized by their lines, where a grammar fails.
//!
//! Owns the patterns of lines, and of words that keep a grammar from reading a head. `recover` decides what is parsed
//! again. Texts that parse without errors are not compared with them, except in languages whose grammars parse valid
//! text into wrong trees.

use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

/// How lines of a language show definitions.
pub struct Heads {
    /// Kinds of definitions, each with a pattern that matches a line from its beginning to the end of the definition's
    /// name. Where the grammar cannot read the definition at all, it becomes a symbol of that kind; `None`: the line
    /// does not show the kind.
    rules: &'static [(Option<&'static str>, &'static str)],
    /// Words of a head that the grammar may not know. They are blanked if it cannot be read with them.
    noise: &'static str,
    /// Bytes that end a head, in languages where only a head with a body defines something. Empty elsewhere.
    stops: &'static [u8],
    layout: Layout,
    /// Bytes of names, other than letters, digits and `_`.
    letters: &'static [u8],
    /// Pattern that must follow the name.
    after: Option<&'static str>,
    /// A text that contains one of these words is compared even if it parsed without errors.
    always: &'static [&'static str],
}

/// End of a definition, as lines show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) enum Layout {
    Braces,
    /// The next line that is indented no further.
    Indent,
    /// The next line that is indented no further, which is the last one where it begins with `end`.
    End,
    /// A line that begins with `@end`, or the braces of a method.
    Directive,
    /// The next semicolon outside of quotes and blocks.
    Statement,
}

/// Patterns of [`Heads`], compiled.
pub(in crate::extract) struct Compiled {
    pub(in crate::extract) pattern: Regex,
    /// By pattern.
    pub(in crate::extract) kinds: Vec<Option<&'static str>>,
    pub(in crate::extract) noise: Regex,
    pub(in crate::extract) stops: &'static [u8],
    pub(in crate::extract) layout: Layout,
    pub(in crate::extract) letters: &'static [u8],
    pub(in crate::extract) after: Option<Regex>,
    pub(in crate::extract) always: &'static [&'static str],
}

impl Heads {
    const fn new(layout: Layout, rules: &'static [(Option<&'static str>, &'static str)]) -> Self {
        // Nothing is blanked by default: a word that no text has.
        Self { rules, noise: r"[^\x00-\xFF]", stops: b"", layout, letters: b"", after: None, always: &[] }
    }

    const fn noise(mut self, noise: &'static str) -> Self {
        self.noise = noise;
        self
    }

    const fn stops(mut self, stops: &'static [u8]) -> Self {
        self.stops = stops;
        self
    }

    const fn letters(mut self, letters: &'static [u8]) -> Self {
        self.letters = letters;
        self
    }

    const fn after(mut self, pattern: &'static str) -> Self {
        self.after = Some(pattern);
        self
    }

    const fn always(mut self, words: &'static [&'static str]) -> Self {
        self.always = words;
        self
    }

    pub(in crate::extract) fn compile(&self) -> Result<Compiled, Box<BuildError>> {
        // Names in other alphabets are bytes above the ASCII ones.
        let syntax = syntax::Config::new().multi_line(true).unicode(false).utf8(false);
        let patterns: Vec<&str> = self.rules.iter().map(|(_, pattern)| *pattern).collect();
        Ok(Compiled {
            pattern: Regex::builder().syntax(syntax).build_many(&patterns).map_err(Box::new)?,
            kinds: self.rules.iter().map(|(kind, _)| *kind).collect(),
            noise: Regex::builder().syntax(syntax).build(self.noise).map_err(Box::new)?,
            stops: self.stops,
            layout: self.layout,
            letters: self.letters,
            after: self
                .after
                .map(|after| Regex::builder().syntax(syntax).build(after).map_err(Box::new))
                .transpose()?,
            always: self.always,
        })
    }
}

/// Attributes and modifiers before a type.
macro_rules! csharp_modifiers {
    () => {
        r"(?:\[[^\]\n]*\]\s*)*(?:(?:public|private|protected|internal|static|abstract|sealed|partial|readonly|ref|unsafe|new|file)\s+)*"
    };
}

macro_rules! java_modifiers {
    () => {
        r"(?:@[\w.]+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|protected|static|final|abstract|sealed|non-sealed|strictfp)\s+)*"
    };
}

macro_rules! kotlin_modifiers {
    () => {
        r"(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s+)*(?:[a-z]+\s+)*"
    };
}

macro_rules! sql_create {
    () => {
        r"^[ \t]*(?i:(?:/\*![0-9]+\s+)?CREATE(?:\s|\*/|/\*![0-9]+|OR\s+(?:REPLACE|ALTER)\s|ALGORITHM\s*=\s*\w+\s|DEFINER\s*=\s*[^\s*]+|SQL\s+SECURITY\s+\w+\s)+)(?i)"
    };
}

/// A name after its schema, without its quotes.
macro_rules! sql_name {
    () => {
        r#"(?:IF\s+NOT\s+EXISTS\s+)?(?:(?:\w+|"[^"\n]+"|\[[^\]\n]+\]|`[^`\n]+`)\s*\.\s*)*["'`\[]?#{0,2}[A-Za-z_\x80-\xFF][\w\x80-\xFF]*"#
    };
}

/// Types behind macros for attributes: `struct __packed entry {`; functions that conditionals cut.
pub(super) static C: Heads = Heads::new(
    Layout::Braces,
    &[
        (None, r"^(?:static\s+|inline\s+|extern\s+|const\s+|unsigned\s+|struct\s+|enum\s+|[A-Z_][A-Z0-9_]*\s+)*[A-Za-z_]\w*[ \t]*[ \t*\n][*]*[A-Za-z_]\w+"),
        (
            None,
            r"^[ \t]*(?:typedef\s+|static\s+|const\s+)*(?:struct|union|enum)\s+(?:(?:[A-Z_][A-Z0-9_]*|__\w+)(?:\([^()\n]*\))?\s+)*[A-Za-z_]\w*",
        ),
    ],
)
.noise(r"\b(?:[A-Z_][A-Z0-9_]*|__\w+)\b(?:\s*\((?:[^()]|\([^()]*\))*\))?")
// Otherwise it is the type of what follows.
.after(r"\s*(?:[^\s\w*]|__\w|[A-Z][A-Z0-9_]*\b)")
.stops(b"=*,");

/// Types and namespaces behind macros for attributes and exports: `class LIB_API Reader final : public Source {`.
pub(super) static CPP: Heads = Heads::new(
    Layout::Braces,
    &[(
        None,
        r"^[ \t]*(?:template\s*<[^{};\n]*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+(?:class|struct))?|(?:inline\s+)?namespace)\s+(?:(?:[A-Z_][A-Z0-9_]*|__\w+|alignas)(?:\s*\((?:[^()\n]|\([^()\n]*\))*\))?\s+|\[\[[^\]\n]*\]\]\s*)*[A-Za-z_]\w*(?:::\w+)*",
    )],
)
.noise(r"\b(?:[A-Z_][A-Z0-9_]*|__\w+|alignas)\b(?:\s*\((?:[^()]|\([^()]*\))*\))?|\[\[[^\]\n]*\]\]")
// Otherwise it is what contains the type.
.after(r"\s*(?:[^<\s]|<[^{};]*>\s*[^:\s])")
.stops(b"=");

pub(super) static CSHARP: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("class"), concat!(r"^[ \t]*", csharp_modifiers!(), r"class\s+[A-Z_]\w*")),
        (Some("interface"), concat!(r"^[ \t]*", csharp_modifiers!(), r"interface\s+[A-Z_]\w*")),
        (Some("struct"), concat!(r"^[ \t]*", csharp_modifiers!(), r"struct\s+[A-Z_]\w*")),
        (Some("enum"), concat!(r"^[ \t]*", csharp_modifiers!(), r"enum\s+[A-Z_]\w*")),
        (Some("record"), concat!(r"^[ \t]*", csharp_modifiers!(), r"record\s+(?:struct\s+|class\s+)?[A-Z_]\w*")),
        (
            None,
            r"^[ \t]*(?:public|private|protected|internal)(?:[ \t]+(?:static|virtual|override|abstract|sealed|async|unsafe|extern|new|partial|readonly))*[ \t]+[\w<>\[\],.?]+(?:[ \t]*<[^<>()\n]*>)?[ \t]+[A-Z]\w*",
        ),
    ],
);

pub(super) static DART: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("class"), r"^(?:(?:abstract|sealed|base|final|interface|mixin)\s+)*class\s+\w+"),
        (Some("mixin"), r"^(?:base\s+)?mixin\s+[A-Z]\w*"),
        (Some("enum"), r"^enum\s+\w+"),
        (Some("extension"), r"^extension\s+(?:type\s+(?:const\s+)?)?[A-Z]\w*"),
    ],
);

pub(super) static ELIXIR: Heads = Heads::new(
    Layout::End,
    &[
        (Some("module"), r"^[ \t]*defmodule\s+(?:[A-Z]\w*\.)*[A-Z]\w*"),
        (Some("protocol"), r"^[ \t]*defprotocol\s+(?:[A-Z]\w*\.)*[A-Z]\w*"),
        (Some("function"), r"^[ \t]*(?:def|defp|defguard|defguardp|defdelegate)\s+[a-z_]\w*"),
        (Some("macro"), r"^[ \t]*defmacrop?\s+[a-z_]\w*"),
    ],
);

pub(super) static GO: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("method"), r"^func\s*\([^()\n]*\)\s*[A-Za-z_]\w*"),
        (Some("function"), r"^func\s+[A-Za-z_]\w*"),
        (Some("type"), r"^type\s+[A-Za-z_]\w*"),
    ],
);

pub(super) static HASKELL: Heads =
    Heads::new(Layout::Indent, &[(Some("type"), r"^(?:data|newtype|type)[ \t]+[A-Z]\w*")]);

pub(super) static JAVA: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("class"), concat!(r"^[ \t]*", java_modifiers!(), r"class\s+[A-Z]\w*")),
        (Some("interface"), concat!(r"^[ \t]*", java_modifiers!(), r"@?interface\s+[A-Z]\w*")),
        (Some("enum"), concat!(r"^[ \t]*", java_modifiers!(), r"enum\s+[A-Z]\w*")),
        (Some("record"), concat!(r"^[ \t]*", java_modifiers!(), r"record\s+[A-Z]\w*")),
        (
            None,
            r"^[ \t]+(?:@\w+\s+)*(?:public|private|protected)(?:[ \t]+(?:static|final|abstract|synchronized|native|default))*(?:[ \t]*<[^()\n]*>)?[ \t]+[\w<>\[\],.? ]+[ \t]+\w+",
        ),
    ],
);

/// Patterns that JavaScript shares with its typed kin.
pub(super) static ECMASCRIPT: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("function"), r"^(?:export\s+|declare\s+|default\s+)*(?:async\s+)?function\s*\*?\s+[A-Za-z_$][\w$]*"),
        (Some("class"), r"^[ \t]*(?:export\s+|declare\s+|default\s+)*(?:abstract\s+)?class\s+[A-Z][\w$]*"),
        (Some("interface"), r"^(?:export\s+|declare\s+|default\s+)*interface\s+[A-Z][\w$]*"),
        (Some("enum"), r"^(?:export\s+|declare\s+|default\s+)*(?:const\s+)?enum\s+[A-Z][\w$]*"),
        (Some("namespace"), r"^(?:export\s+|declare\s+|default\s+)*namespace\s+[A-Z][\w$]*"),
        (Some("type"), r"^(?:export\s+|declare\s+|default\s+)*(?:opaque\s+)?type\s+[A-Z][\w$]*"),
        (Some("function"), r"^(?:export\s+|declare\s+|default\s+)*hook\s+use\w*"),
        (Some("constant"), r"^export\s+(?:declare\s+)?const\s+[A-Za-z_$][\w$]*"),
    ],
)
.letters(b"$");

/// Types and functions, with annotations in their heads: `value class Id<out T> @PublishedApi internal constructor(`.
pub(super) static KOTLIN: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("enum"), concat!(r"^[ \t]*", kotlin_modifiers!(), r"enum\s+class\s+[A-Za-z_]\w*")),
        (Some("class"), concat!(r"^[ \t]*", kotlin_modifiers!(), r"class\s+[A-Za-z_]\w*")),
        (Some("interface"), concat!(r"^[ \t]*", kotlin_modifiers!(), r"interface\s+[A-Za-z_]\w*")),
        (Some("object"), concat!(r"^[ \t]*", kotlin_modifiers!(), r"object\s+[A-Za-z_]\w*")),
        (Some("type"), concat!(r"^[ \t]*", kotlin_modifiers!(), r"typealias\s+[A-Za-z_]\w*")),
        (
            Some("function"),
            concat!(
                r"^[ \t]*",
                kotlin_modifiers!(),
                r"fun\s+(?:<[^(){}=\n]*>\s+)?(?:[\w.]+(?:<(?:[^(){}=\n]|\([^()\n]*\))*>)?\??\.)?[A-Za-z_]\w*"
            ),
        ),
    ],
)
.noise(r"@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?")
.always(&["class", "fun"]);

pub(super) static LUA: Heads =
    Heads::new(Layout::End, &[(Some("function"), r"^[ \t]*(?:local\s+)?function\s+(?:[\w.]+[.:])?\w+")]);

pub(super) static OBJC: Heads = Heads::new(
    Layout::Directive,
    &[
        (Some("class"), r"^@interface\s+\w+"),
        (Some("implementation"), r"^@implementation\s+\w+"),
        (Some("protocol"), r"^@protocol\s+\w+"),
        (Some("method"), r"^[-+][ \t]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)[ \t]*\w+"),
    ],
);

pub(super) static PHP: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("class"), r"^[ \t]*(?:(?:abstract|final|readonly)\s+)*class\s+[A-Z]\w*"),
        (Some("interface"), r"^[ \t]*interface\s+[A-Z]\w*"),
        (Some("trait"), r"^[ \t]*trait\s+[A-Z]\w*"),
        (Some("enum"), r"^[ \t]*enum\s+[A-Z]\w*"),
        (
            Some("function"),
            r"^[ \t]*(?:(?:public|private|protected|static|abstract|final)\s+)*function\s+&?[A-Za-z_]\w*",
        ),
    ],
);

pub(super) static POWERSHELL: Heads = Heads::new(
    Layout::Braces,
    &[
        (Some("function"), r"^[ \t]*(?i:function|filter)[ \t]+(?:\w+:)?[A-Za-z_][\w-]*"),
        (Some("class"), r"^[ \t]*(?i:class)[ \t]+[A-Za-z_]\w*"),
        (Some("enum"), r"^[ \t]*(?i:enum)[ \t]+[A-Za-z_]\w*"),
    ],
)
.letters(b"-");

pub(super) static PYTHON: Heads = Heads::new(
    Layout::Indent,
    &[
        (Some("function"), r"^[ \t]*(?:async\s+)?def[ \t]+[A-Za-z_]\w*"),
        (Some("class"), r"^[ \t]*class[ \t]+[A-Za-z_]\w*"),
    ],
);

pub(super) static RUBY: Heads = Heads::new(
    Layout::End,
    &[
        (Some("class"), r"^[ \t]*class[ \t]+(?:[A-Z]\w*::)*[A-Z]\w*"),
        (Some("module"), r"^[ \t]*module[ \t]+(?:[A-Z]\w*::)*[A-Z]\w*"),
        (
            Some("function"),
            r"^[ \t]*(?:(?:private|protected|public|private_class_method|module_function|memoize)[ \t]+)?def[ \t]+(?:\w+\.)?[a-zA-Z_]\w*",
        ),
    ],
)
// A dot follows the object of an operator.
.after(r"[^.]|\z");

/// Items, and `impl` blocks for what they contain.
pub(super) static RUST: Heads = Heads::new(
    Layout::Braces,
    &[(
        None,
        r#"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:default|unsafe|const|async|safe|auto|extern(?:\s+"[^"\n]*")?)\s+)*(?:(?:struct|enum|union|trait|type|fn|mod)\s+|macro_rules!\s*|(?:const|static)\s+(?:mut\s+|ref\s+)*|impl\b(?:[^{};\n]*\bfor\s+|\s*<[^{};\n]*>\s+|\s+)(?:\w+::)*)[A-Za-z_]\w*"#,
    )],
)
.noise(r"\$\(|\)[,;]?[*+?]|\$crate::");

pub(super) static SCALA: Heads = Heads::new(
    Layout::Braces,
    &[(
        None,
        r"^[ \t]*(?:(?:private|protected|final|sealed|abstract|implicit|case|lazy|override|inline|open)(?:\[\w+\])?\s+)*(?:class|trait|object|enum|def)\s+[A-Za-z]\w*",
    )],
);

pub(super) static SHELL: Heads = Heads::new(
    Layout::Braces,
    &[(Some("function"), r"^[ \t]*function[ \t]+[A-Za-z_][\w:.-]*"), (Some("function"), r"^[A-Za-z_][\w:.-]*")],
)
.letters(b"-.:")
.after(r"[ \t]*(?:\([ \t]*\)\s*(?:[{(]|(?:if|for|while|until|case|select)\b)|\{)");

pub(super) static SQL: Heads = Heads::new(
    Layout::Statement,
    &[
        (Some("function"), concat!(sql_create!(), r"(?:FUNCTION|AGGREGATE)\s+", sql_name!())),
        (Some("function"), concat!(sql_create!(), r"PROC(?:EDURE)?\s+", sql_name!())),
        (
            Some("table"),
            concat!(
                sql_create!(),
                r"(?:(?:GLOBAL|LOCAL)\s+)?(?:TEMP(?:ORARY)?\s+|UNLOGGED\s+|FOREIGN\s+|VIRTUAL\s+|EXTERNAL\s+)*TABLE\s+",
                sql_name!()
            ),
        ),
        (
            Some("view"),
            concat!(sql_create!(), r"(?:TEMP(?:ORARY)?\s+|RECURSIVE\s+|MATERIALIZED\s+)*VIEW\s+", sql_name!()),
        ),
        (
            Some("trigger"),
            concat!(sql_create!(), r"(?:TEMP(?:ORARY)?\s+|CONSTRAINT\s+|EVENT\s+)*TRIGGER\s+", sql_name!()),
        ),
        (Some("event"), concat!(sql_create!(), r"EVENT\s+", sql_name!())),
        (Some("view"), concat!(sql_create!(), r"SYNONYM\s+", sql_name!())),
        (Some("type"), concat!(sql_create!(), r"(?:DOMAIN|TYPE)\s+", sql_name!())),
        (Some("rule"), concat!(sql_create!(), r"(?:POLICY|RULE)\s+", sql_name!())),
        (
            Some("index"),
            concat!(
                sql_create!(),
                r"(?:UNIQUE\s+|CLUSTERED\s+|NONCLUSTERED\s+)*INDEX\s+(?:CONCURRENTLY\s+)?",
                sql_name!()
            ),
        ),
        (Some("variable"), concat!(sql_create!(), r"(?:TEMP(?:ORARY)?\s+)?SEQUENCE\s+", sql_name!())),
        (Some("namespace"), concat!(sql_create!(), r"SCHEMA\s+", sql_name!())),
        (
            Some("field"),
            concat!(
                r"^[ \t]*(?i:ALTER\s+(?:FOREIGN\s+)?TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?)(?i)",
                sql_name!(),
                r#"["`\]]?\s*\*?\s*ADD\s+(?:COLUMN\s+)?"#,
                sql_name!()
            ),
        ),
    ],
)
// Temporary objects of T-SQL.
.letters(b"#")
// Versioned comments of MySQL, which the grammar skips.
.always(&["/*!50001 CREATE", "/*!50003 CREATE", "/*!50106 CREATE"]);

pub(super) static SWIFT: Heads = Heads::new(
    Layout::Braces,
    &[(
        None,
        r"^[ \t]*(?:@\w+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|package|final|indirect|static|dynamic|class|mutating|nonmutating|override|required|convenience|nonisolated)\s+)*(?:class|struct|enum|protocol|actor|func)\s+[A-Za-z]\w*",
    )],
);

pub(super) static ZIG: Heads = Heads::new(
    Layout::Braces,
    &[(Some("function"), r#"^[ \t]*(?:pub\s+)?(?:(?:inline|noinline|export|extern(?:\s+"[^"\n]*")?)\s+)*fn\s+\w+"#)],
);
