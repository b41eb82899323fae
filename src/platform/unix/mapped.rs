//! Explains why the process ends when a file that it has mapped into memory is cut: reading the missing part raises
//! SIGBUS.
//!
//! SQLite maps the index and its `-shm` file. The message is printed first; then the process ends, as it would without
//! it.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Signal;

const STDERR: i32 = 2;
/// Where the message goes.
static LOG: AtomicI32 = AtomicI32::new(STDERR);

/// Reports to stderr, or to the file of [`report_to`], that a mapped file was cut.
#[expect(unsafe_code, reason = "what a signal handler does is limited, and no type says so")]
pub fn report_cut_files(message: &'static str) {
    static ONCE: Once = Once::new();
    let report = move || {
        // SAFETY: `report_to` gets each file before the one before it is closed.
        let log = unsafe { BorrowedFd::borrow_raw(LOG.load(Ordering::Relaxed)) };
        // Nothing is left to do if it fails.
        let _ = rustix::io::write(log, message.as_bytes());
    };
    ONCE.call_once(|| {
        // SAFETY: the action makes one system call, and neither allocates nor locks. Before it, the handler of the standard library
        // restores the default, so that the instruction that is tried again ends the process.
        let registered = unsafe { signal_hook_registry::register(Signal::BUS.as_raw(), report) };
        if let Err(error) = registered {
            tracing::debug!(%error, "a cut file will not be reported");
        }
    });
}

/// Reports go to this file, which stays open until the next call or the end of the process.
pub fn report_to(file: &File) {
    LOG.store(file.as_raw_fd(), Ordering::Relaxed);
}
