//! `rename_symbol`: the edits that give something another name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_references::candidates;
use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Question, Refusal};

pub(super) static RENAME_SYMBOL: Declaration = declare! {
    long run;
    name: "rename_symbol",
    title: "Rename a Python symbol",
    about: "The edits, across the project, that give the Python name at a place another name: overrides, imports, keywords, \
        overloads, class patterns, stub, TypedDict keys, TypeVar(\"T\"), __all__ and __slots__ too. Refused with reasons when it \
        would capture, lose or break something. `unsure`: places that may mean it. Nothing is written. \
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
    /// Of a notebook, the cell that `line` counts in, from 1, those of prose counted too; default: through the code of all.
    #[serde(default)]
    cell: Option<u32>,
    /// 1-based.
    line: u32,
    /// 1-based, in characters; just past a name counts as on it.
    column: u32,
    new_name: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    /// All of them, or none: half a rename is none.
    edits: Vec<Edit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Refused>,
    /// Not edited, and to be looked at: of the same name where nobody knows the type, or reached by its name as text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unsure: Vec<Refused>,
    precision: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Edit {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    new_text: String,
}

#[derive(Serialize, JsonSchema)]
struct Refused {
    file: String,
    /// Of a notebook, the cell that the lines count in.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    line: u32,
    reason: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    if !file.is_python {
        return Err(Error::invalid_argument("argument `file`: only Python can be renamed by types")
            .hint("`find_references` lists the places in other languages."));
    }
    let at = engine::position(&file, arguments.cell, arguments.line, arguments.column)?;
    let new_name = arguments.new_name.clone();
    let Answered::Subject { found } = engine::ask(call, &Question::Subject(at.clone()))? else {
        return Err(engine::unexpected());
    };
    let files = match found {
        Some(subject) if !subject.is_local => Some(candidates(call, &[&subject.name, &new_name])?),
        _ => Some(Vec::new()),
    };
    let Answered::Rename(renamed) = engine::ask(call, &Question::Rename { at, new_name, files })? else {
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
    let told = |all: Vec<Refusal>| {
        all.into_iter()
            .map(|one| Refused { file: one.file, cell: one.cell, line: one.line, reason: one.reason })
            .collect()
    };
    let (refused, unsure) = (told(renamed.refused), told(renamed.unsure));
    Ok(Answer { edits: edits.collect(), refused, unsure, precision: "types" })
}
