//! Edits of a text, applied to it, and two texts as a unified diff.
//!
//! Owns the form of the diff. Does not own what is edited, and reads and writes no file.

use similar::TextDiff;

/// A span within one line that gets another text; an insertion if the span is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// From 1.
    pub line: usize,
    /// From 1, in code points.
    pub column: usize,
    pub end_column: usize,
    pub text: String,
}

/// The text with the edits, which are sorted. `None` if the text lacks one of the lines: it is not the text that the edits are
/// for.
pub fn applied(text: &str, edits: &[Edit]) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if edits.iter().any(|edit| !(1..=lines.len() + 1).contains(&edit.line) || edit.column == 0) {
        return None;
    }
    let (mut edited, mut from) = (String::with_capacity(text.len()), 0);
    for group in edits.chunk_by(|a, b| a.line == b.line) {
        let at = group[0].line - 1;
        edited.extend(lines[from..at].iter().copied());
        push_edited(&mut edited, lines.get(at).copied().unwrap_or_default(), group);
        from = (at + 1).min(lines.len());
    }
    edited.extend(lines[from..].iter().copied());
    Some(edited)
}

/// Adds `line` with the edits applied, each at its column.
fn push_edited(edited: &mut String, line: &str, edits: &[Edit]) {
    let mut done = 0;
    // A byte order mark is not part of the line.
    let first = line.len() - line.trim_start_matches('\u{feff}').len();
    let position = |column: usize| {
        line[first..].char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| first + at)
    };
    for edit in edits {
        let at = position(edit.column).max(done);
        edited.push_str(&line[done..at]);
        edited.push_str(&edit.text);
        done = position(edit.end_column).max(at);
    }
    edited.push_str(&line[done..]);
}

/// The edits, which are sorted, as a unified diff. `None` as for [`applied`].
pub fn unified(file: &str, text: &str, edits: &[Edit]) -> Option<String> {
    Some(diff((&head('a', file), &head('b', file)), text, &applied(text, edits)?))
}

/// The name of a file in the head of a diff, as git 2.47 writes it: a tab ends a name with spaces, and one with control characters, quotes
/// or backslashes is quoted. Otherwise such a name could add lines to the diff.
fn head(side: char, file: &str) -> String {
    let mut name = String::new();
    for character in file.chars() {
        match character {
            '\u{7}' => name.push_str("\\a"),
            '\u{8}' => name.push_str("\\b"),
            '\t' => name.push_str("\\t"),
            '\n' => name.push_str("\\n"),
            '\u{b}' => name.push_str("\\v"),
            '\u{c}' => name.push_str("\\f"),
            '\r' => name.push_str("\\r"),
            '"' | '\\' => name.extend(['\\', character]),
            '\0'..=' ' | '\u{7f}' if character != ' ' => name.push_str(&format!("\\{:03o}", u32::from(character))),
            _ => name.push(character),
        }
    }
    let quote = if name == file { "" } else { "\"" };
    let end = if file.contains(' ') { "\t" } else { "" };
    format!("{quote}{side}/{name}{quote}{end}")
}

/// A unified diff from `before` to `after`, with the names of the two; empty if they are equal. It has no `diff --git` line:
/// findings/git-apply-in-a-subfolder.sh.
pub fn diff((from, to): (&str, &str), before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    diff.unified_diff().header(from, to).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(line: usize, column: usize, text: &str) -> Edit {
        Edit { line, column, end_column: column, text: text.to_owned() }
    }

    #[test]
    fn names_in_the_head_are_quoted_as_git_quotes_them() {
        for (name, expected) in [
            ("a/é.py", "a/a/é.py"),
            ("a b.py", "a/a b.py\t"),
            ("a\tb.py", r#""a/a\tb.py""#),
            ("é \"q\".py", "\"a/é \\\"q\\\".py\"\t"),
            ("c\\d\u{1}.py", r#""a/c\\d\001.py""#),
            ("n\nl.py", r#""a/n\nl.py""#),
        ] {
            assert_eq!(head('a', name), expected);
        }
    }

    #[test]
    fn edits_replace_their_spans_in_the_text_and_in_the_patch() {
        let edits = [(1, 5, 9, "size"), (2, 7, 11, "size"), (2, 13, 17, "größe")]
            .map(|(line, column, end_column, text)| Edit { line, column, end_column, text: text.to_owned() });
        let text = "def long(a):\n    x(long, long) # é\n";
        assert_eq!(applied(text, &edits).unwrap(), "def size(a):\n    x(size, größe) # é\n");
        assert_eq!(
            unified("a.py", text, &edits[..1]).unwrap(),
            "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-def long(a):\n+def size(a):\n     x(long, long) # é\n"
        );
        assert_eq!(applied(text, &[insert(9, 1, "x")]), None);
    }

    #[test]
    fn a_patch_shows_each_changed_line_before_and_after() {
        let edits = [insert(1, 1, "import x\n"), insert(2, 8, ": int"), insert(2, 9, " -> str")];
        let shown = unified("a.py", "\ndef f(a): ...", &edits).unwrap();
        assert_eq!(
            shown,
            "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n+import x\n \n-def f(a): ...\n\\ No newline at end of file\n+def f(a: int) -> str: ...\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let text: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let shown = unified("a.py", &text, &[insert(2, 2, "x"), insert(19, 1, "y\n")]).unwrap();
        assert_eq!(
            shown,
            "--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n 1\n-2\n+2x\n 3\n 4\n 5\n@@ -16,5 +16,6 @@\n 16\n 17\n 18\n+y\n 19\n 20\n"
        );
        assert_eq!(unified("a.py", &text, &[]).unwrap(), "");
        assert_eq!(unified("a.py", "", &[insert(1, 1, "y\n")]).unwrap(), "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+y\n");
    }

    #[test]
    fn a_file_that_became_shorter_gets_no_patch() {
        let insertions = [insert(2, 4, ": int"), insert(9, 1, "import x\n")];
        assert_eq!(unified("a.py", "one\nx = 1\n", &insertions), None);
        assert!(unified("a.py", "one\nx = 1\n", &insertions[..1]).is_some());
        assert_eq!(unified("a.py", "", &[insert(0, 1, "x")]), None);
    }
}
