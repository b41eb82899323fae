//! `infer_types`: annotations that could be added to a Python file, or to all files of a folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine, render};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Confidence, Query, Skipped, Suggestion};
use crate::wording::{Argument, Name};

pub(super) static INFER_TYPES: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "infer_types",
        title: "Infer Python annotations",
        about: "Suggest annotations that a Python file, or every file of a folder, lacks, as edits with the imports they need. \
            Applied together they cause no new diagnostic. Nothing is written.",
        access: Access::Read,
        core: false,
        list: Some("suggestions"),
        example: r#"{"file": "tests/clients/python_mcp.py"}"#,
    }
};

/// Arguments of `infer_types`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// File or folder, relative to the repository or absolute; `.` for the whole project.
    file: String,
    /// Further files and folders. All are annotated in one pass.
    #[serde(default)]
    files: Vec<String>,
    /// Only this class or function: Class.method (default: all).
    symbol: Option<String>,
    /// Omit suggestions with weaker evidence (default medium).
    min_confidence: Option<Confidence>,
    /// Suggestions to skip (default 0).
    offset: Option<u64>,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// By file. Each position is that before all edits: apply the edits of all pages at once.
    pub suggestions: Vec<Suggestion>,
    /// The first symbols without a suggestion, each with the reason.
    pub skipped: Vec<Skipped>,
    pub total_skipped: usize,
    /// Files at which the type checker panicked. Suggestions may be missing, and new diagnostics in these files are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panicked: Option<usize>,
    pub total: usize,
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    pub precision: String,
}

/// The maximum number of skipped symbols in an answer over MCP.
const MAX_SKIPPED: usize = 30;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let symbol = arguments.symbol.clone().filter(|symbol| !symbol.trim().is_empty());
    let min_confidence = arguments.min_confidence.unwrap_or_default();
    let query = match only_file(call, arguments)? {
        Some(file) => Query::Infer { file, symbol, min_confidence },
        None if symbol.is_some() => {
            return Err(Error::invalid_argument((Argument("symbol"), ": a symbol is in one file")).hint((
                "Name its file in ",
                Name("file"),
                ", or leave ",
                Name("symbol"),
                " out.",
            )));
        }
        None => Query::InferAll { within: within(call, arguments)?, min_confidence },
    };
    let Answered::Infer(inferred) = engine::ask(call, &query)? else { return Err(engine::unexpected()) };
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    let max = if call.cap().is_some() { MAX_SKIPPED } else { usize::MAX };
    let total = inferred.suggestions.len();
    let answer = Answer {
        total_skipped: inferred.skipped.len(),
        panicked: (inferred.panicked > 0).then_some(inferred.panicked),
        total,
        skipped: inferred.skipped.into_iter().take(max).collect(),
        precision: "types".to_owned(),
        ..Answer::default()
    };
    let rest: Vec<Suggestion> = inferred.suggestions.into_iter().skip(offset).collect();
    let fields = render::json_size(&answer) + FIELDS;
    let kept = call.cap().map_or(rest.len(), |cap| whole_files(&rest, cap.saturating_sub(fields)));
    let is_cut = kept < rest.len();
    Ok(Answer {
        suggestions: rest.into_iter().take(kept).collect(),
        truncated: is_cut,
        next_offset: is_cut.then_some(offset + kept),
        ..answer
    })
}

/// The file, if the call names one and nothing else.
fn only_file(call: &Call, arguments: &Arguments) -> Result<Option<String>> {
    if !arguments.files.is_empty() || call.workspace().files.folder(&arguments.file).is_some() {
        return Ok(None);
    }
    python_file(call, &arguments.file).map(Some)
}

/// The files and folders of a call, as absolute paths; none for the whole project.
fn within(call: &Call, arguments: &Arguments) -> Result<Vec<String>> {
    let mut within = Vec::new();
    for given in std::iter::once(&arguments.file).chain(&arguments.files) {
        match call.workspace().files.folder(given) {
            Some(folder) if folder == call.workspace().root() => return Ok(Vec::new()),
            Some(folder) => within.push(folder.to_string_lossy().into_owned()),
            None => within.push(python_file(call, given)?),
        }
    }
    Ok(within)
}

fn python_file(call: &Call, given: &str) -> Result<String> {
    let file = engine::file(call, given)?;
    if !file.is_python {
        return Err(Error::invalid_argument((Argument("file"), ": only Python files have annotations"))
            .hint("Name a .py file."));
    }
    Ok(file.absolute.to_string_lossy().into_owned())
}

/// Bytes of the fields that say that a page is not the last.
const FIELDS: usize = 64;

/// How many suggestions fit, without a part of a file unless the first one alone is too large.
fn whole_files(all: &[Suggestion], budget: usize) -> usize {
    let mut used = 0;
    let fitting = all.iter().take_while(|one| {
        used += render::json_size(one) + 1;
        used <= budget
    });
    let fitting = fitting.count();
    if fitting == all.len() {
        return fitting;
    }
    let is_end = |at: &usize| *at > 0 && all[at - 1].file != all[*at].file;
    (1..=fitting).rev().find(is_end).unwrap_or(fitting.max(1))
}
