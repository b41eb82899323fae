//! `ixmcp symbol`: the tool `get_symbol`, for people.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{Outcome, Session, arguments, output, relations};
use crate::error::Result;

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
    if typed.json {
        output::json(&answer);
    } else {
        symbols.iter().for_each(print);
        output::note_rest(&answer, "symbols");
    }
    Ok(if symbols.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn print(symbol: &Value) {
    let text = |name: &str| output::text(&symbol[name]);
    let container = symbol["container"].as_str().map_or_else(String::new, |container| format!(" in {container}"));
    let signature = symbol["signature"].as_str().map_or_else(String::new, |signature| format!("  {signature}"));
    let place = format!("{}:{}:{}", text("file_path"), symbol["line"], symbol["column"]);
    output::line(&crate::model::printable(&format!(
        "{place}  {} {}{container}{signature}",
        text("kind"),
        text("name")
    )));
}
