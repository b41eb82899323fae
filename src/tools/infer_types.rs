//! `infer_types`: annotations that could be added to a Python file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Insertion, Query};

pub(super) static INFER_TYPES: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "infer_types",
        title: "Infer Python annotations",
        about: "Annotations that a Python file lacks, as edits with the imports they need: return types from returned values, \
            across calls; parameters from defaults and from calls in the project; attributes from assigned values. Applied \
            together they cause no new diagnostic. Nothing is written. Example: {\"file\": \"app/cart.py\", \"symbol\": \
            \"Cart.total\"}.",
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
    #[serde(alias = "file_path", alias = "filePath", alias = "path")]
    file: String,
    /// Only this class or function: Class.method.
    #[serde(default)]
    symbol: Option<String>,
    /// Suggestions to skip (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub suggestions: Vec<SuggestionItem>,
    /// The first symbols without a suggestion, each with the reason.
    pub skipped: Vec<SkippedItem>,
    pub total_skipped: usize,
    pub total: usize,
    pub precision: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct SuggestionItem {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// parameter, return, variable or attribute.
    pub kind: String,
    pub line: u32,
    pub column: u32,
    pub r#type: String,
    pub evidence: String,
    pub edit: Edit,
    /// Further edits it needs: imports, and a space after the equals sign of a default. Apply equal ones of several
    /// suggestions once.
    pub imports: Vec<Edit>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Edit {
    pub line: u32,
    pub column: u32,
    pub insert: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct SkippedItem {
    pub name: String,
    pub kind: String,
    pub reason: String,
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
    let query = Query::Infer { file: file.absolute.to_string_lossy().into_owned(), symbol };
    let Answered::Infer(inferred) = engine::ask(call, &query)? else { return Err(engine::unexpected()) };
    let edit = |one: &Insertion| Edit { line: one.line, column: one.column, insert: one.insert.clone() };
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    let suggestions = inferred.suggestions.iter().skip(offset).map(|one| SuggestionItem {
        name: one.name.clone(),
        container: one.container.clone(),
        kind: one.kind.clone(),
        line: one.line,
        column: one.column,
        r#type: one.display.clone(),
        evidence: one.evidence.clone(),
        edit: edit(&one.edit),
        imports: one.imports.iter().map(edit).collect(),
    });
    let max = if call.cap().is_some() { MAX_SKIPPED } else { usize::MAX };
    let skipped = inferred.skipped.iter().take(max).map(|one| SkippedItem {
        name: one.name.clone(),
        kind: one.kind.clone(),
        reason: one.reason.clone(),
    });
    Ok(Answer {
        suggestions: suggestions.collect(),
        skipped: skipped.collect(),
        total_skipped: inferred.skipped.len(),
        total: inferred.suggestions.len(),
        precision: "types".to_owned(),
    })
}
