//! Interrupts a command that writes several files only when all of them are whole.
//!
//! Owns how SIGINT and SIGTERM act from then on: they ask the command to stop, and end the process once it has.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::{io, thread};

use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::TerminationSignal;

/// The exit code of a program that a signal ended, as shells report SIGINT.
const ENDED_BY_SIGNAL: i32 = 130;

#[derive(Debug, Default)]
struct Shared {
    is_asked: AtomicBool,
    is_whole: AtomicBool,
}

/// While this lives, a signal does not end the process.
#[derive(Debug)]
pub(super) struct Interruption(Arc<Shared>);

impl Interruption {
    pub(super) fn hold() -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let waiting = Arc::clone(&shared);
        let (ready, is_ready) = mpsc::channel();
        thread::spawn(move || wait_for_signals(&waiting, &ready));
        let failed = |error: io::Error| Error::internal("cannot wait for signals").caused_by(error);
        is_ready.recv().map_err(|_| Error::internal("the thread that waits for signals ended"))?.map_err(failed)?;
        Ok(Self(shared))
    }

    /// `CANCELLED` once a signal came.
    pub(super) fn check(&self) -> Result<()> {
        if !self.0.is_asked.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Cancelled, "a signal stopped the command").hint("Run the command again."))
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        self.0.is_whole.store(true, Ordering::SeqCst);
    }
}

fn wait_for_signals(shared: &Shared, ready: &mpsc::Sender<io::Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(error))),
    };
    runtime.block_on(async {
        let mut signals = match TerminationSignal::new() {
            Ok(signals) => signals,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let _is_received = ready.send(Ok(()));
        loop {
            signals.recv().await;
            shared.is_asked.store(true, Ordering::SeqCst);
            if shared.is_whole.load(Ordering::SeqCst) {
                std::process::exit(ENDED_BY_SIGNAL);
            }
        }
    });
}
