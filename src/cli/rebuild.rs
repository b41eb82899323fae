//! `ixmcp rebuild`: build the index again.

use std::sync::Arc;

use clap::Args;

use super::output::{self, HowFar};
use super::{Outcome, Session, sync};
use crate::budget::{Budget, Progress};
use crate::error::Result;
use crate::update;

/// Rebuild the index while the old one remains in use
///
/// A file that is damaged or not an index of ixmcp is kept as .ixmcp/index.db.bad.
#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(session: &Session, _: &Arguments) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let progress = Progress::default();
    let report = output::with_progress(
        || HowFar::from_progress(&progress),
        || update::rebuild(&root, Arc::clone(&session.sources), &progress, &Budget::unlimited()),
    )?;
    sync::show(session, &report)
}
