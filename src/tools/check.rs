//! `check`: what the type checker has to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Question, Severity};

pub(super) static CHECK: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "check",
        title: "Check Python types",
        about: "Type-check the Python project, or one file, and list the diagnostics with rule, place and message. \
            Honours pyproject.toml, ty.toml, requires-python, virtual environments and `# type: ignore`. Run it after an \
            edit: it answers of the disk as it is. Example: {\"file\": \"app/models.py\", \"severity\": \"error\"}.",
        access: Access::Read,
        core: true,
        list: Some("diagnostics"),
        example: r#"{"file": "tests/clients/python_mcp.py"}"#,
    }
};

/// Arguments of `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Only this file; default: the whole project.
    #[serde(default, alias = "file_path", alias = "filePath", alias = "path")]
    file: Option<String>,
    /// Only diagnostics of this severity.
    #[serde(default)]
    severity: Option<Wanted>,
    /// With each as the checker prints it, source and hints included.
    #[serde(default)]
    rendered: bool,
    /// Most diagnostics to return (default: all that fit, at most 1000).
    #[serde(default)]
    limit: Option<u64>,
    /// Diagnostics to leave out at the start (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Error,
    Warning,
    Info,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    diagnostics: Vec<Shown>,
    files_checked: usize,
    errors: usize,
    warnings: usize,
    /// No errors, and no warnings unless the settings let them pass.
    passed: bool,
    /// Diagnostics in all; of running work, files.
    total: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    precision: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    /// Just past the end.
    end_column: u32,
    /// The cell of a notebook that the lines count in.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    severity: &'static str,
    code: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
}

const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = match &arguments.file {
        None => None,
        Some(given) => {
            let file = engine::file(call, given)?;
            if !file.is_python {
                return Err(Error::invalid_argument("argument `file`: only Python files have types to check")
                    .hint("Name a .py, .pyi or .ipynb file."));
            }
            Some(file.absolute.to_string_lossy().into_owned())
        }
    };
    let question = Question::Check { file, rendered: arguments.rendered };
    let Answered::Check(checked) = engine::ask(call, &question)? else { return Err(engine::unexpected()) };
    let fits = |severity: Severity| match arguments.severity {
        None => true,
        Some(Wanted::Error) => severity >= Severity::Error,
        Some(Wanted::Warning) => severity == Severity::Warning,
        Some(Wanted::Info) => severity == Severity::Info,
    };
    let most = if call.cap().is_some() { MAX_LIMIT } else { usize::MAX };
    let (offset, limit) = super::page(arguments.offset, arguments.limit, most, most);
    let wanted: Vec<_> = checked.diagnostics.iter().filter(|one| fits(one.severity)).collect();
    let diagnostics: Vec<Shown> = wanted
        .iter()
        .skip(offset)
        .take(limit)
        .map(|one| Shown {
            file: one.span.file.clone(),
            line: one.span.line,
            column: one.span.column,
            end_line: one.span.end_line,
            end_column: one.span.end_column,
            cell: one.span.cell,
            severity: one.severity.name(),
            code: one.code.clone(),
            message: one.message.clone(),
            rendered: one.rendered.clone(),
        })
        .collect();
    let next = offset + diagnostics.len();
    let goes_on = next < wanted.len() && !diagnostics.is_empty();
    let count = |fits: fn(Severity) -> bool| checked.diagnostics.iter().filter(|one| fits(one.severity)).count();
    let errors = count(|severity| severity >= Severity::Error);
    let warnings = count(|severity| severity == Severity::Warning);
    Ok(Answer {
        diagnostics,
        files_checked: checked.files,
        errors,
        warnings,
        passed: errors == 0 && (warnings == 0 || checked.warnings_pass),
        total: wanted.len(),
        truncated: goes_on,
        next_offset: goes_on.then_some(next),
        precision: "types",
    })
}
