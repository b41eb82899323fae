//! Return types of functions that return the result of a call of themselves, directly or in a cycle.
//!
//! Owns the guesses: the known returned values are written into the text as if they were all, and then verified. A
//! guess that is too narrow is widened; one that never holds is dropped.

use std::collections::{BTreeMap, BTreeSet};

use ruff_db::parsed::parsed_module;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{self as ast, Expr};
use ty_python_semantic::{Db as _, SemanticModel};

use super::calls::last_name;
use super::evidence;
use super::flow::exits;
use super::slots::{self, SlotSource};
use super::{FileState, Inference, InferenceRun};
use crate::pytypes::values::Confidence;

/// How often a guess is widened, each time by at least one type.
const MAX_GUESSES: usize = 4;

impl InferenceRun<'_> {
    /// Finds the return types of functions that call each other. Returns whether it found any.
    pub(super) fn guess(&mut self, text: &mut FileState, level: Confidence) -> bool {
        let mut guesses = self.first_guesses(text);
        if guesses.is_empty() {
            return false;
        }
        for _ in 0..MAX_GUESSES {
            if guesses.is_empty() || (self.is_over)() {
                break;
            }
            self.set_with(text, guesses.clone());
            let mut all_hold = true;
            for (at, inferred) in self.infer_slots(text, |at, _| guesses.contains_key(&at)) {
                match inferred {
                    Ok(one) if one.annotation.is_within(&guesses[&at].annotation) => {}
                    Ok(one) => {
                        guesses.insert(at, one);
                        all_hold = false;
                    }
                    Err(_) => {
                        guesses.remove(&at);
                        all_hold = false;
                    }
                }
            }
            if all_hold {
                let guesses = guesses.into_iter().map(|(at, one)| (at, Inference { confidence: level, ..one }));
                text.found.extend(guesses);
                return true;
            }
        }
        self.set_with(text, BTreeMap::new());
        false
    }

    /// Sets the text in the trial, with the inferred annotations and some more.
    fn set_with(&mut self, text: &mut FileState, more: BTreeMap<usize, Inference>) {
        let found = text.found.clone();
        text.found.extend(more);
        let with = text.with(&text.edits(text.found.keys().copied()));
        text.found = found;
        self.trial.set(vec![with]);
    }

    /// The guesses from the known returned values of functions that call each other.
    fn first_guesses(&self, text: &FileState) -> BTreeMap<usize, Inference> {
        let db = self.trial.db();
        let program_file = db.program_file(text.file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let slots = slots::find(parsed.suite());
        let open: Vec<_> = slots
            .iter()
            .zip(&text.states)
            .enumerate()
            .filter(|(at, (_, state))| state.is_open && !text.found.contains_key(at))
            .filter_map(|(at, (slot, _))| match &slot.of {
                SlotSource::Function(function, context) => Some((at, slot, *function, *context)),
                _ => None,
            })
            .collect();
        let names: BTreeSet<&str> = open.iter().map(|(_, slot, ..)| slot.name.as_str()).collect();
        let mut guesses = BTreeMap::new();
        for (at, slot, function, state) in open {
            if !exits(function).values.into_iter().any(|value| calls_any(value, &names)) {
                continue;
            }
            let inferred = evidence::of_known_returns(db, &model, function, state);
            let inferred = inferred.and_then(|evidence| self.inference(db, &model, evidence, slot));
            guesses.extend(inferred.ok().map(|one| (at, one)));
        }
        guesses
    }
}

fn calls_any(value: &Expr, names: &BTreeSet<&str>) -> bool {
    struct Calls<'n>(&'n BTreeSet<&'n str>, bool);
    impl<'a> SourceOrderVisitor<'a> for Calls<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            if let Expr::Call(ast::ExprCall { func, .. }) = expression {
                self.1 |= last_name(func).is_some_and(|name| self.0.contains(name));
            }
            walk_expr(self, expression);
        }
    }
    let mut calls = Calls(names, false);
    calls.visit_expr(value);
    calls.1
}
