//! Jupyter notebooks: prose and code of the cells, and what they printed.

use serde::Deserialize;
use serde_json::Value;

use super::Document;
use super::flow::Flow;
use crate::model::SkipReason;

/// What a cell printed is kept as far as this: the rest is a listing.
const MOST_OUTPUT: usize = 1000;

#[derive(Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Vec<Cell>,
    /// Where notebooks before version 4 have them.
    #[serde(default)]
    worksheets: Vec<Worksheet>,
}

#[derive(Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: String,
    #[serde(default, alias = "input")]
    source: Value,
    level: Option<u8>,
    #[serde(default)]
    outputs: Vec<Value>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let decoded = super::super::text::decode(bytes)?;
    // The parser ends at a depth of 128.
    let notebook: Notebook = serde_json::from_str(&decoded.text).map_err(|_| SkipReason::Malformed)?;
    let mut flow = Flow::default();
    for cell in notebook.cells.iter().chain(notebook.worksheets.iter().flat_map(|sheet| &sheet.cells)) {
        take(cell, &mut flow);
    }
    flow.finish()
}

fn take(cell: &Cell, flow: &mut Flow) {
    let source = joined(&cell.source);
    flow.block();
    match (cell.cell_type.as_str(), cell.level) {
        ("heading", level) => flow.heading(level.unwrap_or(1), &source),
        ("markdown", _) => markdown(&source, flow),
        _ => flow.verbatim(&source),
    }
    for output in &cell.outputs {
        let printed = output.get("text").or_else(|| output.get("data")?.get("text/plain"));
        let printed = printed.map(joined).unwrap_or_default();
        if !printed.trim().is_empty() {
            let end = printed.floor_char_boundary(MOST_OUTPUT);
            flow.block();
            flow.verbatim(printed[..end].trim_end());
        }
    }
}

/// Keeps the lines, and knows headings, which fenced code has none of.
fn markdown(source: &str, flow: &mut Flow) {
    let mut in_code = false;
    for line in source.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        match u8::try_from(level) {
            Ok(level @ 1..=6) if !in_code && line[usize::from(level)..].starts_with(' ') => {
                flow.heading(level, line.trim_start_matches('#').trim());
            }
            _ if line.trim().is_empty() => flow.block(),
            _ => {
                flow.line();
                flow.verbatim(line);
            }
        }
    }
}

/// Text that may be kept as a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}
