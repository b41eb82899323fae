//! `ixmcp publish` and `ixmcp unpublish`: a commit of this repository on an organisation's server.

use clap::Args;
use serde_json::json;

use super::output::{self, HowFar};
use super::{Outcome, Session, sync};
use crate::budget::{Budget, Progress};
use crate::config::organisation;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::organisation::{self, Connection, Publication, Purpose};

/// Files that are listed.
const SHOWN: usize = 20;

/// Publish the commit that is checked out to an organisation's server
///
/// Sends the texts of its files that the server lacks. Secrets and untracked files are never sent; uncommitted changes are sent only with --dirty.
/// Publishing the same commit again does nothing; a commit that is older than the published one is refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ixmcp publish --as payments/api\n  ixmcp publish --as payments/api --branch next")]
pub(super) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Also publish uncommitted changes of tracked files, as COMMIT-dirty; not of files that a filter of git converts
    #[arg(long)]
    dirty: bool,
    /// Publish even if a newer commit or another history is published, and send all files again
    #[arg(long)]
    force: bool,
}

/// Remove this repository from an organisation's server
///
/// Texts that no other repository has are removed by the next `ixmcp org sweep`.
#[derive(Debug, Args)]
pub(super) struct Unpublish {
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
struct Target {
    /// The organisation in `[organisations]` of your config.toml [default: $IXMCP_ORG_URL, or the only one]
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// The name of the repository on the server [default: the name of its folder]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Publish as NAME@BRANCH, separately from NAME
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
}

impl Target {
    /// The name on the server.
    fn name(&self, session: &Session) -> Result<String> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let root = session.workspaces.root(&session.start)?;
                root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
        };
        let name = self.branch.as_ref().map_or(name.clone(), |branch| format!("{name}@{branch}"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/@".contains(c);
        if name.len() > 200 || !name.chars().all(is_plain) || name.split(['/', '@']).any(str::is_empty) {
            let shown: String = printable(&name).chars().take(100).collect();
            return Err(Error::invalid_argument(format!("\"{shown}\" is not a name for a repository")).hint(
                "Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.",
            ));
        }
        Ok(name)
    }
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let environment = &session.sources.environment;
    let root = session.workspaces.root(&session.start)?;
    let name = typed.target.name(session)?;
    let address = organisation(environment, typed.target.to.as_deref())?;
    let config = session.sources.load(&root)?;
    let publication = Publication {
        address: &address,
        root: &root,
        environment,
        settings: &config.index,
        name: &name,
        dirty: typed.dirty,
        force: typed.force,
    };
    let (progress, budget) = (Progress::default(), Budget::unlimited());
    let publish = || organisation::publish(&publication, &progress, &budget);
    let report = output::with_progress(|| HowFar::from_progress(&progress), publish)?;
    let undecided: Vec<_> =
        report.undecided.iter().map(|(path, reason)| json!({ "path": path, "reason": reason })).collect();
    let json = json!({
        "repo": name, "commit": report.commit, "generation": report.generation, "unchanged": report.is_unchanged,
        "files": report.files, "changed": report.changed, "gone": report.gone, "skipped": report.skipped,
        "sent": report.sent, "sent_bytes": report.sent_bytes, "undecided": undecided,
    });
    session.show(&json, true, || {
        for (path, reason) in report.undecided.iter().take(SHOWN) {
            output::note(&format!("{} is published as committed: {reason}", printable(path)));
        }
        if report.undecided.len() > SHOWN {
            output::note(&format!("{} more files are published as committed", report.undecided.len() - SHOWN));
        }
        let commit = organisation::short_commit(&report.commit);
        if report.is_unchanged {
            return output::line(&format!("{name} at {commit} is published already"));
        }
        let files = output::count(u64::from(report.files.unsigned_abs()), "file", "files");
        let (changed, gone, skipped) = (report.changed, report.gone, report.skipped);
        let sent = sync::size(report.sent_bytes);
        output::line(&format!(
            "{name} at {commit}: {files} ({changed} changed, {gone} gone, {skipped} skipped), {sent} sent"
        ));
    })
}

pub(super) fn unpublish(session: &Session, typed: &Unpublish) -> Result<Outcome> {
    let name = typed.target.name(session)?;
    let address = organisation(&session.sources.environment, typed.target.to.as_deref())?;
    let budget = Budget::unlimited();
    let mut connection = Connection::open(&address, Purpose::Write, &budget)?;
    let removed = organisation::unpublish(&mut connection, &name, &budget)?;
    organisation::forget(&address, &session.sources.environment, &name)?;
    session.show(&json!({ "repo": name, "removed": removed }), removed, || {
        output::line(&if removed { format!("{name} is removed") } else { format!("{name} was not published") });
    })
}
