//! `check`: type-check Python files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Diagnostic, INVALID_SETTING, PANICKED, Query, Severity, UNREADABLE};
use crate::query::Page;
use crate::wording::Argument;

pub(super) static CHECK: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "check",
        title: "Check Python types",
        about: "Check Python types on disk: diagnostics with rule, position and message. Run it after an edit. It \
            obeys pyproject.toml, virtual environments and `# type: ignore`.",
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
    /// File or folder (default: the whole project).
    file: Option<String>,
    /// Further files and folders.
    #[serde(default)]
    files: Vec<String>,
    /// Default: all.
    severity: Option<SeverityFilter>,
    /// Add source excerpts.
    #[serde(default)]
    rendered: bool,
    /// Add related positions and advice.
    #[serde(default)]
    notes: bool,
    /// Diagnostics to return (default: all that fit).
    limit: Option<u64>,
    /// Diagnostics to skip (default 0).
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
    /// Files that could not be read, such as notebooks that are not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<usize>,
    /// Files at which the type checker panicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panicked: Option<usize>,
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
            return Err(Error::invalid_argument((Argument("file"), ": only Python files have types to check"))
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
    let Answered::Check(checked) = engine::check(call, &query)? else { return Err(engine::unexpected()) };
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
    let files_of = |rule: &str| {
        let number = checked.diagnostics.iter().filter(|one| one.code == rule).count();
        (number > 0).then_some(number)
    };
    let (unreadable, panicked) = (files_of(UNREADABLE), files_of(PANICKED));
    let wanted: Vec<_> = checked.diagnostics.into_iter().filter(|one| fits(one.severity)).collect();
    let total = wanted.len();
    let diagnostics = Page::from_list(wanted, offset, limit);
    Ok(Answer {
        total,
        truncated: diagnostics.is_cut,
        next_offset: diagnostics.next_offset(),
        diagnostics: diagnostics.items,
        files_checked: checked.files,
        errors,
        warnings,
        misconfigured,
        unreadable,
        panicked,
        passed: errors == 0 && (warnings == 0 || checked.warnings_pass),
        precision: "types".to_owned(),
    })
}
