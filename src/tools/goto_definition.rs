//! `goto_definition`: where a symbol is defined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine::{self, File};
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Definition, Query, Span};
use crate::query::positions::{self, Named};
use crate::query::slice;

pub(super) static GOTO_DEFINITION: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "goto_definition",
        title: "Go to a definition",
        about: "Where the symbol at a position is defined: for Python by its type, through imports and re-exports, into the \
            standard library and site-packages too; for other languages by the syntax index. `precision` says which: \
            \"types\" or \"syntax\". Example: {\"file\": \"src/app.py\", \"line\": 3, \"column\": 14}.",
        access: Access::Read,
        core: true,
        list: Some("definitions"),
        example: r#"{"file": "tests/clients/python_mcp.py", "line": 35, "column": 5}"#,
    }
};

/// Arguments of `goto_definition`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(alias = "file_path", alias = "filePath", alias = "path")]
    file: String,
    /// For notebooks, the cell that `line` is relative to, from 1, Markdown cells included; default: count through all
    /// code.
    #[serde(default)]
    cell: Option<u32>,
    /// 1-based.
    line: u32,
    /// 1-based, in characters; just past a name counts as on it.
    column: u32,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub definitions: Vec<Definition>,
    pub precision: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    let at = engine::position(&file, arguments.cell, arguments.line, arguments.column)?;
    if file.is_python {
        let Answered::Definition { definitions } = engine::ask(call, &Query::Definition(at))? else {
            return Err(engine::unexpected());
        };
        return Ok(Answer { definitions, precision: "types".to_owned() });
    }
    let Some(named) = named(call, &file, arguments.line, arguments.column)? else {
        return Ok(Answer { definitions: Vec::new(), precision: "syntax".to_owned() });
    };
    let found = call.read(|snapshot| positions::definitions_at(snapshot, &file.path, arguments.line, &named))?;
    let items = found.into_iter().map(|one| Definition {
        preview: preview(call, &one.path, one.line),
        span: span_of(one.path, one.line, one.column, &one.name),
        name: one.name,
        kind: one.kind,
    });
    Ok(Answer { definitions: items.collect(), precision: "syntax".to_owned() })
}

/// The name at a position of a file. Fails if the position is past the end of the file or line.
pub(super) fn named(call: &Call, file: &File, line: u32, column: u32) -> Result<Option<Named>> {
    let (_, bytes) = call.workspace().files.read(&file.path)?;
    let found = slice::slice(&bytes, line.into(), line.into(), 1, None).map_err(|error| {
        Error::not_found(error.message).hint("Lines and columns are 1-based; columns count characters.")
    })?;
    let text = found.content.trim_end_matches(['\n', '\r']);
    if column as usize > text.chars().count() + 1 {
        return Err(Error::not_found(format!("column {column} is past the end of line {line}"))
            .hint("Lines and columns are 1-based; columns count characters."));
    }
    Ok(positions::name_at(text, column))
}

/// A line as shown in answers; empty if it cannot be read.
pub(super) fn preview(call: &Call, path: &str, line: u32) -> String {
    const MAX_LENGTH: usize = 200;
    let Ok((_, bytes)) = call.workspace().files.read(path) else { return String::new() };
    let found = slice::slice(&bytes, line.into(), line.into(), 1, None);
    found.map(|found| found.content.trim().chars().take(MAX_LENGTH).collect()).unwrap_or_default()
}

/// The span of a name that begins at a position.
pub(super) fn span_of(file: String, line: u32, column: u32, name: &str) -> Span {
    let width = u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
    Span { file, cell: None, line, column, end_line: line, end_column: column.saturating_add(width) }
}
