//! Checking: every diagnostic of a file or of the whole project.
//!
//! Owns the memoised check of one file, which turns a panic of the checker into a diagnostic of that file, and the
//! parallel check of many.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ruff_db::diagnostic::{
    Annotation, Diagnostic as Found, DiagnosticFormat, DiagnosticId, DisplayDiagnosticConfig,
    Severity as FoundSeverity, Span as FoundSpan,
};
use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ty_python_core::ProgramFile;
use ty_python_semantic::Db as _;

use super::db::{Database, Db, script};
use super::lines::Lines;
use super::shown::Shown;
use crate::pytypes::engine::Witness;
use crate::pytypes::values::{Checked, Diagnostic, Severity, Span};

/// What the checker says of one file. Remembered until something changes that it depends on.
#[salsa::tracked(returns(deref))]
pub(super) fn diagnostics(db: &dyn Db, file: ProgramFile<'_>) -> Box<[Found]> {
    let source = file.file(db);
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

/// Checks these files on all cores. `witness` is told of each.
pub(super) fn all(db: &Database, files: &[File], shown: &Shown, rendered: bool, witness: &dyn Witness) -> Checked {
    let done = AtomicUsize::new(0);
    let total = files.len();
    let mut found: Vec<Diagnostic> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| {
            let path = shown.path(db, *file);
            witness.begins(&path);
            let found = salsa::attach_allow_change(&*db, || {
                let file_of = db.program_file(*file);
                let mut found = told(db, diagnostics(db, file_of), shown, rendered);
                found.extend(of_settings(db, *file, shown));
                // The tree is made anew should anybody ask; most are asked for once.
                parsed_module(db, file_of.python_file(db)).clear();
                found
            });
            witness.ends();
            witness.advanced(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            found
        })
        .flatten_iter()
        .collect();
    sort(&mut found);
    Checked { diagnostics: found, files: total, ..Checked::default() }
}

/// What a script's own settings have that is not taken.
pub(super) fn of_settings(db: &Database, file: File, shown: &Shown) -> Vec<Diagnostic> {
    let Some(script) = script(db, file) else { return Vec::new() };
    let mut found = script.settings.problems.clone();
    for one in &mut found {
        // The block's lines are not the file's: what is wrong stands in the message.
        one.span = Span { file: shown.path(db, file), line: 1, column: 1, end_line: 1, end_column: 1 };
    }
    found
}

/// By file, then by place: the order of every answer.
pub(super) fn sort(found: &mut [Diagnostic]) {
    found.sort_by(|a, b| (&a.span, a.cell, &a.code, &a.message).cmp(&(&b.span, b.cell, &b.code, &b.message)));
}

/// The checker's own diagnostics as plain values.
pub(super) fn told(db: &Database, found: &[Found], shown: &Shown, rendered: bool) -> Vec<Diagnostic> {
    let config = DisplayDiagnosticConfig::new("ty").format(DiagnosticFormat::Full);
    let resolver: &dyn ruff_db::Db = db;
    let as_printed = |one: &Found| rendered.then(|| one.display(&resolver, &config).to_string());
    // All of them are of one file, so is their text; lines are counted once.
    let file = found.iter().find_map(|one| Some(one.primary_span()?.expect_ty_file()));
    let text = file.map(|file| source_text(db, file));
    let lines = text.as_deref().map(Lines::of);
    found
        .iter()
        .map(|one| {
            let (span, cell) = place(db, one, shown, lines.as_ref());
            Diagnostic {
                span,
                cell,
                severity: severity(one.severity()),
                code: one.id().as_str().to_owned(),
                message: one.concise_message().to_string(),
                rendered: as_printed(one),
            }
        })
        .collect()
}

fn place(db: &Database, found: &Found, shown: &Shown, lines: Option<&Lines>) -> (Span, Option<u32>) {
    let (Some(primary), Some(lines)) = (found.primary_span(), lines) else {
        return (Span { file: String::new(), line: 1, column: 1, end_line: 1, end_column: 1 }, None);
    };
    let file = primary.expect_ty_file();
    let text = source_text(db, file);
    let mut span = lines.span(shown.path(db, file), primary.range().unwrap_or_default());
    let Some(notebook) = text.as_notebook() else { return (span, None) };
    // Its lines count in each cell anew.
    let row = |line: u32| ruff_source_file::OneIndexed::new(usize::try_from(line).unwrap_or(1)).unwrap_or_default();
    let index = notebook.index();
    let cell = index.cell(row(span.line)).and_then(|cell| u32::try_from(cell.get()).ok());
    let in_cell = |line: u32| index.cell_row(row(line)).and_then(|row| u32::try_from(row.get()).ok()).unwrap_or(line);
    (span.line, span.end_line) = (in_cell(span.line), in_cell(span.end_line));
    (span, cell)
}

const fn severity(severity: FoundSeverity) -> Severity {
    match severity {
        FoundSeverity::Info => Severity::Info,
        FoundSeverity::Warning => Severity::Warning,
        FoundSeverity::Error => Severity::Error,
        FoundSeverity::Fatal => Severity::Fatal,
    }
}
