//! Return types of recursive functions, which return the result of a call of themselves, directly or in a cycle.
//!
//! Owns the guesses: the known returned values are written into the text as if there were no others, and then verified.
//! A guess that is too narrow is widened; one that never holds is dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::evidence;
use super::flow::exits;
use super::slots::{self, SlotSource};
use super::values::last_name;
use super::{FileState, Inference, InferenceRun, Key, concluded};
use crate::pytypes::ty::api::{
    Expr, SemanticDb as _, SemanticModel, SourceOrderVisitor, ast, parsed_module, walk_expr,
};
use crate::pytypes::values::Confidence;

/// How often a guess is widened, each time by at least one type.
const MAX_GUESSES: usize = 4;

impl InferenceRun<'_> {
    /// Finds the return types of functions that call each other.
    pub(super) fn guess(&mut self, texts: &[FileState], level: Confidence) -> BTreeMap<Key, Inference> {
        let mut guesses = BTreeMap::new();
        for (file, text) in texts.iter().enumerate() {
            let first = self.first_guesses(text).into_iter();
            let is_new = |at: &usize, one: &Inference| {
                one.confidence >= level && text.rejected.get(at) != Some(&one.annotation.text)
            };
            guesses.extend(first.filter(|(at, one)| is_new(at, one)).map(|(at, one)| ((file, at), one)));
        }
        if guesses.is_empty() {
            return guesses;
        }
        let files: BTreeSet<usize> = guesses.keys().map(|(file, _)| *file).collect();
        for _ in 0..MAX_GUESSES {
            if guesses.is_empty() || (self.is_over)() {
                break;
            }
            self.set_with(texts, &files, &guesses);
            let mut all_hold = true;
            for (key, inferred) in self.infer_slots(texts, |key, _| guesses.contains_key(&key)) {
                match inferred {
                    Ok(one) if one.annotation.is_within(&guesses[&key].annotation) => {}
                    Ok(one) => {
                        guesses.insert(key, one);
                        all_hold = false;
                    }
                    Err(_) => {
                        guesses.remove(&key);
                        all_hold = false;
                    }
                }
            }
            if all_hold {
                let of_level = |(key, one)| (key, Inference { confidence: level, ..one });
                return guesses.into_iter().map(of_level).collect();
            }
        }
        self.set_with(texts, &files, &BTreeMap::new());
        BTreeMap::new()
    }

    /// Sets these texts in the trial, with the inferred annotations and some more.
    fn set_with(&mut self, texts: &[FileState], files: &BTreeSet<usize>, more: &BTreeMap<Key, Inference>) {
        let with = |file: &usize| {
            let text = &texts[*file];
            let more = more.range((*file, 0)..(*file + 1, 0)).map(|((_, at), one)| (*at, one));
            text.with(&text.edits_of(text.found.iter().map(|(at, one)| (*at, one)).chain(more)))
        };
        self.trial.set(files.iter().map(with).collect());
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
            let infer = || {
                let evidence = evidence::of_known_returns(db, &model, function, state)?;
                self.inference(db, &model, evidence, slot, &HashMap::new())
            };
            guesses.extend(concluded(infer).ok().map(|one| (at, one)));
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
