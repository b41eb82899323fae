//! `infer_types`: annotations that could be added to a file.
//!
//! Owns the search for them. It runs in a scratch engine: inferred annotations are written into the text, and the rest
//! is inferred again until nothing more is found, so a return type propagates through calls. Imported files are
//! annotated in the scratch engine too, and restored before the result is verified. Evidence of high confidence is built upon first, so
//! what follows from less is not reported as certain. The suggestions for one file are verified together, with their imports
//! (`verification`); those for many files while they are found (`project`).

mod annotation;
mod blame;
mod calls;
mod constructors;
mod docstring;
mod evidence;
mod flow;
mod guess;
mod handed_on;
mod header;
mod importing;
mod namesakes;
mod never;
mod overridden;
mod parameters;
mod project;
mod shape;
mod slots;
mod values;
mod verification;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::annotation::Annotation;
use self::header::Header;
use self::overridden::Below;
pub(super) use self::project::infer_all;
use self::shape::{Context, Evidence, Shape};
use self::slots::{FunctionContext, Kind, Slot, SlotSource};
use self::values::Receivers;
use self::verification::Findings;
use super::checker_panics::caught;
use super::db::Database;
use super::display::PathDisplay;
use super::edits::{self, Edit};
use super::imports;
use super::on_disk;
use super::require_readable;
use super::symbols;
use super::trial::Trial;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::pytypes::ty::api::{
    File, SemanticDb as _, SemanticModel, SourceText, TextRange, TextSize, UnionType, parsed_module, source_text,
};
use crate::pytypes::values::{Confidence, Inferred, Insertion, Outline, Skipped, Suggestion};
use crate::wording::{Argument, Tool, Wording};

/// A slot: the number of its file, and its own.
type Key = (usize, usize);

/// How often inferred annotations are built upon; a chain of calls is rarely longer.
const MAX_ROUNDS: usize = 5;

/// An inferred annotation.
#[derive(Clone, Debug)]
struct Inference {
    annotation: Annotation,
    explanation: String,
    confidence: Confidence,
}

/// An inference for each slot, or the reason for none.
type Conclusions = Vec<(Key, std::result::Result<Inference, String>)>;

/// The state of a slot across the versions of the text. Offsets are those of the original.
struct SlotState {
    kind: Kind,
    name: String,
    container: Option<String>,
    range: TextRange,
    at: TextSize,
    body: TextRange,
    /// The start of a default that follows the name with only `=` between them.
    tight_default: Option<TextSize>,
    is_open: bool,
    /// The query asks for it; the other slots only help.
    is_wanted: bool,
}

/// A file being annotated.
struct FileState {
    file: File,
    path: String,
    original: SourceText,
    header: Header,
    states: Vec<SlotState>,
    found: BTreeMap<usize, Inference>,
    reasons: BTreeMap<usize, String>,
    /// Annotations that caused a new diagnostic. They are not tried again.
    rejected: BTreeMap<usize, String>,
    /// Whether calls of its functions are searched for.
    is_asked_for: bool,
}

/// The number of rounds in which imported files are annotated.
const HELPER_ROUNDS: usize = 3;

/// The maximum number of imported files, direct and transitive, that are annotated.
const MAX_HELPERS: usize = 12;

/// `is_over` is called at every step; setting `flag` cancels the checks in between.
pub(super) fn infer(
    root: &Path,
    path: &Path,
    symbol: Option<&str>,
    min_confidence: Confidence,
    is_over: &dyn Fn() -> bool,
    flag: Arc<AtomicBool>,
) -> Result<Inferred> {
    let mut trial = Trial::open(root, flag)?;
    trial.check_named(path)?;
    let file = on_disk(trial.db(), path).ok_or_else(|| {
        Error::invalid_path("the file no longer exists").hint((Tool("list_files"), " lists the files."))
    })?;
    require_readable(trial.db(), file, &PathDisplay { root: root.to_owned() })?;
    let original = source_text(trial.db(), file);
    if original.is_notebook() {
        return Err(
            Error::invalid_argument((Argument("file"), ": notebooks cannot be annotated")).hint("Name a .py file.")
        );
    }
    if has_syntax_errors(trial.db(), file) {
        return Ok(Inferred { skipped: vec![left_out(None, SYNTAX_ERRORS)], ..Inferred::default() });
    }
    let own = FileState::new(trial.db(), file, symbol, true);
    if let Some(symbol) = symbol
        && !own.states.iter().any(|state| state.is_wanted)
        && !has_symbol(trial.db(), file, symbol)
    {
        let name = printable(symbol);
        return Err(Error::not_found(format!("no class, function or variable `{name}` in this file"))
            .hint(Wording::from("Name it as Class.method.").then((Tool("symbols"), " lists them."))));
    }
    let mut work = InferenceRun { trial, checked: Vec::new(), near: 0, is_over, searched: RefCell::default() };
    work.run(own, min_confidence)
}

/// Why nothing is inferred for a slot.
const CHECKER_PANICKED: &str = "the type checker panicked here";

/// Why a file is left out: edits of it cannot be checked.
const SYNTAX_ERRORS: &str = "it has syntax errors";

fn has_syntax_errors(db: &Database, file: File) -> bool {
    !parsed_module(db, db.program_file(file).python_file(db)).load(db).errors().is_empty()
}

/// A file that is not annotated; `file` is its path if several are.
fn left_out(file: Option<String>, reason: &str) -> Skipped {
    Skipped { file, name: String::new(), kind: "file".to_owned(), reason: reason.to_owned() }
}

impl FileState {
    fn new(db: &Database, file: File, symbol: Option<&str>, is_asked_for: bool) -> Self {
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let text = source_text(db, file);
        let state = |slot: Slot<'_>| SlotState {
            is_open: !slot.is_annotated,
            is_wanted: symbol.is_none_or(|symbol| slots::is_within(&slot, symbol)),
            tight_default: slots::tight_default(&text, &slot),
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
            header: Header::parse(&text),
            original: text.clone(),
            states: slots::find(parsed.suite()).into_iter().map(state).collect(),
            found: BTreeMap::new(),
            reasons: BTreeMap::new(),
            rejected: BTreeMap::new(),
            is_asked_for,
        }
    }

    /// The edits for these annotations, with the imports they need.
    fn edits(&self, chosen: impl IntoIterator<Item = usize>) -> Vec<Edit> {
        self.edits_of(chosen.into_iter().map(|at| (at, &self.found[&at])))
    }

    fn edits_of<'i>(&self, chosen: impl Iterator<Item = (usize, &'i Inference)>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (at, one) in chosen {
            let state = &self.states[at];
            edits.push(insertion(state, &one.annotation));
            edits.extend(spacing(state));
            edits.extend(one.annotation.imports.iter().flat_map(|import| self.header.import(import)));
        }
        edits::sort_and_dedup(&mut edits);
        edits
    }

    /// Removes an annotation, for a reason; `None`: it would cause new diagnostics.
    fn drop_annotation(&mut self, at: usize, reason: Option<String>) {
        let Some(one) = self.found.remove(&at) else { return };
        self.reasons.insert(at, reason.unwrap_or_else(|| rejection(&one)));
    }

    /// The path, and the text with all annotations that were found.
    fn annotated(&self) -> (String, String) {
        self.with(&self.edits(self.found.keys().copied()))
    }

    fn with(&self, edits: &[Edit]) -> (String, String) {
        (self.path.clone(), edits::apply(&self.original, edits))
    }
}

struct InferenceRun<'w> {
    trial: Trial,
    /// The file, and the project files that an annotation in it may affect, nearest first.
    checked: Vec<String>,
    /// How many of them name the file's module or one of its top-level names.
    near: usize,
    is_over: &'w dyn Fn() -> bool,
    /// Where calls were searched for the last time.
    searched: RefCell<Option<calls::Searched>>,
}

impl InferenceRun<'_> {
    fn run(&mut self, own: FileState, min_confidence: Confidence) -> Result<Inferred> {
        let (near, far) = self.dependents_of(&own);
        self.near = near.len() + 1;
        self.checked = std::iter::once(own.path.clone()).chain(near).chain(far).collect();
        let before = self.trial.findings(&self.checked, &|| {});
        let helpers = self.helpers_of(&own);
        let mut texts: Vec<FileState> = std::iter::once(own).chain(helpers).collect();
        for level in [Confidence::High, Confidence::Medium, Confidence::Low] {
            if level >= min_confidence {
                self.build(&mut texts, level);
            }
        }
        let mut own = texts.swap_remove(0);
        let kept = self.verified(&own, &texts, own.found.keys().copied().collect(), &before)?;
        let kept = self.supported(&mut own, &texts, kept, &before)?;
        let wanted: Vec<usize> = kept.iter().copied().filter(|at| own.states[*at].is_wanted).collect();
        let kept = if wanted.len() < kept.len() { self.verified(&own, &texts, wanted, &before)? } else { kept };
        Ok(self.answer(&own, &kept))
    }

    /// Infers annotations from evidence of at least this confidence until nothing more follows.
    fn build(&mut self, texts: &mut [FileState], level: Confidence) {
        for round in 0..MAX_ROUNDS {
            // Propagation through more files is rare, and every round costs time for each file.
            let helped = if round < HELPER_ROUNDS { texts.len() } else { 1 };
            let texts = &mut texts[..helped];
            let mut more = self.round(texts, level);
            if (self.is_over)() {
                return;
            }
            if more.is_empty() {
                // Nothing more follows directly.
                more = self.guess(texts, level);
            }
            if more.is_empty() && level <= Confidence::Medium {
                more = self.namesakes(texts);
            }
            if more.is_empty() {
                return;
            }
            let changed: BTreeSet<usize> = more.keys().map(|(file, _)| *file).collect();
            for ((file, slot), one) in more {
                texts[file].found.insert(slot, one);
            }
            self.trial.set(changed.into_iter().map(|file| texts[file].annotated()).collect());
        }
    }

    /// The annotations that are valid together, those that still follow from the rest. One that was inferred from a
    /// dropped annotation is dropped too.
    fn supported(
        &mut self,
        own: &mut FileState,
        helpers: &[FileState],
        mut kept: Vec<usize>,
        before: &Findings,
    ) -> Result<Vec<usize>> {
        while kept.len() < own.found.len() && !(self.is_over)() {
            let all = helpers.iter().map(FileState::annotated);
            self.trial.set(all.chain([own.with(&own.edits(kept.iter().copied()))]).collect());
            let inferred = self.infer_slots(std::slice::from_ref(own), |(_, at), _| kept.contains(&at));
            for at in own.found.keys().copied().filter(|at| !kept.contains(at)).collect::<Vec<_>>() {
                own.drop_annotation(at, None);
            }
            for ((_, at), inferred) in inferred {
                match inferred {
                    Ok(one) if one.annotation.is_within(&own.found[&at].annotation) => {}
                    Ok(_) => own.drop_annotation(at, Some("its evidence was rejected".to_owned())),
                    Err(reason) => own.drop_annotation(at, Some(reason)),
                }
            }
            if own.found.len() < kept.len() {
                kept = self.verified(own, helpers, own.found.keys().copied().collect(), before)?;
            }
        }
        Ok(kept)
    }

    /// Files of the project that this one imports, nearest first.
    fn helpers_of(&self, own: &FileState) -> Vec<FileState> {
        let db = self.trial.db();
        let helpers = imports::transitive(db, own.file, MAX_HELPERS).into_iter();
        let helpers = helpers.filter(|file| !source_text(db, *file).is_notebook());
        helpers.map(|file| FileState::new(db, file, None, false)).collect()
    }

    /// Infers annotations that were not found before from the current state of the texts.
    fn round(&self, texts: &mut [FileState], level: Confidence) -> BTreeMap<Key, Inference> {
        Self::of_level(texts, self.infer_open(texts), level)
    }

    /// Infers the slots that lack an annotation from the current state of the texts.
    fn infer_open(&self, texts: &[FileState]) -> Conclusions {
        self.infer_slots(texts, |(file, at), state| state.is_open && !texts[file].found.contains_key(&at))
    }

    /// The annotations with this confidence. The others are noted with the reason.
    fn of_level(texts: &mut [FileState], concluded: Conclusions, level: Confidence) -> BTreeMap<Key, Inference> {
        let mut more = BTreeMap::new();
        for (key, inferred) in concluded {
            let text = &mut texts[key.0];
            match inferred {
                Ok(one) if text.rejected.get(&key.1) == Some(&one.annotation.text) => {}
                Ok(one) if one.confidence >= level => drop(more.insert(key, Inference { confidence: level, ..one })),
                Ok(one) => {
                    let reason = format!("`{}` has a lower confidence than requested", one.annotation.text);
                    text.reasons.insert(key.1, reason);
                }
                Err(reason) => drop(text.reasons.insert(key.1, reason)),
            }
        }
        more
    }

    /// Infers the annotations of slots from the current state of the texts.
    fn infer_slots(&self, texts: &[FileState], is_asked: impl Fn(Key, &SlotState) -> bool) -> Conclusions {
        let db = self.trial.db();
        let asks = |file: usize, of: &dyn Fn(&SlotState) -> bool| {
            let mut states = texts[file].states.iter().enumerate();
            states.any(|(at, state)| is_asked((file, at), state) && of(state))
        };
        // A call of a method is evidence for those that override it, in whichever file.
        let asks_calls = (0..texts.len()).any(|file| asks(file, &|state| state.kind == Kind::Parameter));
        let files: Vec<_> = (0..texts.len())
            .filter(|file| asks(*file, &|_| true) || (asks_calls && texts[*file].is_asked_for))
            .map(|file| {
                let program_file = db.program_file(texts[file].file);
                let parsed = parsed_module(db, program_file.python_file(db)).load(db);
                (file, SemanticModel::new(db, program_file), parsed)
            })
            .collect();
        let slots: Vec<_> = files.iter().map(|(_, _, parsed)| slots::find(parsed.suite())).collect();
        let (mut functions, mut classes) = (Vec::new(), HashMap::new());
        for ((file, model, _), slots) in files.iter().zip(&slots) {
            let text = &texts[*file];
            if text.is_asked_for {
                if asks_calls {
                    functions.extend(calls::open_functions(model, slots, &text.states));
                }
                let open = open_classes(slots, &text.states).into_iter();
                classes.extend(open.map(|(class, range)| ((text.file, range), (text.file, class))));
            }
        }
        let calls = calls::find(db, &functions, &mut self.searched.borrow_mut());
        let context = Context { calls, below: Below::find(db, &classes) };
        let mut all = Vec::new();
        for ((file, model, _), slots) in files.iter().zip(&slots) {
            for (at, (slot, state)) in slots.iter().zip(&texts[*file].states).enumerate() {
                let key = (*file, at);
                if !is_asked(key, state) || (self.is_over)() {
                    continue;
                }
                let infer = || {
                    let evidence = evidence::of_slot(db, model, slot, &context)?;
                    self.inference(db, model, evidence, slot, &context.calls.receivers)
                };
                all.push((key, concluded(infer)));
            }
        }
        all
    }

    fn inference<'db>(
        &self,
        db: &'db Database,
        model: &SemanticModel<'db>,
        evidence: Evidence<'db>,
        slot: &Slot<'_>,
        receivers: &Receivers<'db>,
    ) -> std::result::Result<Inference, String> {
        let of = |inferred| annotation::of_type(db, model, inferred, slot.at, receivers);
        let mut confidence = evidence.confidence;
        let annotation = match evidence.inferred {
            Shape::Plain(inferred) => of(inferred)?,
            Shape::Returned(inferred) => {
                let annotation = of(inferred)?;
                // A variable with contents is often declared with an abstract class or an alias.
                let is_guess = slot.kind == Kind::Variable && annotation.is_generic();
                if is_guess || annotation.is_union_of_values() || annotation.is_private() {
                    confidence = Confidence::Low;
                } else if annotation.is_generic() {
                    // Authors often declare other elements than the code shows.
                    confidence = confidence.min(Confidence::Medium);
                }
                annotation
            }
            Shape::Passed(inferred, tested) => {
                let annotation = of(inferred)?;
                if annotation.is_narrow() || tested.accepts_more_than(&annotation) {
                    confidence = Confidence::Low;
                }
                annotation
            }
            Shape::Default(inferred, tested) => {
                let annotation = of(inferred)?;
                if tested.accepts_more_than(&annotation) {
                    confidence = Confidence::Low;
                }
                annotation
            }
            Shape::PassedOr(inferred, default) => {
                if of(inferred)?.is_narrow() {
                    confidence = Confidence::Low;
                }
                of(UnionType::from_elements(db, &model.program_environment(), [inferred, default]))?
            }
            Shape::Yields(inferred, generated) => {
                let yielded = of(inferred)?;
                if yielded.is_union_of_values() {
                    confidence = Confidence::Low;
                }
                generated.annotation(yielded)
            }
            Shape::YieldsFrom(inferred, generated) => {
                let element = of(inferred)?.element().ok_or("what it delegates to has unknown elements")?;
                generated.annotation(element)
            }
            Shape::Filled(container, inner) => {
                let inner = inner.into_iter().map(of).collect::<std::result::Result<Vec<_>, _>>()?;
                Annotation::generic(container, None, inner)
            }
            Shape::Written(annotation) => annotation,
            Shape::Receiver => annotation::of_receiver(db, model, slot.at)?,
        };
        // A call that passes `None` says nothing about what other calls pass.
        if slot.kind == Kind::Parameter && annotation.text == "None" {
            confidence = Confidence::Low;
        }
        let annotation = annotation::for_version(db, model, annotation);
        Ok(Inference { annotation, explanation: evidence.explanation, confidence })
    }

    fn answer(&self, own: &FileState, kept: &[usize]) -> Inferred {
        let FileState { states, found, reasons, original, header, .. } = own;
        let lines = super::lines::Lines::new(original);
        let convert = |edit: Edit| {
            let (line, column) = lines.row(edit.range.start());
            Insertion { line, column, insert: edit.text }
        };
        let suggestion = |at: &usize| {
            let (state, one) = (&states[*at], &found[at]);
            let (line, column) = lines.row(state.range.start());
            let imports = one.annotation.imports.iter().flat_map(|import| header.import(import));
            Suggestion {
                file: None,
                name: state.name.clone(),
                container: state.container.clone(),
                kind: state.kind.name().to_owned(),
                line,
                column,
                display: one.annotation.text.trim_matches('"').to_owned(),
                evidence: one.explanation.clone(),
                confidence: one.confidence,
                edit: convert(insertion(state, &one.annotation)),
                imports: imports.chain(spacing(state)).map(convert).collect(),
            }
        };
        let qualified = |state: &SlotState| match &state.container {
            Some(container) => format!("{container}.{}", state.name),
            None => state.name.clone(),
        };
        let is_left = |at: &usize, state: &SlotState| state.is_open && state.is_wanted && !kept.contains(at);
        let open = states.iter().enumerate().filter(|(at, state)| is_left(at, state));
        let skipped = open.map(|(at, state)| {
            let reason = match found.get(&at) {
                Some(one) => rejection(one),
                None => reasons.get(&at).cloned().unwrap_or_else(|| "the time ran out".to_owned()),
            };
            Skipped { file: None, name: qualified(state), kind: state.kind.name().to_owned(), reason }
        });
        Inferred {
            suggestions: kept.iter().map(suggestion).collect(),
            skipped: skipped.collect(),
            panicked: self.trial.panicked(),
        }
    }
}

/// Returns the conclusion of `infer`; an error if the checker panics.
fn concluded(infer: impl FnOnce() -> std::result::Result<Inference, String>) -> std::result::Result<Inference, String> {
    caught(infer).unwrap_or_else(|_| Err(CHECKER_PANICKED.to_owned()))
}

/// The classes with methods that lack annotations, by qualified name, with the range of their name.
fn open_classes(slots: &[Slot<'_>], states: &[SlotState]) -> BTreeMap<String, TextRange> {
    let open = slots.iter().zip(states).filter(|(_, state)| state.is_open);
    let method = |slot: &Slot<'_>| match &slot.of {
        SlotSource::Function(_, context) if context.in_class => slot.container.clone(),
        SlotSource::Parameter(..) => Some(slot.container.as_deref()?.rsplit_once('.')?.0.to_owned()),
        _ => None,
    };
    let wanted: HashSet<String> = open.filter_map(|(slot, _)| method(slot)).collect();
    let mut classes = BTreeMap::new();
    for slot in slots {
        if let SlotSource::Function(_, FunctionContext { class: Some(class), .. }) = &slot.of
            && let Some(container) = slot.container.as_ref().filter(|container| wanted.contains(*container))
        {
            classes.insert(container.clone(), *class);
        }
    }
    classes
}

fn rejection(one: &Inference) -> String {
    format!("`{}` would cause a new diagnostic", one.annotation.text)
}

fn insertion(state: &SlotState, annotation: &Annotation) -> Edit {
    let text = match state.kind {
        Kind::Return => format!(" -> {}", annotation.text),
        // An annotated default has spaces around the equals sign.
        Kind::Parameter if state.tight_default.is_some() => format!(": {} ", annotation.text),
        _ => format!(": {}", annotation.text),
    };
    Edit { range: TextRange::empty(state.at), text }
}

/// The space after the equals sign of a default without spaces.
fn spacing(state: &SlotState) -> Option<Edit> {
    let at = state.tight_default?;
    Some(Edit { range: TextRange::empty(at), text: " ".to_owned() })
}

/// Whether the file has a symbol of that name that needs no annotation, such as a class.
fn has_symbol(db: &Database, file: File, symbol: &str) -> bool {
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
