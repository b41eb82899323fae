//! Checking: the diagnostics of a file or of the whole project.
//!
//! Owns the parallel check of many files, and the form of diagnostics in answers. Does not own the check of one (`file_diagnostics`).

use std::sync::Mutex;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::api::{
    Annotation, Diagnostic as RuffDiagnostic, DisplayDiagnosticConfig, File, SemanticDb as _, Severity as RuffSeverity,
    SourceDb, SubDiagnosticSeverity, parsed_module, source_text,
};
use super::db::{Database, script};
use super::display::PathDisplay;
use super::file_diagnostics::diagnostics;
use super::lines::Lines;
use crate::locked::locked;
use crate::model::Span;
use crate::pytypes::engine::Observer;
use crate::pytypes::values::{Checked, Diagnostic, Note, Severity};

/// Optional parts of a diagnostic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extras {
    /// The diagnostic in the format in which the checker itself prints it.
    pub rendered: bool,
    pub notes: bool,
}

/// After this many files, the syntax trees of all files checked so far are dropped again.
const SWEEP_INTERVAL: usize = 256;

/// Checks these files on all cores and reports each to `observer`. `stays`: the engine will answer further queries, so
/// its memory use matters.
pub(super) fn all(
    db: &Database,
    files: &[File],
    display: &PathDisplay,
    extras: Extras,
    stays: bool,
    observer: &dyn Observer,
) -> Checked {
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let total = files.len();
    let mut found: Vec<Diagnostic> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| {
            if db.is_over() {
                return Vec::new();
            }
            let path = display.path(db, *file);
            observer.begins(&path);
            let found = salsa::attach_allow_change(&*db, || {
                let file_of = db.program_file(*file);
                let mut found = to_diagnostics(db, *file, diagnostics(db, file_of), display, extras);
                found.extend(script_problems(db, *file, display));
                let number = {
                    let mut done = locked(&done);
                    done.push(*file);
                    done.len()
                };
                drop_tree(db, *file);
                if stays && (number.is_multiple_of(SWEEP_INTERVAL) || number == total) {
                    let done = locked(&done).clone();
                    done.into_iter().for_each(|file| drop_tree(db, file));
                }
                observer.advanced(number, total);
                found
            });
            observer.ends();
            found
        })
        .flatten_iter()
        .collect();
    sort(&mut found);
    Checked { diagnostics: found, files: total, ..Checked::default() }
}

/// Drops the syntax tree of a file. It is parsed again on demand; most trees are needed twice: for the file itself, and
/// for the files that import it.
pub(super) fn drop_tree(db: &Database, file: File) {
    parsed_module(db, db.program_file(file).python_file(db)).clear();
}

/// The problems in a script's own settings.
pub(super) fn script_problems(db: &Database, file: File, display: &PathDisplay) -> Vec<Diagnostic> {
    let Some(script) = script(db, file) else { return Vec::new() };
    let text = source_text(db, file);
    let before = text.lines().position(|line| line.trim_end() == SCRIPT_START).unwrap_or_default();
    let before = u32::try_from(before + 1).unwrap_or_default();
    let mut found = script.settings.problems.clone();
    for one in &mut found {
        let Span { line, column, end_line, end_column, .. } = one.span;
        // Each line of the block starts with `# `.
        one.span = Span {
            file: display.path(db, file),
            cell: None,
            line: line + before,
            column: column + 2,
            end_line: end_line + before,
            end_column: end_column + 2,
        };
        "invalid-script-metadata".clone_into(&mut one.code);
    }
    found
}

/// The line before a script's own settings.
const SCRIPT_START: &str = "# /// script";

/// Sorts by file, then by position: the order of every answer.
pub(super) fn sort(found: &mut [Diagnostic]) {
    found.sort_by(|a, b| (&a.span, &a.code, &a.message).cmp(&(&b.span, &b.code, &b.message)));
}

/// Converts the checker's diagnostics to plain values.
pub(super) fn to_diagnostics(
    db: &Database,
    file: File,
    found: &[RuffDiagnostic],
    display: &PathDisplay,
    extras: Extras,
) -> Vec<Diagnostic> {
    let config = DisplayDiagnosticConfig::new("ty");
    let resolver: &dyn SourceDb = db;
    let as_printed = |one: &RuffDiagnostic| extras.rendered.then(|| one.display(&resolver, &config).to_string());
    // All diagnostics are of the same file; its lines are counted once.
    let text = source_text(db, file);
    let lines = Lines::from_source(&text);
    found
        .iter()
        .map(|one| Diagnostic {
            // A diagnostic of the whole file, such as a read error, has no range: it is reported at the start.
            span: lines.span(display.path(db, file), one.range().unwrap_or_default()),
            severity: severity(one.severity()),
            code: one.id().as_str().to_owned(),
            message: one.concise_message().to_string(),
            rendered: as_printed(one),
            notes: if extras.notes { notes(db, one, display) } else { Vec::new() },
        })
        .collect()
}

/// The notes of a diagnostic, in the order in which the checker prints them in its concise format.
fn notes(db: &Database, found: &RuffDiagnostic, display: &PathDisplay) -> Vec<Note> {
    let location = |annotation: &Annotation| {
        let span = annotation.get_span();
        let (file, range) = (span.expect_ty_file(), span.range()?);
        display.offer(db, file);
        Some(Lines::from_source(&source_text(db, file)).span(display.path(db, file), range))
    };
    let said = |annotation: &Annotation| {
        let message = annotation.get_message()?.to_owned();
        Some(Note { span: Some(location(annotation)?), kind: None, message })
    };
    let mut notes: Vec<Note> = found.secondary_annotations().filter_map(said).collect();
    for one in found.sub_diagnostics() {
        let kind = match one.severity() {
            SubDiagnosticSeverity::Help => "help",
            SubDiagnosticSeverity::Info => "info",
            SubDiagnosticSeverity::Warning => "warning",
            SubDiagnosticSeverity::Error | SubDiagnosticSeverity::Fatal => "error",
        };
        let message = one.concise_message().to_string();
        notes.push(Note { span: one.primary_annotation().and_then(location), kind: Some(kind.to_owned()), message });
        notes.extend(one.secondary_annotations().filter_map(said));
    }
    notes
}

const fn severity(severity: RuffSeverity) -> Severity {
    match severity {
        RuffSeverity::Hint | RuffSeverity::Info => Severity::Info,
        RuffSeverity::Warning => Severity::Warning,
        RuffSeverity::Error => Severity::Error,
        RuffSeverity::Fatal => Severity::Fatal,
    }
}
