//! An open repository: what is known of it, and what each part of the program that works on it shares.
//!
//! Owns the root with its settings, its folder and database, its locks, its watch, and what callers read of its files. Does not own
//! what is on disk (`scan`), SQL (`store`), how the index comes up to date (`update`), or which repositories are open (`workspace`).
//!
//! | file | owns |
//! |---|---|
//! | [`open_repository`] | the root, the settings, the database and the watch, which all others share |
//! | [`root_kind`], [`folder`], [`registry`], [`dependency_indexes`](mod@dependency_indexes) | which kind a root is, where its index is, and which there are |
//! | [`lock`] | which process updates, builds or rebuilds |
//! | [`state`], [`folders`] | what the user selected: document folders, the embedding model |
//! | [`watch`] | which paths may have changed; that all earlier events have arrived (the cookie) |
//! | [`in_flight`] | what reads see of a running update, and request from it |
//! | [`seed`], [`provisional`], [`damage`] | indexes that answer instead of this one, and the one that was damaged |
//! | [`files`], [`history`], [`line_history`] | files as callers name them, as they were at a commit, and which commits touched lines |

pub(crate) mod damage;
pub(crate) mod dependency_indexes;
mod files;
pub(crate) mod folder;
pub(crate) mod folders;
mod history;
pub(crate) mod in_flight;
mod known_patches;
mod line_history;
mod lock;
mod mirrored;
mod open_repository;
mod provisional;
pub(crate) mod registry;
mod root_hash;
mod root_kind;
pub(crate) mod seed;
mod state;
mod watch;
mod without_files;

pub use dependency_indexes::{DependencyIndex, dependency_indexes, limit_dependency_indexes};
pub(crate) use files::Files;
pub(crate) use folder::{database, is_elsewhere};
pub(crate) use folders::Folders;
pub(crate) use history::History;
pub use history::{Differences, Version};
pub use in_flight::Thoroughness;
pub(crate) use in_flight::{Coverage, DiskListing, Pause, ReadyEntities, Requests, UpdateRun};
pub use line_history::FileCommits;
pub(crate) use lock::{AskingLock, RebuildLock, UpdateLock};
pub(crate) use open_repository::{Index, OPEN_TIMEOUT, Repository, Settings};
pub(crate) use root_kind::RootKind;
pub(crate) use seed::{IndexedFile, Sibling};
pub(crate) use state::{RegisteredFolder, State};
pub(crate) use watch::{Dirty, UNREPORTED, Watch};
pub(crate) use without_files::without_files;
