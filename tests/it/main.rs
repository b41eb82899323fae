//! The one integration binary: links once, each file a feature.

mod cli;
mod harness;
mod languages;
mod mcp;
mod protocol;
mod surface;
mod tidy;
