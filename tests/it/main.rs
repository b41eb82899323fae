//! The one integration binary: links once, each file a feature.

mod cli;
mod daemon;
mod harness;
mod languages;
mod mcp;
mod protocol;
mod scan;
mod security;
mod surface;
mod tidy;
mod wire;
