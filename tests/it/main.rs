//! The one integration binary: links once, each file a feature.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]
#![allow(clippy::print_stdout, reason = "a test that cannot run here says so, and loops say what they did")]
#![allow(clippy::needless_pass_by_value, reason = "calls with `json!` read better")]

mod begin;
mod by_name;
mod cli;
mod compared_with_ty;
mod crash;
mod cursors;
mod daemon;
mod docs;
mod doctor;
mod documents;
mod embedder;
mod entities;
mod entity_cli;
mod exact;
mod folders;
mod forms;
mod fresh;
mod golden;
mod graph;
mod harness;
mod hostile;
mod incremental;
mod inferred;
mod languages;
mod long;
mod mcp;
mod models;
mod naming;
mod page;
mod panics;
mod paraphrase;
mod pdf;
mod projects;
mod protocol;
mod refactor;
mod relations;
mod rename;
mod rename_kin;
mod repair;
mod retrieval;
mod scan;
mod scripts;
mod search;
mod secrets;
mod security;
mod setup;
mod shapes;
mod snapshot;
mod soak;
mod sound;
mod splices;
mod surface;
mod terminal;
mod tidy;
mod tree;
mod types;
mod types_cli;
mod types_implied;
mod vectors;
mod watch;
mod wire;
mod worktrees;
