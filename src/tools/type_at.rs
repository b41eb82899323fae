//! `type_at`: the type of an expression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine;
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Definition, Query};

pub(super) static TYPE_AT: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "type_at",
        title: "Type of a Python expression",
        about: "The type of the innermost expression or name at a position in a Python file, as the type checker sees it \
            there (narrowing applied), with its definition and docstring. Lines and columns are 1-based; a column just \
            past a name counts as on it. Example: {\"file\": \"app/views.py\", \"line\": 12, \"column\": 9}.",
        access: Access::Read,
        core: true,
        list: None,
        example: r#"{"file": "tests/clients/python_mcp.py", "line": 25, "column": 1}"#,
    }
};

/// Arguments of `type_at`.
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
    /// 1-based, in characters.
    column: u32,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub r#type: String,
    pub expression: String,
    /// For notebooks, the cell that the lines are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docstring: Option<String>,
    pub precision: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(Error::invalid_argument("argument `file`: only Python files have types")
            .hint("For other languages use `goto_definition` or `get_symbol`."));
    }
    let at = engine::position(&file, arguments.cell, arguments.line, arguments.column)?;
    let Answered::TypeAt { found } = engine::ask(call, &Query::TypeAt(at))? else {
        return Err(engine::unexpected());
    };
    let Some(found) = found else {
        let position = format!("{}:{}:{}", file.path, arguments.line, arguments.column);
        return Err(Error::not_found(format!("no expression at {position}"))
            .hint("Point at a name; `symbols` lists those of the file."));
    };
    Ok(Answer {
        r#type: found.display,
        expression: found.expression,
        cell: found.span.cell,
        line: found.span.line,
        column: found.span.column,
        end_line: found.span.end_line,
        end_column: found.span.end_column,
        definition: found.definition,
        docstring: found.docstring,
        precision: "types".to_owned(),
    })
}
