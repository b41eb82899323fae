//! Which of several annotations caused a new diagnostic.
//!
//! Owns the guess, from the position of the diagnostic, the names on its line and in its message, and the types in its message; and the order in which
//! to search where nothing shows the cause. The caller checks again without what was blamed.

use std::collections::BTreeSet;

use ruff_text_size::TextSize;

use super::annotation::members;
use super::slots::Kind;
use super::{FileState, Inference, Key, SlotState};

/// A new diagnostic.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The number of the file, if it is annotated.
    pub file: Option<usize>,
    pub path: String,
    /// The offset in the text before the edits.
    pub at: TextSize,
    /// Its line in the text before the edits.
    pub line: String,
    pub message: String,
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
        let words: BTreeSet<&str> = words(&fault.line).collect();
        let callee = callee(&fault.message);
        let shown: Vec<&str> = quoted(&fault.message).flat_map(members).collect();
        let (mut named, mut around, mut typed, mut related) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for key in trying {
            let state = &texts[key.0].states[key.1];
            let annotation = texts[key.0].found.get(&key.1).map(|one| one.annotation.text.as_str());
            let has_type =
                annotation.is_some_and(|text| members(text).any(|member| member != "None" && shown.contains(&member)));
            if has_type {
                // What the type belongs to is often an attribute of the same name, or what the function returns.
                let is_named = words.contains(state.name.as_str());
                if is_named { &mut typed } else { &mut related }.push(*key);
            }
            let is_around = fault.file == Some(key.0) && state.body.contains_inclusive(fault.at);
            let is_own_parameter = is_around && state.kind == Kind::Parameter && words.contains(state.name.as_str());
            if is_own_parameter
                || subjects(state).any(|name| words.contains(name))
                || callee.is_some_and(|callee| is_callee(state, callee))
            {
                named.push(*key);
            } else if is_around {
                around.push(*key);
            }
        }
        if blame == Blame::Wide || named.is_empty() {
            blamed.extend(around.iter().copied());
        }
        if blame == Blame::Wide && named.is_empty() && around.is_empty() {
            // Where the type came from is elsewhere.
            named = if typed.is_empty() { related } else { typed };
        }
        blamed.append(&mut named.into_iter().collect());
    }
    blamed
}

/// These annotations, those that are most likely to have caused a diagnostic first.
pub(super) fn ranked(texts: &[FileState], trying: &BTreeSet<Key>, fault: &Fault) -> Vec<Key> {
    let on_line: BTreeSet<&str> = words(&fault.line).collect();
    let shown: BTreeSet<&str> = quoted(&fault.message).flat_map(words).filter(|word| *word != "None").collect();
    let likelihood = |key: &Key| {
        let state = &texts[key.0].states[key.1];
        let has_type = |one: &Inference| words(&one.annotation.text).any(|word| shown.contains(word));
        2 * u8::from(texts[key.0].found.get(&key.1).is_some_and(has_type))
            + 2 * u8::from(subjects(state).any(|name| on_line.contains(name) || shown.contains(name)))
            + u8::from(fault.file == Some(key.0))
    };
    let mut ranked: Vec<Key> = trying.iter().copied().collect();
    ranked.sort_by_cached_key(|key| std::cmp::Reverse(likelihood(key)));
    ranked
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The names by which other files refer to what is annotated. Operators call special methods without a name.
pub(super) fn referred(state: &SlotState) -> impl Iterator<Item = &str> {
    let class =
        state.container.as_deref().unwrap_or_default().rsplit('.').nth(usize::from(state.kind == Kind::Parameter));
    let is_special = subjects(state).any(|name| name.starts_with("__"));
    subjects(state).filter(|name| !name.starts_with("__")).chain(class.filter(|_| is_special))
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

/// The parts of a message that are code.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// The called function that a message names: `C.f` in "Argument to bound method `C.f` is incorrect".
fn callee(message: &str) -> Option<&str> {
    let is_about_call = ["Argument to ", "Missing ", "Too many ", "No overload ", "Invalid override "];
    if !is_about_call.iter().any(|start| message.starts_with(start)) {
        return None;
    }
    quoted(message).find(|one| one.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')))
}

fn is_callee(state: &SlotState, callee: &str) -> bool {
    let (class, function) = callee.rsplit_once('.').map_or((None, callee), |(class, function)| (Some(class), function));
    let container = state.container.as_deref().unwrap_or_default();
    match state.kind {
        Kind::Parameter => {
            let (around, own) = container.rsplit_once('.').map_or(("", container), |(around, own)| (around, own));
            own == function && class.is_none_or(|class| around.rsplit('.').next() == class.rsplit('.').next())
        }
        _ => state.name == function,
    }
}
