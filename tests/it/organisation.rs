//! An organisation's index on a real PostgreSQL: what is published, which roles see it, and what attacks on that do.

mod access;
mod administrators;
mod collations;
mod encrypted;
mod hostile;
mod load;
mod pooled;
mod publishing;
mod searching;
pub(crate) mod server;
mod standby;
mod two_servers;
mod wide;
