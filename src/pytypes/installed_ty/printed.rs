//! Output of ty as plain values.
//!
//! Owns the formats. All of them list the same diagnostics in the same order. What one format adds to another is left out if
//! their lists differ, which happens when a file changes between two runs.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::model::Span;
use crate::pytypes::values::{Diagnostic, Note, PANICKED, Severity};

pub(super) struct Printed<'r> {
    /// The repository, which ty was started in.
    pub root: &'r Path,
}

#[derive(Deserialize)]
struct Sarif {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    results: Vec<Finding>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    level: String,
    rule_id: String,
    message: Message,
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct Message {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct Artifact {
    uri: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

impl Printed<'_> {
    /// The diagnostics, with the ranges, of the SARIF format. `None`: this is not SARIF.
    pub fn ranges(&self, text: &str) -> Option<Vec<Diagnostic>> {
        let sarif: Sarif = serde_json::from_str(text).ok()?;
        let found = sarif.runs.into_iter().flat_map(|run| run.results);
        Some(found.map(|one| self.diagnostic(one)).collect())
    }

    fn diagnostic(&self, finding: Finding) -> Diagnostic {
        const START: Region = Region { start_line: 1, start_column: 1, end_line: 1, end_column: 1 };
        let at = finding.locations.into_iter().next().map(|location| location.physical_location);
        let region = at.as_ref().and_then(|at| at.region).unwrap_or(START);
        let file = at.map_or_else(|| ".".to_owned(), |at| self.relative(&path_of(&at.artifact_location.uri)));
        let severity = match finding.level.as_str() {
            _ if finding.rule_id == PANICKED => Severity::Fatal,
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        };
        let Region { start_line: line, start_column: column, end_line, end_column } = region;
        Diagnostic {
            span: Span { file, cell: None, line, column, end_line, end_column },
            severity,
            code: finding.rule_id,
            message: finding.message.text,
            rendered: None,
            notes: Vec::new(),
        }
    }

    /// Adds the cells of notebooks, and, if `rendered`, the source lines, from the format `full`.
    pub fn add_cells(&self, found: &mut [Diagnostic], text: &str, rendered: bool) {
        let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
        // The last line has the number of diagnostics.
        let lines = text.trim_end().lines().collect::<Vec<_>>();
        for line in lines.split_last().map(|(_, lines)| lines).unwrap_or_default() {
            match (code_of(line), blocks.last_mut()) {
                (Some(code), _) => blocks.push((code, vec![line])),
                (None, Some((_, block))) => block.push(line),
                (None, None) => {}
            }
        }
        if !blocks.iter().map(|(code, _)| *code).eq(found.iter().map(|one| one.code.as_str())) {
            return;
        }
        for (one, (_, lines)) in found.iter_mut().zip(blocks) {
            let position = lines.iter().find_map(|line| line.trim_start().strip_prefix("--> "));
            let in_cell = position.and_then(|position| {
                let mut numbers = position.rsplit_once(".ipynb:cell ")?.1.split(':').map(|number| number.parse().ok());
                Some((numbers.next()??, numbers.next()??))
            });
            if let Some((cell, line)) = in_cell {
                // The other format counts lines through all cells.
                let before = one.span.line.saturating_sub(line);
                (one.span.cell, one.span.line) = (Some(cell), line);
                one.span.end_line = one.span.end_line.saturating_sub(before);
            }
            one.rendered = rendered.then(|| format!("{}\n", lines.join("\n").trim_end()));
        }
    }

    /// Adds the notes, from the format `github`.
    pub fn add_notes(&self, found: &mut [Diagnostic], text: &str) {
        let annotation = |line: &str| {
            let (head, data) = line.strip_prefix("::")?.split_once("::")?;
            let code = head.split_once("title=ty (")?.1.split_once(')')?.0;
            Some((code.to_owned(), data.replace("%0D", "\r").replace("%0A", "\n")))
        };
        let annotations: Vec<(String, String)> = text.lines().filter_map(annotation).collect();
        if !annotations.iter().map(|(code, _)| code).eq(found.iter().map(|one| &one.code)) {
            return;
        }
        for (one, (_, data)) in found.iter_mut().zip(annotations) {
            let message_lines = one.message.lines().count().max(1);
            one.notes = data.lines().skip(message_lines).map(|line| self.note(line)).collect();
        }
    }

    /// Reads a note on one line: `file:line:column: kind: message`. Only the message is always present.
    fn note(&self, line: &str) -> Note {
        let (span, rest) = match position(line.trim_start()) {
            Some((file, line, column, rest)) => {
                let file = self.relative(&self.root.join(file));
                // The lines in a notebook are those of a cell, which this format does not name.
                let is_notebook = file.ends_with(".ipynb");
                let span = Span { file, cell: None, line, column, end_line: line, end_column: column };
                (Some(span).filter(|_| !is_notebook), rest)
            }
            None => (None, line.trim_start()),
        };
        let kinds = ["info", "help", "warning", "error"];
        let kind = kinds.into_iter().find(|kind| rest.strip_prefix(kind).is_some_and(|rest| rest.starts_with(": ")));
        let message = kind.map_or(rest, |kind| &rest[kind.len() + 2..]).to_owned();
        Note { span, kind: kind.map(str::to_owned), message }
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// The rule in the first line of a diagnostic: `error[rule]: message`.
fn code_of(line: &str) -> Option<&str> {
    let (severity, rest) = line.split_once('[')?;
    let (code, _) = rest.split_once(']')?;
    matches!(severity, "fatal" | "error" | "warning" | "info").then_some(code)
}

/// A position, `file:line:column: `, and what follows it.
fn position(line: &str) -> Option<(&str, u32, u32, &str)> {
    let number =
        |text: &str| if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse::<u32>().ok() } else { None };
    line.match_indices(':').find_map(|(at, _)| {
        let mut parts = line[at + 1..].splitn(3, ':');
        let (line_number, column, rest) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
        Some((&line[..at], line_number, column, rest.strip_prefix(' ')?))
    })
}

fn path_of(uri: &str) -> PathBuf {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let path = if cfg!(windows) { path.trim_start_matches('/') } else { path };
    PathBuf::from(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_recognized_in_front_of_a_note() {
        assert_eq!(position("a b:c.py:8:5: info: Function"), Some(("a b:c.py", 8, 5, "info: Function")));
        assert_eq!(position("info:   1. /a/src (first-party code)"), None);
        assert_eq!(position("see https://docs.astral.sh/ty/modules/#python-environment"), None);
    }
}
