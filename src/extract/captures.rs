//! The captures of a language's patterns, and the rows that they give.
//!
//! Owns the meaning of captures. A `.scm` may use these, and nothing else:
//!
//! | capture | on | gives |
//! |---|---|---|
//! | `@definition.KIND` + `@name` | whole definition, its name | a symbol of that kind |
//! | `@signature`, `@body` | with a definition | where its signature starts (else the definition), and ends (else the field `body`, else the first line) |
//! | `@container` | with a definition | the type or namespace it belongs to by its own words (a Go receiver, `A` in `A::b`); several are its parts, outermost first |
//! | `@level.N` | with a definition | N from 1 to 6: it reaches to the next one of its level or of a lower number (headings) |
//! | `@scope` + `@name` | a block | contains what is in it, is not a symbol (Rust's `impl`) |
//! | `@clause` | the definition | those of one name that follow each other are one symbol (a signature and its equations) |
//! | `@arity` | with a clause | its parameters: those of another number are another symbol |
//! | `@member` | a definition | directly inside a type, a variable is its attribute; a field or method stays in the type around its function |
//! | `@assigned` | a definition | it is a symbol only if the type, else the definition, around it (else the file) defines no other of its name |
//! | `@shape` | a definition | it is a symbol only directly in a variable, constant, field or type |
//! | `@local` | a block | variables, constants and functions without a body are not symbols in it; on a name: it defines nothing |
//! | `@name.signed` | a name with `$` or `:` | as `@name`, without the sign, and without a scope before it (`$script:Limit`) |
//! | `@reference.KIND` + `@name` | an occurrence | a reference: call, type or use; signature: the name in a declaration of its type, apart from its definition |
//! | `@types` | where types are written | calls and plain references in it are references to types |
//! | `@inherits`, `@implements` | a type's name | an edge from the definition around it, and a reference |
//! | `@implementor` | with `@implements` | the edge's source, where it is outside its definition |
//! | `@import.module`, `@import.name`, `@import.alias`, `@import.wildcard` | an import | an edge to the module (its name is `*` with a wildcard); a reference of kind import for the name. Several modules are the parts of one; where the name ends it, the module is what precedes |
//! | `@binding` | a parameter's or local variable's name | plain references to that name in the file are dropped, unless it is a symbol's too (names of definitions that `@local` drops count as well) |
//! | `@items` | text in brackets | parsed again as a text of the language (a macro's body): what it defines counts |
//! | `@misread` | a definition | the grammar took it for something else: it is parsed again if `languages::heads` can |
//! | `@_anything` | | only for predicates |
//!
//! **The first pattern wins**: of several that name the same node, the first one in the file counts. A function
//! directly inside a type or a scope is a method; a field declared by a constructor's parameter is the type's.
//! Definitions of one and the same range (`int a, b;`) are neighbours. An import of a module alone counts only where
//! nothing is imported from the same words by name.

use std::num::NonZeroU16;

use super::gaps;
use super::kinds;
use super::languages::heads;
use super::patterns::Patterns;

/// A language's grammar and patterns, ready to run.
pub(super) struct Compiled {
    pub(super) grammar: tree_sitter::Language,
    pub(super) patterns: Patterns,
    /// Lines that show definitions, where the grammar is known to fail.
    pub(super) heads: Option<heads::Compiled>,
    /// Valid syntax that the grammar does not know.
    pub(super) gaps: gaps::Compiled,
    /// By capture index.
    pub(super) captures: Vec<Capture>,
    /// The field of a definition's body, where the grammar has one.
    pub(super) body: Option<NonZeroU16>,
    /// Whether a kind of nodes is a comment, by its number.
    pub(super) comments: Vec<bool>,
    /// Whether a declaration without a body ends with itself, not with its line.
    pub(super) whole_heads: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    Definition(&'static str),
    Reference(&'static str),
    Name,
    SignedName,
    Signature,
    Body,
    Container,
    Level(u8),
    Clause,
    Arity,
    Member,
    Assigned,
    Shape,
    Scope,
    Local,
    Inherits,
    Implements,
    Implementor,
    ImportModule,
    ImportName,
    ImportAlias,
    ImportWildcard,
    Binding,
    Types,
    Items,
    Misread,
    Predicate,
}

impl Capture {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let kind = |kind: &str| kinds::all().find(|known| *known == kind);
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
            "name.signed" => Self::SignedName,
            "signature" => Self::Signature,
            "body" => Self::Body,
            "container" => Self::Container,
            "scope" => Self::Scope,
            "clause" => Self::Clause,
            "arity" => Self::Arity,
            "member" => Self::Member,
            "assigned" => Self::Assigned,
            "shape" => Self::Shape,
            "local" => Self::Local,
            "inherits" => Self::Inherits,
            "implements" => Self::Implements,
            "implementor" => Self::Implementor,
            "import.module" => Self::ImportModule,
            "import.name" => Self::ImportName,
            "import.alias" => Self::ImportAlias,
            "import.wildcard" => Self::ImportWildcard,
            "binding" => Self::Binding,
            "types" => Self::Types,
            "items" => Self::Items,
            "misread" => Self::Misread,
            name if name.starts_with('_') => Self::Predicate,
            _ => return None,
        })
    }
}
