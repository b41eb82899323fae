//! Panics of the checker.
//!
//! Owns catching them where an answer can do without a part of the code, as long as it does not claim to be complete. Elsewhere the
//! query fails (`super`): a rename or a list of references that misses one would be wrong. A panic at one expression affects all
//! expressions of its scope, because the checker infers whole scopes.

use std::panic::AssertUnwindSafe;

use super::api::{PanicError, catch_unwind};

/// Runs `work`, which asks the checker, and catches a panic of the checker; a cancellation still unwinds.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, PanicError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        if panic.payload.downcast_ref::<salsa::Cancelled>().is_some_and(|cancelled| !is_propagated(cancelled)) {
            panic.resume_unwind();
        }
        panic
    })
}

/// Runs `work` in a memoized query: its result is not kept if the checker panics, since that may not happen the next
/// time.
pub(super) fn caught_in_query<T>(db: &dyn salsa::Database, work: impl FnOnce() -> T) -> Option<T> {
    caught(work).inspect_err(|_| db.report_untracked_read()).ok()
}

/// Whether the unwinding was caused by a panic in another thread, not by cancellation.
fn is_propagated(cancelled: &salsa::Cancelled) -> bool {
    matches!(cancelled, salsa::Cancelled::PropagatedPanic)
}
