//! House rules that the compiler cannot see.

mod cycles;
mod item_docs;
mod names;
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that every module may import: plain values, errors, deadlines, words, what differs by operating system,
/// child processes, mutexes, threads, detection of secrets, where git keeps a repository and what it keeps there.
const BASE: &[&str] = &[
    "model",
    "error",
    "wording",
    "budget",
    "words",
    "cycles",
    "platform",
    "child_process",
    "locked",
    "threads",
    "panics",
    "random_texts",
    "secrets",
    "git_config",
    "git_settings",
    "git_layout",
    "git_objects",
    "wildmatch",
];

/// The modules that each module may import, in the order in which data passes. A module may always import itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("error", &["model", "wording"]),
    ("wording", &[]),
    ("budget", &["error"]),
    ("wildmatch", &[]),
    ("words", &[]),
    ("locked", &[]),
    ("threads", &["error"]),
    ("cycles", &[]),
    ("random_texts", &[]),
    ("git_settings", &["platform"]),
    ("git_config", &["git_layout", "git_settings", "platform", "wildmatch"]),
    ("git_layout", &["git_settings", "platform"]),
    ("git_objects", &["budget", "child_process", "config", "error", "git_config", "git_layout", "model", "wording"]),
    ("panics", &["error"]),
    ("secrets", &[]),
    ("platform", &["model"]),
    ("child_process", &["error", "locked", "platform"]),
    ("config", &[]),
    ("dependencies", &["config"]),
    ("scan", &["config"]),
    ("extract", &[]),
    ("embed", &["config"]),
    ("store", &[]),
    // `organisation` for mirrors: only it changes their files.
    ("repository", &["scan", "extract", "store", "config", "organisation"]),
    ("update", &["scan", "extract", "embed", "store", "config", "repository"]),
    // `update` for the comparison of files with rows.
    ("unindexed", &["scan", "extract", "store", "repository", "update"]),
    // `pytypes` for the engines that an open repository owns.
    // `organisation` for repositories that are published and not here.
    (
        "workspace",
        &["scan", "store", "pytypes", "config", "organisation", "dependencies", "repository", "update", "unindexed"],
    ),
    ("pytypes", &[]),
    // `extract` for what it knows of languages, prose, entities, and the names of SCIP.
    ("query", &["store", "extract", "embed"]),
    // `scan` for the rules that leave files out.
    ("organisation", &["scan", "extract", "config"]),
    // `store` for the snapshot that a query is asked of, `extract` for the list of languages, `organisation` for the mirrors
    // that a call reads.
    (
        "tools",
        &["query", "repository", "update", "unindexed", "workspace", "store", "extract", "pytypes", "organisation"],
    ),
    // `scan` for what git tracks and where a repository begins; `query`, `store` and `extract` for the views of the page.
    ("serve", &["tools", "repository", "update", "workspace", "config", "scan", "query", "store", "extract"]),
    // `embed` for the doctor alone, which checks whether the model works.
    (
        "cli",
        &[
            "scan",
            "extract",
            "embed",
            "store",
            "repository",
            "update",
            "workspace",
            "pytypes",
            "organisation",
            "dependencies",
            "query",
            "tools",
            "serve",
            "config",
        ],
    ),
];

/// Crates that one module alone may name, or two.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("refinery", &["store", "organisation"]),
    ("rten_simd", &["store"]),
    // `platform` for its sockets, which are a host on Unix only.
    ("tokio_postgres", &["organisation", "platform"]),
    ("tokio_postgres_rustls", &["organisation"]),
    ("x509_cert", &["organisation"]),
    ("webpki_roots", &["organisation"]),
    ("rmcp", &["serve"]),
    ("hyper", &["serve"]),
    ("tree_sitter", &["extract"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("jsonc_parser", &["cli"]),
    ("saphyr_parser", &["extract"]),
    ("pulldown_cmark", &["extract"]),
    ("gix_index", &["scan"]),
    ("ort", &["embed"]),
    ("tokenizers", &["embed"]),
    ("ureq", &["cli"]),
    ("rustix", &["platform"]),
    ("getrandom", &["platform"]),
    ("dunce", &["platform"]),
    ("salsa", &["pytypes"]),
];

/// Functions that only one module may call.
const CALLS_ONLY_IN: &[(&str, &[&str])] = &[
    ("std::env::", &["config"]),
    ("println!", &[]),
    ("eprintln!", &[]),
    // What one operating system has and another has not.
    ("std::os::", &["platform"]),
    ("signal::unix", &["platform"]),
    // Requests to child processes, their timeouts and their end.
    ("ChildStdin", &["child_process"]),
    (".canonicalize()", &["platform"]),
    ("#[cfg(unix)]", &["platform"]),
    ("#[cfg(windows)]", &["platform"]),
    ("#[cfg(not(unix))]", &["platform"]),
    // Only one module changes rows; `store` itself keeps what is derived from them.
    (".write(|batch|", &["update", "store"]),
    (".write(|changes|", &["update", "store"]),
];

/// A module with more lines of code than this wants to be two.
const MAX_LINES: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_under(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Every source file: (top-level module, path, text without its unit tests).
fn sources() -> Vec<(String, PathBuf, String)> {
    let src = root().join("src");
    files_under(&src, "rs")
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&src).unwrap();
            let first = relative.iter().next().unwrap().to_str().unwrap();
            let module = first.strip_suffix(".rs").unwrap_or(first).to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            (module, path, code)
        })
        .collect()
}

/// Top-level modules of ours that a text names: `crate::x` and `crate::{x, y}`.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for rest in code.split("crate::").skip(1) {
        let names = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap().split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let name: String = name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push(name);
        }
    }
    found
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let table: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let allowed = table.get(module.as_str()).unwrap_or_else(|| panic!("{module} is not in the table"));
        for name in imports(&code) {
            let base = !BASE.contains(&module.as_str()) && BASE.contains(&name.as_str());
            if table.contains_key(name.as_str()) && name != module && !base && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{}: {module} may not import {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_tables_name_only_what_exists() {
    let mut imported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, _, code) in sources() {
        imported.entry(module).or_default().extend(imports(&code));
    }
    let mut wrong = Vec::new();
    for (module, allowed) in MAY_IMPORT {
        let Some(named) = imported.get(*module) else {
            wrong.push(format!("there is no module {module}"));
            continue;
        };
        for name in allowed.iter().filter(|name| !named.contains(**name)) {
            wrong.push(format!("{module} does not import {name}"));
        }
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for (name, homes) in ONLY_IN {
        let is_named = |line: &str| line.split(['=', ' ']).next().is_some_and(|key| key.replace('-', "_") == *name);
        if !manifest.lines().any(is_named) {
            wrong.push(format!("{name} is not a dependency"));
        }
        let path = format!("{name}::");
        for home in homes.iter() {
            if !sources().iter().any(|(module, _, code)| module == home && code.contains(&path)) {
                wrong.push(format!("{home} does not name {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_are_named_only_where_they_belong() {
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        for (name, home) in ONLY_IN {
            let path_of = format!("{name}::");
            // Not where another name ends like it.
            let begins = |line: &str, at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let names = |line: &str| line.match_indices(&path_of).any(|(at, _)| begins(line, at));
            let named =
                code.contains(&path_of) && code.lines().any(|line| !line.trim_start().starts_with("//") && names(line));
            if named && !home.contains(&module.as_str()) {
                wrong.push(format!("{}: only {} may name {name}", path.display(), home.join(" and ")));
            }
        }
        let is_a_test = path.file_stem().is_some_and(|name| name == "tests");
        for (call, homes) in CALLS_ONLY_IN.iter().filter(|_| !is_a_test) {
            if code.contains(call) && !homes.contains(&module.as_str()) {
                wrong.push(format!("{}: {call} does not belong here", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// After an upgrade of these crates, one file has most of the errors.
#[test]
fn one_file_names_the_crates_of_the_type_engine() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let crates: Vec<&str> = manifest
        .lines()
        .filter(|line| line.starts_with("ty_") || line.starts_with("ruff_"))
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert!(crates.len() > 5, "{crates:?}");
    let home = root().join("src/pytypes/ty/api.rs");
    let mut wrong = Vec::new();
    for path in files_under(&root().join("src"), "rs").into_iter().filter(|path| *path != home) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            if words.any(|word| crates.contains(&word)) {
                wrong.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "only {} names these crates:\n{}", home.display(), wrong.join("\n"));
}

/// Each edge writes tools and arguments in its own words.
#[test]
fn errors_name_tools_and_arguments_as_values() {
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        if !matches!(module.as_str(), "wording" | "cli") && code.contains("argument `") {
            wrong.push(format!("{}: an argument in a text", path.display()));
        }
        for hint in code.split(".hint(").skip(1) {
            let text = hint.split(";\n").next().unwrap().split("\n}").next().unwrap();
            for tool in ixmcp::tools::TOOLS.iter().filter(|tool| text.contains(&format!("`{}`", tool.name))) {
                wrong.push(format!("{}: {} in the text of a hint", path.display(), tool.name));
            }
        }
        for rest in code.split("Tool(\"").skip(1).filter(|_| module != "cli") {
            let name = rest.split('"').next().unwrap();
            if ixmcp::tools::find(name).is_err() {
                wrong.push(format!("{}: there is no tool {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_says_what_it_owns_and_none_is_a_drawer() {
    let mut wrong = Vec::new();
    for (_, path, code) in sources() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name != "main" && !code.starts_with("//! ") {
            wrong.push(format!("{}: opens without `//!`", path.display()));
        }
        if matches!(name, "util" | "utils" | "helper" | "helpers" | "common" | "misc") {
            wrong.push(format!("{}: name it by what it serves", path.display()));
        }
        let lines = code.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//")).count();
        if lines > MAX_LINES {
            wrong.push(format!("{}: {lines} lines of code", path.display()));
        }
    }
    let main = std::fs::read_to_string(root().join("src/main.rs")).unwrap();
    if main.lines().count() > 40 {
        wrong.push("src/main.rs: above 40 lines".to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_integration_test_file_is_in_a_list() {
    let folder = root().join("tests/it");
    for path in files_under(&folder, "rs") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let parent = path.parent().unwrap();
        let list = if parent == folder { folder.join("main.rs") } else { parent.with_extension("rs") };
        let list = std::fs::read_to_string(list).unwrap();
        assert!(name == "main" || list.contains(&format!("mod {name};")), "{} is never run", path.display());
    }
}

#[test]
fn each_statement_of_the_migrations_holds_a_comment() {
    for path in files_under(&root().join("migrations"), "sql") {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let explained = lines.get(at + 1).is_some_and(|next| next.trim_start().starts_with("--"));
            assert!(!line.starts_with("CREATE ") || explained, "{}:{} has no comment", path.display(), at + 1);
        }
    }
}
