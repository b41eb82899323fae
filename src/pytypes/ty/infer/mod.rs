//! `infer_types`: annotations that a file could have.
//!
//! Owns the search for them. It happens in a trial of its own, where found annotations are written into the text and
//! the rest is asked anew, until nothing more is found: so a return type travels across calls. What is offered at the end
//! has been checked together, edits and imports in place: neither the file nor those that use it have a diagnostic that they
//! had not before.

mod annotation;
mod evidence;
mod flow;
mod slots;
mod text;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::{SourceText, source_text};
use ruff_text_size::{TextRange, TextSize};
use ty_python_semantic::{Db as _, HasDefinition, SemanticModel, contains_identifier};

use self::annotation::{Annotation, Import};
use self::evidence::Shape;
use self::slots::{Kind, Of, Slot};
use super::db::{Database, Db as _};
use super::edits::{self, Edit};
use super::on_disk;
use super::shown::module_name;
use super::trial::{self, Finding, Trial};
use crate::error::{Error, Result};
use crate::pytypes::values::{Inferred, Insertion, Skipped, Suggestion};

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
    is_open: bool,
}

/// Diagnostics by file.
type Findings = HashMap<String, Vec<Finding>>;

/// Files that use what is annotated and are checked with it; what they get from afar is not looked at.
const MOST_USERS: usize = 60;

pub(super) fn infer(root: &Path, path: &Path, symbol: Option<&str>, is_over: &dyn Fn() -> bool) -> Result<Inferred> {
    let trial = Trial::open(root)?;
    let file = on_disk(trial.db(), path)
        .ok_or_else(|| Error::invalid_path("the file is not there any more").hint("Use list_files."))?;
    let original = source_text(trial.db(), file);
    if original.is_notebook() {
        return Err(Error::invalid_argument("argument `file`: notebooks cannot be annotated").hint("Name a .py file."));
    }
    let path = file.path(trial.db()).as_str().to_owned();
    let mut work = Work { trial, file, path, original, checked: Vec::new(), is_over };
    work.run(symbol)
}

struct Work<'w> {
    trial: Trial,
    file: File,
    path: String,
    original: SourceText,
    /// The file, and those of the project that may notice an annotation in it.
    checked: Vec<String>,
    is_over: &'w dyn Fn() -> bool,
}

impl Work<'_> {
    fn run(&mut self, symbol: Option<&str>) -> Result<Inferred> {
        let places = self.places(symbol);
        self.checked = std::iter::once(self.path.clone()).chain(self.users_of(&places)).collect();
        let before = self.trial.findings(&self.checked);
        let mut found: BTreeMap<usize, Found> = BTreeMap::new();
        let mut reasons: BTreeMap<usize, String> = BTreeMap::new();
        for _ in 0..ROUNDS {
            if (self.is_over)() {
                break;
            }
            let more = self.round(&places, &found, &mut reasons);
            if more.is_empty() {
                break;
            }
            found.extend(more);
            self.write(&self.edits(&places, &found, &found.keys().copied().collect::<Vec<_>>()));
        }
        let kept = self.verified(&places, &found, &before)?;
        Ok(self.answer(&places, &found, &kept, &reasons))
    }

    fn places(&self, symbol: Option<&str>) -> Vec<Place> {
        let db = self.trial.db();
        let program_file = db.program_file(self.file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let wanted = |slot: &Slot| symbol.is_none_or(|symbol| is_within(slot, symbol));
        slots::find(parsed.suite())
            .into_iter()
            .map(|slot| Place {
                is_open: !slot.is_annotated && wanted(&slot),
                kind: slot.kind,
                name: slot.name,
                container: slot.container,
                range: slot.range,
                at: slot.at,
                body: slot.body,
            })
            .collect()
    }

    /// Files that name something of this one's top, those that name its module first.
    fn users_of(&self, places: &[Place]) -> Vec<String> {
        let db = self.trial.db();
        let top = |place: &Place| {
            let container =
                place.container.as_deref().map(|container| container.split('.').next().unwrap_or(container));
            container.unwrap_or(&place.name).to_owned()
        };
        let names: HashSet<String> = places.iter().filter(|place| place.kind != Kind::Parameter).map(top).collect();
        let module = module_name(self.file.path(db).as_str());
        let mut users: Vec<(bool, String)> = Vec::new();
        for file in db.project().files(db).iter().filter(|file| **file != self.file) {
            let text = source_text(db, *file);
            let names_module = contains_identifier(&text, &module);
            if names_module || names.iter().any(|name| contains_identifier(&text, name)) {
                users.push((!names_module, file.path(db).as_str().to_owned()));
            }
        }
        users.sort();
        users.into_iter().take(MOST_USERS).map(|(_, path)| path).collect()
    }

    /// What can be said in the present state of the text, of what was not said before.
    fn round(
        &self,
        places: &[Place],
        found: &BTreeMap<usize, Found>,
        reasons: &mut BTreeMap<usize, String>,
    ) -> Vec<(usize, Found)> {
        let db = self.trial.db();
        let program_file = db.program_file(self.file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let slots = slots::find(parsed.suite());
        let functions: Vec<_> = slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| match &slot.of {
                Of::Function(function, place) => {
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
        let calls = evidence::calls(db, self.file, &functions);
        let mut more = Vec::new();
        for (at, (slot, place)) in slots.iter().zip(places).enumerate() {
            if !place.is_open || found.contains_key(&at) || (self.is_over)() {
                continue;
            }
            let told = evidence::of_slot(db, &model, slot, &calls).and_then(|evidence| {
                let annotation = self.annotation(db, &model, &evidence.inferred, slot)?;
                Ok(Found { annotation, words: evidence.words })
            });
            match told {
                Ok(one) => more.push((at, one)),
                Err(reason) => drop(reasons.insert(at, reason)),
            }
        }
        more
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
            Shape::Receiver => {
                if model.program().python_version(db) < ruff_python_ast::PythonVersion::PY311 {
                    return Err("`Self` needs Python 3.11".to_owned());
                }
                Ok(outer("Self", "typing", None))
            }
        }
    }

    /// The edits of these annotations, with the imports that they need.
    fn edits(&self, places: &[Place], found: &BTreeMap<usize, Found>, chosen: &[usize]) -> Vec<Edit> {
        let header = text::Header::of(&self.original);
        let mut edits = Vec::new();
        for at in chosen {
            let (place, one) = (&places[*at], &found[at]);
            edits.push(insertion(place, &one.annotation));
            edits.extend(one.annotation.imports.iter().flat_map(|import| header.import(import)));
        }
        edits::unite(&mut edits);
        edits
    }

    fn write(&mut self, edits: &[Edit]) {
        self.trial.set(vec![(self.path.clone(), edits::apply(&self.original, edits))]);
    }

    /// The annotations that can stand together: what brings a new diagnostic is left out.
    fn verified(&mut self, places: &[Place], found: &BTreeMap<usize, Found>, before: &Findings) -> Result<Vec<usize>> {
        let mut kept: Vec<usize> = found.keys().copied().collect();
        // Most faults show in the function that got the annotation.
        for _ in 0..ROUNDS {
            let new = self.new_faults(places, found, &kept, before);
            if new.is_empty() {
                return Ok(kept);
            }
            let is_near = |at: &usize| new.iter().flatten().any(|fault| places[*at].body.contains_inclusive(*fault));
            let fewer: Vec<usize> = kept.iter().copied().filter(|at| !is_near(at)).collect();
            if fewer.len() == kept.len() || (self.is_over)() {
                break;
            }
            // Those near a fault get another chance one by one, below.
            kept = fewer;
        }
        let near: Vec<usize> = found.keys().copied().filter(|at| !kept.contains(at)).collect();
        let (mut sound, rest) = if self.new_faults(places, found, &kept, before).is_empty() {
            (kept, near)
        } else {
            (Vec::new(), found.keys().copied().collect())
        };
        self.add_sound(places, found, before, &mut sound, &rest)?;
        sound.sort_unstable();
        Ok(sound)
    }

    /// Adds of `rest` what brings no new diagnostic: all at once where it can be, else by halves.
    fn add_sound(
        &mut self,
        places: &[Place],
        found: &BTreeMap<usize, Found>,
        before: &Findings,
        sound: &mut Vec<usize>,
        rest: &[usize],
    ) -> Result<()> {
        if rest.is_empty() || (self.is_over)() {
            return Ok(());
        }
        let together: Vec<usize> = sound.iter().chain(rest).copied().collect();
        if self.new_faults(places, found, &together, before).is_empty() {
            *sound = together;
            return Ok(());
        }
        if let [_] = rest {
            return Ok(());
        }
        let (first, second) = rest.split_at(rest.len() / 2);
        self.add_sound(places, found, before, sound, first)?;
        self.add_sound(places, found, before, sound, second)
    }

    /// What is found with these annotations that was not before: where in the original of this file, or in another.
    fn new_faults(
        &mut self,
        places: &[Place],
        found: &BTreeMap<usize, Found>,
        chosen: &[usize],
        before: &Findings,
    ) -> Vec<Option<TextSize>> {
        let edits = self.edits(places, found, chosen);
        self.write(&edits);
        let after = self.trial.findings(&self.checked);
        let mut new = Vec::new();
        for path in &self.checked {
            if *path == self.path {
                let added = trial::added(&before[path], &after[path], &self.original, &edits);
                new.extend(added.iter().map(|one| Some(edits::back(one.at, &edits))));
            } else if let Some(file) = on_disk(self.trial.db(), Path::new(path)) {
                let text = source_text(self.trial.db(), file);
                new.extend(trial::added(&before[path], &after[path], &text, &[]).iter().map(|_| None));
            }
        }
        new
    }

    fn answer(
        &self,
        places: &[Place],
        found: &BTreeMap<usize, Found>,
        kept: &[usize],
        reasons: &BTreeMap<usize, String>,
    ) -> Inferred {
        let header = text::Header::of(&self.original);
        let lines = super::lines::Lines::of(&self.original);
        let shown = |edit: Edit| {
            let (line, column) = lines.place(edit.range.start());
            Insertion { line, column, insert: edit.text }
        };
        let suggestion = |at: &usize| {
            let (place, one) = (&places[*at], &found[at]);
            let (line, column) = lines.place(place.range.start());
            Suggestion {
                name: place.name.clone(),
                container: place.container.clone(),
                kind: place.kind.name().to_owned(),
                line,
                column,
                shown: one.annotation.text.trim_matches('"').to_owned(),
                evidence: one.words.clone(),
                edit: shown(insertion(place, &one.annotation)),
                imports: one.annotation.imports.iter().flat_map(|import| header.import(import)).map(shown).collect(),
            }
        };
        let qualified = |place: &Place| match &place.container {
            Some(container) => format!("{container}.{}", place.name),
            None => place.name.clone(),
        };
        let open = places.iter().enumerate().filter(|(at, place)| place.is_open && !kept.contains(at));
        let skipped = open.map(|(at, place)| {
            let reason = match found.get(&at) {
                Some(one) => format!("`{}` would bring a new diagnostic", one.annotation.text),
                None => reasons.get(&at).cloned().unwrap_or_else(|| "there was no time left".to_owned()),
            };
            Skipped { name: qualified(place), kind: place.kind.name().to_owned(), reason }
        });
        Inferred { suggestions: kept.iter().map(suggestion).collect(), skipped: skipped.collect() }
    }
}

fn insertion(place: &Place, annotation: &Annotation) -> Edit {
    let text = match place.kind {
        Kind::Return => format!(" -> {}", annotation.text),
        _ => format!(": {}", annotation.text),
    };
    Edit { range: TextRange::empty(place.at), text }
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
