//! Checking: every diagnostic of a file or of the whole project.
//!
//! Owns the memoised check of one file, which turns a panic of the checker into a diagnostic of that file, and the
//! parallel check of many.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ruff_db::diagnostic::{
    Annotation, Diagnostic as Found, DiagnosticFormat, DiagnosticId, DisplayDiagnosticConfig,
    Severity as FoundSeverity, Span as FoundSpan, SubDiagnosticSeverity,
};
use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ruff_text_size::{TextRange, TextSize};
use ty_python_core::ProgramFile;
use ty_python_semantic::Db as _;

use super::db::{Database, Db, script};
use super::depth::too_deep;
use super::lines::Lines;
use super::shown::Shown;
use crate::locked::locked;
use crate::pytypes::engine::Witness;
use crate::pytypes::values::{Checked, Diagnostic, Note, Severity, Span};

/// What is told of a diagnostic beside its place and message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Also {
    /// As the checker itself would print it.
    pub rendered: bool,
    pub notes: bool,
}

/// So many files are checked until the trees of those before are let go once more.
const SWEEP: usize = 256;

pub(super) const TOO_DEEP: &str = "Too many nested brackets: Python takes 200";

/// What the checker says of one file. Remembered until something changes that it depends on.
#[salsa::tracked(returns(deref))]
pub(super) fn diagnostics(db: &dyn Db, file: ProgramFile<'_>) -> Box<[Found]> {
    let source = file.file(db);
    if let Some(at) = too_deep(&source_text(db, source)) {
        let at = TextRange::empty(TextSize::try_from(at).unwrap_or_default());
        let mut found = Found::new(DiagnosticId::InvalidSyntax, FoundSeverity::Error, TOO_DEEP);
        found.annotate(Annotation::primary(FoundSpan::from(source).with_range(at)));
        return Box::new([found]);
    }
    let work = AssertUnwindSafe(|| ty_python_semantic::check_file(db, file));
    match ruff_db::panic::catch_unwind(work) {
        Ok(Ok(found)) => found,
        Ok(Err(unreadable)) => Box::new([unreadable]),
        Err(panic) => {
            if panic.payload.downcast_ref::<salsa::Cancelled>().is_some_and(|c| !is_propagated(c)) {
                panic.resume_unwind();
            }
            // It may go well the next time.
            db.report_untracked_read();
            let message = panic.to_diagnostic_message(Some(source.path(db)));
            let mut found = Found::new(DiagnosticId::Panic, FoundSeverity::Fatal, message);
            found.annotate(Annotation::primary(FoundSpan::from(source)));
            Box::new([found])
        }
    }
}

/// The unwinding comes from another thread's panic, not from being cancelled.
fn is_propagated(cancelled: &salsa::Cancelled) -> bool {
    matches!(cancelled, salsa::Cancelled::PropagatedPanic)
}

/// Checks these files on all cores. `witness` is told of each. `stays`: the engine goes on to other questions, so that what
/// it keeps counts.
pub(super) fn all(
    db: &Database,
    files: &[File],
    shown: &Shown,
    also: Also,
    stays: bool,
    witness: &dyn Witness,
) -> Checked {
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let total = files.len();
    let mut found: Vec<Diagnostic> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| {
            if db.is_over() {
                return Vec::new();
            }
            let path = shown.path(db, *file);
            witness.begins(&path);
            let found = salsa::attach_allow_change(&*db, || {
                let file_of = db.program_file(*file);
                let mut found = told(db, *file, diagnostics(db, file_of), shown, also);
                found.extend(of_settings(db, *file, shown));
                let number = {
                    let mut done = locked(&done);
                    done.push(*file);
                    done.len()
                };
                drop_tree(db, *file);
                if stays && (number.is_multiple_of(SWEEP) || number == total) {
                    let done = locked(&done).clone();
                    done.into_iter().for_each(|file| drop_tree(db, file));
                }
                witness.advanced(number, total);
                found
            });
            witness.ends();
            found
        })
        .flatten_iter()
        .collect();
    sort(&mut found);
    Checked { diagnostics: found, files: total, ..Checked::default() }
}

/// Lets a file's tree go, which is made anew should anybody ask. Most are asked for once, and then by files that use them.
pub(super) fn drop_tree(db: &Database, file: File) {
    parsed_module(db, db.program_file(file).python_file(db)).clear();
}

/// What a script's own settings have that is not taken.
pub(super) fn of_settings(db: &Database, file: File, shown: &Shown) -> Vec<Diagnostic> {
    let Some(script) = script(db, file) else { return Vec::new() };
    let text = source_text(db, file);
    let before = text.lines().position(|line| line.trim_end() == SCRIPT_BEGINS).unwrap_or_default();
    let before = u32::try_from(before + 1).unwrap_or_default();
    let mut found = script.settings.problems.clone();
    for one in &mut found {
        let Span { line, column, end_line, end_column, .. } = one.span;
        // The block's lines stand behind a sign and a space.
        one.span = Span {
            file: shown.path(db, file),
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

/// The line above a script's own settings.
const SCRIPT_BEGINS: &str = "# /// script";

/// By file, then by place: the order of every answer.
pub(super) fn sort(found: &mut [Diagnostic]) {
    found.sort_by(|a, b| (&a.span, &a.code, &a.message).cmp(&(&b.span, &b.code, &b.message)));
}

/// The checker's own diagnostics as plain values.
pub(super) fn told(db: &Database, file: File, found: &[Found], shown: &Shown, also: Also) -> Vec<Diagnostic> {
    let config = DisplayDiagnosticConfig::new("ty").format(DiagnosticFormat::Full);
    let resolver: &dyn ruff_db::Db = db;
    let as_printed = |one: &Found| also.rendered.then(|| one.display(&resolver, &config).to_string());
    // All of them are of this file; its lines are counted once.
    let text = source_text(db, file);
    let lines = Lines::of_source(&text);
    found
        .iter()
        .map(|one| Diagnostic {
            // One of the whole file, such as that it cannot be read, stands at its beginning.
            span: lines.span(shown.path(db, file), one.range().unwrap_or_default()),
            severity: severity(one.severity()),
            code: one.id().as_str().to_owned(),
            message: one.concise_message().to_string(),
            rendered: as_printed(one),
            notes: if also.notes { notes(db, one, shown) } else { Vec::new() },
        })
        .collect()
}

/// What is noted beside a diagnostic, in the order in which the checker itself prints it on one line.
fn notes(db: &Database, found: &Found, shown: &Shown) -> Vec<Note> {
    let place = |annotation: &Annotation| {
        let span = annotation.get_span();
        let (file, range) = (span.expect_ty_file(), span.range()?);
        shown.offer(db, file);
        Some(Lines::of_source(&source_text(db, file)).span(shown.path(db, file), range))
    };
    let said = |annotation: &Annotation| {
        let message = annotation.get_message()?.to_owned();
        Some(Note { span: Some(place(annotation)?), kind: None, message })
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
        notes.push(Note { span: one.primary_annotation().and_then(place), kind: Some(kind.to_owned()), message });
        notes.extend(one.secondary_annotations().filter_map(said));
    }
    notes
}

const fn severity(severity: FoundSeverity) -> Severity {
    match severity {
        FoundSeverity::Info => Severity::Info,
        FoundSeverity::Warning => Severity::Warning,
        FoundSeverity::Error => Severity::Error,
        FoundSeverity::Fatal => Severity::Fatal,
    }
}
