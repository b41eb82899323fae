//! Which repositories are open in this process, and what each consists of.
//!
//! Owns the components of an open repository and the list of these, and which repositories a call names. Does not own the work of the
//! components (`repository`, `update`, `unindexed`).

mod components;
mod idle;
mod members;
mod workspaces;

pub use components::Workspace;
pub(crate) use components::{Changes, FeedPosition};
pub use members::{MAX_MEMBERS, Members, name_of};
pub use workspaces::{Watching, Workspaces};
