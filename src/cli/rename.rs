//! `ixmcp rename`: the tool `rename_symbol` for the command line, as a patch or applied to the files.

use clap::Args;
use serde_json::json;

use super::edited::{Edited, Planning};
use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::query::patch::Edit;
use crate::tools::rename_symbol::{Answer, FileEdits, LineEdit};

/// Rename a Python symbol in the whole project
///
/// Prints a patch. With --apply it writes the files instead. Either all edits are made or none.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN of the symbol, or its name: Class.method, module::name
    symbol: String,
    /// The new name
    new_name: String,
    /// Write the files instead of printing a patch
    #[arg(long, conflicts_with = "json")]
    apply: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let mut given = match typed.symbol.parse::<SourcePosition>() {
        Ok(position) => position.arguments(session),
        Err(_) => json!({ "symbol_name": typed.symbol }),
    };
    given["new_name"] = json!(typed.new_name);
    let planning = Planning::begin(session, typed.apply)?;
    let answer = session.call::<Answer>("rename_symbol", given)?;
    let is_renamed = !answer.edits.is_empty();
    if typed.json {
        output::json(&answer.json);
    } else if is_renamed {
        let files = changed(&planning, &answer.edits)?;
        if typed.apply {
            planning.write(&files)?;
            let edits = output::count(answer.total_edits as u64, "edit", "edits");
            output::line(&format!("{edits} in {}", output::count(files.len() as u64, "file", "files")));
        } else {
            files.iter().for_each(|file| output::raw(&file.patch));
        }
    }
    if !typed.json {
        note(session, &answer);
    }
    Ok(Outcome::found_if(is_renamed))
}

/// Why nothing is renamed, and what may have to be renamed by hand.
fn note(session: &Session, answer: &Answer) {
    let paint = &session.paint;
    for one in &answer.candidates {
        let position = paint.position(&one.file, &[one.line, one.column]);
        output::line(&format!("{position}  {} {}", printable(&one.kind), printable(&one.name)));
    }
    if !answer.candidates.is_empty() {
        output::note("several symbols have this name: give the position of one");
    }
    for one in &answer.refused {
        output::line(&format!("{}  {}", paint.position(&one.file, &[one.line]), printable(&one.reason)));
    }
    if !answer.refused.is_empty() {
        output::note("nothing is renamed");
    }
    for one in &answer.unsure {
        output::note(&format!("{}:{} {}", printable(&paint.shown(&one.file)), one.line, printable(&one.reason)));
    }
}

/// Applies the edits to the texts of their files. An answer may have several entries for one file.
fn changed(planning: &Planning, entries: &[FileEdits]) -> Result<Vec<Edited>> {
    let of_file = |entries: &[FileEdits]| {
        let file = &entries[0].file;
        if entries.iter().flat_map(|entry| &entry.edits).any(|edit| edit.cell.is_some()) {
            let message = format!("{} is a notebook, which cannot be edited", printable(file));
            return Err(Error::new(ErrorKind::UnsupportedFormat, message).hint("`--json` prints the edits."));
        }
        let edits: Vec<Edit> = entries.iter().flat_map(|entry| &entry.edits).map(LineEdit::in_text).collect();
        planning.edited(file, &edits)
    };
    entries.chunk_by(|a, b| a.file == b.file).map(of_file).collect()
}
