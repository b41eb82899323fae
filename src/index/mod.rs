//! The only writer: brings the database up to date with the disk and keeps it there.
//!
//! Owns the open repository with its components, and the promise that a read is fresh. Does not own what is on disk
//! (`scan`), what it means (`extract`) or SQL (`store`).
//!
//! # An update
//!
//! ```text
//! watch ─► updates ─► update ─► plan ─► apply ─► trigrams, static_embeddings, embedding_model
//! dirty    join or    lock,     disk v. extract,   in the background, without the lock; commits, too
//! paths    start      rounds    index   write
//! ```
//!
//! | stage | owns |
//! |---|---|
//! | [`watch`] | which paths may have changed; that all earlier events have arrived (the cookie) |
//! | [`updates`] | the update in flight; what a read waits for, and how long |
//! | [`update`] | the update lock, what an update covers, its rounds and their bound |
//! | [`plan`] | the tasks of a round: disk and index compared ([`compare`]). Writes nothing |
//! | [`apply`] | the tasks done: files are read and extracted in parallel, and written in batches by one thread |
//!
//! While a long update runs, a read that can does not wait for it: [`unindexed`] compares its snapshot with the disk, and the
//! files that its query needs ([`needed`]) are indexed between two batches. A new worktree answers from the index of a sibling
//! until it has a copy of that ([`seed`]). A command answers from an index of its own while another process builds the index
//! ([`provisional`]).
//!
//! A plan is data: `update` may reorder or add to its tasks before it passes them on to `apply`.

mod apply;
mod byte_budget;
mod change_feed;
mod commits;
mod compare;
mod damage;
mod dependency_indexes;
mod disk_listing;
mod documents;
mod embedding_model;
mod entities;
mod files;
mod folder;
mod folders;
mod history;
mod idle;
mod in_flight;
mod line_history;
mod lock;
mod members;
mod mirrored;
mod needed;
mod plan;
mod provisional;
mod reader;
mod rebuild;
mod recent;
mod registry;
mod repair;
mod repository;
mod root_hash;
mod round;
mod rule_files;
mod scip;
mod scip_packages;
mod seed;
mod sibling_copy;
mod snapshot;
mod state;
mod static_embeddings;
mod tapped_watcher;
mod trigrams;
mod unindexed;
mod update;
mod updates;
mod watch;
mod watch_events;
mod without_files;
mod workspace;
mod workspaces;

use std::time::Duration;

use crate::locked::locked;

pub use commits::Commits;
pub use dependency_indexes::{DependencyIndex, dependency_indexes, limit_dependency_indexes};
pub(crate) use disk_listing::DiskListing;
pub use documents::FolderOptions;
pub(crate) use documents::{DocumentFolder, FolderReport, unread_types};
pub(crate) use embedding_model::ModelAvailability;
pub(crate) use entities::EntityReport;
pub(crate) use folder::{database, is_elsewhere};
pub use history::{Differences, Version};
pub use line_history::FileCommits;
pub use members::{MAX_MEMBERS, Members, name_of};
pub(crate) use needed::{NeededFiles, UnindexedMatches};
pub(crate) use reader::serve_reader;
pub use rebuild::rebuild;
pub use registry::{forget, listed};
pub use round::Thoroughness;
pub(crate) use scip::serve_scip_reader;
pub(crate) use snapshot::{load, save};
pub(crate) use unindexed::{SymbolAround, Unindexed};
pub(crate) use update::Report;
pub use updates::{Freshness, IndexWait, Part};
pub(crate) use without_files::without_files;
pub use workspace::Workspace;
pub(crate) use workspace::{Changes, FeedPosition};
pub use workspaces::{Watching, Workspaces};

/// Another process may be writing a batch while this one opens the index.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
