//! The category of a path: code, or something that a query about code rarely asks for.

/// A category of files with a weight of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathCategory {
    Code,
    Test,
    Document,
    Example,
    /// Code of another project, or made by a program.
    Foreign,
    /// Data and settings.
    Data,
}

const TESTS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "__snapshots__",
    "__fixtures__",
    "__mocks__",
    "spec",
    "specs",
    "testdata",
    "fixtures",
    "testsuite",
    "e2e",
    "sbt-test",
    "integration-test",
    "integration-tests",
    "androidtest",
    "commontest",
    "jvmtest",
    "jstest",
    "iostest",
    "nativetest",
    "testfixtures",
];
/// Ends of names in which each word has a capital: of JUnit, NUnit, xUnit, XCTest, PHPUnit, ScalaTest.
const TEST_ENDS: &[&str] = &["Test", "Tests", "TestCase", "TestSuite", "IT"];
/// Elsewhere a `Spec` may be a specification, as `PodSpec` is.
const SPEC_LANGUAGES: &[&str] = &["scala", "groovy", "kotlin"];
const SPEC_ENDS: &[&str] = &["Spec", "Specs"];
const DOCUMENTS: &[&str] = &["doc", "docs", "documentation", "man", "changelog", "changelogs", "rfcs"];
const EXAMPLES: &[&str] = &[
    "example",
    "examples",
    "_examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "tutorial",
    "tutorials",
];
const FOREIGN: &[&str] = &[
    "vendor",
    "_vendor",
    "vendored",
    "third_party",
    "thirdparty",
    "third-party",
    "node_modules",
    "external",
    "extern",
    "generated",
    "dist",
    "deps",
    "site-packages",
];
const FOREIGN_ENDS: &[&str] = &[".pb.go", "_pb2.py", "_pb2_grpc.py", ".g.dart", ".generated.cs", ".min.js", ".min.css"];
const DATA: &[&str] = &[
    "json", "yaml", "toml", "css", "html", "csv", "xml", "svg", "ini", "cfg", "lock", "po", "pot", "in", "sum", "mod",
];
const DOCUMENT_ENDS: &[&str] = &["md", "rst", "txt", "adoc", "markdown", "tex", "org"];

const ABOUT_PROJECT: &[&str] =
    &["readme", "license", "licence", "changelog", "changes", "contributing", "authors", "copying", "news"];

impl PathCategory {
    pub fn classify(path: &str, language: &str) -> Self {
        let lower = path.to_lowercase();
        let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
        let has = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
        if has(FOREIGN) || FOREIGN_ENDS.iter().any(|end| file.ends_with(end)) {
            return Self::Foreign;
        }
        let written = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or(path);
        let is_camel = |ends: &[&str]| {
            let before = ends.iter().find_map(|end| written.strip_suffix(end));
            before.is_some_and(|before| before.ends_with(|c: char| c.is_lowercase() || c.is_ascii_digit()))
        };
        let is_test = has(TESTS)
            || folders.split('/').next() == Some("testing")
            || stem.starts_with("test_")
            || ["_test", "_tests", ".test", ".spec", "_spec"].iter().any(|end| stem.ends_with(end))
            || matches!(stem, "conftest" | "test" | "tests")
            || folders.split('/').any(|folder| folder.ends_with(".test") || folder.ends_with(".tests"))
            || ending == "snap"
            || is_camel(TEST_ENDS)
            || (SPEC_LANGUAGES.contains(&language) && is_camel(SPEC_ENDS));
        if is_test {
            return Self::Test;
        }
        // A Markdown file with an id is knowledge, not documentation of the code next to it.
        if lower.starts_with(".ixchel/") {
            return Self::Code;
        }
        if language == "markdown" || DOCUMENT_ENDS.contains(&ending) || has(DOCUMENTS) || ABOUT_PROJECT.contains(&stem)
        {
            return Self::Document;
        }
        if has(EXAMPLES) {
            return Self::Example;
        }
        if DATA.contains(&ending) || DATA.contains(&language) { Self::Data } else { Self::Code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_by_their_paths() {
        for (path, language, category) in [
            ("src/lib.rs", "rust", PathCategory::Code),
            ("tests/it/main.rs", "rust", PathCategory::Test),
            ("pkg/raft_test.go", "go", PathCategory::Test),
            ("a/test_x.py", "python", PathCategory::Test),
            ("django/test/client.py", "python", PathCategory::Test),
            ("src/latest.py", "python", PathCategory::Code),
            ("app/CartTest.kt", "kotlin", PathCategory::Test),
            ("Shop.Core/CartTests.cs", "csharp", PathCategory::Test),
            ("Shop.Tests/Usings.cs", "csharp", PathCategory::Test),
            ("core/CartSpec.scala", "scala", PathCategory::Test),
            ("api/PodSpec.java", "java", PathCategory::Code),
            ("src/sbt-test/a/build.sbt", "scala", PathCategory::Test),
            ("web/__snapshots__/cart.tsx.snap", "text", PathCategory::Test),
            ("src/Latest.kt", "kotlin", PathCategory::Code),
            ("src/GIT.java", "java", PathCategory::Code),
            ("README.md", "markdown", PathCategory::Document),
            ("docs/conf.py", "python", PathCategory::Document),
            ("examples/a.py", "python", PathCategory::Example),
            ("vendor/x/y.go", "go", PathCategory::Foreign),
            ("api/v1.pb.go", "go", PathCategory::Foreign),
            ("package.json", "json", PathCategory::Data),
            (".ixchel/decisions/a.md", "markdown", PathCategory::Code),
        ] {
            assert_eq!(PathCategory::classify(path, language), category, "{path}");
        }
    }
}
