//! Readers of documents in a process of their own, for formats whose files have brought down many a program.
//!
//! Owns both ends: the bytes go in on stdin, the document comes back on stdout, and the process has so much memory and
//! processor time and no more. Whatever it does, the file is skipped and the run goes on.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::pipeline::STACK_BYTES;
use crate::error::{Error, Result};
use crate::extract::{Document, Format, documents};
use crate::model::SkipReason;
use crate::platform::process;

/// Of address space; the program itself and a large document together take a tenth.
const MOST_MEMORY: u64 = 2 << 30;
/// Seconds of processor time.
const MOST_TIME: u64 = 20;
/// For a process that waits for something, or for a processor.
const LONGEST: Duration = Duration::from_secs(120);
/// Text and places of the largest document there is room for.
const MOST_TOLD: u64 = 128 << 20;
/// How soon the end of a process is noticed that has said nothing.
const LOOK: Duration = Duration::from_millis(5);

#[derive(Deserialize, Serialize)]
struct Told {
    document: Option<Document>,
    refused: Option<String>,
}

/// What a format's reader makes of these bytes, read by another process of `program` if the format is one that needs it.
pub(super) fn read(
    program: Option<&Path>,
    format: &'static Format,
    bytes: &[u8],
) -> std::result::Result<Document, SkipReason> {
    let Some(program) = program.filter(|_| format.is_risky) else { return caught(format, bytes) };
    let mut command = Command::new(program);
    command.arg("read").arg(format.name).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Perhaps there is no room for another process now: the file is looked at again.
    let mut child = command.spawn().map_err(|_| SkipReason::Unreadable)?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(SkipReason::Unreadable);
    };
    let told = std::thread::scope(|scope| {
        scope.spawn(move || {
            // Whoever does not read to the end has said why.
            let _ = stdin.write_all(bytes);
        });
        let told = scope.spawn(move || {
            let mut told = Vec::new();
            stdout.take(MOST_TOLD).read_to_end(&mut told).map(|_| told)
        });
        let started = Instant::now();
        while !told.is_finished() && started.elapsed() < LONGEST {
            std::thread::sleep(LOOK);
        }
        let in_time = told.is_finished();
        end(&mut child);
        told.join().ok().and_then(std::result::Result::ok).filter(|_| in_time)
    });
    let status = child.wait();
    let Some(told) = told else { return Err(SkipReason::Overrun) };
    match serde_json::from_slice::<Told>(&told) {
        Ok(Told { document: Some(document), .. }) => Ok(document),
        Ok(Told { refused: Some(reason), .. }) => Err(SkipReason::from_name(&reason).unwrap_or(SkipReason::Malformed)),
        _ if status.is_ok_and(process::ran_out_of_time) => Err(SkipReason::Overrun),
        _ => Err(SkipReason::Malformed),
    }
}

/// One that has said all ends by itself; one that has not is ended.
fn end(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(Some(_))) {
        let give_up = Instant::now() + Duration::from_secs(1);
        while Instant::now() < give_up && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
        }
        // It may have ended just now.
        let _ = child.kill();
    }
}

fn caught(format: &'static Format, bytes: &[u8]) -> std::result::Result<Document, SkipReason> {
    catch_unwind(AssertUnwindSafe(|| format.read(bytes))).unwrap_or(Err(SkipReason::Malformed))
}

/// The other end: reads one document of that format from stdin.
pub fn serve_reader(format: &str) -> Result<()> {
    let format = documents::by_name(format).ok_or_else(|| Error::invalid_argument("there is no such format"))?;
    let limited = process::limit(MOST_MEMORY, Some(MOST_TIME));
    limited.map_err(|error| Error::internal("a limit cannot be set").caused_by(error))?;
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| Error::internal("a pipe broke").caused_by(error);
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || caught(format, &bytes));
    let reader = reader.map_err(failed)?;
    let told = match reader.join().unwrap_or(Err(SkipReason::Malformed)) {
        Ok(document) => Told { document: Some(document), refused: None },
        Err(reason) => Told { document: None, refused: Some(reason.as_str().to_owned()) },
    };
    serde_json::to_writer(std::io::stdout().lock(), &told)
        .map_err(|error| Error::internal("a document could not be told").caused_by(error))
}
