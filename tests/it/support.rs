//! Shares between tests of several themes: repositories, clients, random changes, and the comparisons with both.

pub mod cursors;
pub mod harness;
pub mod normalized;
pub mod sound;
pub mod tree;
pub mod waiting;
pub mod wire;
