//! Mutexes that ignore poisoning: none of our critical sections leaves an inconsistent state after a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
