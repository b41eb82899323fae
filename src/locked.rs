//! Mutexes whose poison means nothing: a panic while one of ours was held left no half-done state in what it guards.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
