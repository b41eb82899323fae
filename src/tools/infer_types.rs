//! `infer_types`: annotations that a Python file could have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Insertion, Question};

pub(super) static INFER_TYPES: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "infer_types",
        title: "Infer Python annotations",
        about: "Annotations that a Python file lacks, as edits with the imports they need: returns from what is returned, \
            across calls; parameters from defaults and from calls in the project; attributes from what is assigned. Applied \
            together they bring no new diagnostic. Nothing is written. Example: {\"file\": \"app/cart.py\", \"symbol\": \
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
    /// Suggestions to leave out at the start (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    suggestions: Vec<Shown>,
    /// What nothing can be said of, and why; the first of them.
    skipped: Vec<Left>,
    total_skipped: usize,
    total: usize,
    precision: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// parameter, return, variable or attribute.
    kind: String,
    line: u32,
    column: u32,
    r#type: String,
    evidence: String,
    edit: Edit,
    /// What it needs beside: imports, and the space after the sign of a default that had none. Equal ones of several
    /// suggestions are put in once.
    imports: Vec<Edit>,
}

#[derive(Serialize, JsonSchema)]
struct Edit {
    line: u32,
    column: u32,
    insert: String,
}

#[derive(Serialize, JsonSchema)]
struct Left {
    name: String,
    kind: String,
    reason: String,
}

/// Left-outs that an answer over MCP shows.
const MOST_SKIPPED: usize = 30;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(
            Error::invalid_argument("argument `file`: only Python files have annotations").hint("Name a .py file.")
        );
    }
    let symbol = arguments.symbol.clone().filter(|symbol| !symbol.trim().is_empty());
    let question = Question::Infer { file: file.absolute.to_string_lossy().into_owned(), symbol };
    let Answered::Infer(inferred) = engine::ask(call, &question)? else { return Err(engine::unexpected()) };
    let edit = |one: &Insertion| Edit { line: one.line, column: one.column, insert: one.insert.clone() };
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    let suggestions = inferred.suggestions.iter().skip(offset).map(|one| Shown {
        name: one.name.clone(),
        container: one.container.clone(),
        kind: one.kind.clone(),
        line: one.line,
        column: one.column,
        r#type: one.shown.clone(),
        evidence: one.evidence.clone(),
        edit: edit(&one.edit),
        imports: one.imports.iter().map(edit).collect(),
    });
    let most = if call.cap().is_some() { MOST_SKIPPED } else { usize::MAX };
    let skipped = inferred.skipped.iter().take(most).map(|one| Left {
        name: one.name.clone(),
        kind: one.kind.clone(),
        reason: one.reason.clone(),
    });
    Ok(Answer {
        suggestions: suggestions.collect(),
        skipped: skipped.collect(),
        total_skipped: inferred.skipped.len(),
        total: inferred.suggestions.len(),
        precision: "types",
    })
}
