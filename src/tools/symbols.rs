//! `symbols`: the symbols of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Query};
use crate::query::positions;

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
        let found = call.read_file(&file.path, |snapshot| positions::outline(snapshot, &file.path))?;
        let found = found.ok_or_else(|| {
            Error::invalid_path(format!("{} is not indexed", crate::model::printable(&file.path)))
                .hint("`ixmcp files --skipped` says why.")
        })?;
        (found.iter().map(|symbol| json!(symbol)).collect(), "syntax")
    };
    let total = all.len();
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    Ok(Answer { symbols: all.into_iter().skip(offset).collect(), total, precision: precision.to_owned() })
}
