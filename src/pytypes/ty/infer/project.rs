//! Annotations of many files at once.
//!
//! Owns the rounds over all of them: what follows from the current state of the texts is written into them and checked with every file of
//! the project, before more is inferred from it. So nothing rests on an annotation that cannot stay, and the whole causes no new diagnostic.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ty_python_semantic::{Db as _, contains_identifier};

use super::super::depth::too_deep;
use super::super::display::PathDisplay;
use super::super::edits;
use super::super::on_disk;
use super::super::trial::{self, Trial};
use super::blame::{self, Blame, Fault};
use super::verification::Findings;
use super::{Conclusions, FileState, Inference, InferenceRun, Key, rejection};
use crate::error::Result;
use crate::pytypes::engine::Observer;
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::values::{Confidence, Inferred, Skipped};

/// How often inferred annotations are built upon: the length of a chain of calls through the project.
const MAX_ROUNDS: usize = 10;

/// How often annotations that may have caused a new diagnostic are tried again, each time one of every function.
const MAX_RETRIES: usize = 12;

/// Up to this many new annotations are first checked in the files that name what is annotated.
const FEW: usize = 40;

/// How many annotations are searched first for the cause of a diagnostic, each time four times as many.
const FIRST_SEARCHED: usize = 4;

/// Infers annotations of the project's files that are, or lie below, `within`; of all if it is empty. Setting `flag` cancels it.
pub(in crate::pytypes::ty) fn infer_all(
    root: &Path,
    within: &[String],
    min_confidence: Confidence,
    observer: &dyn Observer,
    flag: &Arc<AtomicBool>,
) -> Result<Inferred> {
    let mut trial = Trial::open(root, Arc::clone(flag))?;
    for path in within.iter().map(Path::new).filter(|path| path.is_file()) {
        trial.check_named(path)?;
    }
    let display = PathDisplay { root: root.to_owned() };
    let (targets, mut answer) = targets(trial.db(), within, &display);
    let checked = checked(trial.db());
    let texts: Vec<FileState> = targets.iter().map(|file| FileState::new(trial.db(), *file, None, true)).collect();
    let is_over = || flag.load(Ordering::Relaxed);
    let run = InferenceRun { trial, checked, near: 0, is_over: &is_over, searched: RefCell::default() };
    let before = run.trial.findings_observed(&run.checked, observer);
    let mut run = ProjectRun { run, texts, before, latest: None, near: None, observer };
    for level in [Confidence::High, Confidence::Medium, Confidence::Low] {
        if level >= min_confidence {
            run.build(level);
        }
    }
    for text in &run.texts {
        let kept: Vec<usize> = text.found.keys().copied().collect();
        let mut one = run.run.answer(text, &kept);
        let shown = display.relative(Path::new(&text.path));
        one.suggestions.iter_mut().for_each(|one| one.file = Some(shown.clone()));
        one.skipped.iter_mut().for_each(|one| one.file = Some(shown.clone()));
        answer.suggestions.append(&mut one.suggestions);
        answer.skipped.append(&mut one.skipped);
    }
    answer.panicked = run.run.trial.panicked();
    Ok(answer)
}

/// The files to annotate, sorted, and those that cannot be.
fn targets(db: &Database, within: &[String], display: &PathDisplay) -> (Vec<File>, Inferred) {
    let project = db.project();
    let is_within = |path: &Path| within.is_empty() || within.iter().any(|one| path.starts_with(one));
    let all = project.files(db).iter().chain(project.named(db)).copied();
    let mut files: Vec<(String, File)> = all
        .map(|file| (file.path(db).as_str().to_owned(), file))
        .filter(|(path, _)| is_within(Path::new(path)) && !path.ends_with(".pyi"))
        .collect();
    files.sort();
    files.dedup();
    let (mut targets, mut answer) = (Vec::new(), Inferred::default());
    for (path, file) in files {
        let text = source_text(db, file);
        let reason = if text.is_notebook() {
            continue;
        } else if text.read_error().is_some() {
            "it cannot be read"
        } else if too_deep(&text).is_some() {
            "its brackets are nested too deeply"
        } else if !parsed_module(db, db.program_file(file).python_file(db)).load(db).errors().is_empty() {
            "it has syntax errors"
        } else {
            targets.push(file);
            continue;
        };
        answer.skipped.push(Skipped {
            file: Some(display.relative(Path::new(&path))),
            name: String::new(),
            kind: "file".to_owned(),
            reason: reason.to_owned(),
        });
    }
    (targets, answer)
}

/// Every file in which new diagnostics are searched for, sorted.
fn checked(db: &Database) -> Vec<String> {
    let all = db.project().files(db).iter().chain(db.project().named(db));
    let paths: BTreeSet<String> = all.map(|file| file.path(db).as_str().to_owned()).collect();
    paths.into_iter().collect()
}

struct ProjectRun<'w> {
    run: InferenceRun<'w>,
    texts: Vec<FileState>,
    before: Findings,
    /// What follows from the texts, until they change.
    latest: Option<Conclusions>,
    /// While annotations are tried: the files that are checked. The others are checked once at the end.
    near: Option<BTreeSet<String>>,
    observer: &'w dyn Observer,
}

impl ProjectRun<'_> {
    /// Infers annotations from evidence of at least this confidence until nothing more follows.
    fn build(&mut self, level: Confidence) {
        for _ in 0..MAX_ROUNDS {
            let concluded = self.latest.take().unwrap_or_else(|| self.run.infer_open(&self.texts));
            let mut more = InferenceRun::of_level(&mut self.texts, concluded.clone(), level);
            if more.is_empty() && !self.is_over() {
                // Nothing more follows directly.
                more = self.run.guess(&self.texts, level);
            }
            if more.is_empty() && level <= Confidence::Medium && !self.is_over() {
                more = self.run.namesakes(&self.texts);
            }
            if more.is_empty() || self.is_over() {
                self.latest = Some(concluded);
                return;
            }
            if !self.settle(more) {
                self.latest = Some(concluded);
            }
        }
    }

    fn is_over(&self) -> bool {
        (self.run.is_over)()
    }

    /// Keeps those annotations that cause no new diagnostic. Returns whether there are any.
    fn settle(&mut self, batch: BTreeMap<Key, Inference>) -> bool {
        let keys: BTreeSet<Key> = batch.keys().copied().collect();
        self.near = (keys.len() <= FEW).then(|| self.dependents(&keys));
        let mut rejected = self.try_together(batch, Blame::Wide);
        for _ in 0..MAX_RETRIES {
            if rejected.is_empty() || self.is_over() {
                break;
            }
            // One of each function: a diagnostic in it is then caused by that one.
            let mut next = BTreeMap::new();
            let mut bodies = BTreeSet::new();
            for (key, one) in std::mem::take(&mut rejected) {
                let body = self.texts[key.0].states[key.1].body;
                if bodies.insert((key.0, body.start())) { &mut next } else { &mut rejected }.insert(key, one);
            }
            let dropped = self.try_together(next, Blame::Narrow);
            self.drop_annotations(dropped);
        }
        self.drop_annotations(rejected);
        self.confirm(keys)
    }

    /// The files in which these annotations are likely to cause a diagnostic: those that name what is annotated.
    fn dependents(&self, keys: &BTreeSet<Key>) -> BTreeSet<String> {
        let states = keys.iter().map(|(file, at)| &self.texts[*file].states[*at]);
        let names: BTreeSet<&str> = states.flat_map(blame::referred).collect();
        let db = self.run.trial.db();
        let names_any = |path: &&String| {
            on_disk(db, Path::new(path)).is_some_and(|file| {
                let text = source_text(db, file);
                names.iter().any(|name| contains_identifier(&text, name))
            })
        };
        let dependents = self.run.checked.iter().filter(names_any).cloned();
        dependents.chain(keys.iter().map(|(file, _)| self.texts[*file].path.clone())).collect()
    }

    /// Checks all files if not all were since the last change, and drops what causes a new diagnostic in the others. Returns whether any
    /// of the annotations are left.
    fn confirm(&mut self, mut keys: BTreeSet<Key>) -> bool {
        keys.retain(|(file, at)| self.texts[*file].found.contains_key(at));
        if self.near.take().is_none() {
            return !keys.is_empty();
        }
        while !keys.is_empty() && !self.is_over() {
            let faults = self.new_diagnostics(&self.run.checked);
            if faults.is_empty() {
                break;
            }
            let dropped = self.remove_causes(&mut keys, &faults, Blame::Narrow);
            self.drop_annotations(dropped);
        }
        !keys.is_empty()
    }

    fn drop_annotations(&mut self, dropped: BTreeMap<Key, Inference>) {
        for ((file, at), one) in dropped {
            let text = &mut self.texts[file];
            text.reasons.insert(at, rejection(&one));
            text.rejected.insert(at, one.annotation.text);
        }
    }

    /// Adds annotations, without those that seem to cause a new diagnostic, which are returned.
    fn try_together(&mut self, batch: BTreeMap<Key, Inference>, blame: Blame) -> BTreeMap<Key, Inference> {
        let mut trying: BTreeSet<Key> = batch.keys().copied().collect();
        for ((file, at), one) in batch {
            self.texts[file].found.insert(at, one);
        }
        self.write(&trying);
        let mut checked: Vec<String> = match &mut self.near {
            Some(near) => {
                near.extend(trying.iter().map(|(file, _)| self.texts[*file].path.clone()));
                near.iter().cloned().collect()
            }
            None => self.run.checked.clone(),
        };
        let mut rejected = BTreeMap::new();
        loop {
            let faults = self.new_diagnostics(&checked);
            if faults.is_empty() || trying.is_empty() || self.is_over() {
                return rejected;
            }
            // What is removed rarely causes a diagnostic elsewhere, which `confirm` finds.
            let faulty: BTreeSet<String> = faults.iter().map(|fault| fault.path.clone()).collect();
            checked = faulty.iter().cloned().collect();
            self.near.get_or_insert_default().extend(faulty);
            rejected.append(&mut self.remove_causes(&mut trying, &faults, blame));
        }
    }

    /// Removes those annotations that seem to have caused these diagnostics, and returns them.
    fn remove_causes(
        &mut self,
        trying: &mut BTreeSet<Key>,
        faults: &[Fault],
        blame: Blame,
    ) -> BTreeMap<Key, Inference> {
        let mut blamed = blame::blamed(&self.texts, trying, faults, blame);
        // Nothing may show the cause.
        let is_searched = blamed.is_empty();
        let cause = if is_searched { faults.iter().find_map(|fault| self.search(trying, fault)) } else { None };
        match cause {
            Some(cause) => drop(blamed.insert(cause)),
            None if is_searched => blamed.clone_from(trying),
            None => {}
        }
        let mut removed = BTreeMap::new();
        for key in &blamed {
            trying.remove(key);
            removed.extend(self.texts[key.0].found.remove(&key.1).map(|one| (*key, one)));
        }
        self.write(&blamed);
        if cause.is_some() {
            // It is certain: there is nothing to try again.
            self.drop_annotations(std::mem::take(&mut removed));
        }
        removed
    }

    /// The annotation with which a diagnostic appears. Searches among the most likely ones first.
    fn search(&mut self, trying: &BTreeSet<Key>, fault: &Fault) -> Option<Key> {
        let ranked = blame::ranked(&self.texts, trying, fault);
        // It persists without this many of them, and vanishes without that many.
        let (mut persists, mut vanishes) = (0, ranked.len().min(FIRST_SEARCHED));
        let mut is_found = true;
        while is_found && self.persists(&ranked, vanishes, fault) {
            is_found = vanishes < ranked.len() && !self.is_over();
            persists = vanishes;
            vanishes = ranked.len().min(vanishes * 4);
        }
        let searched = &ranked[..vanishes];
        while is_found && vanishes - persists > 1 {
            let middle = usize::midpoint(persists, vanishes);
            *(if self.persists(searched, middle, fault) { &mut persists } else { &mut vanishes }) = middle;
        }
        self.write(&searched.iter().copied().collect());
        is_found.then(|| ranked[vanishes - 1])
    }

    /// Whether a diagnostic is there without the first ones of some annotations.
    fn persists(&mut self, ranked: &[Key], without: usize, fault: &Fault) -> bool {
        let mut removed = Vec::new();
        for (file, at) in &ranked[..without] {
            removed.extend(self.texts[*file].found.remove(at).map(|one| (*file, *at, one)));
        }
        self.write(&ranked.iter().copied().collect());
        let faults = self.new_diagnostics(std::slice::from_ref(&fault.path));
        for (file, at, one) in removed {
            self.texts[file].found.insert(at, one);
        }
        faults.iter().any(|one| one.at == fault.at)
    }

    /// Writes the texts of the files with these slots.
    fn write(&mut self, changed: &BTreeSet<Key>) {
        let files: BTreeSet<usize> = changed.iter().map(|(file, _)| *file).collect();
        self.run.trial.set(files.into_iter().map(|file| self.texts[file].annotated()).collect());
    }

    /// The diagnostics in these files that the annotations cause.
    fn new_diagnostics(&self, checked: &[String]) -> Vec<Fault> {
        let after = self.run.trial.findings_observed(checked, self.observer);
        let mut faults = Vec::new();
        if self.is_over() {
            return faults;
        }
        let numbers: BTreeMap<&str, usize> =
            self.texts.iter().enumerate().map(|(number, text)| (text.path.as_str(), number)).collect();
        for path in checked {
            let (old, new) = (&self.before[path], &after[path]);
            if new.is_empty() || old == new {
                continue;
            }
            let number = numbers.get(path.as_str()).copied();
            let (text, edits) = match (number, on_disk(self.run.trial.db(), Path::new(path))) {
                (Some(number), _) => {
                    let text = &self.texts[number];
                    (text.original.clone(), text.edits(text.found.keys().copied()))
                }
                (None, Some(file)) => (source_text(self.run.trial.db(), file), Vec::new()),
                (None, None) => continue,
            };
            faults.extend(trial::added(old, new, &text, &edits).into_iter().map(|one| {
                let at = edits::old_offset(one.at, &edits);
                let line = line_at(&text, at.to_usize());
                Fault { file: number, path: path.clone(), at, line, message: one.message }
            }));
        }
        faults
    }
}

fn line_at(text: &str, at: usize) -> String {
    let before = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    text.get(before..).and_then(|rest| rest.lines().next()).unwrap_or_default().to_owned()
}
