//! The child processes of this program, as hidden commands.
//!
//! Owns their arguments. Does not own their work, or how they are started and limited (`child_process` and their callers).

pub(super) mod embedder;
pub(super) mod engine;
pub(super) mod read;
