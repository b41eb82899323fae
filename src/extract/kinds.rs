//! The kinds of symbols and of references.
//!
//! Owns the words. A capture in a language's patterns ends in one of them. They are interned here, so that kinds are
//! `&'static str` everywhere.

/// Kinds in which a function is a method.
pub const TYPES: &[&str] = &[
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

/// All the others.
const OTHERS: &[&str] = &[
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
    "call",
    "use",
    "implementation",
    "signature",
    "block",
    "import",
    "inherits",
    "implements",
];

pub fn all() -> impl Iterator<Item = &'static str> {
    TYPES.iter().chain(OTHERS).copied()
}
