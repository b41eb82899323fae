//! `symbols`: the symbols of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::{Error, Result};
use crate::pytypes::values::{Answer as Answered, Outline, Query};
use crate::query::positions::{self, NestedSymbol};

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
    #[serde(default)]
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
        (symbols.iter().map(typed).collect(), "types")
    } else {
        let found = call.read_file(&file.path, |snapshot| positions::outline(snapshot, &file.path))?;
        let found = found.ok_or_else(|| {
            Error::invalid_path(format!("{} is not indexed", crate::model::printable(&file.path)))
                .hint("`ixmcp files --skipped` says why.")
        })?;
        (found.iter().map(plain).collect(), "syntax")
    };
    let total = all.len();
    let offset = arguments.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
    Ok(Answer { symbols: all.into_iter().skip(offset).collect(), total, precision: precision.to_owned() })
}

fn typed(symbol: &Outline) -> serde_json::Value {
    let mut node = serde_json::json!({
        "name": symbol.name,
        "kind": symbol.kind,
        "type": symbol.display,
        "line": symbol.line,
        "column": symbol.column,
        "end_line": symbol.end_line,
        "children": symbol.children.iter().map(typed).collect::<Vec<_>>(),
    });
    if let Some(signature) = &symbol.signature {
        node["signature"] = signature.as_str().into();
    }
    if let Some(cell) = symbol.cell {
        node["cell"] = cell.into();
    }
    node
}

fn plain(symbol: &NestedSymbol) -> serde_json::Value {
    let mut node = serde_json::json!({
        "name": symbol.definition.name,
        "kind": symbol.definition.kind,
        "line": symbol.definition.line,
        "column": symbol.definition.column,
        "end_line": symbol.definition.end_line,
        "children": symbol.children.iter().map(plain).collect::<Vec<_>>(),
    });
    if let Some(signature) = &symbol.definition.signature {
        node["signature"] = signature.as_str().into();
    }
    node
}
