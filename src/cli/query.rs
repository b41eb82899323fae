//! `ixmcp query`: the tool `query`, for people.

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;

use super::marks::Marks;
use super::paint::Paint;
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::printable;
use crate::query::exact::Pattern;
use crate::tools::query::{Answer, QueryHit};

/// Search the repository: ranked by words and meaning, or line by line as ripgrep does
///
/// The text can contain filters: path:src lang:rust kind:function tag:NAME -word "a phrase"
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The query
    #[arg(required = true)]
    text: Vec<String>,
    /// How the query is interpreted
    #[arg(long, short, value_enum, default_value_t)]
    mode: Mode,
    /// Maximum number of hits
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: u64,
    /// Number of hits to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Ignore case (literal and regex)
    #[arg(long, short)]
    ignore_case: bool,
    /// Match whole words only (literal and regex)
    #[arg(long, short)]
    word: bool,
    /// Allow matches to span lines (literal and regex)
    #[arg(long, short = 'U')]
    multiline: bool,
    /// Number of lines to show around each match
    #[arg(long, short = 'C', default_value_t = 0)]
    context: u64,
    /// Search only paths that match this glob; can be repeated
    #[arg(long, short = 'g')]
    include: Vec<String>,
    /// Exclude paths that match this glob; can be repeated
    #[arg(long, short = 'x')]
    exclude: Vec<String>,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Smart,
    Literal,
    Regex,
}

/// Characters of a commit's id that are shown, and of its time: the day.
const SHORT: usize = 12;
const DATE: usize = 10;

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let mut given = arguments! {
        "text": typed.text.join(" "), "mode": typed.mode, "limit": typed.limit, "offset": typed.offset,
        "word": typed.word,
        "multiline": typed.multiline, "context": typed.context, "include": session.patterns(&typed.include),
        "exclude": session.patterns(&typed.exclude), "explain": typed.explain,
    };
    if typed.ignore_case {
        given["case_sensitive"] = Value::Bool(false);
    }
    let answer = session.call::<Answer>("query", given.clone())?;
    let hits = &answer.results;
    if session.json {
        output::json(&answer.json);
    } else {
        let marks = marks(typed)?;
        hits.iter().for_each(|hit| print(hit, &marks, &session.paint));
        let empty = if hits.is_empty() { nothing_found(session, typed, given) } else { String::new() };
        answer.note_rest(hits.len(), &empty);
        if let Some(suggestion) = &answer.suggestion {
            output::note(&format!("did you mean: {}", printable(suggestion)));
        }
    }
    Ok(Outcome::found_if(!hits.is_empty()))
}

/// Explains a query without hits: nothing matches, or its filters leave nothing.
fn nothing_found(session: &Session, typed: &Arguments, mut given: Value) -> String {
    let is_filtered = !(typed.include.is_empty() && typed.exclude.is_empty());
    for filter in ["include", "exclude"] {
        given[filter] = Value::Array(Vec::new());
    }
    given["offset"] = Value::from(0);
    let unfiltered = if is_filtered { session.call::<Answer>("query", given).ok() } else { None };
    match unfiltered.map(|answer| answer.total.unwrap_or(answer.results.len())) {
        None | Some(0) => "nothing found".to_owned(),
        Some(total) => {
            let results = output::count(total as u64, "result", "results");
            format!("nothing found with these filters; {results} without them")
        }
    }
}

fn marks(typed: &Arguments) -> Result<Marks> {
    let text = typed.text.join(" ");
    if typed.mode == Mode::Smart {
        return Ok(Marks::from_query(&text));
    }
    Marks::from_pattern(&Pattern {
        text: &text,
        is_regex: typed.mode == Mode::Regex,
        case_sensitive: !typed.ignore_case,
        word: typed.word,
        multiline: typed.multiline,
    })
}

fn print(hit: &QueryHit, marks: &Marks, paint: &Paint) {
    let (Some(path), Some(line)) = (&hit.file_path, hit.line) else { return print_commit(hit, paint) };
    let position = paint.position(path, &[line]);
    let symbol = hit.symbol_name.as_ref().map_or_else(String::new, |name| format!("  [{}]", paint.name(name)));
    let folder = hit.similar_in.as_ref().map_or_else(String::new, |folder| format!(" in {}", printable(folder)));
    let copies = match hit.similar.unwrap_or(0) {
        0 => String::new(),
        1 => format!("  (and 1 copy){folder}"),
        count => format!("  (and {count} copies){folder}"),
    };
    output::line(&format!("{position}{symbol}{copies}"));
    for line in hit.preview.iter().flat_map(|preview| preview.split('\n')) {
        let indentation = if line.is_empty() { "" } else { "    " };
        output::line(&format!("{indentation}{}", paint.matches(line, &marks.within(line))));
    }
    if let Some(parts) = &hit.parts {
        let parts: Vec<String> = parts.iter().map(|(name, part)| format!("{name} {part:.3}")).collect();
        output::line(&format!("    = {:?} ({})", hit.score, parts.join(", ")));
    }
    if let (Some(commit), Some(subject)) = (&hit.commit, &hit.subject) {
        output::line(&format!("    commit {} {}", short(commit), printable(subject)));
    }
}

/// A hit of a commit.
fn print_commit(hit: &QueryHit, paint: &Paint) {
    let text = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default();
    let commit = hit.commit.as_deref().map(short).unwrap_or_default();
    let day: String = text(&hit.time).chars().take(DATE).collect();
    output::line(&format!("{}  {day}  {}", paint.name(commit), text(&hit.subject)));
    hit.files.iter().for_each(|path| output::line(&format!("    {}", paint.path(path))));
}

/// The beginning of a commit's id.
pub(super) fn short(id: &str) -> &str {
    &id[..id.len().min(SHORT)]
}
