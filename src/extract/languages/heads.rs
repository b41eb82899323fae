//! How lines show definitions, for where a grammar fails.
//!
//! Owns the patterns of lines, and of words that keep a grammar from reading a head. `recover` decides what is parsed
//! again. Only grammars that are known to fail have patterns; texts that parse without errors never see them.

use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

/// How lines of a language show definitions.
pub struct Heads {
    /// From the beginning of a line to the end of a definition's name.
    pattern: &'static str,
    /// Words of a head that the grammar may not know. They are blanked if it cannot be read with them.
    noise: &'static str,
    /// What ends a head, where only one with a body defines something: else nothing does.
    stops: &'static [u8],
}

/// The same, ready to run.
pub(in crate::extract) struct Compiled {
    pub(in crate::extract) pattern: Regex,
    pub(in crate::extract) noise: Regex,
    pub(in crate::extract) stops: &'static [u8],
}

impl Heads {
    pub(in crate::extract) fn compile(&self) -> Result<Compiled, Box<BuildError>> {
        // Names in other alphabets are bytes above the ASCII ones.
        let syntax = syntax::Config::new().multi_line(true).unicode(false).utf8(false);
        let compile = |pattern| Regex::builder().syntax(syntax).build(pattern).map_err(Box::new);
        Ok(Compiled { pattern: compile(self.pattern)?, noise: compile(self.noise)?, stops: self.stops })
    }
}

/// Types behind macros for attributes: `struct __packed entry {`.
pub(super) static C: Heads = Heads {
    pattern: r"^[ \t]*(?:typedef\s+|static\s+|const\s+)*(?:struct|union|enum)\s+(?:(?:[A-Z_][A-Z0-9_]*|__\w+)(?:\([^()\n]*\))?\s+)*[A-Za-z_]\w*",
    noise: r"\b(?:[A-Z_][A-Z0-9_]*|__\w+)\b(?:\s*\((?:[^()]|\([^()]*\))*\))?",
    stops: b"=*,",
};

/// Types and namespaces behind macros for attributes and exports: `class LIB_API Reader final : public Source {`.
pub(super) static CPP: Heads = Heads {
    pattern: r"^[ \t]*(?:template\s*<[^{};\n]*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+(?:class|struct))?|(?:inline\s+)?namespace)\s+(?:(?:[A-Z_][A-Z0-9_]*|__\w+|alignas)(?:\s*\((?:[^()\n]|\([^()\n]*\))*\))?\s+|\[\[[^\]\n]*\]\]\s*)*[A-Za-z_]\w*(?:::\w+)*",
    noise: r"\b(?:[A-Z_][A-Z0-9_]*|__\w+|alignas)\b(?:\s*\((?:[^()]|\([^()]*\))*\))?|\[\[[^\]\n]*\]\]",
    stops: b"=",
};

/// Types and functions, with annotations in their heads: `value class Id<out T> @PublishedApi internal constructor(`.
pub(super) static KOTLIN: Heads = Heads {
    pattern: r"^[ \t]*(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s+)*(?:[a-z]+\s+)*(?:(?:class|interface|object|typealias)\s+|fun\s+(?:<[^>\n]*>\s+)?(?:[\w.]+(?:<[\w, *?.]*>)?\??\.)?)[A-Za-z_]\w*",
    noise: r"@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?",
    stops: b"",
};

/// Items, and `impl` blocks for what they contain.
pub(super) static RUST: Heads = Heads {
    pattern: r#"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:default|unsafe|const|async|safe|auto|extern(?:\s+"[^"\n]*")?)\s+)*(?:(?:struct|enum|union|trait|type|fn|mod)\s+|macro_rules!\s*|(?:const|static)\s+(?:mut\s+|ref\s+)*|impl\b(?:[^{};\n]*\bfor\s+|\s*<[^{};\n]*>\s+|\s+)(?:\w+::)*)[A-Za-z_]\w*"#,
    noise: r"\$\(|\)[,;]?[*+?]|\$crate::",
    stops: b"",
};
