//! The index of an organisation on PostgreSQL: what is published there, and what is read from it.
//!
//! Owns the connection, the schema with its roles and functions, the protocol of publishing, and the statements. The server decides
//! what a caller may see, by functions and not by policies (findings/postgresql-policy-without-index.sh); nothing here is trusted
//! for that. Does not own which server is used (`config`), how a file is read (`extract`) or how hits are ranked (`query`).
//!
//! Statements call functions of the schema with bound values. Each has a deadline, and is cancelled on the server when its call is. They
//! leave nothing on their session, because a pooler may share that ([`transaction`]).

mod access;
mod address;
mod certificates;
mod connection;
mod errors;
mod mirror;
mod own;
mod packing;
mod password_file;
mod pool;
mod publication;
mod published;
mod schema;
mod stream;
mod transaction;
mod work_tree;

/// Bytes of a list of files.
const LISTING_BYTES: u64 = 256 << 20;

pub use access::{Grant, Published, Swept, grant, published, revoke, sweep};
pub use connection::{Connection, Purpose};
pub use mirror::{Answers, Mirror, MirrorRequest, is_mirror, matches, mirrors, version_of_mirror};
pub use own::{forget, own_names};
pub use publication::{Publication, Report, publish, unpublish};
pub use published::short_commit;
pub use schema::initialize;
