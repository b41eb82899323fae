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

/// The parts before the name in the address of something that Terraform defines: `var`, `local`, `data.aws_ami`, `aws_instance`. Several
/// if the definition comes without its signature.
pub(crate) fn terraform_addresses(definition: &Definition) -> Vec<Vec<&str>> {
    let block = definition.signature.as_deref().map(|signature| signature.split([' ', '"']).next().unwrap_or_default());
    let first: &[&str] = match (block, definition.kind.as_str()) {
        (Some("variable"), _) => &["var"],
        (Some("output"), _) => &["output"],
        (Some("data"), _) => &["data"],
        (None, "resource") => &["", "data"],
        (_, "resource") => &[""],
        (_, "module") => &["module"],
        (None, "variable") => &["var", "local", "output"],
        (_, "variable") => &["local"],
        (block, _) => return vec![vec![block.unwrap_or_default()]],
    };
    let container = definition.container.as_deref();
    first
        .iter()
        .map(|first| std::iter::once(*first).filter(|first| !first.is_empty()).chain(container).collect())
        .collect()
}
