//! Types of Python code: a type engine that runs in a child process, and the queries it answers.
//!
//! ```text
//! tools ─► service ─┬─► wire ═ pipe ═ wire ─► host ─► ty (embedded)
//!          budget,  │                         threads
//!          restart  └─► installed_ty ═ `ty check`, if the user's settings say so
//! ```
//! Owns the engine's lifetime. The engine starts with the first query, receives file changes, is killed when it exceeds
//! its limits, is restarted after a crash, and stops when idle or when the engines of this user need too much memory.
//! Does not own which files contain a name (`query`) or how answers are rendered.

mod child;
mod engine;
mod engines;
mod entry_points;
mod globs;
mod host;
mod installed_ty;
mod memory;
mod options;
mod service;
mod supported;
mod ty;
pub mod values;
mod wire;

use std::path::{Path, PathBuf};

pub use child::EngineSpec;
pub use engines::Engines;
pub use memory::MemoryBudget;
pub use service::{ChangeFeed, FileChanges, TypeService};

use crate::error::Result;

/// The crates that the embedded engine is built from.
pub struct Release {
    /// The version of its crates.
    pub crates: &'static str,
    /// The day on which they were published.
    pub day: &'static str,
    /// The release of ty that reports the same.
    pub ty: &'static str,
}

pub const EMBEDDED: Release = Release { crates: "0.0.20", day: "2026-10-27", ty: "0.0.94" };

/// Runs the engine of the repository at `root` on stdin and stdout until stdin ends. `once`: it is queried about a single
/// state of the disk.
pub fn serve_engine(root: &Path, once: bool) -> Result<()> {
    let root = root.to_owned();
    host::serve(move || ty::Embedded::open(&root, once))
}

/// The folder in the repository at `root` that `ty check` checks when it is started in `folder`, unless that is the whole
/// repository.
pub fn nested_project(folder: &Path, root: &Path) -> Option<PathBuf> {
    let (home, _) = options::nearest(folder)?;
    (home != root && home.starts_with(root)).then_some(home)
}
