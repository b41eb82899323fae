//! Errors in the words of a person at a terminal: commands and options, not tools and their arguments.
//!
//! Owns the names that a command has for the arguments of its tool. Which command calls which tool is in `shapes`.

use clap::{Arg, ArgMatches, Command};

use super::shapes;
use crate::error::Error;
use crate::wording::Part;

/// Arguments of tools that commands take under another name.
const NAMES: &[(&str, &str)] = &[
    ("file", "files"),
    ("file", "position"),
    ("filePath", "file"),
    ("file_path", "file"),
    ("fileTypes", "types"),
    ("folderPath", "folder"),
    ("query", "text"),
    ("symbol_name", "name"),
    ("symbol_name", "symbol"),
    ("start_line", "start"),
    ("end_line", "end"),
];

/// Arguments of commands that take a position, and how one is written.
const POSITIONS: &[(&str, &str)] =
    &[("def", "position"), ("refs", "position"), ("type-at", "position"), ("rename", "symbol")];
const POSITION: &str = "FILE:LINE:COLUMN";

/// The error in the words of the typed command.
pub(super) fn of_command(error: Error, program: &Command, typed: &ArgMatches) -> Error {
    let command = innermost(program, typed);
    error.in_words(&|part| word(part, command))
}

fn innermost<'c>(program: &'c Command, typed: &ArgMatches) -> &'c Command {
    match typed.subcommand().and_then(|(name, below)| Some((program.find_subcommand(name)?, below))) {
        Some((command, below)) => innermost(command, below),
        None => program,
    }
}

/// The command's word for a part; `None` if the command does not take that.
fn word(part: &Part, command: &Command) -> Option<String> {
    match part {
        Part::Argument(name) => argument(name, command).map(|argument| match argument.get_long() {
            Some(long) => format!("option `--{long}`"),
            None => format!("argument `{}`", placeholder(argument)),
        }),
        Part::Name(name) => argument(name, command).map(|argument| match argument.get_long() {
            Some(long) => format!("`--{long}`"),
            None => format!("`{}`", placeholder(argument)),
        }),
        Part::Position => {
            let takes_one = POSITIONS.iter().any(|(name, _)| *name == command.get_name());
            takes_one.then(|| format!("`{POSITION}`"))
        }
        Part::Tool(name) => Some(
            shapes::command_of(name).map_or_else(|| format!("`ixmcp call {name}`"), |words| format!("`ixmcp {words}`")),
        ),
        Part::Command(words) => Some(format!("`ixmcp {words}`")),
        Part::Text(_) | Part::Break => None,
    }
}

/// The command-line argument in place of a tool's argument.
fn argument<'c>(name: &str, command: &'c Command) -> Option<&'c Arg> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let mut plain = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            plain.push('_');
        }
        plain.push(c.to_ascii_lowercase());
    }
    let others = NAMES.iter().filter(|(known, _)| *known == name).map(|(_, other)| *other);
    let taken = |id: &str| command.get_arguments().find(|argument| argument.get_id() == id);
    std::iter::once(plain.as_str()).chain(others).find_map(taken)
}

fn placeholder(argument: &Arg) -> String {
    argument.get_id().as_str().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::{Argument, Name, Position, Tool, Wording};

    fn at(words: &[&str]) -> Command {
        let below = |command: &Command, word: &&str| command.find_subcommand(word).unwrap().clone();
        words.iter().fold(crate::cli::help::declaration(), |command, word| below(&command, word))
    }

    #[test]
    fn arguments_are_those_of_the_command() {
        for (words, name, shown) in [
            (&["documents", "index"][..], "options.chunkSize", "option `--chunk-size`"),
            (&["documents", "index"], "options.fileTypes", "option `--types`"),
            (&["documents", "index"], "folderPath", "argument `FOLDER`"),
            (&["documents", "search"], "options.minScore", "option `--min-score`"),
            (&["documents", "search"], "options.folderPath", "option `--folder`"),
            (&["documents", "search"], "query", "argument `TEXT`"),
            (&["symbol"], "kind", "option `--kind`"),
            (&["type-at"], "file", "argument `POSITION`"),
            (&["query"], "odd", "argument `odd`"),
        ] {
            let message = Wording::from((Argument(name), ""));
            assert_eq!(message.written(&|part| word(part, &at(words))), shown);
        }
        let program = crate::cli::help::declaration();
        let typed = program.clone().get_matches_from(["ixmcp", "documents", "search", "x"]);
        assert_eq!(innermost(&program, &typed).get_name(), "search");
    }

    #[test]
    fn advice_names_nothing_that_the_command_does_not_take() {
        let give = Wording::from(("Give ", Position, ".")).then(("Search with ", Tool("query"), "."));
        let bounds = Wording::from(("Give ", Name("start_line"), " ≤ ", Name("end_line"), "."));
        let timeout = Wording::from("Try again.").then(("Raise ", Name("timeout_ms"), "."));
        for (words, advice, shown) in [
            (&["rename"][..], &give, Some("Give `FILE:LINE:COLUMN`. Search with `ixmcp query`.")),
            (&["symbol"], &give, Some("Search with `ixmcp query`.")),
            (&["slice"], &bounds, Some("Give `START` ≤ `END`.")),
            (&["symbol"], &bounds, None),
            (&["changes"], &timeout, Some("Try again.")),
        ] {
            assert_eq!(advice.advice(&|part| word(part, &at(words))).as_deref(), shown);
        }
        let tools = Wording::from((Tool("index_files"), ", ", Tool("symbols")));
        let shown = tools.written(&|part| word(part, &at(&["files"])));
        assert_eq!(shown, "`ixmcp documents index`, `ixmcp call symbols`");
    }

    #[test]
    fn commands_that_take_a_position_have_an_argument_for_it() {
        for (name, argument) in POSITIONS {
            assert!(at(&[name]).get_arguments().any(|own| own.get_id() == argument), "{name}");
        }
    }
}
