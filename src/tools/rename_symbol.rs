//! `rename_symbol`: the edits that rename a symbol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_references::candidates;
use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Query, Refusal};

pub(super) static RENAME_SYMBOL: Declaration = declare! {
    long run;
    name: "rename_symbol",
    title: "Rename a Python symbol",
    about: "The edits, across the project, that rename the Python symbol at a position: overrides, imports, keywords, \
        overloads, class patterns, stubs, TypedDict keys, TypeVar(\"T\"), __all__ and __slots__ too. RefusalItem with reasons if it \
        would capture, lose or break something. `unsure`: possible references. Nothing is written. \
        Example: {\"file\": \"a.py\", \"line\": 8, \"column\": 7, \"new_name\": \"Cup\"}.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"file": "tests/clients/python_mcp.py", "line": 35, "column": 5, "new_name": "whichever"}"#,
};

/// Arguments of `rename_symbol`.
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
    new_name: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Answer {
    /// All edits, or none if the rename was refused.
    edits: Vec<Edit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Refusal>,
    /// Not edited; review them: the same name where the type is unknown, or a string that may be looked up at run time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unsure: Vec<Refusal>,
    precision: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Edit {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    new_text: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(Error::invalid_argument("argument `file`: only Python symbols can be renamed")
            .hint("`find_references` lists the references in other languages."));
    }
    let at = engine::position(&file, arguments.cell, arguments.line, arguments.column)?;
    let new_name = arguments.new_name.clone();
    let Answered::Subject { found } = engine::ask(call, &Query::Subject(at.clone()))? else {
        return Err(engine::unexpected());
    };
    let files = match found {
        Some(subject) if !subject.is_local => Some(candidates(call, &[&subject.name, &new_name])?),
        _ => Some(Vec::new()),
    };
    let Answered::Rename(renamed) = engine::ask(call, &Query::Rename { at, new_name, files })? else {
        return Err(engine::unexpected());
    };
    let edits = renamed.edits.into_iter().map(|edit| Edit {
        file: edit.span.file,
        line: edit.span.line,
        column: edit.span.column,
        end_line: edit.span.end_line,
        end_column: edit.span.end_column,
        new_text: edit.new_text,
    });
    Ok(Answer {
        edits: edits.collect(),
        refused: renamed.refused,
        unsure: renamed.unsure,
        precision: "types".to_owned(),
    })
}
