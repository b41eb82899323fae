//! A semaphore that counts bytes: a thread that wants more than is left waits until others release theirs.
//!
//! Owns counting and waiting. The caller owns what is counted, and the limit.

use std::sync::{Condvar, Mutex, PoisonError};

use super::locked;

/// So many bytes.
pub(super) struct Room {
    bytes: u64,
    taken: Mutex<Taken>,
    freed: Condvar,
}

struct Taken {
    bytes: u64,
    /// What is taken is of no use to anybody any more.
    is_closed: bool,
}

impl Room {
    pub(super) const fn of(bytes: u64) -> Self {
        Self { bytes, taken: Mutex::new(Taken { bytes: 0, is_closed: false }), freed: Condvar::new() }
    }

    /// Waits until enough bytes are free; a request above the limit runs alone. `false`: the semaphore was closed.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let is_full = |taken: &mut Taken| !taken.is_closed && taken.bytes > 0 && taken.bytes + bytes > self.bytes;
        let waited = self.freed.wait_while(locked(&self.taken), is_full);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        taken.bytes += bytes;
        !taken.is_closed
    }

    pub(super) fn give(&self, bytes: u64) {
        locked(&self.taken).bytes -= bytes;
        self.freed.notify_all();
    }

    /// Wakes all waiting threads.
    pub(super) fn close(&self) {
        locked(&self.taken).is_closed = true;
        self.freed.notify_all();
    }
}

/// Gives back when it goes.
pub(super) struct Place<'r> {
    room: &'r Room,
    bytes: u64,
}

impl<'r> Place<'r> {
    pub(super) fn in_room(room: &'r Room, bytes: u64) -> Self {
        room.take(bytes);
        Self { room, bytes }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.room.give(self.bytes);
    }
}

/// Closes the semaphore when dropped.
pub(super) struct Closing<'r>(pub &'r Room);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
