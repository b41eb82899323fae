//! One update from walk to last commit, and the summary of it.

use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::lock::UpdateLock;
use super::pipeline::{Job, Turn};
use super::{Workspace, diff, pipeline};
use crate::budget::{Budget, Progress};
use crate::config::Config;
use crate::error::Result;
use crate::extract::Options;
use crate::scan::{self, Rules};
use crate::store::Fact;

/// Changes of more files than this are followed by merging what they left in the FTS.
const BULK_FILES: usize = 1000;

/// How far an update trusts what the file system says without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// Reads what the stat says has changed.
    Changed,
    /// Reads and hashes every file.
    Verify,
    /// Makes every row anew.
    Everything,
}

impl Thoroughness {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Verify => "verify",
            Self::Everything => "everything",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Changed, Self::Verify, Self::Everything].into_iter().find(|one| one.name() == name)
    }
}

/// What a sync says: net changes since the last sync, and what the index holds now.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    pub added: usize,
    pub modified: usize,
    pub deleted: usize,
    pub unchanged: usize,
    pub skipped: BTreeMap<String, u64>,
    pub chunks: u64,
    pub symbols: u64,
    pub seconds: f64,
    pub db_bytes: u64,
}

pub(super) fn update(
    workspace: &Workspace,
    thoroughness: Thoroughness,
    progress: &Progress,
    budget: &Budget,
) -> Result<()> {
    let (store, root) = (&workspace.store, workspace.root.as_path());
    let lock = UpdateLock::take(root, budget)?;
    let rules = Rules::new(&workspace.config.index)?;
    let options = extraction(&workspace.config);
    let fingerprint = fingerprint(&options);
    let (stored, skipped, built, made_with) = store.read(budget, |snapshot| {
        let facts = (snapshot.fact(Fact::Built)?, snapshot.fact(Fact::Options)?);
        Ok((snapshot.stored_files()?, snapshot.skipped()?, facts.0.is_some(), facts.1))
    })?;
    let other_options = made_with.as_ref().is_some_and(|made_with| *made_with != fingerprint);
    let thoroughness = if other_options { Thoroughness::Everything } else { thoroughness };
    let listing = scan::list(root, &rules, budget)?;
    for warning in &listing.warnings {
        tracing::warn!("{warning}");
    }
    let plan = diff::plan(listing, stored, skipped, thoroughness);
    if built && plan.is_empty() && !other_options {
        return Ok(());
    }
    let bulk = plan.read.len() > BULK_FILES;
    let turn = Turn { lock: &lock, progress, budget, anew: thoroughness == Thoroughness::Everything };
    let changed = pipeline::apply(store, plan, &Job { root, rules: &rules, options: &options }, &turn)?;
    store.write(|batch| {
        batch.set_fact(Fact::Built, "1")?;
        batch.set_fact(Fact::Options, &fingerprint)?;
        if changed || !built {
            batch.set_fact(Fact::LastChange, &now_ns().to_string())?;
        }
        Ok(())
    })?;
    if bulk {
        store.settle(true)?;
    }
    Ok(())
}

pub(super) fn report(workspace: &Workspace, started: Instant, budget: &Budget) -> Result<Report> {
    let counted = workspace.store.write(|batch| batch.count_changes("sync"))?;
    workspace.store.settle(false)?;
    workspace.read(budget, |snapshot| {
        let files = usize::try_from(snapshot.file_count()?).unwrap_or(usize::MAX);
        Ok(Report {
            added: counted.added.len(),
            modified: counted.modified.len(),
            deleted: counted.deleted.len(),
            unchanged: files.saturating_sub(counted.added.len() + counted.modified.len()),
            skipped: snapshot.skipped_counts()?.into_iter().collect(),
            chunks: snapshot.chunk_count()?,
            symbols: snapshot.symbol_count()?,
            seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            db_bytes: workspace.store.size(),
        })
    })
}

fn extraction(config: &Config) -> Options {
    Options {
        chunk_bytes: config.index.chunk_size,
        skip_minified: config.index.skip_minified,
        skip_generated: config.index.skip_generated,
    }
}

/// Other options make other rows of the same bytes.
fn fingerprint(options: &Options) -> String {
    format!("{options:?}")
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
