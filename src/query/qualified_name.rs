//! Qualified names: a name with its container, as its language writes it.
//!
//! Owns the joining of the two. Does not own separators (`extract::languages`) nor reading such names ([`super::symbols`]).

use crate::extract::languages;
use crate::store::Definition;

/// Joins a container and a name with the separator of the language, or a dot if it is not known.
pub fn qualified_name(container: Option<&str>, name: &str, language: &str) -> String {
    let separator = languages::by_name(language).map_or(".", |language| language.separator);
    container.map_or_else(|| name.to_owned(), |container| format!("{container}{separator}{name}"))
}

/// Returns the qualified name of a definition, by which the definitions inside it name their container.
pub(crate) fn qualified(definition: &Definition) -> String {
    qualified_name(definition.container.as_deref(), &definition.name, &definition.language)
}
