//! The only writer: brings the index up to date with the disk and keeps it there.
//!
//! Owns which files are read and which rows change, and the promise that a read is fresh. Does not own what is on disk (`scan`),
//! what it means (`extract`), SQL (`store`), or what an open repository is (`repository`).
//!
//! # An update
//!
//! ```text
//! watch ─► schedule ─► rounds ─► plan ─► apply ─► background: trigrams, static_embeddings, embedding_model, commits
//! dirty    join or     lock,     disk v. extract,   without the lock
//! paths    start       rounds    index   write
//! ```
//!
//! | stage | owns |
//! |---|---|
//! | [`schedule`] | the update in flight; what a read waits for, and how long |
//! | [`rounds`] | what an update covers, its rounds and their bound |
//! | [`plan`] | the tasks of a round: disk and index compared. Writes nothing |
//! | [`apply`] | the tasks done: files are read and extracted in parallel, and written in batches by one thread |
//! | [`bundles`] | what a file becomes; in a first build, the chunks that are indexed in parallel and the order in which they are written |
//!
//! While a long update runs, a read that can does not wait for it: it compares its snapshot with a listing that reads share
//! ([`shared_listing`], `unindexed`), and the files that its query needs are indexed between two batches. A new worktree answers from
//! the index of a sibling until it has a copy of that ([`sibling_copy`]).
//!
//! A plan is data: `rounds` may reorder or add to its tasks before it passes them on to `apply`.

mod apply;
mod background;
mod bundles;
mod documents;
mod entities;
pub(crate) mod plan;
mod reader;
mod rebuild;
mod recent;
mod repair;
mod rounds;
mod schedule;
mod shared_listing;
mod sibling_copy;
pub(crate) mod snapshot;

pub(crate) use background::{Commits, EmbeddingModel, ModelAvailability, Scip, StaticEmbeddings, serve_scip_reader};
pub use documents::FolderOptions;
pub(crate) use documents::{DocumentFolder, Documents, FolderReport, unread_types};
pub(crate) use entities::EntityReport;
pub(crate) use reader::serve_reader;
pub use rebuild::rebuild;
pub(crate) use rounds::Report;
pub(crate) use schedule::{Caller, Updates};
pub use schedule::{Freshness, IndexWait, Part};
