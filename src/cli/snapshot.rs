//! `ixmcp snapshot`: the index as one file, for clones elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{self, HowFar};
use super::{Outcome, Session, sync};
use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::index::{self, Thoroughness};

/// Save the index as one file, or begin with one that somebody saved
///
/// A clone that loads one reads again only the files whose content differs. Paths in it are relative, secrets are left out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ixmcp snapshot save index.ixmcp\n  ixmcp snapshot load index.ixmcp")]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Bring the index up to date and save it
    Save(File),
    /// Put a saved index in the place of this repository's, and bring it up to date
    Load(File),
}

#[derive(Debug, Args)]
struct File {
    /// The snapshot
    file: PathBuf,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let progress = Arc::<Progress>::default();
    let budget = Budget::unlimited();
    match &typed.verb {
        Verb::Save(typed) => {
            let workspace = session.workspace()?;
            shown(&progress, || workspace.sync(Thoroughness::Changed, &progress, &budget))?;
            let header = index::save(&workspace, &typed.file)?;
            let size = std::fs::metadata(&typed.file).map_err(|error| Error::io("read", &typed.file, error))?.len();
            if typed.json {
                output::json(
                    &json!({ "file": typed.file, "bytes": size, "files": header.files, "schema": header.schema }),
                );
            } else {
                output::line(&format!("{} in {}", output::count(header.files, "file", "files"), sync::size(size)));
            }
        }
        Verb::Load(typed) => {
            let root = session.workspaces.root(&session.start)?;
            let sources = &session.sources;
            let report = shown(&progress, || index::load(&root, Arc::clone(sources), &typed.file, &progress, &budget))?;
            if typed.json {
                output::json(&report);
            } else {
                sync::print(&report);
            }
        }
    }
    Ok(Outcome::Found)
}

/// Does work while showing how far it is.
fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    output::with_progress(|| HowFar::of(progress), work)
}
