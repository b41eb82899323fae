//! Invalid command lines: whether JSON was requested, so that the error is printed as JSON, too.
//!
//! clap writes the error for people.

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::output;
use crate::error::Error;

const JSON: &str = "json";

/// Whether the typed command prints JSON.
pub(super) fn want_json(typed: &ArgMatches) -> bool {
    let own = typed.try_get_one::<bool>(JSON).ok().flatten().copied().unwrap_or(false);
    own || typed.subcommand().is_some_and(|(_, below)| want_json(below))
}

/// Prints the object, where `--json` is among the words and they did not ask for help.
pub(super) fn tell_in_json(refused: &clap::Error) {
    if refused.use_stderr() && words().iter().take_while(|word| *word != "--").any(|word| word == "--json") {
        output::json_error(&described(&refused.render().to_string()));
    }
}

/// The words after the program's name, unchanged.
fn words() -> Vec<OsString> {
    let any = Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    let taking_all = Command::new("ixmcp")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(any.value_parser(value_parser!(OsString)));
    let taken = taking_all.try_get_matches().ok();
    taken.and_then(|mut taken| taken.remove_many("words")).map_or_else(Vec::new, Iterator::collect)
}

/// Turns clap's text into an error: the first paragraph is the message; a tip, if there is one, is the hint.
fn described(rendered: &str) -> Error {
    let mut paragraphs = rendered.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = paragraphs.next().unwrap_or_default();
    let error = Error::invalid_argument(first.strip_prefix("error: ").unwrap_or(&first));
    let tip = paragraphs.find_map(|part| part.strip_prefix("tip: ").map(str::to_owned));
    error.hint(tip.unwrap_or_else(|| "`ixmcp COMMAND --help` has the options of a command.".to_owned()))
}
