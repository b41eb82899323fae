//! Which of several annotations caused a new diagnostic.
//!
//! Owns the guess, from the position of the diagnostic and the names on its line. The caller checks again without what was blamed.

use std::collections::BTreeSet;

use ruff_text_size::TextSize;

use super::slots::Kind;
use super::{FileState, Key, SlotState};

/// A new diagnostic.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The number of the file, if it is annotated.
    pub file: Option<usize>,
    /// The offset in the text before the edits.
    pub at: TextSize,
    /// Its line in the text before the edits.
    pub line: String,
}

/// How much a diagnostic blames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// All that may have caused it: what is blamed is tried again.
    Wide,
    /// What is likely.
    Narrow,
}

/// The annotations of `trying` that may have caused one of these diagnostics: those of what its line names, and those of the function around
/// it.
pub(super) fn blamed(texts: &[FileState], trying: &BTreeSet<Key>, faults: &[Fault], blame: Blame) -> BTreeSet<Key> {
    let mut blamed = BTreeSet::new();
    for fault in faults {
        let words: BTreeSet<&str> =
            fault.line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let (mut named, mut around) = (Vec::new(), Vec::new());
        for key in trying {
            let state = &texts[key.0].states[key.1];
            let is_around = fault.file == Some(key.0) && state.body.contains_inclusive(fault.at);
            let is_own_parameter = is_around && state.kind == Kind::Parameter && words.contains(state.name.as_str());
            if is_own_parameter || subjects(state).any(|name| words.contains(name)) {
                named.push(*key);
            } else if is_around {
                around.push(*key);
            }
        }
        if blame == Blame::Wide || named.is_empty() {
            blamed.append(&mut around.into_iter().collect());
        }
        blamed.append(&mut named.into_iter().collect());
    }
    blamed
}

/// The names by which code refers to what is annotated.
fn subjects(state: &SlotState) -> impl Iterator<Item = &str> {
    let mut containers = state.container.as_deref().unwrap_or_default().rsplit('.');
    let (function, around) = match state.kind {
        Kind::Parameter => (containers.next().unwrap_or_default(), containers.next()),
        _ => (state.name.as_str(), containers.next()),
    };
    // A constructor is called by the name of its class.
    let class = around.filter(|_| matches!(function, "__init__" | "__new__" | "__call__"));
    [Some(function), class].into_iter().flatten()
}
