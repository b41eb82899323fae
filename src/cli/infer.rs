//! `ixmcp infer`: the tool `infer_types`, for people; as a list or as a patch.

use std::fmt::Write;

use clap::Args;
use serde_json::Value;

use super::{Outcome, Session, arguments, output};
use crate::error::{Error, Result};

/// Show annotations that a Python file could have
///
/// Together they bring no new diagnostic. Nothing is written: `ixmcp infer FILE --diff | git apply` does.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file, relative to the repository or absolute
    file: String,
    /// Only this class or function: Class.method
    symbol: Option<String>,
    /// Print a patch
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let answer = session.call("infer_types", arguments! { "file": typed.file, "symbol": typed.symbol })?;
    let found = answer["suggestions"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&answer);
    } else if typed.diff {
        let (shown, bytes) = session.workspace()?.read_file(&typed.file)?;
        let text = String::from_utf8(bytes).map_err(|_| Error::invalid_argument("the file is not UTF-8"))?;
        output::raw(&patch(&shown, &text, &insertions(found)));
    } else {
        found.iter().for_each(print);
        let skipped = answer["total_skipped"].as_u64().unwrap_or(0);
        output::note(&format!("{} annotations; of {skipped} more nothing can be said (see --json)", found.len()));
    }
    Ok(if found.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn print(found: &Value) {
    let text = |name: &str| output::text(&found[name]);
    let container = found["container"].as_str().map_or_else(String::new, |container| format!("{container}."));
    let what = match found["kind"].as_str() {
        Some("return") => format!("{container}{} ->", text("name")),
        _ => format!("{container}{}:", text("name")),
    };
    output::line(&format!("{}  {what} {}  ({})", found["line"], text("type"), text("evidence")));
}

/// (line, column, text), each once, in the order of the file.
fn insertions(found: &[Value]) -> Vec<(usize, usize, String)> {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(1)).unwrap_or(1);
    let of = |edit: &Value| {
        (number(&edit["line"]), number(&edit["column"]), edit["insert"].as_str().unwrap_or_default().to_owned())
    };
    let imports = found.iter().flat_map(|one| one["imports"].as_array().into_iter().flatten());
    let mut all: Vec<_> = found.iter().map(|one| &one["edit"]).chain(imports).map(of).collect();
    all.sort();
    all.dedup();
    all
}

/// A unified diff of lines that got something inserted, without context: each hunk names its own lines.
fn patch(file: &str, text: &str, insertions: &[(usize, usize, String)]) -> String {
    let mut patch = String::new();
    if insertions.is_empty() {
        return patch;
    }
    let _infallible = writeln!(patch, "--- a/{file}\n+++ b/{file}");
    let mut added = 0;
    for group in insertions.chunk_by(|a, b| a.0 == b.0) {
        let number = group[0].0;
        let line = text.split_inclusive('\n').nth(number - 1).unwrap_or_default();
        let mut edited = String::new();
        let mut done = 0;
        for (_, column, insert) in group {
            let at = line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
            edited.push_str(&line[done..at]);
            edited.push_str(insert);
            done = at;
        }
        edited.push_str(&line[done..]);
        let removed = usize::from(!line.is_empty());
        let new = edited.split_inclusive('\n').count();
        // A hunk that takes nothing away names the line before it.
        let (from, to) = (number - usize::from(removed == 0), number + added);
        let _infallible = writeln!(patch, "@@ -{from},{removed} +{to},{new} @@");
        for (sign, part) in [('-', line), ('+', edited.as_str())] {
            for line in part.split_inclusive('\n') {
                let _infallible = write!(patch, "{sign}{line}");
                if !line.ends_with('\n') {
                    patch.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        added += new - removed;
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_shows_each_line_before_and_after() {
        let edits = [(1, 1, "import x\n".to_owned()), (2, 6, ": int".to_owned()), (2, 9, " -> str".to_owned())];
        let shown = patch("a.py", "\ndef f(a): ...", &edits);
        assert_eq!(
            shown,
            "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n-\n+import x\n+\n@@ -2,1 +3,1 @@\n-def f(a): ...\n\\ No newline at end of file\n+def f: int(a) -> str: ...\n\\ No newline at end of file\n"
        );
    }
}
