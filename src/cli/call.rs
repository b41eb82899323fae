//! `ixmcp call`: any tool, with its arguments as JSON.

use std::io::Read;

use clap::Args;
use serde_json::Value;

use super::{Outcome, Session, output};
use crate::error::{Error, Result};

/// Call any tool with JSON arguments and print its answer as JSON
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The name of the tool
    tool: String,
    /// The arguments as a JSON object; - reads them from stdin
    #[arg(long, default_value = "{}")]
    args: String,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let mut text = typed.args.clone();
    if text == "-" {
        text.clear();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Error::invalid_argument("stdin is not text").caused_by(error))?;
    }
    let arguments: Value = serde_json::from_str(&text).map_err(|error| {
        Error::invalid_argument(format!("--args is not JSON: {error}")).hint("Give an object: --args '{\"limit\": 5}'.")
    })?;
    output::json(&session.call_as_json(&typed.tool, arguments)?);
    Ok(Outcome::Found)
}
