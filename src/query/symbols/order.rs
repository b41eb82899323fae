//! The order of several definitions of a name: likely referenced ones first.
//!
//! Owns the weights of kind, path category, visibility and references. If those are equal, path and line decide.

use std::collections::HashMap;

use crate::error::Result;
use crate::query::smart::PathCategory;
use crate::store::{Definition, Snapshot};

/// The weights of kinds: independent definitions, members, and mere names.
const KINDS: &[(f64, &[&str])] = &[
    (1.0, &["class", "struct", "enum", "union", "interface", "trait", "protocol", "object", "record", "type"]),
    (0.9, &["function", "macro", "constructor", "service", "message", "table", "view"]),
    (0.8, &["method", "module", "namespace", "package"]),
    (0.6, &["constant"]),
    (0.2, &["variable", "field", "attribute", "property", "variant", "key", "id", "selector", "element"]),
];
/// Headings, targets, and whatever else a file may define.
const OTHER_KIND: f64 = 0.4;

/// The penalty for tests, examples and other files that are not the code itself.
const TEST: f64 = 0.6;
const EXAMPLE: f64 = 0.5;
const DOCUMENT: f64 = 0.6;
const DATA: f64 = 0.4;
const FOREIGN: f64 = 0.8;
/// The penalty for definitions that are private to a file or type.
const HIDDEN: f64 = 0.2;
/// The penalty for one line: a declaration or a stub.
const ONE_LINE: f64 = 0.1;

/// The largest gain of members of a type or module that many files reference.
const CENTRAL: f64 = 0.5;
const CENTRAL_FILES: usize = 200;
/// The number of definitions for which that is looked up.
const ASKED: usize = 200;

/// Puts definitions of one name, or of several, into the order in which they are likely referenced.
pub(super) fn sort(snapshot: &Snapshot, definitions: Vec<Definition>) -> Result<Vec<Definition>> {
    let mut ranked = ranked_alone(definitions);
    let mut used: HashMap<String, f64> = HashMap::new();
    for (worth, definition) in ranked.iter_mut().take(ASKED) {
        let owner = owner(definition);
        let share = match used.get(owner) {
            Some(share) => *share,
            None => {
                let share = centrality(snapshot.files_using(owner, CENTRAL_FILES)?);
                used.insert(owner.to_owned(), share);
                share
            }
        };
        *worth += CENTRAL * share;
    }
    let asked = ranked.len().min(ASKED);
    by_worth(&mut ranked[..asked]);
    Ok(ranked.into_iter().map(|(_, definition)| definition).collect())
}

/// Sorts definitions only by their own facts, whatever other files reference.
pub(super) fn sort_alone(definitions: Vec<Definition>) -> Vec<Definition> {
    ranked_alone(definitions).into_iter().map(|(_, definition)| definition).collect()
}

fn ranked_alone(definitions: Vec<Definition>) -> Vec<(f64, Definition)> {
    let mut ranked = definitions.into_iter().map(|definition| (worth(&definition), definition)).collect::<Vec<_>>();
    by_worth(&mut ranked);
    ranked
}

fn by_worth(ranked: &mut [(f64, Definition)]) {
    ranked.sort_by(|(a, one), (b, other)| {
        let place = |found: &Definition| (found.line, found.column);
        b.total_cmp(a).then_with(|| one.path.cmp(&other.path)).then_with(|| place(one).cmp(&place(other)))
    });
}

fn worth(definition: &Definition) -> f64 {
    let kind = KINDS.iter().find(|(_, kinds)| kinds.contains(&definition.kind.as_str()));
    let lost = match PathCategory::classify(&definition.path, &definition.language) {
        PathCategory::Code => 0.0,
        PathCategory::Test => TEST,
        PathCategory::Example => EXAMPLE,
        PathCategory::Document => DOCUMENT,
        PathCategory::Data => DATA,
        PathCategory::Foreign => FOREIGN,
    };
    let hidden = if is_hidden(definition) { HIDDEN } else { 0.0 };
    let short = if definition.start_line == definition.end_line { ONE_LINE } else { 0.0 };
    kind.map_or(OTHER_KIND, |(worth, _)| *worth) - lost - hidden - short
}

/// Whether others cannot name it, according to the definition itself.
fn is_hidden(definition: &Definition) -> bool {
    let signature = definition.signature.as_deref().unwrap_or_default();
    let says = |word: &str| signature.split_whitespace().take(4).any(|found| found == word);
    let names = definition.container.as_deref().unwrap_or_default().split(['.', ':', '#', '/']);
    let is_marked = |name: &str| name.starts_with('_') && !name.ends_with("__") || name.starts_with('#');
    if names.chain([definition.name.as_str()]).any(is_marked) {
        return true;
    }
    match definition.language.as_str() {
        "rust" => !signature.is_empty() && !signature.starts_with("pub"),
        "go" => definition.name.starts_with(char::is_lowercase),
        "c" | "cpp" => says("static"),
        "elixir" => says("defp"),
        _ => says("private") || says("fileprivate"),
    }
}

/// The owner of a definition: its container, else the module name of its file.
fn owner(definition: &Definition) -> &str {
    let container = definition.container.as_deref().unwrap_or_default();
    if let Some(last) = container.split(['.', ':', '#', '/']).rfind(|part| !part.is_empty()) {
        return last;
    }
    let (folders, file) = definition.path.rsplit_once('/').unwrap_or(("", &definition.path));
    let name = file.split('.').next().unwrap_or(file);
    if matches!(name, "mod" | "lib" | "index" | "__init__") { folders.rsplit('/').next().unwrap_or(name) } else { name }
}

#[expect(clippy::cast_precision_loss, reason = "counts of files are small")]
fn centrality(files: usize) -> f64 {
    (files as f64).ln_1p() / (CENTRAL_FILES as f64).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(language: &str, kind: &str, path: &str, signature: &str) -> Definition {
        let (name, signature) = ("name".to_owned(), Some(signature.to_owned()));
        Definition {
            path: path.to_owned(),
            language: language.to_owned(),
            name,
            kind: kind.to_owned(),
            container: None,
            signature,
            line: 1,
            column: 1,
            start_line: 1,
            end_line: 9,
        }
    }

    #[test]
    fn a_type_is_worth_more_than_a_field_and_code_more_than_tests() {
        let worths = [
            definition("rust", "struct", "src/a.rs", "pub struct name"),
            definition("rust", "function", "src/a.rs", "pub fn name()"),
            definition("rust", "function", "src/a.rs", "fn name()"),
            definition("rust", "struct", "tests/a.rs", "pub struct name"),
            definition("rust", "field", "src/a.rs", "pub name: u8"),
            definition("rust", "field", "vendor/x/src/a.rs", "pub name: u8"),
        ]
        .map(|definition| worth(&definition));
        assert!(worths.is_sorted_by(|a, b| a > b), "{worths:?}");
    }

    #[test]
    fn visibility_is_read_from_the_name_and_the_signature() {
        let hidden = |language, name: &str, container: Option<&str>, signature| {
            let mut definition = definition(language, "method", "a", signature);
            definition.name = name.to_owned();
            definition.container = container.map(str::to_owned);
            is_hidden(&definition)
        };
        assert!(hidden("python", "_load", None, "def _load()"));
        assert!(!hidden("python", "__init__", None, "def __init__()"));
        assert!(hidden("python", "load", Some("a._Inner"), "def load()"));
        assert!(hidden("go", "load", None, "func load()") && !hidden("go", "Load", None, "func Load()"));
        assert!(
            hidden("c", "load", None, "static inline int load(void)") && !hidden("c", "load", None, "int load(void)")
        );
        assert!(hidden("java", "load", Some("A"), "private void load()"));
        assert!(hidden("rust", "load", None, "fn load()") && !hidden("rust", "load", None, "pub(crate) fn load()"));
    }

    #[test]
    fn a_definition_belongs_to_its_type_or_its_file() {
        let owned = |container: Option<&str>, path: &str| {
            let mut definition = definition("python", "function", path, "");
            definition.container = container.map(str::to_owned);
            owner(&definition).to_owned()
        };
        assert_eq!(owned(Some("shop.Cart"), "a.py"), "Cart");
        assert_eq!(owned(Some("shop::Cart"), "a.rs"), "Cart");
        assert_eq!(owned(None, "src/query/globs.rs"), "globs");
        assert_eq!(owned(None, "shop/__init__.py"), "shop");
        assert_eq!(owned(None, "Makefile"), "Makefile");
    }
}
