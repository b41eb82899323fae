//! `ixmcp sync`: bring the index up to date and report what changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Map, json};

use super::output::{self, HowFar};
use super::paint::Paint;
use super::{Outcome, Session, answer};
use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::process::TerminationSignal;
use crate::repository::Thoroughness;
use crate::serve::client::runtime;
use crate::update::Report;
use crate::workspace::Workspace;

/// How often a change is looked for that others made.
const LOOK: Duration = Duration::from_millis(200);

/// Update the index and report what changed since the last sync
///
/// Reads only files that changed. Without changes it reports that nothing changed.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The repository [default: as --repo]
    path: Option<PathBuf>,
    /// Index all files again
    #[arg(long)]
    force: bool,
    /// Keep running and index every change; prints a line for each update
    #[arg(long)]
    watch: bool,
    /// Read and hash all files, regardless of their timestamps
    #[arg(long, conflicts_with = "force")]
    verify: bool,
}

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    if arguments.watch {
        session.stay();
    }
    let start = arguments.path.as_deref().unwrap_or(&session.start);
    let root = session.workspaces.root_of(None, start)?;
    let thoroughness = match (arguments.force, arguments.verify) {
        (true, _) => Thoroughness::Everything,
        (_, true) => Thoroughness::Verify,
        _ => Thoroughness::Changed,
    };
    let report = match by_daemon(session, &root, thoroughness) {
        Some(report) => report?,
        None => by_hand(session, &root, thoroughness)?,
    };
    if !arguments.watch {
        return show(session, &report);
    }
    let workspace = session.workspaces.at(&root)?;
    // Read before anybody sees the first report: what follows it is reported, even if it is indexed before the watch starts.
    let reported = workspace.last_change(&Budget::unlimited())?;
    show(session, &report)?;
    watch(&workspace, reported, |report| show(session, report).map(drop))?;
    Ok(Outcome::Found)
}

/// Runs until the program is asked to exit.
fn watch(workspace: &Arc<Workspace>, reported: Option<String>, show: impl Fn(&Report) -> Result<()>) -> Result<()> {
    let runtime = runtime()?;
    let end = runtime.block_on(async { TerminationSignal::new() });
    let end = end.map_err(|error| Error::internal("cannot listen for signals").caused_by(error))?;
    let budget = Budget::unlimited();
    workspace.watch();
    // What was saved between the sync above and the first watch.
    workspace.freshen(Some(Duration::MAX), &budget)?;
    output::note(&format!("watching {} ({})", workspace.root().display(), workspace.watch_mode()));
    runtime.block_on(report_changes(workspace, end, reported, show))
}

async fn report_changes(
    workspace: &Workspace,
    mut end: TerminationSignal,
    mut reported: Option<String>,
    show: impl Fn(&Report) -> Result<()>,
) -> Result<()> {
    let budget = Budget::unlimited();
    while tokio::time::timeout(LOOK, end.recv()).await.is_err() {
        if !workspace.root().exists() {
            return Err(Error::invalid_path("the repository is gone").hint("There is nothing left to watch."));
        }
        let changed = workspace.last_change(&budget)?;
        if changed != reported {
            reported = changed;
            show(&workspace.report(Instant::now(), &budget)?)?;
        }
    }
    Ok(())
}

/// `None` when there is no daemon, or none any more.
fn by_daemon(session: &Session, root: &Path, thoroughness: Thoroughness) -> Option<Result<Report>> {
    let mut daemon = session.daemon(root)?;
    let params = Map::from_iter([("thoroughness".to_owned(), json!(thoroughness.name()))]);
    let budget = Budget::unlimited();
    let report = output::with_remote_progress(|tell| daemon.call("ixmcp/sync", params, &budget, tell)).ok()?;
    Some(report.and_then(|report| answer::typed(&report)))
}

fn by_hand(session: &Session, root: &Path, thoroughness: Thoroughness) -> Result<Report> {
    let workspace = session.workspaces.at(root)?;
    let progress = Arc::new(Progress::default());
    let sync = || workspace.sync(thoroughness, &progress, &Budget::unlimited());
    output::with_progress(|| HowFar::from_progress(&progress), sync)
}

pub(super) fn show(session: &Session, report: &Report) -> Result<Outcome> {
    session.show(report, true, || print(report, &session.paint))
}

fn print(report: &Report, paint: &Paint) {
    let Report { added, modified, deleted, unchanged, .. } = report;
    output::line(&format!("files     {added} added, {modified} modified, {deleted} deleted, {unchanged} unchanged"));
    let skipped: Vec<String> = report.skipped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    if !skipped.is_empty() {
        output::line(&format!("skipped   {} (see `ixmcp files --skipped`)", skipped.join(", ")));
    }
    let chunks = output::count(report.chunks, "chunk", "chunks");
    let symbols = output::count(report.symbols, "symbol", "symbols");
    output::line(&format!("index     {chunks}, {symbols}, {}", size(report.db_bytes)));
    output::line(&format!("time      {:.2} s", report.seconds));
    if let Some(warning) = &report.warning {
        output::note(&printable(&paint.sentence(warning)));
    }
}

/// Bytes for a person.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}
