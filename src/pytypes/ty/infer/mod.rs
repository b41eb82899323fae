//! `infer_types`: annotations that a file could have.
//!
//! Owns the search for them. It happens in a trial of its own, where found annotations are written into the text and
//! the rest is asked anew, until nothing more is found: so a return type travels across calls. The files that the file
//! imports are annotated in the trial too, and are themselves again before anything is offered. What is offered at the end
//! has been checked together, edits and imports in place: neither the file nor those that use it have a diagnostic that they
//! had not before.

mod above;
mod annotation;
mod evidence;
mod flow;
mod guess;
mod slots;
mod text;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::{SourceText, source_text};
use ruff_text_size::{Ranged, TextRange, TextSize};
use ty_python_semantic::{Db as _, HasDefinition, SemanticModel, contains_identifier};

use self::annotation::{Annotation, Import};
use self::evidence::Shape;
use self::slots::{Kind, Of, Slot};
use super::db::{Database, Db as _};
use super::edits::{self, Edit};
use super::imports;
use super::on_disk;
use super::require_readable;
use super::shown::{Shown, module_name};
use super::symbols;
use super::trial::{self, Finding, Trial};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::pytypes::values::{Inferred, Insertion, Outline, Skipped, Suggestion};

/// Found annotations are built on so often; a chain of calls is rarely longer.
const ROUNDS: usize = 5;

/// An annotation that was found.
#[derive(Clone, Debug)]
struct Found {
    annotation: Annotation,
    words: String,
}

/// What stays of a slot between states of the text, by offsets of the original.
struct Place {
    kind: Kind,
    name: String,
    container: Option<String>,
    range: TextRange,
    at: TextSize,
    body: TextRange,
    /// Where the default begins that follows the name with no more than `=` between them.
    tight_default: Option<TextSize>,
    is_open: bool,
    /// It was asked for; the others only help.
    is_wanted: bool,
}

/// A file on its way to its annotations.
struct Text {
    file: File,
    path: String,
    original: SourceText,
    places: Vec<Place>,
    found: BTreeMap<usize, Found>,
    reasons: BTreeMap<usize, String>,
    /// Calls of its functions are looked for.
    is_asked_for: bool,
}

/// Rounds in which those others are annotated.
const HELPED_ROUNDS: usize = 3;

/// Files that the file imports, straight or through others, that are annotated for its sake.
const MOST_HELPERS: usize = 12;

/// Diagnostics by file.
type Findings = HashMap<String, Vec<Finding>>;

/// Files that use what is annotated and are checked with it; what they get from afar is not looked at.
const MOST_USERS: usize = 60;

/// `is_over` is asked at every step; the flag it reads ends the checks in between.
pub(super) fn infer(
    root: &Path,
    path: &Path,
    symbol: Option<&str>,
    is_over: &dyn Fn() -> bool,
    flag: Arc<AtomicBool>,
) -> Result<Inferred> {
    let mut trial = Trial::open(root, flag)?;
    trial.name(path)?;
    let file = on_disk(trial.db(), path).ok_or_else(|| {
        Error::invalid_path("the file is not there any more").hint("`list_files` shows what there is.")
    })?;
    require_readable(trial.db(), file, &Shown { root: root.to_owned() })?;
    let original = source_text(trial.db(), file);
    if original.is_notebook() {
        return Err(Error::invalid_argument("argument `file`: notebooks cannot be annotated").hint("Name a .py file."));
    }
    let own = Text::new(trial.db(), file, symbol, true);
    if let Some(symbol) = symbol
        && !own.places.iter().any(|place| place.is_wanted)
        && !holds(trial.db(), file, symbol)
    {
        let shown = printable(symbol);
        return Err(Error::not_found(format!("no class, function or variable `{shown}` in this file"))
            .hint("Name it as Class.method; `symbols` lists them."));
    }
    let mut work = Work { trial, checked: Vec::new(), is_over };
    work.run(own)
}

impl Text {
    fn new(db: &Database, file: File, symbol: Option<&str>, is_asked_for: bool) -> Self {
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let text = source_text(db, file);
        let place = |slot: Slot<'_>| Place {
            is_open: !slot.is_annotated,
            is_wanted: symbol.is_none_or(|symbol| is_within(&slot, symbol)),
            tight_default: tight_default(&text, &slot),
            kind: slot.kind,
            name: slot.name,
            container: slot.container,
            range: slot.range,
            at: slot.at,
            body: slot.body,
        };
        Self {
            file,
            path: file.path(db).as_str().to_owned(),
            original: text.clone(),
            places: slots::find(parsed.suite()).into_iter().map(place).collect(),
            found: BTreeMap::new(),
            reasons: BTreeMap::new(),
            is_asked_for,
        }
    }

    /// The edits of these annotations, with the imports that they need.
    fn edits(&self, chosen: impl IntoIterator<Item = usize>) -> Vec<Edit> {
        let header = text::Header::of(&self.original);
        let mut edits = Vec::new();
        for at in chosen {
            let (place, one) = (&self.places[at], &self.found[&at]);
            edits.push(insertion(place, &one.annotation));
            edits.extend(spacing(place));
            edits.extend(one.annotation.imports.iter().flat_map(|import| header.import(import)));
        }
        edits::unite(&mut edits);
        edits
    }

    /// Takes an annotation back, for a reason; `None`: what it would do to others.
    fn leave(&mut self, at: usize, reason: Option<String>) {
        let Some(one) = self.found.remove(&at) else { return };
        self.reasons.insert(at, reason.unwrap_or_else(|| faulty(&one)));
    }

    fn with(&self, edits: &[Edit]) -> (String, String) {
        (self.path.clone(), edits::apply(&self.original, edits))
    }
}

struct Work<'w> {
    trial: Trial,
    /// The file, and those of the project that may notice an annotation in it.
    checked: Vec<String>,
    is_over: &'w dyn Fn() -> bool,
}

impl Work<'_> {
    fn run(&mut self, own: Text) -> Result<Inferred> {
        self.checked = std::iter::once(own.path.clone()).chain(self.users_of(&own)).collect();
        let before = self.trial.findings(&self.checked, &|| {});
        let helpers = self.helpers_of(&own);
        let mut texts: Vec<Text> = std::iter::once(own).chain(helpers).collect();
        for round in 0..ROUNDS {
            let mut changed = Vec::new();
            // What travels farther than this from file to file is rare, and every round costs each file.
            let helped = if round < HELPED_ROUNDS { texts.len() } else { 1 };
            for text in &mut texts[..helped] {
                let more = self.round(text);
                if !more.is_empty() {
                    text.found.extend(more);
                    changed.push(text.with(&text.edits(text.found.keys().copied())));
                }
            }
            if (self.is_over)() {
                break;
            }
            if !changed.is_empty() {
                self.trial.set(changed);
                continue;
            }
            // Nothing follows by itself any more.
            let guessed = texts[..helped].iter_mut().map(|text| self.guess(text)).filter(|guessed| *guessed).count();
            if guessed == 0 {
                break;
            }
        }
        let mut own = texts.swap_remove(0);
        let kept = self.verified(&own, &texts, own.found.keys().copied().collect(), &before)?;
        let kept = self.supported(&mut own, &texts, kept, &before)?;
        let wanted: Vec<usize> = kept.iter().copied().filter(|at| own.places[*at].is_wanted).collect();
        let kept = if wanted.len() < kept.len() { self.verified(&own, &texts, wanted, &before)? } else { kept };
        Ok(self.answer(&own, &kept))
    }

    /// Of annotations that can stand together, those that still follow from what stands beside them: what was found by one
    /// that could not stay is no finding.
    fn supported(
        &mut self,
        own: &mut Text,
        helpers: &[Text],
        mut kept: Vec<usize>,
        before: &Findings,
    ) -> Result<Vec<usize>> {
        while kept.len() < own.found.len() && !(self.is_over)() {
            let all = helpers.iter().map(|helper| helper.with(&helper.edits(helper.found.keys().copied())));
            self.trial.set(all.chain([own.with(&own.edits(kept.iter().copied()))]).collect());
            let told = self.told(own, |at, _| kept.contains(&at));
            for at in own.found.keys().copied().filter(|at| !kept.contains(at)).collect::<Vec<_>>() {
                own.leave(at, None);
            }
            for (at, told) in told {
                match told {
                    Ok(one) if one.annotation.is_within(&own.found[&at].annotation) => {}
                    Ok(_) => own.leave(at, Some("what spoke for it could not be kept".to_owned())),
                    Err(reason) => own.leave(at, Some(reason)),
                }
            }
            if own.found.len() < kept.len() {
                kept = self.verified(own, helpers, own.found.keys().copied().collect(), before)?;
            }
        }
        Ok(kept)
    }

    /// Files of the project that this one imports, the nearest first.
    fn helpers_of(&self, own: &Text) -> Vec<Text> {
        let db = self.trial.db();
        let helpers = imports::of(db, own.file, MOST_HELPERS).into_iter();
        let helpers = helpers.filter(|file| !source_text(db, *file).is_notebook());
        helpers.map(|file| Text::new(db, file, None, false)).collect()
    }

    /// Files that name something of this one's top, those that name its module first.
    fn users_of(&self, own: &Text) -> Vec<String> {
        let db = self.trial.db();
        let top = |place: &Place| {
            let container =
                place.container.as_deref().map(|container| container.split('.').next().unwrap_or(container));
            container.unwrap_or(&place.name).to_owned()
        };
        let names: HashSet<String> = own.places.iter().filter(|place| place.kind != Kind::Parameter).map(top).collect();
        let module = module_name(&own.path);
        let mut users: Vec<(bool, String)> = Vec::new();
        for file in db.project().files(db).iter().filter(|file| **file != own.file) {
            let text = source_text(db, *file);
            let names_module = contains_identifier(&text, &module);
            if names_module || names.iter().any(|name| contains_identifier(&text, name)) {
                users.push((!names_module, file.path(db).as_str().to_owned()));
            }
        }
        users.sort();
        users.into_iter().take(MOST_USERS).map(|(_, path)| path).collect()
    }

    /// What can be said in the present state of a text, of what was not said before.
    fn round(&self, text: &mut Text) -> Vec<(usize, Found)> {
        let mut more = Vec::new();
        for (at, told) in self.told(text, |at, place| place.is_open && !text.found.contains_key(&at)) {
            match told {
                Ok(one) => more.push((at, one)),
                Err(reason) => drop(text.reasons.insert(at, reason)),
            }
        }
        more
    }

    /// What the present state of a text says of places.
    fn told(
        &self,
        text: &Text,
        is_asked: impl Fn(usize, &Place) -> bool,
    ) -> Vec<(usize, std::result::Result<Found, String>)> {
        let db = self.trial.db();
        let program_file = db.program_file(text.file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let slots = slots::find(parsed.suite());
        let places = &text.places;
        let functions: Vec<_> = slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| match &slot.of {
                Of::Function(function, place) if text.is_asked_for => {
                    let class = slot.container.as_ref().filter(|_| place.in_class);
                    let class = class.and_then(|class| class.rsplit('.').next()).map(str::to_owned);
                    let has_open_parameter = slots.iter().zip(places).skip(at + 1).any(|(other, place)| {
                        place.is_open && matches!(&other.of, Of::Parameter(of, _) if std::ptr::eq(*of, *function))
                    });
                    has_open_parameter.then(|| (function.definition(&model), *function, class))
                }
                _ => None,
            })
            .collect();
        let calls = evidence::calls(db, text.file, &functions);
        let mut all = Vec::new();
        for (at, (slot, place)) in slots.iter().zip(places).enumerate() {
            if !is_asked(at, place) || (self.is_over)() {
                continue;
            }
            let told = evidence::of_slot(db, &model, slot, &calls).and_then(|evidence| {
                let annotation = self.annotation(db, &model, &evidence.inferred, slot)?;
                Ok(Found { annotation, words: evidence.words })
            });
            all.push((at, told));
        }
        all
    }

    fn annotation<'db>(
        &self,
        db: &'db Database,
        model: &SemanticModel<'db>,
        shape: &Shape<'db>,
        slot: &Slot<'_>,
    ) -> std::result::Result<Annotation, String> {
        let outer = |name: &str, module: &str, inner: Option<Annotation>| {
            let import = Import { module: module.to_owned(), name: name.to_owned(), is_own: false };
            let mut imports = vec![import];
            let text = match inner {
                None => name.to_owned(),
                Some(inner) => {
                    imports.extend(inner.imports);
                    match inner.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                        Some(quoted) => format!("\"{name}[{quoted}]\""),
                        None => format!("{name}[{}]", inner.text),
                    }
                }
            };
            Annotation { text, imports }
        };
        match shape {
            Shape::Plain(inferred) => annotation::of_type(db, model, *inferred, slot.at),
            Shape::Yields(inferred, is_async) => {
                let inner = annotation::of_type(db, model, *inferred, slot.at)?;
                Ok(outer(if *is_async { "AsyncIterator" } else { "Iterator" }, "collections.abc", Some(inner)))
            }
            Shape::Written(annotation) => written(db, model, annotation),
            Shape::Receiver => {
                if model.program().python_version(db) < ruff_python_ast::PythonVersion::PY311 {
                    return Err("`Self` needs Python 3.11".to_owned());
                }
                Ok(outer("Self", "typing", None))
            }
        }
    }

    /// The annotations that can stand together: what brings a new diagnostic is left out.
    fn verified(&mut self, own: &Text, helpers: &[Text], all: Vec<usize>, before: &Findings) -> Result<Vec<usize>> {
        self.trial.set(helpers.iter().map(|helper| helper.with(&[])).collect());
        let mut kept = all.clone();
        // Most faults show in the function that got the annotation.
        for _ in 0..ROUNDS {
            let new = self.new_faults(own, &kept, before);
            if new.is_empty() {
                break;
            }
            let is_near =
                |at: &usize| new.iter().flatten().any(|fault| own.places[*at].body.contains_inclusive(*fault));
            let fewer: Vec<usize> = kept.iter().copied().filter(|at| !is_near(at)).collect();
            if fewer.len() == kept.len() || (self.is_over)() {
                break;
            }
            // Those near a fault get another chance one by one, below.
            kept = fewer;
        }
        let near: Vec<usize> = all.iter().copied().filter(|at| !kept.contains(at)).collect();
        let (mut sound, rest) =
            if self.new_faults(own, &kept, before).is_empty() { (kept, near) } else { (Vec::new(), all) };
        self.add_sound(own, before, &mut sound, &rest)?;
        sound.sort_unstable();
        Ok(sound)
    }

    /// Adds of `rest` what brings no new diagnostic: all at once where it can be, else by halves.
    fn add_sound(&mut self, own: &Text, before: &Findings, sound: &mut Vec<usize>, rest: &[usize]) -> Result<()> {
        if rest.is_empty() || (self.is_over)() {
            return Ok(());
        }
        let together: Vec<usize> = sound.iter().chain(rest).copied().collect();
        if self.new_faults(own, &together, before).is_empty() {
            *sound = together;
            return Ok(());
        }
        if let [_] = rest {
            return Ok(());
        }
        let (first, second) = rest.split_at(rest.len() / 2);
        self.add_sound(own, before, sound, first)?;
        self.add_sound(own, before, sound, second)
    }

    /// What is found with these annotations that was not before: where in the original of this file, or in another.
    fn new_faults(&mut self, own: &Text, chosen: &[usize], before: &Findings) -> Vec<Option<TextSize>> {
        let edits = own.edits(chosen.iter().copied());
        self.trial.set(vec![own.with(&edits)]);
        let after = self.trial.findings(&self.checked, &|| {});
        (self.is_over)();
        let mut new = Vec::new();
        for path in &self.checked {
            if *path == own.path {
                let added = trial::added(&before[path], &after[path], &own.original, &edits);
                new.extend(added.iter().map(|one| Some(edits::back(one.at, &edits))));
            } else if let Some(file) = on_disk(self.trial.db(), Path::new(path)) {
                let text = source_text(self.trial.db(), file);
                new.extend(trial::added(&before[path], &after[path], &text, &[]).iter().map(|_| None));
            }
        }
        new
    }

    fn answer(&self, own: &Text, kept: &[usize]) -> Inferred {
        let Text { places, found, reasons, original, .. } = own;
        let header = text::Header::of(original);
        let lines = super::lines::Lines::of(original);
        let shown = |edit: Edit| {
            let (line, column) = lines.row(edit.range.start());
            Insertion { line, column, insert: edit.text }
        };
        let suggestion = |at: &usize| {
            let (place, one) = (&places[*at], &found[at]);
            let (line, column) = lines.row(place.range.start());
            let imports = one.annotation.imports.iter().flat_map(|import| header.import(import));
            Suggestion {
                name: place.name.clone(),
                container: place.container.clone(),
                kind: place.kind.name().to_owned(),
                line,
                column,
                shown: one.annotation.text.trim_matches('"').to_owned(),
                evidence: one.words.clone(),
                edit: shown(insertion(place, &one.annotation)),
                imports: imports.chain(spacing(place)).map(shown).collect(),
            }
        };
        let qualified = |place: &Place| match &place.container {
            Some(container) => format!("{container}.{}", place.name),
            None => place.name.clone(),
        };
        let is_left = |at: &usize, place: &Place| place.is_open && place.is_wanted && !kept.contains(at);
        let open = places.iter().enumerate().filter(|(at, place)| is_left(at, place));
        let skipped = open.map(|(at, place)| {
            let reason = match found.get(&at) {
                Some(one) => faulty(one),
                None => reasons.get(&at).cloned().unwrap_or_else(|| "there was no time left".to_owned()),
            };
            Skipped { name: qualified(place), kind: place.kind.name().to_owned(), reason }
        });
        Inferred { suggestions: kept.iter().map(suggestion).collect(), skipped: skipped.collect() }
    }
}

fn faulty(one: &Found) -> String {
    format!("`{}` would bring a new diagnostic", one.annotation.text)
}

/// As it stands in this file, whose Python may be too old for some of it.
fn written(
    db: &Database,
    model: &SemanticModel<'_>,
    annotation: &Annotation,
) -> std::result::Result<Annotation, String> {
    let Annotation { text, imports } = annotation.clone();
    let is_old = model.program().python_version(db) < ruff_python_ast::PythonVersion::PY310;
    let is_quoted = is_old && text.contains('|') && !annotation::has_future_annotations(db, model);
    Ok(Annotation { text: if is_quoted { format!("\"{text}\"") } else { text }, imports })
}

fn insertion(place: &Place, annotation: &Annotation) -> Edit {
    let text = match place.kind {
        Kind::Return => format!(" -> {}", annotation.text),
        // An annotated default has spaces around its sign.
        Kind::Parameter if place.tight_default.is_some() => format!(": {} ", annotation.text),
        _ => format!(": {}", annotation.text),
    };
    Edit { range: TextRange::empty(place.at), text }
}

/// The space after the sign of a default that had none.
fn spacing(place: &Place) -> Option<Edit> {
    let at = place.tight_default?;
    Some(Edit { range: TextRange::empty(at), text: " ".to_owned() })
}

fn tight_default(text: &str, slot: &Slot<'_>) -> Option<TextSize> {
    let Of::Parameter(_, slots::Parameter { default: Some(default), .. }) = &slot.of else { return None };
    let between = text.get(slot.at.to_usize()..default.start().to_usize())?;
    // A parenthesis around the default is part of what follows.
    let is_tight = between.starts_with('=') && !between[1..].starts_with(char::is_whitespace);
    is_tight.then(|| slot.at + TextSize::new(1))
}

/// Whether a class, which needs nothing annotated in it, has that name.
fn holds(db: &Database, file: File, symbol: &str) -> bool {
    let named = symbols::outline(db, db.program_file(file));
    let mut waiting: Vec<(String, &Outline)> = named.iter().map(|one| (one.name.clone(), one)).collect();
    while let Some((qualified, one)) = waiting.pop() {
        if qualified == symbol || one.name == symbol {
            return true;
        }
        waiting.extend(one.children.iter().map(|inner| (format!("{qualified}.{}", inner.name), inner)));
    }
    false
}

/// Whether a slot is the symbol, or of it, or in it.
fn is_within(slot: &Slot<'_>, symbol: &str) -> bool {
    let qualified = match &slot.container {
        Some(container) => format!("{container}.{}", slot.name),
        None => slot.name.clone(),
    };
    let is_at = |name: &str| name == symbol || name.strip_prefix(symbol).is_some_and(|rest| rest.starts_with('.'));
    is_at(&qualified) || slot.container.as_deref().is_some_and(is_at) || slot.name == symbol
}
