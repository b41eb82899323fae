//! The one integration binary: links once, each file a feature.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]
#![allow(clippy::needless_pass_by_value, reason = "calls with `json!` read better")]

mod cli;
mod harness;
mod incremental;
mod languages;
mod mcp;
mod protocol;
mod relations;
mod scan;
mod surface;
mod tidy;
