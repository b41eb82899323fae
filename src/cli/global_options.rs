//! Global options by command: which ones the help of a command shows.
//!
//! Owns the table. Does not own the options, which every command accepts: an option that a command does not use is
//! hidden from its help.

use clap::{Arg, Command};

use super::shapes::each;

/// Global options that only some commands use: all except `--color`, which the log of every command follows.
const OPTIONS: [&str; 4] = ["repo", "group", "hyperlink", "wait"];
/// The help of `--repo` where a command takes one repository.
const ONE_REPOSITORY: &str = "The repository: the nearest folder, from the given one up, that contains .ixmcp, .ixchel \
                              or .git [default: $CLAUDE_PROJECT_DIR, then the current folder]";

/// The options that a command uses, by the words of the command. A subcommand without a row has the options of its
/// command, and a command without a row has `--repo`.
const USED: &[(&str, &[&str])] = &[
    ("query", &OPTIONS),
    ("symbol", &OPTIONS),
    ("files", &OPTIONS),
    ("documents search", &OPTIONS),
    ("documents", &["repo", "hyperlink", "wait"]),
    ("slice", &["repo", "group", "wait"]),
    ("stats", &["repo", "group", "wait"]),
    ("call", &["repo", "group", "wait"]),
    ("ui", &["repo", "group"]),
    ("entity search", &["repo", "group", "wait"]),
    ("entity tags", &["repo", "group", "wait"]),
    ("entity init", &["repo"]),
    ("entity check", &["repo", "hyperlink", "wait"]),
    ("entity context", &["repo", "hyperlink", "wait"]),
    ("entity sync", &["repo", "hyperlink", "wait"]),
    ("entity", &["repo", "wait"]),
    ("graph", &["repo", "wait"]),
    ("changes", &["repo", "hyperlink", "wait"]),
    ("history", &["repo", "hyperlink"]),
    ("check", &["repo", "hyperlink"]),
    ("type-at", &["repo", "hyperlink"]),
    ("infer", &["repo", "hyperlink"]),
    ("def", &["repo", "hyperlink", "wait"]),
    ("refs", &["repo", "hyperlink", "wait"]),
    ("rename", &["repo", "hyperlink", "wait"]),
    ("org", &[]),
    ("completions", &[]),
    ("man", &[]),
];

fn used(words: &str) -> &'static [&'static str] {
    let row = |words| USED.iter().find(|(command, _)| *command == words).map(|(_, used)| *used);
    let above = words.split_once(' ').map_or("", |(command, _)| command);
    row(words).or_else(|| row(above)).unwrap_or(&["repo"])
}

/// Adds the global options to each command, and hides those that it does not use from its help.
pub(super) fn shown_where_used(program: Command) -> Command {
    let is_here = |option: &&Arg| OPTIONS.contains(&option.get_id().as_str());
    let options: Vec<Arg> = program.get_arguments().filter(is_here).cloned().collect();
    each(program, "", &|mut command, words| {
        for option in options.iter().filter(|_| !words.is_empty()) {
            let id = option.get_id();
            // `http` has a `--repo` of its own.
            if command.get_arguments().any(|own| own.get_id() == id) {
                continue;
            }
            let mut here = option.clone().hide(!used(words).contains(&id.as_str()));
            if id == "repo" && !used(words).contains(&"group") {
                here = here.help(ONE_REPOSITORY);
            }
            command = command.arg(here);
        }
        command
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::cli::{Cli, help, shapes};
    use crate::tools;

    #[test]
    fn a_row_is_of_a_command() {
        let program = help::declaration();
        for (words, _) in USED {
            let found = words.split_whitespace().try_fold(&program, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{words}");
        }
    }

    #[test]
    fn a_command_that_prints_the_answer_of_a_tool_has_the_options_that_the_tool_follows() {
        for tool in tools::TOOLS {
            let Some(words) = shapes::command_of(tool.name) else { continue };
            assert_eq!(used(words).contains(&"group"), tool.takes_several(), "{words}");
            assert!(!tool.asks_index || used(words).contains(&"wait"), "{words}");
        }
    }

    #[test]
    fn hidden_options_are_accepted() {
        let program = || shown_where_used(Cli::command());
        let typed = ["ixmcp", "entity", "list", "--group", "a", "--repo", "b", "--wait", "--color", "never"];
        let cli = Cli::from_arg_matches(&program().get_matches_from(typed)).unwrap();
        assert_eq!((cli.group, cli.repo, cli.wait), (vec!["a".to_owned()], vec!["b".into()], true));
        let before = ["ixmcp", "--group", "a", "--wait", "completions", "bash"];
        let cli = Cli::from_arg_matches(&program().get_matches_from(before)).unwrap();
        assert_eq!((cli.group, cli.wait), (vec!["a".to_owned()], true));
    }
}
