//! `symbols`: the symbols of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Query};
use crate::query::positions;
use crate::wording::Command;

pub(super) static SYMBOLS: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "symbols",
        title: "Symbols of a file",
        about: "Outline a file: classes, functions, methods, variables and attributes as a tree, for Python with \
            types. Use it before reading a long file.",
        access: Access::Read,
        core: true,
        list: Some("symbols"),
        example: r#"{"file": "tests/clients/python_mcp.py"}"#,
    }
};

/// For the page, which shows it until the types of a Python file are known.
pub(crate) static OUTLINE: Declaration = declare! {
    run_outline;
    name: "outline",
    title: "Outline of a file by its syntax",
    about: "The symbols of a file as a tree, from the index alone.",
    access: Access::Read,
    core: false,
    list: Some("symbols"),
    example: r#"{"file": "tests/clients/python_mcp.py"}"#,
};

/// Arguments of `symbols`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: String,
    /// Top-level symbols to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Answer {
    /// Each `{name, kind, type?, cell?, line, column, end_line, signature?, children}`.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    symbols: Vec<serde_json::Value>,
    total: usize,
    precision: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let file = engine::file(call, &arguments.file)?;
    let (all, precision): (Vec<serde_json::Value>, _) = if file.is_python {
        let query = Query::Symbols { file: file.absolute.to_string_lossy().into_owned() };
        let Answered::Symbols { symbols } = engine::ask(call, &query)? else { return Err(engine::unexpected()) };
        (symbols.iter().map(|symbol| json!(symbol)).collect(), "types")
    } else {
        (by_syntax(call, &file.path)?, "syntax")
    };
    Ok(answer(all, arguments.offset, precision))
}

fn run_outline(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let path = call.workspace().files.indexed_path(&arguments.file)?;
    Ok(answer(by_syntax(call, &path)?, arguments.offset, "syntax"))
}

fn by_syntax(call: &Call, path: &str) -> Result<Vec<serde_json::Value>> {
    let found = call.read_file(path, |snapshot| positions::outline(snapshot, path))?;
    let found = found.ok_or_else(|| {
        Error::invalid_path(format!("{} is not indexed", crate::model::printable(path)))
            .hint((Command("files --skipped"), " says why."))
    })?;
    Ok(found.iter().map(|symbol| json!(symbol)).collect())
}

fn answer(all: Vec<serde_json::Value>, offset: Option<u64>, precision: &str) -> Answer {
    let total = all.len();
    let offset = offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    Answer { symbols: all.into_iter().skip(offset).collect(), total, precision: precision.to_owned() }
}
