//! `get_symbol`: where a name is defined and used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::extract::kinds;
use crate::model::printable;
use crate::query::near;
use crate::query::symbols::{self, Match, Occurrence};

pub(super) static GET_SYMBOL: Declaration = declare! {
    run;
    name: "get_symbol",
    title: "Find a symbol",
    about: "Find a name: its definitions with kind, signature and range, then its nearest references, by name \
        alone. Use it when you know a name. For exactly the references to one symbol use find_references; for \
        other text, query.",
    access: Access::Read,
    core: true,
    list: Some("symbols"),
    example: r#"{"symbol_name": "Workspace", "limit": 5}"#,
};

/// Arguments of `get_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Name, Class.method or module::name.
    symbol_name: String,
    /// class, function, …; of references: call, import, … (default: all).
    kind: Option<String>,
    /// Default exact. prefix and fuzzy find definitions only.
    #[serde(rename = "match")]
    how: Option<Match>,
    /// Symbols to return (default: definitions and 20 references).
    limit: Option<u64>,
    /// Symbols to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub symbols: Vec<Occurrence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Similar names, if nothing has this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    if arguments.symbol_name.trim().is_empty() {
        return Err(Error::invalid_argument("argument `symbol_name` is empty").hint("Give a name such as QuerySet."));
    }
    if let Some(unknown) = arguments.kind.as_deref().filter(|named| !kinds::all().any(|kind| kind == *named)) {
        return Err(unknown_kind(unknown));
    }
    let how = arguments.how.unwrap_or_default();
    let (offset, limit) = super::page(arguments.offset, arguments.limit, MAX_LIMIT, MAX_LIMIT);
    let limit = arguments.limit.map(|_| limit);
    let (page, suggestions) = call.read_words(&arguments.symbol_name, |snapshot| {
        let name = &arguments.symbol_name;
        let page = symbols::occurrences(snapshot, name, arguments.kind.as_deref(), how, offset, limit)?;
        let is_unknown = page.items.is_empty() && page.total == Some(0);
        let suggestions = if is_unknown { symbols::similar_names(snapshot, name)? } else { Vec::new() };
        Ok((page, suggestions))
    })?;
    Ok(Answer {
        suggestions,
        total: page.total,
        truncated: page.is_cut,
        next_offset: page.next_offset(),
        symbols: page.items,
    })
}

fn unknown_kind(unknown: &str) -> Error {
    let shown: String = unknown.chars().take(80).collect();
    let near = near::did_you_mean(&near::nearest(&shown, kinds::all(), 3));
    let known = format!("Kinds are: {}.", kinds::all().collect::<Vec<_>>().join(", "));
    Error::invalid_argument(format!("argument `kind`: there is no kind {:?}", printable(&shown)))
        .hint(near.map_or_else(|| known.clone(), |near| format!("{near} {known}")))
}
