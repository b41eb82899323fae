//! `ixmcp def`: the tool `goto_definition` for the command line.

use clap::Args;
use serde_json::Value;

use super::paint::Paint;
use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;

/// Show where the symbol at a position is defined
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let paint = session.paint_here();
    let answer = session.call("goto_definition", typed.position.arguments(session))?;
    let found = answer["definitions"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&answer);
    } else {
        found.iter().for_each(|one| print(one, "kind", &paint));
        if found.is_empty() {
            output::note("nothing found: no definition is known of what stands there");
        }
    }
    Ok(if found.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

/// Prints a position with its line and kind.
pub(super) fn print(found: &Value, what: &str, paint: &Paint) {
    let text = |name: &str| output::text(&found[name]);
    let position = paint.found(found);
    output::line(&format!("{position}  {}  {}", text(what), text("preview")));
}
