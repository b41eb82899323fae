//! The one integration binary: links once, each file a feature.

mod languages;
mod scan;
