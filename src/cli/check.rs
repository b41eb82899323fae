//! `ixmcp check`: the tool `check`, for people and for CI.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::paint::{Paint, encoded};
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::printable;

/// Type-check the Python project, or one file
///
/// Ends with 0 when there is nothing to mend, 1 when there are errors or warnings, 2 when it could not be done.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Only this file, relative to the current folder or the repository, or absolute
    file: Option<String>,
    /// How diagnostics are printed
    #[arg(long, value_enum, default_value_t)]
    output_format: Format,
    /// Print the answer as one JSON object, as --output-format json does
    #[arg(long)]
    json: bool,
    /// Only diagnostics of this severity: error, warning or info
    #[arg(long)]
    severity: Option<String>,
    /// End with 0 when there are warnings, but no errors
    #[arg(long)]
    exit_zero_on_warning: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With the lines of source
    #[default]
    Text,
    /// One line each
    Concise,
    Json,
    /// Annotations of a GitHub workflow
    Github,
    /// For code scanning
    Sarif,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let format = if typed.json { Format::Json } else { typed.output_format };
    let paint = session.paint_here();
    let given = arguments! {
        "file": typed.file.as_deref().map(|file| session.file(file)),
        "severity": typed.severity,
        "rendered": format == Format::Text,
    };
    let answer = session.call("check", given)?;
    let found = answer["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
    match format {
        Format::Text => found.iter().for_each(|one| print(one, &paint)),
        Format::Concise => found.iter().for_each(|one| output::line(&concise(one, &paint))),
        Format::Json => output::json(&answer),
        Format::Github => found.iter().for_each(|one| output::line(&annotation(one))),
        Format::Sarif => output::json(&sarif(found)),
    }
    if matches!(format, Format::Text | Format::Concise) {
        output::note(&summary(&answer));
    }
    // Who asks for errors alone asks whether there are any.
    let is_of_errors = typed.severity.as_deref() == Some("error");
    let lets_warnings_pass = typed.exit_zero_on_warning || is_of_errors;
    let passes = answer["passed"] == Value::Bool(true) || (lets_warnings_pass && answer["errors"] == 0);
    Ok(if passes { Outcome::Found } else { Outcome::Nothing })
}

fn summary(answer: &Value) -> String {
    let number = |value: &Value, one: &str| match value.as_u64() {
        Some(1) => format!("1 {one}"),
        _ => format!("{value} {one}s"),
    };
    let files = number(&answer["files_checked"], "file");
    let listed = answer["total"].as_u64().unwrap_or(0);
    let all = ["errors", "warnings"].iter().filter_map(|kind| answer[kind].as_u64()).sum::<u64>();
    match (listed, all) {
        (0, 0) => format!("{files} checked: nothing to mend"),
        (0, _) => format!(
            "{files} checked: nothing of this severity; {}, {}",
            number(&answer["errors"], "error"),
            number(&answer["warnings"], "warning")
        ),
        _ => format!("{files} checked: {}", number(&answer["total"], "diagnostic")),
    }
}

fn print(found: &Value, paint: &Paint) {
    match found["rendered"].as_str() {
        // Only what the terminal would obey is escaped: line breaks are part of it.
        Some(rendered) => {
            for line in rendered.trim_end().lines() {
                output::line(&printable(&paint.quoted(line).replace('\t', "    ")));
            }
        }
        None => output::line(&concise(found, paint)),
    }
    output::line("");
}

fn concise(found: &Value, paint: &Paint) -> String {
    let text = |name: &str| output::text(&found[name]);
    let place = paint.found(found);
    let message = found["message"].as_str().unwrap_or_default().replace('\n', " ");
    format!("{place}: {}[{}] {}", text("severity"), text("code"), printable(&message))
}

/// A command of GitHub's runner: its own characters are escaped in the text and in the properties.
fn annotation(found: &Value) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let text = |name: &str| found[name].as_str().unwrap_or_default();
    let level = match text("severity") {
        "error" | "fatal" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let (file, code) = (property(text("file")), text("code"));
    let (line, column) = (&found["line"], &found["column"]);
    let (end_line, end_column) = (&found["end_line"], &found["end_column"]);
    let title = property(&format!("ixmcp ({code})"));
    let place = format!("file={file},line={line},col={column},endLine={end_line},endColumn={end_column}");
    let message = data(&format!("{}:{line}:{column}: {code}: {}", text("file"), text("message")));
    printable(&format!("::{level} title={title},{place}::{message}"))
}

/// SARIF 2.1.0.
fn sarif(found: &[Value]) -> Value {
    let mut rules: Vec<&str> = found.iter().filter_map(|one| one["code"].as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let result = |one: &Value| {
        let level = match one["severity"].as_str() {
            Some("error" | "fatal") => "error",
            Some("warning") => "warning",
            _ => "note",
        };
        json!({
            "ruleId": one["code"],
            "level": level,
            "message": { "text": one["message"] },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(one["file"].as_str().unwrap_or_default()) },
                "region": {
                    "startLine": one["line"],
                    "startColumn": one["column"],
                    "endLine": one["end_line"],
                    "endColumn": one["end_column"],
                },
            }}],
        })
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
            "results": found.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// A relative path as a relative reference, an absolute one as a file URI.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", encoded(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_cannot_be_ended_by_what_it_quotes() {
        let found = json!({
            "file": "a,b:c.py", "line": 1, "column": 2, "end_line": 1, "end_column": 3,
            "severity": "error", "code": "x", "message": "100%\n::error::gotcha",
        });
        let line = annotation(&found);
        assert_eq!(line.lines().count(), 1);
        assert!(line.starts_with("::error title=ixmcp (x),file=a%2Cb%3Ac.py,line=1,col=2,"), "{line}");
        assert!(line.ends_with("100%25%0A::error::gotcha"), "{line}");
    }

    #[test]
    fn paths_in_sarif_are_uris() {
        assert_eq!(uri("a b/ü.py"), "a%20b/%C3%BC.py");
        assert_eq!(uri("/lib/x.py"), "file:///lib/x.py");
    }
}
