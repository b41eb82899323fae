//! Panics: faults of this program, caught where a call or a command ends.
//!
//! Owns the panic hook and the error that a caught panic becomes. Both name the line of source at fault. Neither holds
//! the message of the panic: it may quote text of the repository (`byte index 5 is out of bounds of ...`).

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook};

use crate::error::{Error, Result};

thread_local! {
    /// Where this thread panicked last.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on a panic writes one log record, and nothing to stderr.
pub fn log_locations() {
    set_hook(Box::new(|info| {
        let location = info.location().map_or_else(|| "an unknown location".to_owned(), Location::to_string);
        let thread = std::thread::current();
        tracing::error!(thread = thread.name().unwrap_or("unnamed"), "a panic at {location}");
        // The thread may be ending.
        let _ = LOCATION.try_with(|last| *last.borrow_mut() = Some(location));
    }));
}

/// Runs `work`; a panic in it becomes an error of kind `INTERNAL`.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    LOCATION.set(None);
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(error(LOCATION.take().as_deref())))
}

/// The error of a panic. `location`: where it happened, when known.
pub fn error(location: Option<&str>) -> Error {
    let message = match location {
        Some(location) => format!("the program panicked at {location}"),
        None => "the program panicked".to_owned(),
    };
    Error::internal(message).hint("Try again; if it panics again, report this message.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_panic_is_an_error_without_the_words_of_the_panic() {
        let text = "größe of the repository";
        let error = caught(|| Ok(text[..3].len())).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Internal);
        assert!(!error.to_string().contains("größe"), "{error}");
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
    }
}
