//! `ixmcp snapshot`: the index as one file, for clones elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{self, HowFar};
use super::{Outcome, Session, sync};
use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::repository::Thoroughness;
use crate::update::snapshot;

/// Save the index to a file, or start from a saved index
///
/// A clone that loads a snapshot reads only the files that differ from it. Snapshots contain relative paths and no secrets.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ixmcp snapshot save index.ixmcp\n  ixmcp snapshot load index.ixmcp")]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Update the index and save it
    Save(File),
    /// Replace this repository's index with a snapshot and update it
    Load(File),
}

#[derive(Debug, Args)]
struct File {
    /// The snapshot file
    file: PathBuf,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let progress = Arc::<Progress>::default();
    let budget = Budget::unlimited();
    match &typed.verb {
        Verb::Save(typed) => {
            let workspace = session.workspace()?;
            shown(&progress, || workspace.sync(Thoroughness::Changed, &progress, &budget))?;
            let header = workspace.save_snapshot(&typed.file)?;
            let size = std::fs::metadata(&typed.file).map_err(|error| Error::io("read", &typed.file, error))?.len();
            let json = json!({ "file": typed.file, "bytes": size, "files": header.files, "schema": header.schema });
            session.show(&json, true, || {
                output::line(&format!("{} in {}", output::count(header.files, "file", "files"), sync::size(size)));
            })
        }
        Verb::Load(typed) => {
            let root = session.workspaces.root(&session.start)?;
            let sources = &session.sources;
            let report =
                shown(&progress, || snapshot::load(&root, Arc::clone(sources), &typed.file, &progress, &budget))?;
            sync::show(session, &report)
        }
    }
}

/// Does work while showing how far it is.
fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    output::with_progress(|| HowFar::from_progress(progress), work)
}
