//! `ixmcp engine`: the type engine's own process, for the daemon and the commands to start.

use std::path::PathBuf;

use clap::Args;

use super::Outcome;
use crate::error::Result;
use crate::pytypes;

/// Run the type engine of a repository on stdin and stdout
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Arguments {
    /// The repository's root
    root: PathBuf,
    /// Ask the language server of this program instead of the embedded engine
    #[arg(long)]
    ty: Option<PathBuf>,
    /// Answer of the files as they are now; a change costs reading them all again
    #[arg(long)]
    once: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome> {
    pytypes::serve_engine(&arguments.root, arguments.ty.as_deref(), arguments.once).map(|()| Outcome::Found)
}
