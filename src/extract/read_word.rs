//! A word of a text's code, before its role in the text is known.

use std::ops::Range;

/// FNV-1a, which needs no key.
pub(super) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A word that was read, before its role is known.
pub(super) struct ReadWord {
    pub(super) hash: u64,
    pub(super) range: Range<usize>,
    /// Whether it is reached through something, or begins a path from the root.
    pub(super) is_member: bool,
    /// Whether the grammar says that it is the name of a field, which no block binds.
    pub(super) is_field: bool,
    /// Whether the grammar says that it is a type.
    pub(super) is_type: bool,
    pub(super) is_outside: bool,
}
