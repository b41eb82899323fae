//! Which kinds of definitions fit which kinds of references.
//!
//! `extract` owns the kinds.

use crate::extract::kinds::TYPES;
use crate::store::DefinitionNode;

const CALLABLE: &[&str] = &["function", "method", "constructor", "macro", "operator", "target", "rule", "signature"];
const MEMBERS: &[&str] = &["method", "constructor", "field", "attribute", "property", "variant", "event"];
/// Nothing that code names.
const PROSE: &[&str] = &["heading", "section", "package", "implementation", "import"];

pub(super) fn is_type(kind: &str) -> bool {
    TYPES.contains(&kind) || kind == "type"
}

pub(super) fn is_namespace(kind: &str) -> bool {
    matches!(kind, "module" | "namespace" | "package")
}

/// Whether a definition of that kind can contain names that are asked for by a path.
pub(super) fn contains(kind: &str) -> bool {
    is_type(kind) || is_namespace(kind)
}

/// How well a definition fits a reference, 0 best; `None` if the reference cannot refer to it.
pub(super) fn fit(used_as: &str, kind: &str) -> Option<u8> {
    if PROSE.contains(&kind) {
        return None;
    }
    let is_data = matches!(kind, "variable" | "constant" | "field" | "attribute" | "property");
    match used_as {
        "call" if CALLABLE.contains(&kind) => Some(0),
        "call" if is_type(kind) || kind == "variant" => Some(1),
        "call" if is_namespace(kind) => None,
        "type" | "inherits" | "implements" if is_type(kind) => Some(0),
        "type" | "inherits" | "implements" if is_namespace(kind) => Some(1),
        // An alias of a type may be a variable.
        "type" | "inherits" | "implements" => {
            matches!(kind, "variable" | "constant" | "variant" | "macro" | "message" | "table" | "view").then_some(2)
        }
        "use" | "import" => Some(0),
        _ => Some(if is_data { 2 } else { 3 }),
    }
}

/// Whether a definition is reached through a value or type.
pub(super) fn is_member(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    definition.container.is_some() && MEMBERS.contains(&definition.kind.as_str())
}

/// Whether a type that inherits from its type may have one of its own.
pub(super) fn is_overridable(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    is_member(declared) && matches!(definition.kind.as_str(), "method" | "property") && definition.name != "__init__"
}

/// Whether it is too small to be what contains a reference: a value rather than the code around it.
pub(super) fn is_local(kind: &str) -> bool {
    matches!(kind, "variable" | "field" | "attribute" | "property" | "variant")
}

/// Whether it is more than a declaration, by C's conventions: a function with a body.
pub(super) fn has_body(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    !matches!(definition.kind.as_str(), "function" | "method")
        || definition.signature.as_deref().is_some_and(|signature| !signature.ends_with(';'))
}

pub(super) fn is_private_to_file(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    let source =
        definition.path.ends_with(".c") || definition.path.ends_with(".cc") || definition.path.ends_with(".cpp");
    source && definition.signature.as_deref().is_some_and(|signature| signature.starts_with("static "))
}

pub(crate) fn is_test(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.split('/').any(|part| {
        matches!(part, "test" | "tests" | "testing" | "spec" | "__tests__" | "testdata")
            || part.starts_with("test_")
            || part.contains("_test.")
            || part.contains(".test.")
            || part.contains(".spec.")
    })
}
