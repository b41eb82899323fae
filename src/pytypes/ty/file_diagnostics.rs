//! The checker's diagnostics of one file.
//!
//! Owns the memoized check, which turns a panic of the checker into a diagnostic of that file. Does not own their form in answers, or
//! the check of many files (`check`).

use super::api::{
    Annotation, Diagnostic as RuffDiagnostic, DiagnosticId, ProgramFile, Severity as RuffSeverity, Span as RuffSpan,
    TextRange, TextSize, check_file, source_text,
};
use super::checker_panics::caught;
use super::db::{Db, rule_parts};
use super::depth::too_deep;
use super::{newer_ignores, rule_names};

pub(super) const TOO_DEEP: &str = "Too many nested brackets: Python takes 200";

/// The checker's diagnostics of one file. Memoized until a dependency changes.
#[salsa::tracked(returns(deref))]
pub(super) fn diagnostics(db: &dyn Db, file: ProgramFile<'_>) -> Box<[RuffDiagnostic]> {
    let source = file.file(db);
    if let Some(at) = too_deep(&source_text(db, source)) {
        let at = TextRange::empty(TextSize::try_from(at).unwrap_or_default());
        let mut found = RuffDiagnostic::new(DiagnosticId::InvalidSyntax, RuffSeverity::Error, TOO_DEEP);
        found.annotate(Annotation::primary(RuffSpan::from(source).with_range(at)));
        return Box::new([found]);
    }
    match caught(|| check_file(db, file)) {
        Ok(Ok(found)) => {
            rule_names::with_levels_of_parts(rule_parts(db, source), newer_ignores::apply(db, file, found))
        }
        Ok(Err(unreadable)) => Box::new([unreadable]),
        Err(panic) => {
            // The panic may not happen the next time.
            db.report_untracked_read();
            let message = panic.to_diagnostic_message(Some(source.path(db)));
            let mut found = RuffDiagnostic::new(DiagnosticId::Panic, RuffSeverity::Fatal, message);
            found.annotate(Annotation::primary(RuffSpan::from(source)));
            Box::new([found])
        }
    }
}
