//! Whether a definition is public: whether code outside its package may refer to it.
//!
//! Owns each language's convention. It reads only the line of the definition, so it does not see what a file exports elsewhere,
//! such as in a list at its end: the result is a hint about what may depend on it.

use super::diff::Entry;
use crate::query::relations::is_test;

/// Whether a definition, and its container, are public.
pub(super) fn is_public(entry: &Entry) -> bool {
    if is_test(&entry.path) {
        return false;
    }
    let head = entry.head.as_str();
    let has = |word: &str| head.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word);
    let around = || entry.container.iter().flat_map(|container| container.split(['.', ':', '\\', '#', '/']));
    let is_capital = |name: &str| name.starts_with(char::is_uppercase);
    match entry.language.as_str() {
        "python" => {
            let is_private = |name: &str| name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"));
            let file = entry.path.trim_end_matches(".py").trim_end_matches(".pyi");
            !is_private(&entry.name) && !around().any(is_private) && !file.split('/').any(is_private)
        }
        "rust" => {
            let is_open = has("pub") && !head.contains("pub(");
            // Variants, and what a trait declares, are as public as what is around them.
            is_open || entry.kind == "variant" || head.starts_with("#[macro_export]")
        }
        "go" => is_capital(&entry.name) && !entry.path.split('/').any(|part| part == "internal"),
        "astro" | "javascript" | "svelte" | "tsx" | "typescript" | "vue" => {
            let is_member = entry.container.is_some();
            let is_hidden = has("private") || has("protected") || entry.name.starts_with(['#', '_']);
            !is_hidden
                && (has("export") || is_member || head.starts_with("module.exports") || head.starts_with("exports."))
        }
        "java" | "csharp" => has("public") || (entry.kind == "variant"),
        "kotlin" | "scala" => !has("private") && !has("protected") && !has("internal"),
        "swift" => has("public") || has("open"),
        "php" => !has("private") && !has("protected"),
        "c" | "cpp" | "objc" => {
            let is_header = entry.path.rsplit_once('.').is_some_and(|(_, extension)| extension.starts_with('h'));
            is_header || (!has("static") && entry.container.is_none() && entry.language == "c")
        }
        "ruby" | "dart" | "lua" | "elixir" | "julia" => !entry.name.starts_with('_') && !has("local") && !has("defp"),
        "zig" => has("pub"),
        _ => !entry.name.starts_with('_'),
    }
}
