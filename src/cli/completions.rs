//! `ixmcp completions`: shell completion of commands and options, generated from their declarations.

use std::fmt::Write;

use clap::{Arg, Args, Command};
use clap_complete::Shell;

use super::{Outcome, help, output};
use crate::error::{Error, Result};

/// Print a completion script for a shell
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
    let mut script =
        String::from_utf8(script).map_err(|error| Error::internal("a script is not text").caused_by(error))?;
    if typed.shell == Shell::Fish {
        script.push_str(&values_for_fish(&help::declaration()));
    }
    output::raw(&script);
    Ok(Outcome::Found)
}

/// Completes the values of positional arguments, which the generator for fish leaves out.
fn values_for_fish(program: &Command) -> String {
    let mut lines = String::new();
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let here = format!("__fish_ixmcp_using_subcommand {}", command.get_name());
        add_values(&mut lines, &here, command);
        for below in command.get_subcommands() {
            add_values(&mut lines, &format!("{here}; and __fish_seen_subcommand_from {}", below.get_name()), below);
        }
    }
    lines
}

fn add_values(lines: &mut String, condition: &str, command: &Command) {
    let values = |argument: &Arg| argument.get_value_parser().possible_values().map(Iterator::collect::<Vec<_>>);
    for value in command.get_positionals().filter_map(values).flatten().filter(|value| !value.is_hide_set()) {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "complete -c ixmcp -n \"{condition}\" -f -a \"{}\"", value.get_name());
    }
}
