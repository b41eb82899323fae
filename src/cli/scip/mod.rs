//! `ixmcp scip`: the SCIP files that the index uses.

mod make;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::Result;
use crate::model::printable;
use crate::store::ScipFile;

/// Use the definitions and references that language indexers state in SCIP files
///
/// `index.scip` in the repository and the files of the setting scip.files are used without this command.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  npx @sourcegraph/scip-typescript index\n  rust-analyzer scip . --output /tmp/app.scip\n  ixmcp scip load /tmp/app.scip"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Keep a copy of a SCIP file next to the index, and use it
    Load {
        /// The SCIP file
        file: PathBuf,
    },
    /// Run the indexers of this repository's languages that are installed, and use what they write
    ///
    /// Indexers run build scripts of the repository. Each command is shown first, and runs only after a yes. Only programs on
    /// your PATH outside of the repository are run.
    Make(make::Arguments),
    /// List the SCIP files, and how much of each is used
    List,
    /// Remove a SCIP file that was loaded
    Remove {
        /// Its name, as the list shows it
        name: String,
    },
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let (workspace, budget) = (session.workspace()?, Budget::unlimited());
    super::freshen(&workspace, &budget)?;
    match &typed.verb {
        Verb::Load { file } => {
            let name = workspace.scip.load(file, &budget)?;
            let files = workspace.scip.list(&budget)?;
            let loaded = files.iter().find(|one| name_of(one) == name);
            session.show(&loaded.map(value), loaded.is_some(), || loaded.into_iter().for_each(print))
        }
        Verb::Make(typed) => make::run(session, &workspace, typed),
        Verb::List => {
            let files = workspace.scip.list(&budget)?;
            let json = json!({ "total": files.len(), "files": files.iter().map(value).collect::<Vec<_>>() });
            let empty = "no SCIP file is indexed; `ixmcp scip make` runs the indexers of this repository's languages";
            session.show_list(&json, &files, empty, print)
        }
        Verb::Remove { name } => {
            workspace.scip.unload(name, &budget)?;
            session.show(&json!({ "removed": name }), true, || output::line(&format!("removed {}", printable(name))))
        }
    }
}

/// The path of a file in the repository; the name of one that was loaded.
fn name_of(file: &ScipFile) -> &str {
    if file.path.starts_with('/') { file.path.rsplit('/').next().unwrap_or(&file.path) } else { &file.path }
}

fn value(file: &ScipFile) -> Value {
    let mut value = json!({
        "file": name_of(file), "tool": file.tool, "documents": file.documents, "occurrences": file.occurrences,
    });
    if let Some(problem) = &file.problem {
        value["problem"] = json!(problem);
    }
    value
}

fn print(file: &ScipFile) {
    let state = match &file.problem {
        Some(problem) => format!("not used: {problem}"),
        None => {
            let documents = output::count(file.documents, "document", "documents");
            format!("{}, {documents}, {}", file.tool, output::count(file.occurrences, "occurrence", "occurrences"))
        }
    };
    output::line(&printable(&format!("{}  ({state})", name_of(file))));
}
