//! Classes of nodes, by the names of their kinds: the same rules for all grammars.

use super::{Class, EnclosingNode};
use crate::extract::languages::{self, Language};
use crate::extract::syntax::{Node, Syntax};

/// Traits of a node that the name of its kind shows.
#[derive(Clone, Copy, Default)]
pub(super) struct Kind {
    pub(super) base: Base,
    pub(super) is_call: bool,
    pub(super) is_member: bool,
    pub(super) is_function: bool,
    pub(super) is_type: bool,
    pub(super) is_type_use: bool,
    pub(super) is_attribute: bool,
    pub(super) is_pair: bool,
    pub(super) is_element: bool,
    pub(super) embeds: Option<Embeds>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Base {
    #[default]
    Other,
    Reset,
    Solid(Class),
    Background(Class),
    /// A word of the language's own.
    Word,
    Name,
    Literal,
}

#[derive(Clone, Copy)]
pub(super) enum Embeds {
    Named(&'static str),
    /// The language that the fence names.
    Fence,
}

impl Embeds {
    pub(super) fn language(
        self,
        node: Node,
        open: &[EnclosingNode],
        syntax: &Syntax,
        text: &str,
    ) -> Option<&'static Language> {
        match self {
            Self::Named(name) => match syntax.kind_name(open.last()?.node) {
                "style_element" => languages::by_name("css"),
                _ => languages::by_name(name),
            },
            Self::Fence => {
                let siblings = syntax.children(open.last()?.node).take_while(|sibling| *sibling < node);
                let info = siblings.filter(|sibling| syntax.kind_name(*sibling) == "info_string").last()?;
                of_fence(&text[syntax.range(info)])
            }
        }
    }
}

/// The language that a fenced block of Markdown names.
pub fn of_fence(info: &str) -> Option<&'static Language> {
    let name = info.trim().trim_start_matches('{').split([' ', ',', '}', '\t']).next()?.trim_start_matches('.');
    let name = name.to_ascii_lowercase();
    let name = match name.as_str() {
        "sh" | "bash" | "zsh" | "console" | "shell-session" => "shell",
        "js" | "mjs" | "cjs" | "node" => "javascript",
        "ts" => "typescript",
        "py" | "python3" | "pycon" => "python",
        "rs" => "rust",
        "golang" => "go",
        "c++" | "cc" | "hpp" => "cpp",
        "c#" | "cs" => "csharp",
        "yml" => "yaml",
        "rb" => "ruby",
        "kt" => "kotlin",
        "md" => "markdown",
        "docker" => "dockerfile",
        "jsonc" | "json5" => "json",
        "terraform" | "tf" => "hcl",
        "ps1" => "powershell",
        "objective-c" => "objc",
        "protobuf" => "proto",
        "makefile" => "make",
        "ex" => "elixir",
        "hs" => "haskell",
        "ml" => "ocaml",
        other => other,
    };
    languages::by_name(name)
}

pub(super) fn kind_of(name: &str, is_named: bool) -> Kind {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is = |names: &[&str]| names.contains(&name);
    if !is_named {
        let word = name.strip_prefix(['#', '@', '%']).unwrap_or(name);
        let is_word = word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
        return Kind { base: if is_word { Base::Word } else { Base::Other }, ..Kind::default() };
    }
    let is_call = (has(&["call", "invocation"]) && !has(&["signature", "suffix", "callable"]))
        || is(&["message_expression", "apply", "application_expression", "apply_expression", "normal_command"]);
    Kind {
        base: base_of(name, &has, &is),
        is_call,
        is_member: has(&[
            "member",
            "attribute_access",
            "navigation",
            "qualified",
            "scoped",
            "dot_index",
            "method_index",
        ]) && !is_call
            || is(&[
                "attribute",
                "field_expression",
                "selector_expression",
                "field_access",
                "dot",
                "dotted_name",
                "nested_identifier",
                "scope_resolution",
                "select_expression",
                "value_path",
            ]),
        is_function: has(&[
            "function",
            "method",
            "constructor_d",
            "procedure",
            "macro_def",
            "let_binding",
            "signature",
        ]) && !has(&["property"])
            && !is_call
            && !name.ends_with("type"),
        is_type: has(&[
            "class",
            "struct",
            "enum",
            "interface",
            "trait",
            "record",
            "protocol",
            "type_",
            "union",
            "module",
            "namespace",
            "mod_item",
            "object_d",
            "contract",
            "message",
        ]),
        is_type_use: is(&[
            "type",
            "user_type",
            "named_type",
            "generic_type",
            "type_arguments",
            "base_list",
            "type_list",
        ]),
        is_attribute: is(&["decorator", "annotation", "marker_annotation", "attribute_item", "inner_attribute_item"])
            || is(&["attribute_list", "jsx_attribute"]),
        is_pair: name.ends_with("pair"),
        is_element: has(&["jsx_opening", "jsx_closing", "jsx_self_closing"]),
        embeds: match name {
            "raw_text" => Some(Embeds::Named("javascript")),
            "minus_metadata" => Some(Embeds::Named("yaml")),
            "plus_metadata" => Some(Embeds::Named("toml")),
            "code_fence_content" => Some(Embeds::Fence),
            _ => None,
        },
    }
}

fn base_of(name: &str, has: &dyn Fn(&[&str]) -> bool, is: &dyn Fn(&[&str]) -> bool) -> Base {
    let is_type_name = name.ends_with("type");
    // The words of SQL. In other languages such nodes are arguments and patterns.
    let is_word_kind =
        name.starts_with("keyword_") && !has(&["argument", "parameter", "pattern", "separator", "identifier", "list"]);
    if is(&["interpolation", "sub_expression", "interpolated_expression"])
        || name.ends_with("_interpolation")
        || name.ends_with("substitution")
    {
        return Base::Reset;
    }
    if has(&["comment"]) || is(&["shebang", "hash_bang_line", "shebang_line", "fenced_code_block_delimiter"]) {
        return Base::Solid(Class::Comment);
    }
    if has(&["escape"]) {
        return Base::Solid(Class::Escape);
    }
    if is(&["simple_expansion", "expansion", "variable_reference", "variable_ref"]) {
        return Base::Solid(Class::Property);
    }
    let is_text = has(&["string", "heredoc", "char_literal", "character", "rune_literal", "quoted_content", "regex"])
        || has(&["template_literal", "template_chars", "quoted_template", "sigil", "charlist", "attribute_value"])
        || is(&["char", "uri", "uri_expression", "path_expression", "code_fence_content", "indented_code_block"])
        || is(&["link_destination", "raw_text", "text_block"]);
    if is_text && !is_type_name && !name.ends_with("expression")
        || is(&["path_expression", "uri_expression", "string_expression", "indented_string_expression"])
    {
        return Base::Solid(Class::String);
    }
    let is_number = has(&["number", "integer", "float", "numeric", "imaginary", "int_lit", "hex_literal", "real_lit"]);
    if is_number && !is_type_name && !has(&["type"]) || is(&["color_value", "unit", "decimal"]) {
        return Base::Solid(Class::Number);
    }
    if is(&["true", "false", "none", "null", "nil", "boolean", "bool", "undefined", "simple_symbol"])
        || is(&[
            "boolean_literal",
            "null_literal",
            "nil_literal",
            "bool_literal",
            "boolean_lit",
            "null_lit",
            "boolean_scalar",
            "null_scalar",
        ])
    {
        return Base::Solid(Class::Constant);
    }
    if is(&["type_identifier", "primitive_type", "predefined_type", "builtin_type", "type_builtin", "integral_type"])
        || is(&["floating_point_type", "boolean_type", "void_type", "alias", "constructor", "constructor_name"])
        || is(&["module_name", "type_constructor", "sized_type_specifier"])
    {
        return Base::Solid(Class::Type);
    }
    if is(&["field_identifier", "property_identifier", "shorthand_property_identifier", "private_property_identifier"])
        || is(&["identifier", "simple_identifier", "name", "constant", "variable", "value_name", "word", "atom"])
        || is(&["upper_case_identifier", "lower_case_identifier", "module", "qualified_identifier"])
    {
        return Base::Name;
    }
    if is(&["property_name", "bare_key", "quoted_key", "hash_key_symbol", "instance_variable", "class_variable"])
        || is(&["global_variable", "special_variable_name", "class_name", "shorthand_property_identifier_pattern"])
    {
        return Base::Solid(Class::Property);
    }
    if is(&["tag_name", "erroneous_end_tag_name", "id_name", "nesting_selector", "universal_selector"]) {
        return Base::Solid(Class::Tag);
    }
    if is(&["command_name", "function_name", "macro_name"]) {
        return Base::Solid(Class::Function);
    }
    if is(&["label", "lifetime", "statement_identifier", "attribute_name", "info_string"]) {
        return Base::Solid(Class::Attribute);
    }
    if is(&["decorator", "annotation", "marker_annotation", "attribute_item", "inner_attribute_item"]) {
        return Base::Background(Class::Attribute);
    }
    if is(&["atx_heading", "setext_heading"]) {
        return Base::Solid(Class::Heading);
    }
    if name == "keyword"
        || is_word_kind
        || name.starts_with("list_marker")
        || is(&["preproc_directive", "thematic_break", "at_keyword"])
    {
        return Base::Solid(Class::Keyword);
    }
    if name == "literal" {
        return Base::Literal;
    }
    Base::Other
}
