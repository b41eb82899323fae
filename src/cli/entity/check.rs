//! `ixmcp entity check`: findings about the entity files, and how to fix them.

use clap::Args;
use serde_json::json;

use super::super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::Result;
use crate::model::printable;
use crate::query::check::{self, Finding, Level};

/// Check the entity files and suggest fixes
///
/// Exits with 1 if there is an error. Warnings are about content that other programs may reject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let findings = session.read_entities(|snapshot| check::check(snapshot, &Budget::unlimited()))?;
    let (errors, warnings): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.level == Level::Error || typed.strict);
    let ok = errors.is_empty();
    session.show(&json!({ "ok": ok, "errors": errors, "warnings": warnings }), ok, || {
        for finding in &findings {
            let level = if finding.level == Level::Error { "error" } else { "warning" };
            let position = session.paint.position(&finding.path, finding.line.as_slice());
            output::line(&format!("{position}: {level}: {}", printable(&finding.message)));
            if let Some(suggestion) = &finding.suggestion {
                output::line(&printable(&format!("    {suggestion}")));
            }
        }
        let (errors, warnings) = (errors.len() as u64, warnings.len() as u64);
        let (errors, warnings) =
            (output::count(errors, "error", "errors"), output::count(warnings, "warning", "warnings"));
        output::note(&format!("{errors}, {warnings}"));
    })
}
