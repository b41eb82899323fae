//! Argument values for shell completion. The command itself rejects invalid values, with its own message.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// Takes any text, and names the values that are worth completing.
#[derive(Clone)]
pub(super) struct KnownValues(pub(super) fn() -> Vec<&'static str>);

impl TypedValueParser for KnownValues {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
