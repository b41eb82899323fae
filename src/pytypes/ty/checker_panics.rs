//! Panics of the checker.
//!
//! Owns catching them where an answer can do without one expression or one file. Where it cannot, the query fails (`super`).

use std::panic::AssertUnwindSafe;

use ruff_db::panic::PanicError;
use ty_python_semantic::types::Type;
use ty_python_semantic::{HasType, SemanticModel};

/// Runs `work`, which asks the checker, and catches a panic of the checker; a cancellation still unwinds.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, PanicError> {
    ruff_db::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        if panic.payload.downcast_ref::<salsa::Cancelled>().is_some_and(|cancelled| !is_propagated(cancelled)) {
            panic.resume_unwind();
        }
        panic
    })
}

/// The inferred type; `None` also where the checker panics.
pub(super) fn inferred<'db>(node: &impl HasType, model: &SemanticModel<'db>) -> Option<Type<'db>> {
    caught(|| node.inferred_type(model)).ok().flatten()
}

/// Whether the unwinding was caused by a panic in another thread, not by cancellation.
fn is_propagated(cancelled: &salsa::Cancelled) -> bool {
    matches!(cancelled, salsa::Cancelled::PropagatedPanic)
}
