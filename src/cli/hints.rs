//! Errors as a person at a terminal reads them: by commands and options, not by tools and their arguments.
//!
//! Owns the translation alone. In a hint a tool's name is in backticks, which distinguishes it from the name of a file or a
//! symbol, and so does an argument's in an error, behind that word; which command asks which tool is in `shapes`.

use clap::{Arg, ArgMatches, Command};

use super::shapes;
use crate::error::Error;
use crate::tools;

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
];

/// How an error names an argument.
const ARGUMENT: &str = "argument `";

/// The error with the options of the typed command instead of a tool's arguments, and with the commands in its hint that do
/// what the tools there do.
pub(super) fn in_commands(mut error: Error, program: &Command, typed: &ArgMatches) -> Error {
    error.message = with_options(&error.message, innermost(program, typed));
    error.hint = error.hint.map(|hint| described(&hint));
    error
}

fn innermost<'c>(program: &'c Command, typed: &ArgMatches) -> &'c Command {
    match typed.subcommand().and_then(|(name, below)| Some((program.find_subcommand(name)?, below))) {
        Some((command, below)) => innermost(command, below),
        None => program,
    }
}

/// A name that the command does not take stays: it may be that of a file.
fn with_options(message: &str, command: &Command) -> String {
    let Some((before, (name, behind))) =
        message.split_once(ARGUMENT).and_then(|(before, rest)| Some((before, rest.split_once('`')?)))
    else {
        return message.to_owned();
    };
    match option(name, command) {
        Some(option) => format!("{before}{option}{behind}"),
        None => message.to_owned(),
    }
}

/// What a person types where an agent gives that argument.
fn option(name: &str, command: &Command) -> Option<String> {
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
    std::iter::once(plain.as_str()).chain(others).find_map(taken).map(shown)
}

fn shown(argument: &Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("option `--{long}`"),
        None => format!("argument `{}`", argument.get_id().as_str().to_uppercase()),
    }
}

fn described(hint: &str) -> String {
    let parts: Vec<String> = hint.split('`').enumerate().map(|(at, part)| command(at, part)).collect();
    parts.join("`")
}

/// Every second part is in backticks.
fn command(at: usize, part: &str) -> String {
    if at.is_multiple_of(2) || tools::find(part).is_err() {
        return part.to_owned();
    }
    shapes::command_of(part).map_or_else(|| format!("ixmcp call {part}"), |words| format!("ixmcp {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_translated_to_options_of_the_command() {
        let program = crate::cli::help::declaration();
        let at = |words: &[&str]| {
            let below = |command: &Command, word: &&str| command.find_subcommand(word).unwrap().clone();
            words.iter().fold(program.clone(), |command, word| below(&command, word))
        };
        for (words, message, shown) in [
            (&["documents", "index"][..], "argument `options.chunkSize` must be", "option `--chunk-size` must be"),
            (&["documents", "index"], "argument `options.fileTypes`: a list", "option `--types`: a list"),
            (&["documents", "index"], "argument `folderPath`: none", "argument `FOLDER`: none"),
            (&["documents", "search"], "argument `options.minScore` is", "option `--min-score` is"),
            (&["documents", "search"], "argument `options.folderPath` is", "option `--folder` is"),
            (&["documents", "search"], "argument `query` is empty", "argument `TEXT` is empty"),
            (&["symbol"], "argument `kind`: there is no kind \"x\"", "option `--kind`: there is no kind \"x\""),
            (&["type-at"], "argument `file`: only Python", "argument `POSITION`: only Python"),
            (&["query"], "argument `odd`: `text`", "argument `odd`: `text`"),
            (&["query"], "no argument and no `text`", "no argument and no `text`"),
        ] {
            assert_eq!(with_options(message, &at(words)), shown);
        }
        let typed = program.clone().get_matches_from(["ixmcp", "documents", "search", "x"]);
        assert_eq!(innermost(&program, &typed).get_name(), "search");
    }

    #[test]
    fn tools_are_translated_to_commands_and_nothing_else_is_changed() {
        for (hint, shown) in [
            ("Index it with `index_files` first.", "Index it with `ixmcp documents index` first."),
            ("`symbols` lists those of the file.", "`ixmcp call symbols` lists those of the file."),
            ("`goto_definition` or `get_symbol`", "`ixmcp def` or `ixmcp symbol`"),
            ("Did you mean get_slice, src/query?", "Did you mean get_slice, src/query?"),
            ("`ixmcp call query --args` takes `limit`", "`ixmcp call query --args` takes `limit`"),
            ("an odd ` query", "an odd ` query"),
        ] {
            assert_eq!(described(hint), shown);
        }
    }
}
