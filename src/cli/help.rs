//! The help of the program itself, with its commands in groups.
//!
//! Owns the groups. Does not own the help of each command, which is next to its arguments.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use super::{Cli, global_options, numbers, shapes};

/// The commands by purpose.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Get started", &["setup", "sync", "doctor"]),
    (
        "Search and read",
        &["query", "documents", "symbol", "changes", "history", "slice", "files", "stats", "repos", "deps"],
    ),
    ("Python types", &["check", "type-at", "def", "refs", "infer", "rename"]),
    ("Share with an organisation", &["publish", "unpublish", "org"]),
    ("Knowledge graph", &["init", "entity", "graph"]),
    ("Serve agents", &["mcp", "http", "daemon", "call"]),
    ("Inspect and maintain", &["ui", "sql", "rebuild", "snapshot", "scip"]),
    ("Set up the program", &["model", "completions", "man"]),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}\n";

const EXAMPLES: &str = "Examples:
  ixmcp query where are orders paid
  ixmcp symbol Cart.checkout --relations
  ixmcp setup claude-code
Run `ixmcp COMMAND --help` for details.

Exit codes: 0 success, 1 no results (check, doctor: problems found), 2 error.";

/// The command line, for parsing and completion.
pub(super) fn declaration() -> Command {
    let command = numbers::checked(global_options::shown_where_used(shapes::with_json(Cli::command())));
    let groups = groups(&command);
    command.help_template(TEMPLATE).after_help(groups)
}

/// The command line with the shapes of `--json`, which take a while to assemble.
pub(super) fn described() -> Command {
    let command = declaration();
    let long = format!("{}\n\nJSON of `ixmcp --json`:\n  {}", groups(&command), shapes::OVERVIEW);
    shapes::described(command).after_long_help(long)
}

/// Each command with the first line of its help.
fn groups(program: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{heading}:");
        for name in *names {
            let about = program.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name:<12} {}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    text + EXAMPLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let program = Cli::command();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = shown.map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn the_declaration_is_consistent() {
        declaration().debug_assert();
    }
}
