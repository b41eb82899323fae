//! First words of item docs: a verb, or the thing itself.
//!
//! rustdoc and editors show a doc alone, so one that refers to the item before it says nothing there.

use super::{files_under, root};

/// Beginnings that refer to another doc, or delay the thing that the doc is about.
const LEANING: &[&str] = &["The same", "That of", "Of", "Those", "What", "As"];

/// Lines, from 1, on which a doc begins with one of these words.
fn leaning(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut mark_before = "";
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(*mark)).unwrap_or_default();
        // Further lines of a doc may begin with any word.
        let is_first = !mark.is_empty() && mark != mark_before;
        let words = line[mark.len()..].trim_start();
        let begins_with =
            |first: &&str| words.strip_prefix(*first).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        if is_first && LEANING.iter().any(begins_with) {
            found.push(number);
        }
        mark_before = mark;
    }
    found
}

#[test]
fn no_doc_leans_on_the_item_before_it() {
    let mut wrong = Vec::new();
    let page = ["ts", "tsx"].map(|extension| ("src/serve/ui/src", extension));
    let folders = ["src", "tests", "benches"].map(|folder| (folder, "rs"));
    for path in folders.into_iter().chain(page).flat_map(|(folder, kind)| files_under(&root().join(folder), kind)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        wrong.extend(leaning(&text).into_iter().map(|line| format!("{shown}:{line}")));
    }
    assert!(wrong.is_empty(), "begin these docs with a verb or the thing itself:\n{}", wrong.join("\n"));
}

#[test]
fn docs_that_lean_are_found_by_their_first_line() {
    let text = "//! What is here.\n\n/// The same, sorted.\nfn a() {}\n/// Often right.\n/// What follows is read.\nfn b() {}\n    /// Of a list.\n";
    assert_eq!(leaning(text), [1, 3, 8]);
}
