//! A semaphore of bytes: bounds how much is held in memory at once.
//!
//! Owns counting and waiting. What is counted, and the size of the budget, is up to the caller.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::locked::locked;

pub(super) struct ByteBudget {
    bytes: u64,
    taken: Mutex<BudgetState>,
    freed: Condvar,
}

struct BudgetState {
    bytes: u64,
    /// Nothing that is taken is needed any more.
    is_closed: bool,
}

impl ByteBudget {
    pub(super) const fn new(bytes: u64) -> Self {
        Self { bytes, taken: Mutex::new(BudgetState { bytes: 0, is_closed: false }), freed: Condvar::new() }
    }

    /// Waits until so many bytes are free; what is larger than the budget gets it alone. `false`: the budget was closed.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let is_full = |taken: &mut BudgetState| !taken.is_closed && taken.bytes > 0 && taken.bytes + bytes > self.bytes;
        let waited = self.freed.wait_while(locked(&self.taken), is_full);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        taken.bytes += bytes;
        !taken.is_closed
    }

    /// Takes bytes if they are free; `false` if they are not, or the budget was closed.
    pub(super) fn try_take(&self, bytes: u64) -> bool {
        let mut taken = locked(&self.taken);
        let is_free = !taken.is_closed && (taken.bytes == 0 || taken.bytes + bytes <= self.bytes);
        if is_free {
            taken.bytes += bytes;
        }
        is_free
    }

    pub(super) fn give(&self, bytes: u64) {
        locked(&self.taken).bytes -= bytes;
        self.freed.notify_all();
    }

    /// Takes bytes until the returned value is dropped.
    pub(super) fn hold(&self, bytes: u64) -> HeldBytes<'_> {
        self.take(bytes);
        HeldBytes { budget: self, bytes }
    }

    fn close(&self) {
        locked(&self.taken).is_closed = true;
        self.freed.notify_all();
    }
}

/// Gives its bytes back when it is dropped.
pub(super) struct HeldBytes<'b> {
    budget: &'b ByteBudget,
    bytes: u64,
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
    }
}

/// Closes a budget when it is dropped, so that nothing waits for it any longer.
pub(super) struct CloseOnDrop<'b>(pub &'b ByteBudget);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
