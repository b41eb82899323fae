//! `ixmcp read`: the child process in which a document is read, because a document may crash its reader.

use clap::Args;

use crate::cli::Outcome;
use crate::error::Result;
use crate::update;

/// Read a document from stdin, within memory and time limits
#[derive(Debug, Args)]
#[command(hide = true)]
pub(in crate::cli) struct Arguments {
    /// The format, such as pdf
    format: String,
    /// The memory limit in bytes
    #[arg(long, default_value_t = u64::MAX)]
    memory: u64,
}

pub(in crate::cli) fn run(arguments: &Arguments) -> Result<Outcome> {
    if arguments.format == "scip" {
        return update::serve_scip_reader(arguments.memory).map(|()| Outcome::Found);
    }
    update::serve_reader(&arguments.format, arguments.memory).map(|()| Outcome::Found)
}
