//! Classification of events and errors of the system's watches.

use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};

use notify_debouncer_full::notify::event::{EventKind, ModifyKind, RemoveKind};
use notify_debouncer_full::notify::{self, ErrorKind as NotifyErrorKind};

use crate::error::Error;

/// Whether watches at or below the path may be gone. The event of a removed file says that it was a file; that of a renamed
/// one does not.
pub(super) fn is_move(kind: EventKind) -> bool {
    match kind {
        EventKind::Remove(kind) => kind != RemoveKind::File,
        EventKind::Modify(kind) => matches!(kind, ModifyKind::Name(_)),
        _ => false,
    }
}

/// Whether a watch was refused because the folder was removed, which the watch of its parent reports, or because it cannot
/// be read. Any other folder without a watch would make answers stale.
pub(super) fn is_of_the_folder(error: &notify::Error) -> bool {
    match &error.kind {
        NotifyErrorKind::PathNotFound => true,
        NotifyErrorKind::Io(error) => matches!(error.kind(), NotFound | PermissionDenied | NotADirectory),
        _ => false,
    }
}

pub(super) fn refused(error: &notify::Error) -> Error {
    Error::internal(format!("cannot watch for changes: {error}"))
}

/// Whether something appeared at the path, or is gone from there.
pub(super) fn comes_or_goes(kind: EventKind) -> bool {
    is_move(kind) || matches!(kind, EventKind::Create(_))
}
