//! Which of several annotations caused a new diagnostic.
//!
//! Owns the guess, from the position of the diagnostic, the names on and above its line and in its message, and the
//! types in its message; and the order in which to search where the guesses were wrong. The caller checks again without
//! what was blamed.

use std::collections::BTreeSet;

use super::annotation::members;
use super::slots::Kind;
use super::{FileState, Inference, Key, SlotState};
use crate::pytypes::ty::api::TextSize;

/// Where a diagnostic is, whatever the edits: the path, and the offset in the text before them.
pub(super) type Position = (String, TextSize);

/// A new diagnostic.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The number of the file, if it is annotated.
    pub file: Option<usize>,
    pub path: String,
    /// The offset in the text before the edits.
    pub at: TextSize,
    /// The diagnostic's line in the text before the edits.
    pub line: String,
    /// The lines before it.
    pub above: String,
    pub message: String,
}

impl Fault {
    pub fn position(&self) -> Position {
        (self.path.clone(), self.at)
    }
}

/// Clues of a diagnostic to its cause.
struct Clues<'f> {
    fault: &'f Fault,
    on_line: BTreeSet<&'f str>,
    above: BTreeSet<&'f str>,
    /// The functions that its message names.
    functions: Vec<&'f str>,
    operator: Option<&'f str>,
    /// The type that its message says is required.
    required: Option<&'f str>,
    /// The types that its message names, and their parts.
    types: Vec<&'f str>,
    parts: BTreeSet<&'f str>,
}

impl<'f> Clues<'f> {
    fn from_fault(fault: &'f Fault) -> Self {
        let types: Vec<&str> = quoted(&fault.message).flat_map(members).filter(|member| *member != "None").collect();
        let is_about_functions = FUNCTIONS.iter().any(|start| fault.message.starts_with(start));
        Self {
            fault,
            on_line: words(&fault.line).collect(),
            required: required(&fault.message),
            above: words(&fault.above).collect(),
            functions: quoted(&fault.message).filter(|one| is_about_functions && is_name(one)).collect(),
            operator: quoted(&fault.message).next().filter(|_| fault.message.starts_with("Operator ")),
            parts: types.iter().flat_map(|one| words(one)).filter(|word| *word != "None").collect(),
            types,
        }
    }

    /// How likely an annotation caused it; 0 if nothing points to it.
    fn likelihood(&self, texts: &[FileState], key: Key) -> u8 {
        let (text, state) = (&texts[key.0], &texts[key.0].states[key.1]);
        let is_parameter = state.kind == Kind::Parameter;
        let is_around = self.fault.file == Some(key.0) && state.body.contains_inclusive(self.fault.at);
        // A parameter often becomes an attribute with an underscore before its name.
        let name = state.name.trim_start_matches('_');
        let has_name = self.on_line.iter().any(|word| word.trim_start_matches('_') == name);
        let is_named = (is_around && is_parameter && has_name)
            || subjects(state).any(|name| self.on_line.contains(name))
            || self.functions.iter().any(|function| is_function(state, function));
        let annotation = text.found.get(&key.1).map_or("", |one| one.annotation.text.as_str());
        let declares = self.required == Some(annotation.trim_matches('"')) && (is_around || is_named);
        let has_type = members(annotation).any(|member| self.types.contains(&member));
        let has_part = words(annotation).any(|word| self.parts.contains(word));
        let is_operator = self.operator.is_some_and(|operator| {
            let is_membership = operator.ends_with("in");
            subjects(state).any(|name| name.starts_with("__") && is_membership == (name == "__contains__"))
        });
        let class = state.container.as_deref().unwrap_or_default().rsplit('.').nth(usize::from(is_parameter));
        // The name of a subclass often ends with that of its base.
        let has_class = class.is_some_and(|class| self.parts.iter().any(|part| part.ends_with(class)));
        let is_above = subjects(state).any(|name| self.above.contains(name));
        8 * u8::from(declares)
            + 8 * u8::from(is_named)
            + 4 * u8::from(is_around)
            + 4 * u8::from(is_operator && has_class)
            + 2 * u8::from(is_operator)
            + 2 * u8::from(has_type)
            + 2 * u8::from(has_name && (is_named || is_around || has_part))
            + 2 * u8::from(is_above)
            + u8::from(has_part)
    }
}

/// The annotations that are most likely to have caused a diagnostic, equally so. None if nothing points to any.
pub(super) fn suspects(
    texts: &[FileState],
    trying: impl Iterator<Item = Key>,
    fault: &Fault,
    is_fresh: impl Fn(&Key) -> bool,
) -> Vec<Key> {
    let clues = Clues::from_fault(fault);
    let (mut best, mut suspects) = (0, Vec::new());
    for key in trying {
        let likelihood = match clues.likelihood(texts, key) {
            0 => continue,
            likelihood => likelihood + FRESH * u8::from(is_fresh(&key)),
        };
        if likelihood > best {
            best = likelihood;
            suspects.clear();
        }
        if likelihood == best {
            suspects.push(key);
        }
    }
    suspects
}

/// The annotations of what a diagnostic names and of the function around it.
pub(super) fn all_suspects(texts: &[FileState], trying: &BTreeSet<Key>, fault: &Fault) -> Vec<Key> {
    let clues = Clues::from_fault(fault);
    trying.iter().copied().filter(|key| clues.likelihood(texts, *key) >= LIKELY).collect()
}

/// The least likelihood for what a diagnostic names, or what is around it, to have caused it.
const LIKELY: u8 = 4;

/// Sorts these annotations: those that are most likely to have caused a diagnostic come first.
pub(super) fn ranked(
    texts: &[FileState],
    trying: &BTreeSet<Key>,
    fault: &Fault,
    is_fresh: impl Fn(&Key) -> bool,
) -> Vec<Key> {
    let clues = Clues::from_fault(fault);
    let likelihood = |key: &Key| {
        clues.likelihood(texts, *key) + FRESH * u8::from(is_fresh(key)) + u8::from(fault.file == Some(key.0))
    };
    let mut ranked: Vec<Key> = trying.iter().copied().collect();
    ranked.sort_by_cached_key(|key| std::cmp::Reverse(likelihood(key)));
    ranked
}

/// How much more likely annotations are that were added just before the diagnostic appeared.
const FRESH: u8 = 3;

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The slots with the same name as this one, in methods of the same name in the file, that were annotated for the same
/// reason or with the same type: what is wrong in one class is rarely right in the others.
pub(super) fn similar(text: &FileState, at: usize, rejected: &Inference) -> Vec<usize> {
    let state = &text.states[at];
    let is_constructor = |own: &&str| matches!(*own, "__init__" | "__new__" | "__post_init__");
    let Some(own) = method(state).filter(|own| !is_constructor(own)) else { return Vec::new() };
    let is_similar = |(other, inferred): (&usize, &Inference)| {
        let other = &text.states[*other];
        let is_same = other.kind == state.kind && other.name == state.name && method(other) == Some(own);
        is_same
            && (inferred.annotation.text == rejected.annotation.text || inferred.explanation == rejected.explanation)
    };
    text.found.iter().filter(|(other, inferred)| is_similar((other, inferred))).map(|(other, _)| *other).collect()
}

/// The name of the method that a slot belongs to, or of the attribute; `None` outside classes.
fn method(state: &SlotState) -> Option<&str> {
    let container = state.container.as_deref()?;
    match state.kind {
        Kind::Parameter => container.rsplit_once('.').map(|(_, method)| method),
        _ => Some(&state.name),
    }
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

/// How messages begin that name functions: `C.f` in "Argument to bound method `C.f` is incorrect".
const FUNCTIONS: &[&str] =
    &["Argument to ", "Missing ", "Too many ", "No overload ", "Invalid override ", "Base classes "];

/// The type that a message says is required of a value: `int` in "Expected `int`, found `str`" and in "Object of type
/// `str` is not assignable to attribute `a` of type `int`".
fn required(message: &str) -> Option<&str> {
    let after = match message.split_once("xpected `") {
        Some((_, after)) => after,
        None => {
            message
                .split_once("is not assignable to")?
                .1
                .rsplit_once("`")
                .and_then(|(before, _)| before.rsplit_once('`'))?
                .1
        }
    };
    after.split('`').next()
}

fn is_name(code: &str) -> bool {
    code.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

fn is_function(state: &SlotState, named: &str) -> bool {
    let (class, function) = named.rsplit_once('.').map_or((None, named), |(class, function)| (Some(class), function));
    let container = state.container.as_deref().unwrap_or_default();
    match state.kind {
        Kind::Parameter => {
            let (around, own) = container.rsplit_once('.').map_or(("", container), |(around, own)| (around, own));
            own == function && class.is_none_or(|class| around.rsplit('.').next() == class.rsplit('.').next())
        }
        _ => state.name == function,
    }
}
