//! Annotations of many files at once.
//!
//! Owns the rounds over all of them: annotations that follow from the current texts are written into them and checked
//! with every file of the project. A new version of a text costs as much as a check of its file, so each round has only
//! one: it also takes out the annotations that the last check blamed. If the diagnostic vanishes without one, that one
//! was the cause. All annotations together cause no new diagnostic.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::depth::too_deep;
use super::super::display::PathDisplay;
use super::super::edits;
use super::super::on_disk;
use super::super::trial::{self, Trial};
use super::blame::{self, Fault, Position};
use super::verification::Findings;
use super::{FileState, Inference, InferenceRun, Key, SYNTAX_ERRORS, has_syntax_errors, left_out, rejection};
use crate::error::Result;
use crate::pytypes::engine::Observer;
use crate::pytypes::ty::api::{File, source_text};
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::values::{Confidence, Inferred};

/// How often inferred annotations are built upon: the length of a chain of calls through the project.
const MAX_ROUNDS: usize = 10;

/// The tries at the end: see [`ProjectRun::tries`].
const MAX_TRIES: usize = 40;

/// After as many annotations that were not the cause of a diagnostic, it is searched for by bisection.
const MAX_SUSPECTS: usize = 3;

/// A round with this many new annotations or fewer also consults weaker evidence.
const FEW: usize = 4;

/// A round with this many new annotations for each thousand found before, or fewer, does so too.
const FEW_PER_MILLE: usize = 60;

/// Inference at one level ends when a round would add fewer annotations than this for each thousand that were found
/// before: each round costs a check of the project.
const MIN_PER_MILLE: usize = 12;

/// In how many lines before a diagnostic its cause may be named.
const LINES_ABOVE: usize = 12;

/// How many annotations are searched first for the cause of a diagnostic, each time four times as many.
const FIRST_SEARCHED: usize = 4;

/// Infers annotations of the project's files that are, or lie below, `within`; of all if it is empty. Setting `flag` cancels it. Unless
/// the process `stays`, the database is not freed: the process exits next.
pub(in crate::pytypes::ty) fn infer_all(
    root: &Path,
    within: &[String],
    min_confidence: Confidence,
    observer: &dyn Observer,
    flag: &Arc<AtomicBool>,
    stays: bool,
) -> Result<Inferred> {
    infer_in(root, within, min_confidence, MAX_TRIES, observer, flag, stays)
}

fn infer_in(
    root: &Path,
    within: &[String],
    min_confidence: Confidence,
    tries: usize,
    observer: &dyn Observer,
    flag: &Arc<AtomicBool>,
    stays: bool,
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
    let mut run = ProjectRun {
        run,
        texts,
        before,
        unconfirmed: BTreeSet::new(),
        held: BTreeMap::new(),
        innocent: BTreeMap::new(),
        emptied: BTreeSet::new(),
        outdated: BTreeSet::new(),
        weaker: BTreeSet::new(),
        tries,
        checks: 0,
        added: BTreeMap::new(),
        since: BTreeMap::new(),
        observer,
    };
    run.annotate(min_confidence);
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
    if !stays {
        run.run.trial.abandon();
    }
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
        } else if has_syntax_errors(db, file) {
            SYNTAX_ERRORS
        } else {
            targets.push(file);
            continue;
        };
        answer.skipped.push(left_out(Some(display.relative(Path::new(&path))), reason));
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
    /// The annotations that were added since the last check that found no new diagnostic.
    unconfirmed: BTreeSet<Key>,
    /// Annotations that the last check blamed: the next one is without them.
    held: BTreeMap<Key, Held>,
    /// Annotations that did not cause a diagnostic: it was there without them.
    innocent: BTreeMap<Position, BTreeSet<Key>>,
    /// The diagnostics for which all that is suspected was taken out at once.
    emptied: BTreeSet<Position>,
    /// The files whose annotations are not those that are written.
    outdated: BTreeSet<usize>,
    /// The annotations from namesakes and guesses, which do not follow from the texts alone.
    weaker: BTreeSet<Key>,
    /// How often what causes a diagnostic is taken out at the end, before all that was not confirmed is.
    tries: usize,
    checks: usize,
    /// Before which check an annotation was added.
    added: BTreeMap<Key, usize>,
    /// Since which check there is a new diagnostic.
    since: BTreeMap<Position, usize>,
    observer: &'w dyn Observer,
}

/// An annotation that may have caused the diagnostics at these positions.
struct Held {
    one: Inference,
    positions: BTreeSet<Position>,
}

impl ProjectRun<'_> {
    /// Infers annotations from evidence of at least this confidence.
    fn annotate(&mut self, min_confidence: Confidence) {
        if min_confidence == Confidence::High {
            self.build(Confidence::High, MAX_ROUNDS, false);
        } else {
            // What follows from the first ones alone is as certain as they are.
            self.build(Confidence::High, 1, false);
            self.build(Confidence::Medium, MAX_ROUNDS, true);
        }
        if min_confidence == Confidence::Low {
            self.build(Confidence::Low, MAX_ROUNDS, false);
        }
        self.finish();
        self.keep_supported();
    }

    /// Drops annotations that no longer follow from the rest: what they were inferred from was rejected.
    fn keep_supported(&mut self) {
        let is_asked = |key: Key| self.texts[key.0].found.contains_key(&key.1) && !self.weaker.contains(&key);
        let concluded = self.run.infer_slots(&self.texts, |key, _| is_asked(key));
        let mut dropped = Vec::new();
        for ((file, at), inferred) in concluded {
            let found = &self.texts[file].found[&at];
            let reason = match inferred {
                Ok(one) if one.annotation.is_within(&found.annotation) => continue,
                Ok(_) => "its evidence was rejected".to_owned(),
                Err(reason) => reason,
            };
            dropped.extend(self.remove((file, at)).map(|one| ((file, at), one, reason)));
        }
        if dropped.is_empty() || self.is_over() {
            return;
        }
        self.write_outdated();
        if self.new_diagnostics(&self.run.checked).is_empty() {
            for ((file, at), _, reason) in dropped {
                self.texts[file].reasons.insert(at, reason);
            }
            return;
        }
        for (key, one, _) in dropped {
            self.add(key, one);
        }
        self.write_outdated();
    }

    /// Infers annotations from evidence of at least this confidence until little more follows, or for that many rounds. `keeps`: what the
    /// first round infers keeps its own confidence if that is higher.
    fn build(&mut self, level: Confidence, rounds: usize, keeps: bool) {
        for round in 0..rounds {
            let concluded = self.run.infer_open(&self.texts);
            let own = if keeps && round == 0 { concluded.clone() } else { Vec::new() };
            let mut more = InferenceRun::of_level(&mut self.texts, concluded, level);
            for (key, one) in &own {
                if let (Some(new), Ok(one)) = (more.get_mut(key), one) {
                    new.confidence = one.confidence;
                }
            }
            more.retain(|key, _| !self.held.contains_key(key));
            let mut from_weaker: Vec<Key> = Vec::new();
            let known: usize = self.texts.iter().map(|text| text.found.len()).sum();
            if more.len() <= FEW.max(known * FEW_PER_MILLE / 1000) && !self.is_over() {
                // Little more follows directly.
                let namesakes =
                    if level <= Confidence::Medium { self.run.namesakes(&self.texts) } else { BTreeMap::new() };
                let mut weaker = self.run.guess(&self.texts, level);
                weaker.extend(namesakes);
                // They are written already.
                self.outdated.extend(weaker.keys().map(|(file, _)| *file));
                weaker.retain(|key, _| !self.held.contains_key(key) && !more.contains_key(key));
                from_weaker.extend(weaker.keys().copied());
                more.append(&mut weaker);
            }
            if self.is_over() {
                return;
            }
            // What the first round finds may follow from the code alone, so running inference again would not find it.
            let least = if round == 0 { 1 } else { 1.max(known * MIN_PER_MILLE / 1000) };
            if more.len() < least {
                for ((file, at), one) in more {
                    let text = &one.annotation.text;
                    let reason = format!("`{text}` follows from other annotations: apply those and infer again");
                    self.texts[file].reasons.insert(at, reason);
                }
                self.write_outdated();
                self.finish();
                return;
            }
            self.weaker.extend(from_weaker);
            self.try_with(more);
        }
    }

    fn is_over(&self) -> bool {
        (self.run.is_over)()
    }

    /// Takes out what causes a new diagnostic, until there is none.
    fn finish(&mut self) {
        for _ in 0..self.tries {
            if self.unconfirmed.is_empty() && self.held.is_empty() || self.is_over() {
                return;
            }
            self.try_with(BTreeMap::new());
        }
        for (key, Held { one, .. }) in std::mem::take(&mut self.held) {
            self.reject(key, one);
        }
        self.reject_all(self.unconfirmed.clone());
        self.write_outdated();
    }

    /// Adds annotations, checks all files, and takes out what may have caused a new diagnostic.
    fn try_with(&mut self, more: BTreeMap<Key, Inference>) {
        let is_last = more.is_empty();
        self.checks += 1;
        for (key, one) in more {
            self.added.insert(key, self.checks);
            self.add(key, one);
        }
        self.write_outdated();
        let mut faults = self.new_diagnostics(&self.run.checked);
        if self.is_over() {
            return;
        }
        faults.dedup_by(|a, b| a.position() == b.position());
        let positions: BTreeSet<Position> = faults.iter().map(Fault::position).collect();
        self.judge(&positions);
        self.since.retain(|position, _| positions.contains(position));
        self.innocent.retain(|position, _| positions.contains(position));
        self.emptied.retain(|position| positions.contains(position));
        for position in positions {
            self.since.entry(position).or_insert(self.checks);
        }
        if faults.is_empty() {
            self.unconfirmed.clear();
            return;
        }
        let (mut unexplained, mut suspected, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for fault in faults {
            let suspects = self.suspects(&fault);
            if !suspects.is_empty() {
                suspected.push((fault.position(), suspects));
            } else if self.emptied.insert(fault.position()) {
                // Several may have caused it together.
                all.push((fault.position(), blame::all_suspects(&self.texts, &self.unconfirmed, &fault)));
            } else {
                unexplained.push(fault);
            }
        }
        // A search writes many texts again, and while more is inferred, a diagnostic may vanish by itself.
        if is_last && suspected.is_empty() && all.is_empty() {
            self.search_all(&unexplained);
        }
        self.hold(suspected);
        for (position, keys) in all {
            for key in keys {
                self.hold_for(key, BTreeSet::from([position.clone()]));
            }
        }
    }

    /// Rejects what was taken out if a diagnostic vanished with it, and adds the rest again.
    fn judge(&mut self, positions: &BTreeSet<Position>) {
        for (key, Held { one, positions: blamed }) in std::mem::take(&mut self.held) {
            if !blamed.is_subset(positions) {
                self.reject(key, one);
                continue;
            }
            for position in blamed {
                self.innocent.entry(position).or_default().insert(key);
            }
            self.add(key, one);
        }
    }

    /// Returns the annotations that most likely caused a diagnostic; none if too many were suspected before.
    fn suspects(&self, fault: &Fault) -> Vec<Key> {
        let position = fault.position();
        let innocent = self.innocent.get(&position);
        if innocent.is_some_and(|innocent| innocent.len() >= MAX_SUSPECTS) {
            return Vec::new();
        }
        let trying = self.unconfirmed.iter().copied();
        let trying = trying.filter(|key| innocent.is_none_or(|innocent| !innocent.contains(key)));
        blame::suspects(&self.texts, trying, fault, |key| self.added[key] == self.since[&position])
    }

    /// Takes out as few annotations as explain these diagnostics, each with its suspects.
    fn hold(&mut self, mut suspected: Vec<(Position, Vec<Key>)>) {
        loop {
            let mut explains: BTreeMap<Key, usize> = BTreeMap::new();
            for key in suspected.iter().flat_map(|(_, keys)| keys) {
                *explains.entry(*key).or_default() += 1;
            }
            let most = explains.into_iter().max_by_key(|(key, number)| (*number, Reverse(*key)));
            let Some((key, _)) = most else { return };
            let positions =
                suspected.extract_if(.., |(_, keys)| keys.contains(&key)).map(|(position, _)| position).collect();
            self.hold_for(key, positions);
        }
    }

    fn hold_for(&mut self, key: Key, mut positions: BTreeSet<Position>) {
        if let Some(held) = self.held.get_mut(&key) {
            held.positions.append(&mut positions);
        } else if let Some(one) = self.remove(key) {
            self.held.insert(key, Held { one, positions });
        }
    }

    /// Searches for the causes of diagnostics and rejects them.
    fn search_all(&mut self, faults: &[Fault]) {
        for (number, fault) in faults.iter().enumerate() {
            // What caused another one may have caused it, too.
            let is_left = number == 0 || self.persists(&[], 0, fault);
            if !is_left || self.is_over() {
                continue;
            }
            let cause = self.search(fault);
            self.reject_all(cause.map_or_else(|| self.unconfirmed.clone(), |cause| BTreeSet::from([cause])));
            self.write_outdated();
        }
    }

    fn add(&mut self, key: Key, one: Inference) {
        self.unconfirmed.insert(key);
        self.outdated.insert(key.0);
        self.texts[key.0].found.insert(key.1, one);
    }

    fn remove(&mut self, key: Key) -> Option<Inference> {
        self.unconfirmed.remove(&key);
        self.outdated.insert(key.0);
        self.texts[key.0].found.remove(&key.1)
    }

    /// Notes that a removed annotation caused a diagnostic, and removes similar ones, except those that are confirmed.
    fn reject(&mut self, (file, at): Key, one: Inference) {
        for other in blame::similar(&self.texts[file], at, &one) {
            if !self.unconfirmed.contains(&(file, other)) {
                continue;
            }
            if let Some(one) = self.remove((file, other)) {
                self.note_rejection((file, other), one);
            }
        }
        self.note_rejection((file, at), one);
    }

    fn note_rejection(&mut self, (file, at): Key, one: Inference) {
        let text = &mut self.texts[file];
        text.reasons.insert(at, rejection(&one));
        text.rejected.insert(at, one.annotation.text);
    }

    fn reject_all(&mut self, keys: BTreeSet<Key>) {
        for key in keys {
            if let Some(one) = self.remove(key) {
                self.reject(key, one);
            }
        }
    }

    fn write_outdated(&mut self) {
        let files = std::mem::take(&mut self.outdated);
        self.write(files);
    }

    /// The annotation with which a diagnostic appears. Searches among the most likely ones first.
    fn search(&mut self, fault: &Fault) -> Option<Key> {
        let since = self.since[&fault.position()];
        let ranked = blame::ranked(&self.texts, &self.unconfirmed, fault, |key| self.added[key] == since);
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
        self.write(searched.iter().map(|(file, _)| *file).collect());
        is_found.then(|| ranked[vanishes - 1])
    }

    /// Whether a diagnostic exists without the first ones of some annotations.
    fn persists(&mut self, ranked: &[Key], without: usize, fault: &Fault) -> bool {
        let mut removed = Vec::new();
        for (file, at) in &ranked[..without] {
            removed.extend(self.texts[*file].found.remove(at).map(|one| (*file, *at, one)));
        }
        self.write(ranked.iter().map(|(file, _)| *file).collect());
        let faults = self.new_diagnostics(std::slice::from_ref(&fault.path));
        for (file, at, one) in removed {
            self.texts[file].found.insert(at, one);
        }
        faults.iter().any(|one| one.at == fault.at)
    }

    /// Writes the texts of these files.
    fn write(&mut self, files: BTreeSet<usize>) {
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
                let (line, above) = (line_at(&text, at.to_usize()), lines_above(&text, at.to_usize()));
                Fault { file: number, path: path.clone(), at, line, above, message: one.message }
            }));
        }
        faults
    }
}

fn line_at(text: &str, at: usize) -> String {
    let before = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    text.get(before..).and_then(|rest| rest.lines().next()).unwrap_or_default().to_owned()
}

/// The nearest lines before that of an offset.
fn lines_above(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let from = before.rmatch_indices('\n').nth(LINES_ABOVE).map_or(0, |(newline, _)| newline + 1);
    before.get(from..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::trial::Unobserved;
    use super::*;

    const LIBRARY: &str = "\
def take(size=1):
    return str(size)


def make(flag=False):
    if flag:
        return None
    return \"x\"
";

    const USE: &str = "\
from library import make, take


def pass_on(**rest: str):
    return take(**rest)


def length():
    return len(make())
";

    /// Each function of a chain follows from the one before.
    #[test]
    fn a_chain_that_adds_little_to_many_annotations_is_left_with_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let many =
            (0..200).fold(String::new(), |text, number| text + &format!("def plain{number}():\n    return 1\n\n"));
        let chain = "def link0():\n    return 1\n\n".to_owned();
        let chain = (1..9)
            .fold(chain, |text, number| text + &format!("def link{number}():\n    return link{}()\n\n", number - 1));
        let infer = |text: &str| {
            std::fs::write(folder.path().join("library.py"), text).expect("a file");
            infer_in(folder.path(), &[], Confidence::Medium, MAX_TRIES, &Unobserved, &Arc::default(), true)
        };
        assert!(infer(&chain).expect("an answer").skipped.is_empty());
        let direct = "def take(value):\n    return str(value)\n\n\ntake(1)\ntake(2)\n";
        let taken = infer(&(many.clone() + direct)).expect("an answer").suggestions;
        assert!(taken.iter().any(|one| one.name == "value"), "few annotations that follow from calls alone are kept");
        let skipped = infer(&(many + &chain)).expect("an answer").skipped;
        let reasons: BTreeSet<&str> = skipped.iter().map(|one| one.reason.as_str()).collect();
        assert_eq!(
            Vec::from_iter(reasons),
            [
                "`int` follows from other annotations: apply those and infer again",
                "a returned value has an unknown type"
            ],
            "{skipped:?}"
        );
    }

    #[test]
    fn what_is_suspected_when_the_tries_end_is_rejected_with_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("library.py", LIBRARY), ("use.py", USE)] {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let rejected = |tries| {
            let found = infer_in(folder.path(), &[], Confidence::Medium, tries, &Unobserved, &Arc::default(), true);
            let skipped = found.expect("an answer").skipped.into_iter();
            let mut reasons: Vec<String> = skipped.map(|one| format!("{}: {}", one.name, one.reason)).collect();
            reasons.sort();
            reasons
        };
        for tries in [0, 1, 2, MAX_TRIES] {
            let reasons = rejected(tries);
            let size = reasons.iter().find(|reason| reason.starts_with("take.size")).expect("a reason");
            assert!(size.contains("would cause a new diagnostic"), "{tries}: {size}");
            assert!(!reasons.iter().any(|reason| reason.contains("time")), "{tries}: {reasons:?}");
        }
    }
}
