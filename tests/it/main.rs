//! The one integration binary: links once, each file a feature.

mod cli;
mod harness;
mod incremental;
mod languages;
mod mcp;
mod protocol;
mod scan;
mod surface;
mod tidy;
