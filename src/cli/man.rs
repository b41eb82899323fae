//! `ixmcp man`: manual pages of the program and its commands, from their declarations.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use super::{Outcome, help, output};
use crate::error::{Error, Result};
use crate::query::near;

/// Print a manual page, or write all manual pages to a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ixmcp man query | man -l -\n  ixmcp man --output ~/.local/share/man/man1")]
pub(super) struct Arguments {
    /// The command, such as `query` or `entity link` [default: ixmcp itself]
    command: Vec<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, short, value_name = "FOLDER", conflicts_with = "command")]
    output: Option<PathBuf>,
}

pub(super) fn run(typed: &Arguments) -> Result<Outcome> {
    let mut program = help::described().disable_help_subcommand(true);
    program.build();
    if let Some(folder) = &typed.output {
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
        let count = write(&program, folder)?;
        output::note(&output::count(count as u64, "page", "pages"));
        return Ok(Outcome::Found);
    }
    let mut command = &program;
    for name in &typed.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let near = near::nearest(name, command.get_subcommands().map(Command::get_name), 3);
            Error::invalid_argument(format!("there is no command \"{}\"", crate::model::printable(name)))
                .hint(near::did_you_mean(&near).unwrap_or_else(|| "`ixmcp --help` lists them.".to_owned()))
        })?;
    }
    output::raw(&page(command)?);
    Ok(Outcome::Found)
}

/// Writes the page of a command and those below it, and says how many.
fn write(command: &Command, folder: &Path) -> Result<usize> {
    if command.is_hide_set() {
        return Ok(0);
    }
    let file = folder.join(format!("{}.1", name(command)));
    fs::write(&file, page(command)?).map_err(|error| Error::io("write", &file, error))?;
    let mut count = 1;
    for below in command.get_subcommands() {
        count += write(below, folder)?;
    }
    Ok(count)
}

/// `ixmcp-entity-link`
fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    let man = Man::new(command.clone()).title(name(command)).manual("ixmcp");
    man.render(&mut page).map_err(|error| Error::internal("a page could not be written").caused_by(error))?;
    String::from_utf8(page).map_err(|error| Error::internal("a page is not text").caused_by(error))
}
