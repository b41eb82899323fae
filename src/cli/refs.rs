//! `ixmcp refs`: the tool `find_references` for the command line.

use clap::Args;

use super::def::print;
use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;

/// Show every reference to the symbol at a position
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
    /// Leave out the definition itself
    #[arg(long)]
    no_declaration: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let paint = session.paint_here();
    let mut given = typed.position.arguments(session);
    if typed.no_declaration {
        given["include_declaration"] = false.into();
    }
    let answer = session.call("find_references", given)?;
    let found = answer["references"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&answer);
    } else {
        found.iter().for_each(|one| print(one, "role", &paint));
        if found.is_empty() {
            output::note("nothing found: no reference is known to what stands there");
        }
        if let Some(left_out) = answer["left_out"].as_str() {
            output::note(left_out);
        }
    }
    Ok(if found.is_empty() { Outcome::Nothing } else { Outcome::Found })
}
