//! `type_at`: the type of an expression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine;
use super::target::{Candidate, Subject, has_target};
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::model::Definition;
use crate::pytypes::values::{Answer as Answered, Query};
use crate::wording::{Argument, Tool, Wording};

pub(super) static TYPE_AT: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "type_at",
        title: "Type of a Python expression",
        about: "Show the type of a Python expression, given by position or symbol_name, as inferred there, with \
            definition and docstring. For other languages use goto_definition.",
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
    /// Relative to the repository, or absolute.
    file: Option<String>,
    /// From 1.
    line: Option<u32>,
    /// From 1, in characters.
    column: Option<u32>,
    /// Instead of a position: name, Class.method or module::name; file narrows it.
    symbol_name: Option<String>,
    /// Notebook cell of line, from 1.
    cell: Option<u32>,
}

has_target!(Arguments);

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    pub found: Option<TypeAtPosition>,
    /// Symbols with that name, if there are several: give one of their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    pub precision: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct TypeAtPosition {
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
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let at = match arguments.target().locate(call, true)? {
        Subject::At(at) => at,
        Subject::OneOf(candidates) => return Ok(Answer { found: None, candidates, precision: "name".to_owned() }),
    };
    if !at.file.is_python {
        return Err(Error::invalid_argument((Argument("file"), ": only Python files have types")).hint((
            "For other languages use ",
            Tool("goto_definition"),
            " or ",
            Tool("get_symbol"),
            ".",
        )));
    }
    let Answered::TypeAt { found } = engine::ask(call, &Query::TypeAt(at.position()?))? else {
        return Err(engine::unexpected());
    };
    let Some(found) = found else {
        let position = format!("{}:{}:{}", at.file.path, at.line, at.column);
        return Err(Error::not_found(format!("no expression at {position}"))
            .hint(Wording::from("Point at a name.").then((Tool("symbols"), " lists those of the file."))));
    };
    let found = TypeAtPosition {
        r#type: found.display,
        expression: found.expression,
        cell: found.span.cell,
        line: found.span.line,
        column: found.span.column,
        end_line: found.span.end_line,
        end_column: found.span.end_column,
        definition: found.definition,
        docstring: found.docstring,
    };
    Ok(Answer { found: Some(found), candidates: Vec::new(), precision: "types".to_owned() })
}
