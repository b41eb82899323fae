//! `ixmcp read`: the process in which a document is read that may bring its reader down.

use clap::Args;

use super::Outcome;
use crate::error::Result;
use crate::index;

/// Read one document from stdin, within limits of memory and time
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Arguments {
    /// Its format, such as pdf
    format: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome> {
    index::serve_reader(&arguments.format).map(|()| Outcome::Found)
}
