//! `ixmcp check`: the tool `check` for the command line and CI.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::paint::{Paint, encoded};
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::{Span, printable};
use crate::platform::paths::canonical;
use crate::pytypes::nested_project;
use crate::pytypes::values::{Diagnostic, Note, Severity};
use crate::tools::check::Answer;

/// Type-check the Python project, or only some of its files and folders
///
/// Without paths, checks what `ty check` checks in the current folder: a nested project alone, otherwise the whole repository.
/// Exits with 0 if no problems are found, 1 if there are errors or warnings, 2 if the check failed, the settings are
/// invalid or a file could not be read, 101 if the type checker panicked.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Check only these files and folders, relative to the current folder or the repository, or absolute
    files: Vec<String>,
    /// Output format of diagnostics
    #[arg(long, value_enum, default_value_t)]
    output_format: Format,
    /// Print the answer as one JSON object, as --output-format json does
    #[arg(long)]
    json: bool,
    /// Only diagnostics of this severity: error, warning or info
    #[arg(long)]
    severity: Option<String>,
    /// Exit with 0 if there are warnings but no errors
    #[arg(long)]
    exit_zero_on_warning: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With source lines
    #[default]
    Text,
    /// One line per diagnostic
    Concise,
    Json,
    /// Annotations for GitHub Actions
    Github,
    /// For code scanning services
    Sarif,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let format = if typed.json { Format::Json } else { typed.output_format };
    let paint = &session.paint;
    let given = arguments! {
        "files": files(session, typed)?,
        "severity": typed.severity,
        "rendered": format == Format::Text,
        "notes": matches!(format, Format::Github | Format::Sarif),
    };
    let answer = session.call::<Answer>("check", given)?;
    let found = &answer.diagnostics;
    let outcome = outcome(&answer, typed);
    output::ends_without_reader_as(outcome);
    match format {
        Format::Text => found.iter().for_each(|one| print(one, paint)),
        Format::Concise => found.iter().for_each(|one| output::line(&concise(one, paint))),
        Format::Json => output::json(&answer.json),
        Format::Github => {
            let root = session.workspaces.root(&session.start)?;
            found.iter().for_each(|one| output::line(&annotation(one, &root, paint)));
        }
        Format::Sarif => output::json(&sarif(&answer)),
    }
    if matches!(format, Format::Text | Format::Concise) {
        output::note(&summary(&answer));
        if let Some(hint) = missing_environment(found) {
            output::note(&hint);
        }
    }
    if let Some(reason) = reason(&answer) {
        output::note(&reason);
    }
    Ok(outcome)
}

/// Lists what to check: the paths that are given, or the project that the current folder belongs to.
fn files(session: &Session, typed: &Arguments) -> Result<Vec<String>> {
    if !typed.files.is_empty() {
        return Ok(typed.files.iter().map(|file| session.path(file)).collect());
    }
    let (start, root) = (canonical(&session.start), session.workspaces.root(&session.start)?);
    let project = start.ok().and_then(|start| nested_project(&start, &root));
    Ok(project.map(|folder| folder.to_string_lossy().into_owned()).into_iter().collect())
}

/// Why the outcome is neither that of diagnostics nor that of none.
fn reason(answer: &Answer) -> Option<String> {
    let files = |number: usize| output::count(number as u64, "file", "files");
    if answer.misconfigured {
        return Some("the settings are invalid and were ignored".to_owned());
    }
    let panicked = answer.panicked.map(|number| format!("the type checker panicked at {}", files(number)));
    panicked.or_else(|| answer.unreadable.map(|number| format!("{} could not be read", files(number))))
}

fn outcome(answer: &Answer, typed: &Arguments) -> Outcome {
    if !answer.misconfigured && answer.panicked.is_some() {
        return Outcome::Panicked;
    }
    if answer.misconfigured || answer.unreadable.is_some() {
        return Outcome::Broken;
    }
    // `--severity error` ignores warnings, so they do not fail the check either.
    let only_errors = typed.severity.as_deref() == Some("error");
    let lets_warnings_pass = typed.exit_zero_on_warning || only_errors;
    let passes = answer.passed || (lets_warnings_pass && answer.errors == 0);
    Outcome::found_if(passes)
}

fn summary(answer: &Answer) -> String {
    let count = |number: usize, one: &str| output::count(number as u64, one, &format!("{one}s"));
    let files = count(answer.files_checked.saturating_sub(answer.unreadable.unwrap_or_default()), "file");
    match (answer.total, answer.errors + answer.warnings) {
        (0, 0) => format!("{files} checked: no problems found"),
        (0, _) => format!(
            "{files} checked: no diagnostics of this severity; {}, {}",
            count(answer.errors, "error"),
            count(answer.warnings, "warning")
        ),
        (listed, _) => format!("{files} checked: {}", count(listed, "diagnostic")),
    }
}

/// The rule about modules that are not found.
const UNRESOLVED: &str = "unresolved-import";
/// Fewer such diagnostics do not suggest a missing environment.
const ENOUGH: usize = 5;

/// Returns what to do if at least a third of the diagnostics are about modules that are not found: their packages are probably not
/// installed.
fn missing_environment(found: &[Diagnostic]) -> Option<String> {
    let unresolved = found.iter().filter(|one| one.code == UNRESOLVED).count();
    (unresolved >= ENOUGH && unresolved * 3 >= found.len()).then(|| {
        format!(
            "{unresolved} of {} are modules that are not found: install the project's packages in `.venv`; `ixmcp doctor python` \
             shows where they are looked for",
            found.len()
        )
    })
}

fn print(found: &Diagnostic, paint: &Paint) {
    match &found.rendered {
        // Escapes control characters; line breaks are part of the rendered text.
        Some(rendered) => {
            for line in rendered.trim_end().lines() {
                output::line(&printable(&paint.quoted(line).replace('\t', "    ")));
            }
        }
        None => output::line(&concise(found, paint)),
    }
    output::line("");
}

fn concise(found: &Diagnostic, paint: &Paint) -> String {
    let location = paint.location(&found.span);
    let message = found.message.replace('\n', " ");
    format!("{location}: {}[{}] {}", found.severity.name(), printable(&found.code), printable(&message))
}

/// The level of a severity; each format has its own name for the mildest one.
fn level(severity: Severity, mildest: &'static str) -> &'static str {
    match severity {
        Severity::Error | Severity::Fatal => "error",
        Severity::Warning => "warning",
        Severity::Info => mildest,
    }
}

/// A workflow command for GitHub's runner in ty's format: the file by its absolute path, so that it is found regardless
/// of the checkout folder, and the notes below the message. The runner's special characters are escaped.
fn annotation(found: &Diagnostic, root: &Path, paint: &Paint) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let Diagnostic { span, code, message, .. } = found;
    let Span { file, cell, line, column, end_line, end_column } = span;
    let level = level(found.severity, "notice");
    let title = property(&format!("ty ({code})"));
    let path = property(&root.join(file).to_string_lossy());
    let range = if cell.is_some() {
        // The lines are relative to a cell, not to the file.
        "line=1,col=1,endLine=1,endColumn=1".to_owned()
    } else if line == end_line {
        format!("line={line},col={column},endLine={end_line},endColumn={end_column}")
    } else {
        format!("line={line},endLine={end_line}")
    };
    let mut text = format!("{}: {code}: {message}", paint.plain_location(span));
    for line in note_lines(&found.notes, paint) {
        text.push('\n');
        text += &line;
    }
    printable(&format!("::{level} title={title},file={path},{range}::{}", data(&text)))
}

/// The notes of a diagnostic as lines.
fn note_lines(notes: &[Note], paint: &Paint) -> Vec<String> {
    let mut indent = "  ";
    let mut line = |note: &Note| {
        let kind = note.kind.as_deref();
        let own = if kind.is_some() { "  " } else { indent };
        if kind.is_some() {
            // The following notes belong to this one.
            indent = "    ";
        }
        let location = note.span.as_ref().map(|span| paint.plain_location(span));
        let parts: Vec<&str> = location.as_deref().into_iter().chain(kind).chain([&*note.message]).collect();
        format!("{own}{}", parts.join(": "))
    };
    notes.iter().map(&mut line).collect()
}

/// SARIF 2.1.0.
fn sarif(answer: &Answer) -> Value {
    let rules: BTreeSet<&str> = answer.diagnostics.iter().map(|one| &*one.code).collect();
    let result = |one: &Diagnostic| {
        let mut message = one.message.clone();
        for note in one.notes.iter().filter(|note| note.span.is_none()) {
            message += &format!("\n{}: {}", note.kind.as_deref().unwrap_or("info"), note.message);
        }
        let related = one.notes.iter().filter_map(|note| {
            let mut location = location(note.span.as_ref()?);
            location["message"] = json!({ "text": note.message });
            Some(location)
        });
        let mut result = json!({
            "ruleId": one.code,
            "ruleIndex": rules.iter().position(|rule| *rule == one.code),
            "level": level(one.severity, "note"),
            "message": { "text": message },
            "locations": [location(&one.span)],
        });
        let related: Vec<Value> = related.collect();
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        result
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ixmcp",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| json!({ "id": rule })).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": !answer.misconfigured && answer.unreadable.is_none() && answer.panicked.is_none() }],
            "results": answer.diagnostics.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// A SARIF location. In a notebook it names a cell and has no region, because lines are relative to cells.
fn location(Span { file, cell, line, column, end_line, end_column }: &Span) -> Value {
    let mut artifact = json!({ "uri": uri(file) });
    if !file.starts_with('/') {
        artifact["uriBaseId"] = "%SRCROOT%".into();
    }
    if let Some(cell) = cell {
        let name = format!("cell {cell}:{line}:{column}");
        return json!({
            "physicalLocation": { "artifactLocation": artifact },
            "logicalLocations": [{ "fullyQualifiedName": name }],
        });
    }
    json!({ "physicalLocation": {
        "artifactLocation": artifact,
        "region": {
            "startLine": line,
            "startColumn": column,
            "endLine": end_line,
            "endColumn": end_column,
        },
    }})
}

/// A relative path as a relative reference, an absolute one as a file URI.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", encoded(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::answer;

    fn diagnostic(json: &Value) -> Diagnostic {
        answer::typed(json).unwrap()
    }

    #[test]
    fn an_annotation_escapes_its_message() {
        let found = json!({
            "file": "a,b:c.py", "line": 1, "column": 2, "end_line": 1, "end_column": 3,
            "severity": "error", "code": "x", "message": "100%\n::error::gotcha",
        });
        let line = annotation(&diagnostic(&found), Path::new("/r"), &Paint::default());
        assert_eq!(line.lines().count(), 1);
        assert!(
            line.starts_with("::error title=ty (x),file=/r/a%2Cb%3Ac.py,line=1,col=2,endLine=1,endColumn=3::"),
            "{line}"
        );
        assert!(line.ends_with("::a,b:c.py:1:2: x: 100%25%0A::error::gotcha"), "{line}");
    }

    #[test]
    fn an_annotation_of_several_lines_has_no_columns() {
        let found = json!({
            "file": "a.py", "line": 1, "column": 2, "end_line": 3, "end_column": 4, "severity": "warning", "code": "x",
            "message": "y", "notes": [
                { "file": "b.py", "line": 5, "column": 6, "end_line": 5, "end_column": 7, "message": "Declared" },
                { "kind": "info", "message": "Told", "file": "c.py", "line": 7, "column": 8, "end_line": 7, "end_column": 9 },
                { "file": "c.py", "line": 9, "column": 1, "end_line": 9, "end_column": 2, "message": "Beside" },
                { "kind": "help", "message": "Do" },
            ],
        });
        assert_eq!(
            annotation(&diagnostic(&found), Path::new("/r"), &Paint::default()),
            "::warning title=ty (x),file=/r/a.py,line=1,endLine=3::a.py:1:2: x: y%0A  b.py:5:6: Declared%0A  \
             c.py:7:8: info: Told%0A    c.py:9:1: Beside%0A  help: Do"
        );
    }

    #[test]
    fn a_notebook_location_has_no_region() {
        let span = Span { file: "a.ipynb".into(), cell: Some(3), line: 2, column: 1, end_line: 2, end_column: 4 };
        let location = location(&span);
        assert!(location["physicalLocation"].get("region").is_none());
        assert_eq!(location["logicalLocations"][0]["fullyQualifiedName"], "cell 3:2:1");
    }

    #[test]
    fn paths_in_sarif_are_uris() {
        assert_eq!(uri("a b/ü.py"), "a%20b/%C3%BC.py");
        assert_eq!(uri("/lib/x.py"), "file:///lib/x.py");
    }

    #[test]
    fn a_panic_of_the_type_checker_has_the_exit_code_of_ty() {
        let code = |more: Value, severity: Option<&str>| {
            let mut answered = json!({
                "diagnostics": [], "files_checked": 2, "errors": 1, "warnings": 0, "passed": false, "total": 0,
                "truncated": false, "precision": "types",
            });
            answered.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let typed = Arguments {
                files: Vec::new(),
                output_format: Format::Text,
                json: false,
                severity: severity.map(str::to_owned),
                exit_zero_on_warning: true,
            };
            outcome(&answer::typed(&answered).unwrap(), &typed) as u8
        };
        for severity in [None, Some("warning")] {
            assert_eq!(code(json!({ "panicked": 1 }), severity), 101);
            assert_eq!(code(json!({ "panicked": 1, "unreadable": 1 }), severity), 101);
            assert_eq!(code(json!({ "unreadable": 1 }), severity), 2);
            assert_eq!(code(json!({}), severity), 1);
        }
    }
}
