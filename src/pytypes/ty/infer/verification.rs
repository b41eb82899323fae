//! Whether inferred annotations are valid: no file may get a new diagnostic by them.
//!
//! Owns which files are checked, and which annotations are left out. Does not own the checks (`trial`) or what is inferred.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::super::display::module_name;
use super::super::edits;
use super::super::imports;
use super::super::on_disk;
use super::super::trial::{self, Finding};
use super::slots::Kind;
use super::{FileState, InferenceRun, MAX_ROUNDS, SlotState};
use crate::error::Result;
use crate::pytypes::ty::api::{File, TextSize, contains_identifier, source_text};
use crate::pytypes::ty::db::Db as _;

/// The maximum number of dependent files that are checked with the annotated one.
const MAX_DEPENDENTS: usize = 60;

/// The maximum number of files whose imports are searched for the annotated one.
const MAX_SEARCHED: usize = 300;

/// The maximum number of imports, direct and transitive, among which the annotated one is searched for.
const MAX_IMPORTED: usize = 60;

/// Diagnostics by file.
pub(super) type Findings = HashMap<String, Vec<Finding>>;

/// The files in which new diagnostics are searched for.
#[derive(Clone, Copy)]
enum Scope {
    /// The file and those that name it.
    Near,
    All,
}

impl InferenceRun<'_> {
    /// Files that an annotation of this one may affect: those that contain its module name or one of its top-level names, and those that
    /// import it through files in between.
    pub(super) fn dependents_of(&self, own: &FileState) -> (Vec<String>, Vec<String>) {
        let db = self.trial.db();
        let top = |state: &SlotState| {
            let container =
                state.container.as_deref().map(|container| container.split('.').next().unwrap_or(container));
            container.unwrap_or(&state.name).to_owned()
        };
        let names: HashSet<String> = own.states.iter().filter(|state| state.kind != Kind::Parameter).map(top).collect();
        let module = module_name(&own.path);
        let (mut near, mut others): (Vec<(bool, String)>, Vec<_>) = (Vec::new(), Vec::new());
        for file in db.project().files(db).iter().copied().filter(|file| *file != own.file) {
            let text = source_text(db, file);
            let path = file.path(db).as_str().to_owned();
            let names_module = contains_identifier(&text, &module);
            if names_module || names.iter().any(|name| contains_identifier(&text, name)) {
                near.push((!names_module, path));
            } else if !text.is_notebook() {
                others.push((path, file));
            }
        }
        near.sort();
        near.truncate(MAX_DEPENDENTS);
        others.sort();
        // A type can also arrive through a file in between.
        let is_far = |file: File| imports::transitive(db, file, MAX_IMPORTED).contains(&own.file);
        let max = MAX_DEPENDENTS - near.len();
        let far =
            others.into_iter().take(MAX_SEARCHED).filter(|(_, file)| !(self.is_over)() && is_far(*file)).take(max);
        let far = far.map(|(path, _)| path).collect();
        (near.into_iter().map(|(_, path)| path).collect(), far)
    }

    /// The annotations that are valid together. Those that cause a new diagnostic are left out. The files that name this one are checked at
    /// each step, the others only at the end: most annotations affect none of them.
    pub(super) fn verified(
        &mut self,
        own: &FileState,
        helpers: &[FileState],
        all: Vec<usize>,
        before: &Findings,
    ) -> Result<Vec<usize>> {
        self.trial.set(helpers.iter().map(|helper| helper.with(&[])).collect());
        let mut sound = self.verified_near(own, all, before)?;
        if self.near < self.checked.len() && !self.new_diagnostics(own, &sound, before, Scope::All).is_empty() {
            let rest = std::mem::take(&mut sound);
            self.add_sound(own, before, &mut sound, &rest, Scope::All)?;
            sound.sort_unstable();
        }
        Ok(sound)
    }

    fn verified_near(&mut self, own: &FileState, all: Vec<usize>, before: &Findings) -> Result<Vec<usize>> {
        let mut kept = all.clone();
        // Most new diagnostics appear in the annotated function.
        for _ in 0..MAX_ROUNDS {
            let new = self.new_diagnostics(own, &kept, before, Scope::Near);
            if new.is_empty() {
                break;
            }
            let is_near =
                |at: &usize| new.iter().flatten().any(|fault| own.states[*at].body.contains_inclusive(*fault));
            let fewer: Vec<usize> = kept.iter().copied().filter(|at| !is_near(at)).collect();
            if fewer.len() == kept.len() || (self.is_over)() {
                break;
            }
            // The others are tried again one by one below.
            kept = fewer;
        }
        let near: Vec<usize> = all.iter().copied().filter(|at| !kept.contains(at)).collect();
        let is_sound = self.new_diagnostics(own, &kept, before, Scope::Near).is_empty();
        let (mut sound, rest) = if is_sound { (kept, near) } else { (Vec::new(), all) };
        self.add_sound(own, before, &mut sound, &rest, Scope::Near)?;
        sound.sort_unstable();
        Ok(sound)
    }

    /// Adds those of `rest` that cause no new diagnostic: all at once if possible, otherwise by bisection.
    fn add_sound(
        &mut self,
        own: &FileState,
        before: &Findings,
        sound: &mut Vec<usize>,
        rest: &[usize],
        scope: Scope,
    ) -> Result<()> {
        if rest.is_empty() || (self.is_over)() {
            return Ok(());
        }
        let together: Vec<usize> = sound.iter().chain(rest).copied().collect();
        if self.new_diagnostics(own, &together, before, scope).is_empty() {
            *sound = together;
            return Ok(());
        }
        if let [_] = rest {
            return Ok(());
        }
        let (first, second) = rest.split_at(rest.len() / 2);
        self.add_sound(own, before, sound, first, scope)?;
        self.add_sound(own, before, sound, second, scope)
    }

    /// The new diagnostics caused by these annotations: offsets in the original of this file; `None` for those in other
    /// files.
    fn new_diagnostics(
        &mut self,
        own: &FileState,
        chosen: &[usize],
        before: &Findings,
        scope: Scope,
    ) -> Vec<Option<TextSize>> {
        let edits = own.edits(chosen.iter().copied());
        self.trial.set(vec![own.with(&edits)]);
        let checked = match scope {
            Scope::Near => &self.checked[..self.near],
            Scope::All => &self.checked[..],
        };
        let after = self.trial.findings(checked, &|| {});
        (self.is_over)();
        let mut new = Vec::new();
        for path in checked {
            if *path == own.path {
                let added = trial::added(&before[path], &after[path], &own.original, &edits);
                new.extend(added.iter().map(|one| Some(edits::old_offset(one.at, &edits))));
            } else if let Some(file) = on_disk(self.trial.db(), Path::new(path)) {
                let text = source_text(self.trial.db(), file);
                new.extend(trial::added(&before[path], &after[path], &text, &[]).iter().map(|_| None));
            }
        }
        new
    }
}
