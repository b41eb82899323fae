//! How much may be held in memory at once: whoever wants more waits until others have given theirs back.
//!
//! Owns counting and waiting. What is counted, and how much there may be of it, is the caller's.

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

    /// Waits until there is room; what is larger than the room has it when it is alone. `false`: the room was closed.
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

    /// Nobody waits any longer.
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

/// Closes a room when it goes.
pub(super) struct Closing<'r>(pub &'r Room);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
