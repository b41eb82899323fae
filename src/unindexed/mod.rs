//! Reads during a long update, which do not wait for its end.
//!
//! Owns what one snapshot of the index lacks, and which of it a query needs. Does not own when reads wait (`update`), nor how answers
//! are made of it (`tools`).

mod comparison;
mod needed;

pub(crate) use comparison::{SymbolAround, Unindexed};
pub(crate) use needed::{NeededFiles, UnindexedMatches};
