//! `ixmcp symbol`: the tool `get_symbol`, for people.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::paint::Paint;
use super::{Outcome, Session, arguments, output, relations};
use crate::error::Result;
use crate::model::printable;
use crate::query::symbols::Occurrence;
use crate::tools::get_symbol::Answer;

/// Show where a name is defined and used
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The name: plain, or as Class.method, Class#method or module::name
    name: String,
    /// Only symbols of this kind (class, function, …) or references of this kind (call, type, import)
    #[arg(long, short)]
    kind: Option<String>,
    /// How names match
    #[arg(long, short, value_enum, default_value_t)]
    r#match: Match,
    /// Maximum number of symbols
    #[arg(long, short = 'n', default_value_t = 100)]
    limit: u64,
    /// Number of symbols to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Show what the symbol or file contains, calls, inherits and imports, and the reverse
    #[arg(long, short, conflicts_with_all = ["kind", "match"])]
    relations: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Match {
    #[default]
    Exact,
    Prefix,
    Fuzzy,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    if typed.relations {
        return relations::run(session, &typed.name, typed.limit, typed.offset);
    }
    let given = arguments! {
        "symbol_name": typed.name, "kind": typed.kind, "match": typed.r#match, "limit": typed.limit, "offset": typed.offset,
    };
    let answer = session.call::<Answer>("get_symbol", given)?;
    let symbols = &answer.symbols;
    let is_nothing = symbols.is_empty() && answer.total.is_none_or(|total| total == 0);
    if session.json {
        output::json(&answer.json);
    } else {
        symbols.iter().for_each(|symbol| print(symbol, &session.paint));
        let kind = typed.kind.as_ref().map_or_else(String::new, |kind| format!(" of kind {}", printable(kind)));
        answer.note_rest(symbols.len(), &format!("nothing{kind} is named {}", printable(&typed.name)));
        if !answer.suggestions.is_empty() {
            let names: Vec<String> = answer.suggestions.iter().map(|name| printable(name)).collect();
            output::note(&format!("did you mean: {}", names.join(", ")));
        }
    }
    Ok(Outcome::found_if(!is_nothing))
}

fn print(symbol: &Occurrence, paint: &Paint) {
    let part = |part: &Option<String>, before: &str| {
        part.as_ref().map_or_else(String::new, |part| format!("{before}{}", printable(part)))
    };
    let position = paint.position(&symbol.path, &[symbol.line, symbol.column]);
    let (kind, name) = (printable(&symbol.kind), paint.name(&symbol.name));
    let (container, signature) = (part(&symbol.container, " in "), part(&symbol.signature, "  "));
    output::line(&format!("{position}  {kind} {name}{container}{signature}"));
}
