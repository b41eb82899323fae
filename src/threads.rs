//! Work on a list by several threads at once.
//!
//! Owns how threads share a list, and the stack that work on files needs. Does not own when work ends early: callers stop taking
//! items. Pipelines between readers and writers have threads of their own (`update::apply`, `query::exact`).

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use crate::error::{Error, Result};

/// Parsers are third-party code, and the file determines how deep they recurse.
pub const STACK_BYTES: usize = 16 << 20;

/// A list whose items are taken one by one, in order, each by one thread.
pub struct WorkList<'l, T> {
    items: &'l [T],
    next: AtomicUsize,
}

impl<'l, T> WorkList<'l, T> {
    pub fn new(items: &'l [T]) -> Self {
        Self { items, next: AtomicUsize::new(0) }
    }

    /// The next item, with its index; `None` when all are taken.
    pub fn take(&self) -> Option<(usize, &'l T)> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        Some((at, self.items.get(at)?))
    }

    /// Number of threads for the items: the number of cores, but not more than there are items.
    pub fn threads(&self) -> usize {
        cores().min(self.items.len())
    }
}

/// How many threads run at the same time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs `work` on this many threads and returns the result of each. If one panics, the panic resumes on this thread once all have
/// ended.
pub fn on_threads<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Result<Vec<R>> {
    std::thread::scope(|scope| {
        let start = |_| Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, &work).map_err(Error::no_thread);
        let started = (0..threads).map(start).collect::<Result<Vec<_>>>()?;
        Ok(started.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_taken_once() {
        let numbers: Vec<usize> = (0..1_000).collect();
        let list = WorkList::new(&numbers);
        let taken = on_threads(4, || std::iter::from_fn(|| list.take()).collect::<Vec<_>>()).unwrap();
        assert_eq!(taken.len(), 4);
        let mut all: Vec<(usize, &usize)> = taken.into_iter().flatten().collect();
        all.sort_unstable();
        assert!(all.len() == 1_000 && all.iter().all(|(at, number)| at == *number));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let panicked = std::panic::catch_unwind(|| on_threads(2, || assert!(std::hint::black_box(false))));
        assert!(panicked.is_err());
    }
}
