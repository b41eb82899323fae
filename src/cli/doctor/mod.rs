//! `ixmcp doctor`: findings about the installation and the repository, with remedies.
//!
//! Owns the list of checks and how findings are reported. Each check has a file of its own; it looks and changes
//! nothing. A finding that is safe to fix has a fix, which `--fix` applies.
//!

mod clients;
mod daemon;
mod database;
mod edits;
mod grammars;
mod model;
mod port;
mod program;
mod python;
mod settings;
mod socket;
mod watching;
mod worktrees;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use strum_macros::IntoStaticStr;

use super::known::KnownValues;
use super::paint::Paint;
use super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::near;
use crate::repository;
use crate::store::{Mode, Snapshot, Store};

/// Diagnose problems with ixmcp in this repository and suggest fixes
///
/// Exits with 1 if a finding is an error. A missing daemon, index, model or environment is only a note.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run only these checks: program, settings, database, edits, watching, worktrees, daemon, port, socket, model, grammars, python, clients [default: all]
    #[arg(value_name = "CHECK", value_parser = KnownValues(check_names), hide_possible_values = true)]
    checks: Vec<String>,
    /// Fix what can be fixed safely: rebuild a damaged index, finish an incomplete one, finish or undo interrupted edits, delete the indexes of worktrees that git has forgotten, restrict a socket's permissions, stop an outdated daemon
    #[arg(long)]
    fix: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum Level {
    Ok,
    Note,
    Warning,
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        self.into()
    }

    /// Color code of the terminal.
    const fn color(self) -> &'static str {
        match self {
            Self::Ok => "32",
            Self::Note => "36",
            Self::Warning => "33",
            Self::Error => "31",
        }
    }
}

/// Result of a check.
struct Finding {
    level: Level,
    message: String,
    /// A step that a person can take.
    remedy: Option<String>,
    fix: Option<fn(&DoctorContext) -> Result<()>>,
}

impl Finding {
    fn new(level: Level, message: impl Into<String>) -> Self {
        Self { level, message: message.into(), remedy: None, fix: None }
    }

    fn from_error(level: Level, error: &Error) -> Self {
        Self { remedy: error.hint.as_ref().map(ToString::to_string), ..Self::new(level, error.message.to_string()) }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    fn fixed_by(self, fix: fn(&DoctorContext) -> Result<()>) -> Self {
        Self { fix: Some(fix), ..self }
    }
}

/// Where the checks look.
struct DoctorContext<'s> {
    session: &'s Session,
    root: PathBuf,
}

impl DoctorContext<'_> {
    fn database(&self) -> PathBuf {
        repository::database(&self.root, &self.session.sources.environment)
    }

    /// Asks the index as it is, where one was built that can be asked.
    fn ask<T>(&self, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Option<T> {
        let path = self.database();
        if !path.exists() {
            return None;
        }
        let ask_built = |snapshot: &Snapshot| if snapshot.is_built()? { ask(snapshot).map(Some) } else { Ok(None) };
        Store::open(&path, Mode::Read).ok()?.read(&Budget::unlimited(), ask_built).ok()?
    }
}

struct Check {
    name: &'static str,
    look: fn(&DoctorContext) -> Result<Vec<Finding>>,
}

static CHECKS: &[Check] = &[
    Check { name: "program", look: program::look },
    Check { name: "settings", look: settings::look },
    Check { name: "database", look: database::look },
    Check { name: "edits", look: edits::look },
    Check { name: "watching", look: watching::look },
    Check { name: "worktrees", look: worktrees::look },
    Check { name: "daemon", look: daemon::look },
    Check { name: "port", look: port::look },
    Check { name: "socket", look: socket::look },
    Check { name: "model", look: model::look },
    Check { name: "grammars", look: grammars::look },
    Check { name: "python", look: python::look },
    Check { name: "clients", look: clients::look },
];

fn check_names() -> Vec<&'static str> {
    CHECKS.iter().map(|check| check.name).collect()
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let named = |check: &&Check| typed.checks.is_empty() || typed.checks.iter().any(|name| name == check.name);
    if let Some(unknown) = typed.checks.iter().find(|name| CHECKS.iter().all(|check| check.name != **name)) {
        let names = check_names();
        return Err(Error::invalid_argument(format!("there is no check \"{}\"", printable(unknown)))
            .hint(near::one_of(unknown, &names)));
    }
    let context = DoctorContext { session, root: session.workspaces.root(&session.start)? };
    let mut reported = Vec::new();
    let mut worst = Level::Ok;
    for check in CHECKS.iter().filter(named) {
        // A check that cannot look has found something, too.
        let findings = (check.look)(&context).unwrap_or_else(|error| vec![Finding::from_error(Level::Error, &error)]);
        for finding in findings {
            let fixed = finding.fix.filter(|_| typed.fix).map(|fix| fix(&context));
            let level = if matches!(fixed, Some(Ok(()))) { Level::Ok } else { finding.level };
            worst = worst.max(level);
            if session.json {
                reported.push(json!({
                    "check": check.name,
                    "level": level.name(),
                    "message": finding.message,
                    "remedy": finding.remedy,
                    "fixable": finding.fix.is_some(),
                    "fixed": fixed.as_ref().map(Result::is_ok),
                }));
            } else {
                print(check.name, &finding, fixed.as_ref(), &session.paint);
            }
        }
    }
    if session.json {
        output::json(&json!({ "ok": worst < Level::Error, "root": context.root, "findings": reported }));
    }
    Ok(Outcome::found_if(worst < Level::Error))
}

fn print(check: &str, finding: &Finding, fixed: Option<&Result<()>>, paint: &Paint) {
    let word = paint.in_color(finding.level.color(), &format!("{:<8}", finding.level.name()));
    output::line(&format!("{check:<10} {word} {}", printable(&finding.message)));
    let below = |text: &str| output::line(&format!("{:<19} {}", "", printable(text)));
    match (fixed, &finding.remedy) {
        (Some(Ok(())), _) => below("fixed"),
        (Some(Err(error)), _) => below(&format!("could not be fixed: {error}")),
        (None, Some(remedy)) => {
            below(remedy);
            if finding.fix.is_some() {
                below("`ixmcp doctor --fix` does that");
            }
        }
        (None, None) => {}
    }
}
