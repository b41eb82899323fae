//! `infer_types`: annotations that could be added to a Python file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Confidence, Query, Skipped, Suggestion};

pub(super) static INFER_TYPES: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "infer_types",
        title: "Infer Python annotations",
        about: "Suggest annotations that a Python file lacks, as edits with the imports they need. Applied \
            together they cause no new diagnostic. Nothing is written.",
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
    /// Relative to the repository, or absolute.
    file: String,
    /// Only this class or function: Class.method (default: all).
    symbol: Option<String>,
    /// Omit suggestions with weaker evidence (default medium).
    min_confidence: Option<Confidence>,
    /// Suggestions to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub suggestions: Vec<Suggestion>,
    /// The first symbols without a suggestion, each with the reason.
    pub skipped: Vec<Skipped>,
    pub total_skipped: usize,
    pub total: usize,
    pub precision: String,
}

/// The maximum number of skipped symbols in an answer over MCP.
const MAX_SKIPPED: usize = 30;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(
            Error::invalid_argument("argument `file`: only Python files have annotations").hint("Name a .py file.")
        );
    }
    let symbol = arguments.symbol.clone().filter(|symbol| !symbol.trim().is_empty());
    let min_confidence = arguments.min_confidence.unwrap_or_default();
    let query = Query::Infer { file: file.absolute.to_string_lossy().into_owned(), symbol, min_confidence };
    let Answered::Infer(inferred) = engine::ask(call, &query)? else { return Err(engine::unexpected()) };
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    let max = if call.cap().is_some() { MAX_SKIPPED } else { usize::MAX };
    Ok(Answer {
        total_skipped: inferred.skipped.len(),
        total: inferred.suggestions.len(),
        suggestions: inferred.suggestions.into_iter().skip(offset).collect(),
        skipped: inferred.skipped.into_iter().take(max).collect(),
        precision: "types".to_owned(),
    })
}
