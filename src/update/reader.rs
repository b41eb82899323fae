//! Reads documents. Formats whose files often crash their readers are read in a child process.
//!
//! Owns both ends: the file goes to stdin, the document comes from stdout, and memory and CPU time are limited. Whatever
//! the child process does, at most its file is skipped.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bundles::ByteBudget;
use crate::child_process::{own_end, run_to_end};
use crate::error::{Error, Result};
use crate::extract::{Document, Format, documents};
use crate::locked::locked;
use crate::model::SkipReason;
use crate::platform::process;
use crate::threads::STACK_BYTES;

/// Bytes of address space for a document that needs more than the others. Such documents are read one at a time.
const MAX_MEMORY: u64 = 2 << 30;
/// Bytes of address space. The program and a large document together need a third.
const DEFAULT_MEMORY: u64 = 768 << 20;
/// A reader that failed after it used this fraction of its memory may have requested all of it: buffers double.
const MEMORY_FRACTION: u64 = 6;
/// Bytes of the documents that are read in process at the same time.
const MAX_IN_PROCESS: u64 = 192 << 20;
/// CPU time in seconds.
const MAX_CPU_SECONDS: u64 = 20;
/// For a child process that waits for something other than a processor.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of text and outline of one document.
const MAX_OUTPUT: u64 = 128 << 20;
/// Beginning of the message that a Rust program writes to stderr when it runs out of memory.
const OUT_OF_MEMORY: &[u8] = b"memory allocation of ";

/// Output of the child process.
#[derive(Deserialize, Serialize)]
struct ReadResult {
    document: Option<Document>,
    refused: Option<String>,
}

/// Reads a document, in a child process of `program` if its format is risky. Documents that need much memory wait for
/// each other.
pub(super) fn read(
    program: Option<&Path>,
    format: &'static Format,
    bytes: &[u8],
) -> std::result::Result<Document, SkipReason> {
    let Some(program) = program.filter(|_| format.is_risky) else {
        let _held = IN_PROCESS.hold(format.weight(bytes));
        return read_in_process(format, bytes);
    };
    match read_in_child(program, format, bytes, DEFAULT_MEMORY) {
        Err(SkipReason::Overweight) => {
            static ALONE: Mutex<()> = Mutex::new(());
            let _alone = locked(&ALONE);
            read_in_child(program, format, bytes, MAX_MEMORY)
        }
        read => read,
    }
}

static IN_PROCESS: ByteBudget = ByteBudget::new(MAX_IN_PROCESS);

fn read_in_child(
    program: &Path,
    format: &'static Format,
    bytes: &[u8],
    memory: u64,
) -> std::result::Result<Document, SkipReason> {
    let mut command = Command::new(program);
    command.arg("read").arg(format.name).arg("--memory").arg(memory.to_string());
    // A process that runs out of memory must not spend the rest of it on a description of itself.
    command.env("RUST_BACKTRACE", "0");
    // The system may lack resources for another process at the moment: the file is read again later.
    let finished = run_to_end(command, bytes, TIMEOUT, MAX_OUTPUT).map_err(|_| SkipReason::Unreadable)?;
    let Some(finished) = finished else { return Err(SkipReason::Overrun) };
    match serde_json::from_slice(&finished.stdout) {
        Ok(ReadResult { document: Some(document), .. }) => Ok(document),
        Ok(ReadResult { refused: Some(reason), .. }) => {
            Err(SkipReason::from_name(&reason).unwrap_or(SkipReason::Malformed))
        }
        _ if finished.status.is_some_and(process::ran_out_of_time) => Err(SkipReason::Overrun),
        _ if memchr::memmem::find(&finished.stderr, OUT_OF_MEMORY).is_some() => Err(SkipReason::Overweight),
        _ => Err(SkipReason::Malformed),
    }
}

fn read_in_process(format: &'static Format, bytes: &[u8]) -> std::result::Result<Document, SkipReason> {
    catch_unwind(AssertUnwindSafe(|| format.read(bytes))).unwrap_or(Err(SkipReason::Malformed))
}

/// The main function of the child process: reads one document from stdin.
pub fn serve_reader(format: &str, memory: u64) -> Result<()> {
    let format = documents::by_name(format).ok_or_else(|| Error::invalid_argument("there is no such format"))?;
    let memory = memory.min(MAX_MEMORY);
    own_end::limit(memory, Some(MAX_CPU_SECONDS))?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Error::internal("cannot read from a pipe").caused_by(error))?;
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
    let reader = reader.spawn(move || read_in_process(format, &bytes)).map_err(Error::no_thread)?;
    // Some readers report failed allocations as malformed files.
    let is_large = || process::peak_memory().is_some_and(|peak| peak > memory / MEMORY_FRACTION);
    let read = match reader.join().unwrap_or(Err(SkipReason::Malformed)) {
        Err(SkipReason::Malformed) if is_large() => Err(SkipReason::Overweight),
        read => read,
    };
    let refused = read.as_ref().err().map(|reason| reason.as_str().to_owned());
    own_end::send(&ReadResult { document: read.ok(), refused }, &[]);
    Ok(())
}
