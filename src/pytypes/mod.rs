//! Types of Python code: a type engine that runs in a child process, and the queries it answers.
//!
//! ```text
//! tools ─► service ─► wire ═ pipe ═ wire ─► host ─► engine (trait) ─┬─► ty (embedded)
//!          budget, restart, idle            threads                 └─► lsp (`ty server`)
//! ```
//! Owns the engine's lifetime. The engine starts with the first query, receives file changes, is killed when it exceeds
//! its limits, is restarted after a crash, and stops when idle or when the engines of this user need too much memory. Does not own which files contain a name (`query`) or
//! how answers are rendered.

mod child;
mod engine;
mod engines;
mod entry_points;
mod globs;
mod host;
mod lsp;
mod memory;
mod options;
mod service;
mod supported;
mod ty;
pub mod values;
mod wire;

use std::path::Path;

pub use engines::Engines;
pub use memory::MemoryBudget;
pub use service::{ChangeFeed, EngineSpec, FileChanges, TypeService};

use crate::error::Result;

/// The day of the commit that the embedded checker was made from, and the releases of ty around it.
pub const EMBEDDED: (&str, [&str; 2]) = ("2026-08-20", ["0.0.73", "0.0.74"]);

/// Runs the engine of the repository at `root` on stdin and stdout until stdin ends. The engine is the embedded one, or
/// the language server of the program `ty` if it is given. `once`: it is queried about a single state of the disk.
pub fn serve_engine(root: &Path, ty: Option<&Path>, once: bool) -> Result<()> {
    let (root, ty) = (root.to_owned(), ty.map(Path::to_owned));
    host::serve(move || match ty {
        Some(program) => Ok(Box::new(lsp::TyServer::open(&root, &program)?)),
        None => Ok(Box::new(ty::Embedded::open(&root, once)?)),
    })
}
