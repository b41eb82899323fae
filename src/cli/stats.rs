//! `ixmcp stats`: the tool `stats`, for people.

use clap::Args;
use serde_json::json;

use super::{Outcome, Session, output, sync};
use crate::error::Result;

/// Show what the index holds and how it is kept
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let answer = session.call("stats", json!({}))?;
    if typed.json {
        output::json(&answer);
        return Ok(Outcome::Found);
    }
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    output::line(&format!("root        {}", output::text(&answer["root"])));
    output::line(&format!("files       {}", number("total_files")));
    output::line(&format!("chunks      {}", number("total_chunks")));
    output::line(&format!("symbols     {}", number("total_symbols")));
    output::line(&format!("references  {}", number("total_references")));
    output::line(&format!(
        "index       {}, schema {}",
        sync::size(number("index_size_bytes")),
        answer["schema_version"]
    ));
    if let Some(changed) = answer["last_update"].as_str() {
        output::line(&format!("changed     {changed}"));
    }
    for (language, counts) in answer["languages"].as_object().into_iter().flatten() {
        output::line(&format!("  {language:<14} {:>7} files {:>9} lines", counts["files"], counts["lines"]));
    }
    Ok(Outcome::Found)
}
