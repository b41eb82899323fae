//! `check`: type-check Python files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Diagnostic, INVALID_SETTING, Query, Severity};
use crate::query::Page;

pub(super) static CHECK: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "check",
        title: "Check Python types",
        about: "Type-check the Python project, or some files and folders, and list the diagnostics with rule, position and message. \
            Honours pyproject.toml, ty.toml, requires-python, virtual environments and `# type: ignore`. Run it after an \
            edit: it checks the files on disk. Example: {\"file\": \"app/models.py\", \"severity\": \"error\"}.",
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
    /// Check only this file or folder; default: the whole project.
    #[serde(default, alias = "file_path", alias = "filePath", alias = "path")]
    file: Option<String>,
    /// Further files and folders to check.
    #[serde(default, alias = "paths")]
    files: Vec<String>,
    /// Only diagnostics of this severity.
    #[serde(default)]
    severity: Option<SeverityFilter>,
    /// Include each diagnostic as the checker prints it, with source and hints.
    #[serde(default)]
    rendered: bool,
    /// Include the notes of each diagnostic: related locations and advice.
    #[serde(default)]
    notes: bool,
    /// Maximum number of diagnostics (default: all that fit; at most 1000).
    #[serde(default)]
    limit: Option<u64>,
    /// Diagnostics to skip (default 0).
    #[serde(default)]
    offset: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SeverityFilter {
    Error,
    Warning,
    Info,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub diagnostics: Vec<Diagnostic>,
    pub files_checked: usize,
    pub errors: usize,
    pub warnings: usize,
    /// No errors, and no warnings unless the settings let them pass.
    pub passed: bool,
    /// The settings are invalid, or name something that does not exist. Those settings are ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub misconfigured: bool,
    /// Total number of diagnostics; in progress notifications, of files.
    pub total: usize,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    pub precision: String,
}

const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let mut within = Vec::new();
    for given in arguments.file.iter().chain(&arguments.files) {
        if let Some(folder) = call.workspace().files.folder(given) {
            within.push(folder);
            continue;
        }
        let file = engine::file(call, given)?;
        if !file.is_python {
            return Err(Error::invalid_argument("argument `file`: only Python files have types to check")
                .hint("Name a .py, .pyi or .ipynb file, or a folder."));
        }
        within.push(file.absolute);
    }
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let (file, within) = match within.as_slice() {
        [one] if one.is_file() => (Some(text(one)), Vec::new()),
        all if all.iter().any(|one| one == call.workspace().root()) => (None, Vec::new()),
        all => (None, all.iter().map(text).collect()),
    };
    let query = Query::Check { file, within, rendered: arguments.rendered, notes: arguments.notes };
    let Answered::Check(checked) = engine::ask(call, &query)? else { return Err(engine::unexpected()) };
    let fits = |severity: Severity| match arguments.severity {
        None => true,
        Some(SeverityFilter::Error) => severity >= Severity::Error,
        Some(SeverityFilter::Warning) => severity == Severity::Warning,
        Some(SeverityFilter::Info) => severity == Severity::Info,
    };
    let max = if call.cap().is_some() { MAX_LIMIT } else { usize::MAX };
    let (offset, limit) = super::page(arguments.offset, arguments.limit, max, max);
    let count = |fits: fn(Severity) -> bool| checked.diagnostics.iter().filter(|one| fits(one.severity)).count();
    let errors = count(|severity| severity >= Severity::Error);
    let warnings = count(|severity| severity == Severity::Warning);
    let misconfigured = checked.diagnostics.iter().any(|one| one.code == INVALID_SETTING);
    let wanted: Vec<_> = checked.diagnostics.into_iter().filter(|one| fits(one.severity)).collect();
    let total = wanted.len();
    let diagnostics = Page::of(wanted, offset, limit);
    Ok(Answer {
        total,
        truncated: diagnostics.is_cut,
        next_offset: diagnostics.next_offset(),
        diagnostics: diagnostics.items,
        files_checked: checked.files,
        errors,
        warnings,
        misconfigured,
        passed: errors == 0 && (warnings == 0 || checked.warnings_pass),
        precision: "types".to_owned(),
    })
}
