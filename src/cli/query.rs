//! `ixmcp query`: the tool `query`, for people.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::marks::Marks;
use super::paint::Paint;
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::query::exact::Pattern;

/// Search the repository: ranked by words, or exactly as ripgrep does
///
/// Filters inside the text: path:src lang:rust kind:function tag:NAME -word "a phrase"
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What to look for
    #[arg(required = true)]
    text: Vec<String>,
    /// How the text is read
    #[arg(long, short, value_enum, default_value_t)]
    mode: Mode,
    /// Most hits to show
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: u64,
    /// Hits to leave out at the start
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Any case (literal and regex)
    #[arg(long, short)]
    ignore_case: bool,
    /// Only at word boundaries (literal and regex)
    #[arg(long, short)]
    word: bool,
    /// Matches may cover several lines (literal and regex)
    #[arg(long, short = 'U')]
    multiline: bool,
    /// Lines around the matching one
    #[arg(long, short = 'C', default_value_t = 0)]
    context: u64,
    /// Globs of paths to search
    #[arg(long, short = 'g')]
    include: Vec<String>,
    /// Globs of paths to leave out
    #[arg(long, short = 'x')]
    exclude: Vec<String>,
    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Mode {
    #[default]
    Smart,
    Literal,
    Regex,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let mode = match typed.mode {
        Mode::Smart => "smart",
        Mode::Literal => "literal",
        Mode::Regex => "regex",
    };
    let mut given = arguments! {
        "text": typed.text.join(" "), "mode": mode, "limit": typed.limit, "offset": typed.offset,
        "word": typed.word,
        "multiline": typed.multiline, "context": typed.context, "include": typed.include,
        "exclude": typed.exclude, "explain": typed.explain,
    };
    if typed.ignore_case {
        given["case_sensitive"] = Value::Bool(false);
    }
    let answer = session.call("query", given)?;
    let hits = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&answer);
    } else {
        let marks = marks(typed)?;
        hits.iter().for_each(|hit| print(hit, &marks, &session.paint));
        output::note_rest(&answer, "results");
        if let Some(suggestion) = answer["suggestion"].as_str() {
            output::note(&format!("did you mean: {}", crate::model::printable(suggestion)));
        }
    }
    Ok(if hits.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn marks(typed: &Arguments) -> Result<Marks> {
    let text = typed.text.join(" ");
    if typed.mode == Mode::Smart {
        return Ok(Marks::of_query(&text));
    }
    Marks::of_pattern(&Pattern {
        text: &text,
        is_regex: typed.mode == Mode::Regex,
        case_sensitive: !typed.ignore_case,
        word: typed.word,
        multiline: typed.multiline,
    })
}

fn print(hit: &Value, marks: &Marks, paint: &Paint) {
    let place = paint.place(&hit["file_path"], &[&hit["line"]]);
    let symbol = hit["symbol_name"].as_str().map_or_else(String::new, |name| format!("  [{}]", paint.name(name)));
    output::line(&format!("{place}{symbol}"));
    for line in hit["preview"].as_str().unwrap_or_default().split('\n') {
        output::line(&format!("    {}", paint.matches(line, &marks.within(line))));
    }
    if let Some(parts) = hit["parts"].as_object() {
        let parts: Vec<String> =
            parts.iter().map(|(name, part)| format!("{name} {:.3}", part.as_f64().unwrap_or(0.0))).collect();
        output::line(&format!("    = {} ({})", hit["score"], parts.join(", ")));
    }
}
