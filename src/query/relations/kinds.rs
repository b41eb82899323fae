//! Which kinds of definitions fit which kinds of references.
//!
//! `extract` owns the kinds.

use super::modules;
use crate::extract::kinds::TYPES;
use crate::store::{Definition, DefinitionNode};

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

/// Whether a reference depends on its definition: it is neither a stated base, nor a declaration of the definition's own type.
pub(super) fn is_use(used_as: &str) -> bool {
    !matches!(used_as, "inherits" | "implements" | "signature")
}

/// Whether a definition is reached through a value or type.
pub(super) fn is_member(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    definition.container.is_some() && MEMBERS.contains(&definition.kind.as_str()) && !is_enumerator(definition)
}

/// Whether a definition is a constant of an enumeration of C, which is seen where the enumeration is.
fn is_enumerator(definition: &Definition) -> bool {
    definition.kind == "variant" && matches!(definition.language.as_str(), "c" | "cpp" | "objc")
}

/// The container in which a bare name is that of a definition.
pub(super) fn seen_in(definition: &Definition) -> Option<&str> {
    let container = definition.container.as_deref()?;
    if is_enumerator(definition) { container.rsplit_once("::").map(|(outer, _)| outer) } else { Some(container) }
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

/// Whether a definition of C++ is a constructor.
pub(super) fn is_constructor(definition: &Definition) -> bool {
    definition.language == "cpp"
        && matches!(definition.kind.as_str(), "method" | "constructor" | "function")
        && definition.container.as_deref().map(modules::parts).unwrap_or_default().last() == Some(&definition.name)
}

/// Whether it is more than a declaration, by C's conventions: a function with a body.
pub(super) fn has_body(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    !matches!(definition.kind.as_str(), "function" | "method")
        || definition.signature.as_deref().is_some_and(|signature| !signature.ends_with(';'))
}

pub(super) fn is_seen_in(definition: &Definition, spaces: &[String]) -> bool {
    seen_in(definition).is_some_and(|container| spaces.iter().any(|space| space == container))
}

pub(super) fn is_private_to_file(declared: &DefinitionNode) -> bool {
    let definition = &declared.definition;
    let source =
        definition.path.ends_with(".c") || definition.path.ends_with(".cc") || definition.path.ends_with(".cpp");
    source && definition.signature.as_deref().is_some_and(|signature| signature.starts_with("static "))
}

/// Folders of tests. Below a folder of sources, such as `lib`, one may be a part of the program that has that name.
const TEST_FOLDERS: &[&str] = &["test", "tests", "spec"];
const SOURCE_FOLDERS: &[&str] = &["lib", "main"];
/// Languages in which the name of a type that tests ends in `Test`.
const TEST_TYPES: &[&str] = &["java", "kt", "scala", "groovy", "cs", "swift", "php"];

/// Whether a file is one of tests, by the conventions of its language.
pub(crate) fn is_test(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let is_named = TEST_TYPES.contains(&extension) && ends_as_test(stem);
    let file = file.to_ascii_lowercase();
    let is_by_name =
        file.starts_with("test_") || ["_test.", "_spec.", ".test.", ".spec."].iter().any(|end| file.contains(end));
    if is_named || is_by_name {
        return true;
    }
    folders.split('/').enumerate().any(|(depth, written)| {
        let folder = written.to_ascii_lowercase();
        let is_of_source = || {
            let mut around = folders.split('/').take(depth);
            around.any(|outer| SOURCE_FOLDERS.iter().any(|source| outer.eq_ignore_ascii_case(source)))
        };
        match folder.as_str() {
            "__tests__" | "testdata" => true,
            // In other folders of Go, a test has the name of one.
            _ if extension == "go" => depth == 0 && TEST_FOLDERS.contains(&folder.as_str()),
            "testing" => depth == 0,
            // `src/jvmTest`.
            _ if depth > 0 && ends_as_test(written) && folders.split('/').nth(depth - 1) == Some("src") => true,
            "tests" => true,
            folder => folder.starts_with("test_") || (TEST_FOLDERS.contains(&folder) && !is_of_source()),
        }
    })
}

/// Whether a name in which each word has a capital ends as those of tests do: `CartTest`, not `Latest`.
fn ends_as_test(name: &str) -> bool {
    let before = ["Test", "Tests", "TestCase", "IT"].iter().find_map(|end| name.strip_suffix(end));
    before.is_some_and(|before| before.ends_with(|c: char| c.is_lowercase() || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_test_by_the_convention_of_its_language() {
        for path in [
            "src/net/textproto/reader_test.go",
            "src/cmd/go/testdata/a.go",
            "test/escape.go",
            "test/plug/conn_test.exs",
            "test/support/case.ex",
            "shop/tests/factory.py",
            "test_shop.py",
            "shop/cart_test.py",
            "lib/matplotlib/tests/conftest.py",
            "web/cart.test.ts",
            "web/cart.spec.tsx",
            "lib/web/__tests__/cart.js",
            "src/test/java/shop/Fakes.java",
            "okhttp/src/jvmTest/kotlin/okhttp3/Fakes.kt",
            "src/main/java/shop/CartTest.java",
            "spec/cart_spec.rb",
            "lib/cart_test.rb",
            "tests/it/main.rs",
            "testing/conftest.py",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "src/testing/iotest/reader.go",
            "lib/plug/adapters/test/conn.ex",
            "lib/plug/test.ex",
            "src/main/java/shop/test/Probe.java",
            "src/main/java/shop/Latest.java",
            "src/contest.py",
            "numpy/testing/utils.py",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }
}
