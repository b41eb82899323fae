//! Names of functions: each says what the function does.
//!
//! `of` hides whether a function makes a value, reads the disk or writes.

use super::{files_under, root};

/// Lines, from 1, that define a function with this name.
fn defining(text: &str, name: &str) -> Vec<usize> {
    let start = format!("fn {name}");
    let defines = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        code.split_once(&start).is_some_and(|(_, rest)| rest.starts_with(['(', '<']))
    };
    (1..).zip(text.lines()).filter(|(_, line)| defines(line)).map(|(number, _)| number).collect()
}

#[test]
fn no_function_is_called_of() {
    let mut wrong = Vec::new();
    for path in ["src", "tests", "benches"].into_iter().flat_map(|folder| files_under(&root().join(folder), "rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        wrong.extend(defining(&text, "of").into_iter().map(|line| format!("{shown}:{line}")));
    }
    assert!(wrong.is_empty(), "say what these functions do: `new`, `from_…`, `load`, `compute`:\n{}", wrong.join("\n"));
}

#[test]
fn functions_are_found_by_their_whole_name() {
    let text = ["pub fn a(b: u8) {}", "// fn a() {}", "const fn a<T>() {}", "fn a_b() {}", "fn b(a: u8) {}"].join("\n");
    assert_eq!(defining(&text, "a"), [1, 3]);
}
