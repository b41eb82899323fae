//! Numbers that the options of lists take.
//!
//! Owns the error for text that is not a number, or is negative: clap would read `-1` as another option.

use std::num::IntErrorKind;

use clap::Command;

use super::shapes;

/// The options, each with its smallest useful value.
const OPTIONS: &[(&str, u64)] = &[("limit", 1), ("offset", 0), ("context", 0)];

/// Adds the check of these options to the command line.
pub(super) fn checked(program: Command) -> Command {
    shapes::each(program, "", &|command, _| {
        command.mut_args(|option| match OPTIONS.iter().find(|(name, _)| option.get_id() == name) {
            Some(&(_, least)) if option.get_long().is_some() => {
                option.allow_negative_numbers(true).value_parser(move |text: &str| number(text, least))
            }
            _ => option,
        })
    })
}

/// Reads a number; one that is too large is as good as the largest.
fn number(text: &str, least: u64) -> Result<u64, String> {
    text.parse().or_else(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(u64::MAX),
        _ => Err(format!("give a whole number of at least {least}")),
    })
}
