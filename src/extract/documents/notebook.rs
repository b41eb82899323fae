//! Jupyter notebooks: prose and code of the cells, and their output.

use anstream::adapter::strip_str;
use serde_json::Value;

use super::Document;
use super::flow::Flow;
use super::html;
use crate::extract::{heading_text, markdown};
use crate::model::SkipReason;

/// Output of a cell that is kept: the rest is a listing.
const MOST_OUTPUT: usize = 1000;

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let decoded = super::super::text::decode(bytes)?;
    // The parser ends at a depth of 128.
    let notebook: Value = serde_json::from_str(&decoded.text)
        .or_else(|_| serde_json::from_str(&standard(&decoded.text)))
        .map_err(|_| SkipReason::Malformed)?;
    if !["cells", "worksheets"].iter().any(|name| notebook.get(name).is_some_and(Value::is_array)) {
        return Err(SkipReason::Malformed);
    }
    let mut flow = Flow::default();
    // Before version 4 cells are in worksheets.
    let sheets = list(&notebook, "worksheets").flat_map(|sheet| list(sheet, "cells"));
    for cell in list(&notebook, "cells").chain(sheets) {
        take(cell, &mut flow);
    }
    flow.finish()
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// JSON as Python writes and reads it, in standard JSON: `NaN` and `Infinity` are null, half a surrogate pair is U+FFFD.
fn standard(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', 'N', 'I']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = match from.as_bytes()[0] {
            b'"' => {
                let end = end_of_string(from);
                out.push_str(&without_half_pairs(&from[..end]));
                end
            }
            _ => match ["NaN", "Infinity"].iter().find(|word| from.starts_with(**word)) {
                Some(word) => {
                    if out.ends_with('-') {
                        out.pop();
                    }
                    out.push_str("null");
                    word.len()
                }
                None => {
                    out.push_str(&from[..1]);
                    1
                }
            },
        };
        rest = &from[end..];
    }
    out + rest
}

/// Where a string ends that begins at the start of `text`.
fn end_of_string(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn without_half_pairs(string: &str) -> String {
    let mut out = String::with_capacity(string.len());
    let mut rest = string;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
        let from = &rest[before.len()..];
        let length = match (unit(from), from.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = &from[6..];
                continue;
            }
            (Some(_), _) => 6,
            // The escaped character.
            (None, _) => 1 + after.chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&from[..length]);
        rest = &from[length..];
    }
    out + rest
}

fn take(cell: &Value, flow: &mut Flow) {
    let source = joined(cell.get("source").or_else(|| cell.get("input")));
    flow.block();
    match cell.get("cell_type").and_then(Value::as_str) {
        Some("heading") => {
            let level = cell.get("level").and_then(Value::as_u64).and_then(|level| u8::try_from(level).ok());
            flow.heading(level.unwrap_or(1), &source);
        }
        Some("markdown") => prose(&source, flow),
        _ => flow.verbatim(&source),
    }
    for output in list(cell, "outputs") {
        let printed = strip_str(&printed(output)).to_string();
        if !printed.trim().is_empty() {
            let end = printed.floor_char_boundary(MOST_OUTPUT);
            flow.block();
            flow.verbatim(printed[..end].trim_end());
        }
    }
}

/// Returns the text that an output shows.
fn printed(output: &Value) -> String {
    let text = |name: &str| joined(output.get(name));
    match output.get("output_type").and_then(Value::as_str) {
        Some("error" | "pyerr") => {
            // The end of a long traceback is not kept.
            let error = format!("{}: {}", text("ename"), text("evalue"));
            let traceback: Vec<&str> = list(output, "traceback").filter_map(Value::as_str).collect();
            let traceback = strip_str(&traceback.join("\n")).to_string();
            let says_it = traceback[..traceback.floor_char_boundary(MOST_OUTPUT)].contains(&error);
            if says_it { traceback } else { format!("{error}\n{traceback}") }
        }
        _ => displayed(output),
    }
}

/// Returns what a display shows as text: its plain form, or another form if there is none or it only names an object, as for
/// `IPython.display.Markdown`. Before version 4 their names are not types.
fn displayed(output: &Value) -> String {
    let data = output.get("data").unwrap_or(output);
    let form = |names: [&str; 2]| names.iter().find_map(|name| data.get(name));
    let plain = joined(output.get("text").or_else(|| form(["text/plain", "text"])));
    let name = plain.trim();
    let is_name = name.starts_with('<')
        && name.ends_with('>')
        && !name.contains('\n')
        && (name.contains(" object") || name.contains(" at 0x"));
    if !name.is_empty() && !is_name {
        return plain;
    }
    let markdown = joined(form(["text/markdown", "markdown"]));
    let mut page = Flow::default();
    html::take(&joined(form(["text/html", "html"])), &mut page);
    let page = page.finish().map(|page| page.text).unwrap_or_default();
    let latex = joined(form(["text/latex", "latex"]));
    let json = data.get("application/json").map(Value::to_string).unwrap_or_default();
    [markdown, page, latex, json].into_iter().find(|text| !text.trim().is_empty()).unwrap_or(plain)
}

/// Markdown as it is written, with its headings and tables.
fn prose(source: &str, flow: &mut Flow) {
    let mut at = 0;
    for part in markdown::outline(source) {
        let (markdown::Part::Heading { at: range, .. } | markdown::Part::Table { at: range, .. }) = &part;
        flow.verbatim(&source[at..range.start]);
        at = range.end;
        match part {
            markdown::Part::Heading { level, title, .. } => flow.heading(level, &heading_text::shown(&title)),
            markdown::Part::Table { at, rows } => {
                flow.block();
                flow.begin_table();
                flow.row();
                flow.mark_row(true);
                flow.verbatim(&source[at.start..rows]);
                flow.row();
                flow.verbatim(&source[rows..at.end]);
                flow.end_table();
            }
        }
    }
    flow.verbatim(&source[at..]);
}

/// Text that may be kept as a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}
