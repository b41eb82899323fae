//! An organisation's index on a real PostgreSQL: what is published, which roles see it, and what attacks on that do.

mod access;
mod collations;
mod hostile;
mod load;
mod publishing;
mod searching;
pub(crate) mod server;
mod two_servers;
mod wide;
