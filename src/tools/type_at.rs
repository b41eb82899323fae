//! `type_at`: what type something has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine;
use super::goto_definition::Shown;
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Question};

pub(super) static TYPE_AT: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "type_at",
        title: "Type of a Python expression",
        about: "The type of the innermost expression or name at a place in a Python file, as the type checker sees it \
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
    /// Of a notebook, the cell that `line` counts in, from 1, those of prose counted too; default: through the code of all.
    #[serde(default)]
    cell: Option<u32>,
    /// 1-based.
    line: u32,
    /// 1-based, in characters.
    column: u32,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    r#type: String,
    expression: String,
    /// Of a notebook, the cell that the lines count in.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    docstring: Option<String>,
    precision: &'static str,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(Error::invalid_argument("argument `file`: only Python files have types")
            .hint("For other languages use `goto_definition` or `get_symbol`."));
    }
    let at = engine::position(&file, arguments.cell, arguments.line, arguments.column)?;
    let Answered::TypeAt { found } = engine::ask(call, &Question::TypeAt(at))? else {
        return Err(engine::unexpected());
    };
    let Some(found) = found else {
        let place = format!("{}:{}:{}", file.shown, arguments.line, arguments.column);
        return Err(Error::not_found(format!("no expression stands at {place}"))
            .hint("Point at a name; `symbols` lists those of the file."));
    };
    Ok(Answer {
        r#type: found.shown,
        expression: found.expression,
        cell: found.span.cell,
        line: found.span.line,
        column: found.span.column,
        end_line: found.span.end_line,
        end_column: found.span.end_column,
        definition: found.definition.map(Shown::from),
        docstring: found.docstring,
        precision: "types",
    })
}
