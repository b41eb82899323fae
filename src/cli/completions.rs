//! `ixmcp completions`: what a shell needs to complete commands and options, from their declarations.

use clap::Args;
use clap_complete::Shell;

use super::{Outcome, help, output};
use crate::error::{Error, Result};

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ixmcp completions bash > ~/.local/share/bash-completion/completions/ixmcp\n  ixmcp completions zsh > ~/.zfunc/_ixmcp\n  ixmcp completions fish > ~/.config/fish/completions/ixmcp.fish"
)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(typed: &Arguments) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut help::declaration(), "ixmcp", &mut script);
    let script = String::from_utf8(script).map_err(|error| Error::internal("a script is no text").caused_by(error))?;
    output::raw(&script);
    Ok(Outcome::Found)
}
