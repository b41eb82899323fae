//! `ixmcp infer`: the tool `infer_types` for the command line, as a list, as a patch, or applied to the files.

use std::path::Path;

use clap::Args;

use super::edited::{Edited, Planning};
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::printable;
use crate::pytypes::values::{Confidence, Insertion, Suggestion};
use crate::query::patch::Edit;
use crate::tools::infer_types::Answer;

/// Infer missing type annotations of Python files
///
/// All of them together cause no new diagnostic. Several files are annotated in one pass. No file is changed without --apply.
/// Exits with 2 if the type checker panicked, also after it found annotations.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files and folders, relative to the current folder or the repository, or absolute (default: the whole project)
    ///
    /// After a single file, the name of a class or function in it, such as Class.method, restricts the inference to it.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Omit suggestions with weaker evidence
    #[arg(long, value_name = "LEVEL", value_parser = ["high", "medium", "low"], default_value = "medium")]
    min_confidence: String,
    /// Print a patch
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    /// Write the files
    #[arg(long, conflicts_with_all = ["json", "diff"])]
    apply: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let (paths, symbol) = match &typed.paths[..] {
        [file, symbol] if is_symbol(session, file, symbol) => (std::slice::from_ref(file), Some(symbol)),
        paths => (paths, None),
    };
    let mut paths = paths.iter().map(|path| session.path(path));
    let first = paths.next().unwrap_or_else(|| ".".to_owned());
    let planning = Planning::begin(session, typed.apply)?;
    let answer = session.call::<Answer>(
        "infer_types",
        arguments! {
            "file": first, "files": paths.collect::<Vec<_>>(), "symbol": symbol, "min_confidence": typed.min_confidence,
        },
    )?;
    let found = &answer.suggestions;
    if session.json {
        output::json(&answer.json);
        return Ok(outcome(&answer));
    }
    let annotations = output::count(found.len() as u64, "annotation", "annotations");
    let left_out = answer.skipped.iter().filter(|one| one.kind == "file");
    let skipped = answer.total_skipped.saturating_sub(left_out.clone().count());
    for one in left_out {
        let file = printable(&session.paint.shown(one.file.as_deref().unwrap_or(&first)));
        output::note(&format!("{file} is left out: {}", printable(&one.reason)));
    }
    if typed.diff || typed.apply {
        let files = changed(&planning, &first, found)?;
        if typed.apply {
            planning.write(&files)?;
            output::line(&format!("{annotations} in {}", output::count(files.len() as u64, "file", "files")));
        } else {
            files.iter().for_each(|file| output::raw(&file.patch));
        }
    } else {
        for of_file in found.chunk_by(|a, b| a.file == b.file) {
            of_file[0].file.iter().for_each(|file| output::line(&session.paint.path(file)));
            of_file.iter().for_each(print);
        }
        let skipped = output::count(skipped as u64, "symbol", "symbols");
        output::note(&format!("{annotations}; {skipped} without a suggestion (see --json)"));
    }
    Ok(outcome(&answer))
}

/// After a panic, annotations may be missing: an exit code of success would hide it.
fn outcome(answer: &Answer) -> Outcome {
    if let Some(panicked) = answer.panicked {
        output::note(&format!("the type checker panicked at {}", output::count(panicked as u64, "file", "files")));
        return Outcome::Broken;
    }
    Outcome::found_if(!answer.suggestions.is_empty())
}

/// Whether the second of two arguments is a symbol in the first.
fn is_symbol(session: &Session, file: &str, symbol: &str) -> bool {
    let is_there = |typed: &str, is_meant: fn(&Path) -> bool| {
        let root = session.workspaces.root(&session.start).ok();
        is_meant(&session.start.join(typed)) || root.is_some_and(|root| is_meant(&root.join(typed)))
    };
    is_there(file, Path::is_file) && !is_there(symbol, Path::exists)
}

fn print(found: &Suggestion) {
    let container = found.container.as_ref().map_or_else(String::new, |container| format!("{container}."));
    let sign = if found.kind == "return" { " ->" } else { ":" };
    let Suggestion { name, line, display, evidence, confidence, .. } = found;
    let level = match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    };
    output::line(&printable(&format!("{line}  {container}{name}{sign} {display}  ({level}: {evidence})")));
}

/// The files with their annotations; `only` is the file of suggestions that name none.
fn changed(planning: &Planning, only: &str, found: &[Suggestion]) -> Result<Vec<Edited>> {
    let of_file = |found: &[Suggestion]| planning.edited(found[0].file.as_deref().unwrap_or(only), &insertions(found));
    found.chunk_by(|a, b| a.file == b.file).map(of_file).collect()
}

/// The insertions, sorted and without duplicates.
fn insertions(found: &[Suggestion]) -> Vec<Edit> {
    let of = |edit: &Insertion| {
        let column = edit.column as usize;
        Edit { line: edit.line as usize, column, end_column: column, text: edit.insert.clone() }
    };
    let mut all: Vec<_> = found.iter().flat_map(|one| one.imports.iter().chain([&one.edit])).map(of).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::answer;

    #[test]
    fn a_panic_of_the_type_checker_is_an_error_whatever_was_found() {
        let code = |more: Value| {
            let mut answered = json!({
                "suggestions": [], "skipped": [], "total_skipped": 0, "total": 0, "truncated": false, "precision": "types",
            });
            answered.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            outcome(&answer::typed(&answered).unwrap()) as u8
        };
        let position = json!({ "line": 1, "column": 6, "insert": " -> int" });
        let suggestion = json!({
            "name": "f", "kind": "return", "line": 1, "column": 5, "type": "int", "evidence": "the returned value",
            "confidence": "high", "edit": position, "imports": [],
        });
        assert_eq!(code(json!({ "suggestions": [suggestion] })), 0);
        assert_eq!(code(json!({ "suggestions": [suggestion], "panicked": 1 })), 2);
        assert_eq!(code(json!({ "panicked": 2 })), 2);
        assert_eq!(code(json!({})), 1);
    }
}
