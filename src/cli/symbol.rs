//! `ixmcp symbol`: the tool `get_symbol`, for people.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::paint::Paint;
use super::{Outcome, Session, arguments, output, relations};
use crate::error::Result;
use crate::model::printable;

/// Show where a name is defined and used
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A name, or Class.method, Class#method, module::name
    name: String,
    /// Only this kind: class, function, … or call, type, import
    #[arg(long, short)]
    kind: Option<String>,
    /// How names match
    #[arg(long, short, value_enum, default_value_t)]
    r#match: Match,
    /// Most symbols to show
    #[arg(long, short = 'n', default_value_t = 100)]
    limit: u64,
    /// Symbols to leave out at the start
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Show what it contains, calls, inherits and imports, and who calls, inherits and imports it; NAME may be a file
    #[arg(long, short, conflicts_with_all = ["kind", "match"])]
    relations: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Symbols that are asked for a name to suggest: several may share one.
const SUGGESTED: u64 = 20;

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Match {
    #[default]
    Exact,
    Prefix,
    Fuzzy,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    if typed.relations {
        return relations::run(session, &typed.name, typed.limit, typed.offset, typed.json);
    }
    let how = match typed.r#match {
        Match::Exact => "exact",
        Match::Prefix => "prefix",
        Match::Fuzzy => "fuzzy",
    };
    let given = arguments! {
        "symbol_name": typed.name, "kind": typed.kind, "match": how, "limit": typed.limit, "offset": typed.offset,
    };
    let answer = session.call("get_symbol", given)?;
    let symbols = answer["symbols"].as_array().map_or(&[][..], Vec::as_slice);
    let is_nothing = symbols.is_empty() && answer["total"].as_u64().is_none_or(|total| total == 0);
    if typed.json {
        output::json(&answer);
    } else {
        symbols.iter().for_each(|symbol| print(symbol, &session.paint));
        output::note_rest(&answer, "symbols");
        if is_nothing && typed.offset == 0 && matches!(typed.r#match, Match::Exact) {
            note_near(session, typed)?;
        }
    }
    Ok(if is_nothing { Outcome::Nothing } else { Outcome::Found })
}

/// A heading can be a page long: nobody meant to type it.
const LONGEST_SUGGESTED: usize = 80;

/// Names that may have been meant.
fn note_near(session: &Session, typed: &Arguments) -> Result<()> {
    let given = arguments! { "symbol_name": typed.name, "kind": typed.kind, "match": "fuzzy", "limit": SUGGESTED };
    let answer = session.call("get_symbol", given)?;
    let mut names: Vec<String> = Vec::new();
    for symbol in answer["symbols"].as_array().into_iter().flatten() {
        let name = symbol["name"].as_str().map(printable).unwrap_or_default();
        if !names.contains(&name) && name.chars().count() <= LONGEST_SUGGESTED {
            names.push(name);
        }
    }
    if !names.is_empty() {
        names.truncate(3);
        output::note(&format!("did you mean: {}", names.join(", ")));
    }
    Ok(())
}

fn print(symbol: &Value, paint: &Paint) {
    let text = |name: &str| output::text(&symbol[name]);
    let part = |name: &str, before: &str| match &symbol[name] {
        Value::String(part) => format!("{before}{}", printable(part)),
        _ => String::new(),
    };
    let place = paint.place(&symbol["file_path"], &[&symbol["line"], &symbol["column"]]);
    let name = paint.name(symbol["name"].as_str().unwrap_or_default());
    output::line(&format!("{place}  {} {name}{}{}", text("kind"), part("container", " in "), part("signature", "  ")));
}
