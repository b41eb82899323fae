//! Classes of the leaves of a tree, as far as they show which words are code: comments, strings, types, names of
//! fields.
//!
//! Owns the rules, which are the same for all grammars, because grammars give equal things equal names.

use super::syntax::{self, Node, Syntax};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Other,
    Comment,
    String,
    Escape,
    Interpolation,
    Type,
    /// The name of a property, wherever it is.
    Property,
    /// The name of a field, which may be one of the object around.
    Field,
}

/// The classes of node kinds, by the words in their names: grammars give the same things the same names.
pub(super) struct Classes(Vec<(Class, bool)>);

impl Classes {
    pub(super) fn from_syntax(syntax: &Syntax) -> Self {
        let named = |words: &[&str]| syntax::named_like(syntax.grammar(), words);
        let comments = named(&["comment"]);
        let strings = named(&["string", "char_literal", "character_literal", "rune_literal", "heredoc", "regex"]);
        let texts = named(&["jsx_text", "str_text", "template_chars", "regex_pattern"]);
        let interpolated = named(&["interpolation", "substitution", "interpolated_expression"]);
        let escapes = named(&["escape"]);
        let types = named(&["type_identifier"]);
        let all = named(&[""]);
        let class = |at: usize| {
            if comments[at] {
                Class::Comment
            } else if interpolated[at] {
                Class::Interpolation
            } else if strings[at] || texts[at] || kind_name(syntax, at) == Some("text") {
                Class::String
            } else if escapes[at] {
                Class::Escape
            } else if types[at] {
                Class::Type
            } else {
                match kind_name(syntax, at) {
                    Some("property_identifier" | "private_property_identifier") => Class::Property,
                    Some("field_identifier") => Class::Field,
                    _ => Class::Other,
                }
            }
        };
        Self((0..all.len()).map(|at| (class(at), all[at])).collect())
    }

    pub(super) fn class(&self, syntax: &Syntax, node: Node) -> Class {
        self.0.get(usize::from(syntax.kind(node))).map_or(Class::Other, |(class, _)| *class)
    }

    pub(super) fn is_named(&self, syntax: &Syntax, node: Node) -> bool {
        let kind = syntax.kind(node);
        kind == syntax::ERROR || self.0.get(usize::from(kind)).is_some_and(|(_, is_named)| *is_named)
    }
}

fn kind_name(syntax: &Syntax, kind: usize) -> Option<&str> {
    u16::try_from(kind).ok().and_then(|kind| syntax.grammar().node_kind_for_id(kind))
}
