//! `ixmcp engine`: the child process of the type engine, started by the daemon and the commands.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Outcome;
use crate::error::Result;
use crate::pytypes;

/// Run the type engine of a repository on stdin and stdout
#[derive(Debug, Args)]
#[command(hide = true)]
pub(in crate::cli) struct Arguments {
    /// The repository's root
    root: PathBuf,
    /// Read the files once; after a change, read all of them again
    #[arg(long)]
    once: bool,
}

pub(in crate::cli) fn run(arguments: &Arguments) -> Result<Outcome> {
    pytypes::serve_engine(&arguments.root, arguments.once).map(|()| Outcome::Found)
}
