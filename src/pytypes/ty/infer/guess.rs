//! Functions that give back what they themselves give back, straight or in a circle.
//!
//! Owns the guesses: what is known of the returned values is written into the text as if it were all, and asked whether it
//! holds. A guess that is too small grows, and one that does not come to hold is none.

use std::collections::{BTreeMap, BTreeSet};

use ruff_db::parsed::parsed_module;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{self as ast, Expr};
use ty_python_semantic::{Db as _, SemanticModel};

use super::evidence;
use super::flow::exits;
use super::slots::{self, Of};
use super::{Found, Text, Work};

/// A guess grows so often: every time by a type that was not there.
const MOST_GUESSES: usize = 4;

impl Work<'_> {
    /// Finds what functions of circles give back. Says whether it found any.
    pub(super) fn guess(&mut self, text: &mut Text) -> bool {
        let mut guesses = self.first_guesses(text);
        if guesses.is_empty() {
            return false;
        }
        for _ in 0..MOST_GUESSES {
            if guesses.is_empty() || (self.is_over)() {
                break;
            }
            self.set_with(text, guesses.clone());
            let mut all_hold = true;
            for (at, told) in self.told(text, |at, _| guesses.contains_key(&at)) {
                match told {
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
                text.found.extend(guesses);
                return true;
            }
        }
        self.set_with(text, BTreeMap::new());
        false
    }

    /// Lets the trial take a text with what was found and some more.
    fn set_with(&mut self, text: &mut Text, more: BTreeMap<usize, Found>) {
        let found = text.found.clone();
        text.found.extend(more);
        let with = text.with(&text.edits(text.found.keys().copied()));
        text.found = found;
        self.trial.set(vec![with]);
    }

    /// What is known of the returned values, of functions that call one another.
    fn first_guesses(&self, text: &Text) -> BTreeMap<usize, Found> {
        let db = self.trial.db();
        let program_file = db.program_file(text.file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let slots = slots::find(parsed.suite());
        let open: Vec<_> = slots
            .iter()
            .zip(&text.places)
            .enumerate()
            .filter(|(at, (_, place))| place.is_open && !text.found.contains_key(at))
            .filter_map(|(at, (slot, _))| match &slot.of {
                Of::Function(function, place) => Some((at, slot, *function, *place)),
                _ => None,
            })
            .collect();
        let names: BTreeSet<&str> = open.iter().map(|(_, slot, ..)| slot.name.as_str()).collect();
        let mut guesses = BTreeMap::new();
        for (at, slot, function, place) in open {
            if !exits(function).values.into_iter().any(|value| calls_any(value, &names)) {
                continue;
            }
            let told = evidence::of_known_returns(db, &model, function, place).and_then(|evidence| {
                let annotation = self.annotation(db, &model, &evidence.inferred, slot)?;
                Ok(Found { annotation, words: evidence.words })
            });
            guesses.extend(told.ok().map(|one| (at, one)));
        }
        guesses
    }
}

fn calls_any(value: &Expr, names: &BTreeSet<&str>) -> bool {
    struct Calls<'n>(&'n BTreeSet<&'n str>, bool);
    impl<'a> SourceOrderVisitor<'a> for Calls<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            if let Expr::Call(ast::ExprCall { func, .. }) = expression {
                self.1 |= evidence::last_name(func).is_some_and(|name| self.0.contains(name));
            }
            walk_expr(self, expression);
        }
    }
    let mut calls = Calls(names, false);
    calls.visit_expr(value);
    calls.1
}
