//! `ixmcp infer`: the tool `infer_types` for the command line, as a list or as a patch.

use clap::Args;

use super::{Outcome, Session, arguments, output};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::pytypes::values::{Confidence, Insertion, Suggestion};
use crate::query::patch::{self, Edit};
use crate::tools::infer_types::Answer;

/// Infer missing type annotations of a Python file
///
/// All of them together cause no new diagnostic. No file is changed; to apply them, run
/// `ixmcp infer FILE --diff | git apply`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file, relative to the current folder or the repository, or absolute
    file: String,
    /// Only this class or function, such as Class.method
    symbol: Option<String>,
    /// Omit suggestions with weaker evidence
    #[arg(long, value_name = "LEVEL", value_parser = ["high", "medium", "low"], default_value = "medium")]
    min_confidence: String,
    /// Print a patch
    #[arg(long, conflicts_with = "json")]
    diff: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let file = session.file(&typed.file);
    let answer = session.call::<Answer>(
        "infer_types",
        arguments! {
            "file": file, "symbol": typed.symbol, "min_confidence": typed.min_confidence,
        },
    )?;
    let found = &answer.suggestions;
    if session.json {
        output::json(&answer.json);
    } else if typed.diff {
        // A patch must fit the file.
        let (shown, bytes) = session.workspace()?.files.read_exactly(&file)?;
        let text = String::from_utf8(bytes).map_err(|_| Error::invalid_argument("the file is not UTF-8"))?;
        let patch = patch::unified(&shown, &text, &insertions(found)).ok_or_else(|| {
            let message = format!("{} was changed while its types were inferred", printable(&shown));
            Error::new(ErrorKind::Busy, message).hint("Run the command again.")
        })?;
        output::raw(&patch);
    } else {
        found.iter().for_each(print);
        let skipped = answer.total_skipped;
        let annotations = output::count(found.len() as u64, "annotation", "annotations");
        output::note(&format!("{annotations}; {skipped} symbols without a suggestion (see --json)"));
    }
    Ok(Outcome::of(!found.is_empty()))
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
