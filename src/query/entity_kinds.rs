//! Kinds of entities and documents, as people type them.
//!
//! Owns how a typed kind is understood. Does not own which kinds there are (`extract::entity`).

use crate::extract::entity_kinds::{DOCUMENT, KINDS, Kind, NOTE};

/// Returns the stored name of a kind that a user typed: any case, singular or plural.
pub fn kind(typed: &str) -> String {
    let typed = typed.trim().to_lowercase();
    match Kind::named(&typed) {
        Some(kind) => kind.name.to_owned(),
        None if typed == format!("{DOCUMENT}s") => DOCUMENT.to_owned(),
        None => typed,
    }
}

/// Lists the known kinds of entities, and those of notes and documents.
pub fn kinds_of_files() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name).chain([NOTE, DOCUMENT])
}
