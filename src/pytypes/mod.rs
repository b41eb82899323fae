//! Types of Python code: a type engine in a process of its own, and the questions that it answers.
//!
//! ```text
//! tools ─► service ─► wire ═ pipe ═ wire ─► host ─► engine (trait) ─┬─► ty (embedded)
//!          budget, restart, idle            threads                 └─► lsp (`ty server`)
//! ```
//! Owns the engine's life: it is started when first asked, told what changed, killed when it overruns its budget or dies,
//! started anew, and let go when nobody asks. Does not own which files hold a name (`query`), nor how answers are shown.

mod child;
mod engine;
mod entry_points;
mod globs;
mod host;
mod lsp;
mod options;
mod service;
mod ty;
pub mod values;
mod wire;

use std::path::Path;

pub use service::{Feed, Fresh, Service, Spec};

use crate::error::Result;

/// Runs the engine of the repository at `root` on stdin and stdout, until stdin ends: the embedded one, or the language
/// server of the program `ty`. `once`: it is asked about one state of the disk.
pub fn serve_engine(root: &Path, ty: Option<&Path>, once: bool) -> Result<()> {
    let (root, ty) = (root.to_owned(), ty.map(Path::to_owned));
    host::serve(move || match ty {
        Some(program) => Ok(Box::new(lsp::TyServer::open(&root, &program)?)),
        None => Ok(Box::new(ty::Embedded::open(&root, once)?)),
    })
}
