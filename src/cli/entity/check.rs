//! `ixmcp entity check`: findings about the entity files, and how to fix them.

use clap::Args;
use serde_json::{Value, json};

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
    let findings = session.read(|snapshot| check::check(snapshot, &Budget::unlimited()))?;
    let (errors, warnings): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.level == Level::Error || typed.strict);
    if session.json {
        let values = |findings: &[&Finding]| findings.iter().map(|finding| value(finding)).collect::<Vec<_>>();
        let ok = errors.is_empty();
        output::json(&json!({ "ok": ok, "errors": values(&errors), "warnings": values(&warnings) }));
    } else {
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
    }
    Ok(if errors.is_empty() { Outcome::Found } else { Outcome::Nothing })
}

fn value(finding: &Finding) -> Value {
    let mut value = json!({ "path": finding.path, "message": finding.message });
    if let Some(line) = finding.line {
        value["line"] = json!(line);
    }
    if let Some(suggestion) = &finding.suggestion {
        value["suggestion"] = json!(suggestion);
    }
    value
}
