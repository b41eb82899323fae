//! Which folders of tests correspond to which folders of sources.
//!
//! Owns trees of tests that run parallel to those of sources. Does not own which files are tests (`relations`), nor their names
//! (`affected_tests`).

use crate::query::relations::package_of;

/// Folders in which a project keeps its tests.
const TESTS: &[&str] = &["test", "tests", "spec", "specs", "testing", "__tests__", "e2e"];
/// Folders in a tree of tests that say which kind of tests is in them.
const KINDS: &[&str] = &["unit", "integration", "functional", "it"];
/// Folders that are no part of what a file is about.
const ROOTS: &[&str] = &["src", "lib", "app", "main", "sources", "java", "kotlin", "scala", "groovy", "python", "php"];

/// Whether a test is where tests of a source are: in its folder, in its package, or in a parallel tree.
pub(super) fn corresponds(source: &str, test: &str) -> bool {
    let (own, other) = (folders(source), folders(test));
    if own == other {
        return true;
    }
    if test.ends_with(".go") {
        return false;
    }
    let package = package_of(test);
    if package == package_of(source) && !test.starts_with(package) {
        return true;
    }
    let Some(at) = other.iter().position(|folder| is_of_tests(folder)) else { return false };
    let Some(below) = own.strip_prefix(&other[..at]) else { return false };
    let within: Vec<&str> = other[at..].iter().map(|folder| without_test(folder)).collect();
    let (below, within) = (without_roots(below), without_roots(&within));
    if other[at] == "__tests__" {
        return below == within;
    }
    // All tests may be in one folder.
    below.ends_with(&within)
}

fn folders(path: &str) -> Vec<&str> {
    path.rsplit_once('/').map_or_else(Vec::new, |(folders, _)| folders.split('/').collect())
}

fn is_of_tests(folder: &str) -> bool {
    TESTS.iter().any(|tests| folder.eq_ignore_ascii_case(tests)) || without_test(folder) != folder
}

/// A folder's name without the word that makes it one of tests: `Shop` of `Shop.Tests`.
fn without_test(folder: &str) -> &str {
    let before = ["Tests", "Test", ".tests", ".test", "_test"].iter().find_map(|end| folder.strip_suffix(end));
    before.map(|before| before.trim_end_matches('.')).filter(|before| !before.is_empty()).unwrap_or(folder)
}

fn without_roots(folders: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = folders.iter().map(|folder| folder.to_lowercase()).collect();
    words.retain(|word| !word.is_empty() && !ROOTS.contains(&word.as_str()));
    let is_tree = |word: &String| TESTS.contains(&word.as_str());
    if words.first().is_some_and(is_tree) {
        words.remove(0);
        words.retain(|word| !KINDS.contains(&word.as_str()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_in_the_folder_in_a_parallel_tree_or_in_the_package() {
        for (source, test) in [
            ("src/net/textproto/reader.go", "src/net/textproto/reader_test.go"),
            ("shop/cart.py", "tests/test_cart.py"),
            ("src/shop/orders/cart.py", "tests/unit/orders/test_cart.py"),
            ("lib/plug/conn.ex", "test/plug/conn_test.exs"),
            ("lib/plug/adapters/test/conn.ex", "test/plug/adapters/test/conn_test.exs"),
            ("web/src/cart.ts", "web/src/__tests__/cart.test.ts"),
            ("packages/a/src/cart.ts", "packages/a/test/cart.test.ts"),
            ("src/main/java/shop/Cart.java", "src/test/java/shop/CartTest.java"),
            ("okhttp/src/commonMain/kotlin/okhttp3/Call.kt", "okhttp/src/jvmTest/kotlin/okhttp3/CallTest.kt"),
            ("Sources/Shop/Cart.swift", "Tests/ShopTests/CartTests.swift"),
            ("Shop/Cart.cs", "Shop.Tests/CartTests.cs"),
            ("lib/shop/cart.rb", "spec/shop/cart_spec.rb"),
            ("src/query/rank.rs", "tests/it/rank.rs"),
        ] {
            assert!(corresponds(source, test), "{source} {test}");
        }
        for (source, test) in [
            ("src/net/textproto/reader.go", "src/bytes/reader_test.go"),
            ("src/net/textproto/reader.go", "src/archive/tar/reader_test.go"),
            ("lib/plug/adapters/test/conn.ex", "test/plug/conn_test.exs"),
            ("packages/a/src/cart.ts", "packages/b/test/cart.test.ts"),
            ("web/src/orders/cart.ts", "web/src/__tests__/cart.test.ts"),
            ("src/main/java/shop/Cart.java", "src/test/java/bank/CartTest.java"),
        ] {
            assert!(!corresponds(source, test), "{source} {test}");
        }
    }
}
