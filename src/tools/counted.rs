//! Counts steps of calls in unit tests.
//!
//! Owns the counters of this thread: a call is planned once.

use std::cell::Cell;

/// A step that a call takes once.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Lookup,
    Normalization,
}

thread_local! {
    static TAKEN: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
}

pub(super) fn note(step: Step) {
    let mut taken = TAKEN.get();
    taken[step as usize] += 1;
    TAKEN.set(taken);
}

/// Lookups of a tool and normalizations of arguments by this thread since the last time.
pub(crate) fn take() -> [usize; 2] {
    TAKEN.take()
}
