//! Readers of documents in a process of their own, for formats whose files have brought down many a program.
//!
//! Owns both ends: the bytes go in on stdin, the document comes back on stdout, and the process has so much memory and
//! processor time and no more. Whatever it does, the file is skipped and the run goes on.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::locked;
use super::pipeline::STACK_BYTES;
use super::room::{Place, Room};
use crate::error::{Error, Result};
use crate::extract::{Document, Format, documents};
use crate::model::SkipReason;
use crate::platform::process;

/// Of address space, for one that is read alone because the usual was not enough.
const MOST_MEMORY: u64 = 2 << 30;
/// The program itself and a large document together take a third.
const USUAL_MEMORY: u64 = 768 << 20;
/// One that took this share before it gave up may have asked for all of it: room grows by doubling.
const SHARE: u64 = 6;
/// Of documents that are read in this process.
const MOST_AT_ONCE: u64 = 192 << 20;
/// Seconds of processor time.
const MOST_TIME: u64 = 20;
/// For a process that waits for something, or for a processor.
const LONGEST: Duration = Duration::from_secs(120);
/// Text and places of the largest document there is room for.
const MOST_TOLD: u64 = 128 << 20;
/// Of what it has to say besides.
const MOST_WORDS: u64 = 1 << 16;
/// So a Rust program ends that is refused memory.
const OUT_OF_MEMORY: &[u8] = b"memory allocation of ";
/// How soon the end of a process is noticed that has said nothing.
const LOOK: Duration = Duration::from_millis(5);

#[derive(Deserialize, Serialize)]
struct Told {
    document: Option<Document>,
    refused: Option<String>,
}

/// What a format's reader makes of these bytes, read by another process of `program` if the format is one that needs it.
/// However many ask at once, those that take much memory take turns.
pub(super) fn read(
    program: Option<&Path>,
    format: &'static Format,
    bytes: &[u8],
) -> std::result::Result<Document, SkipReason> {
    let Some(program) = program.filter(|_| format.is_risky) else {
        let _place = Place::in_room(&ROOM, format.weight(bytes));
        return caught(format, bytes);
    };
    match apart(program, format, bytes, USUAL_MEMORY) {
        Err(SkipReason::Overweight) => {
            static ALONE: Mutex<()> = Mutex::new(());
            let _alone = locked(&ALONE);
            apart(program, format, bytes, MOST_MEMORY)
        }
        read => read,
    }
}

/// What the documents take together that are read in this process.
static ROOM: Room = Room::of(MOST_AT_ONCE);

fn apart(
    program: &Path,
    format: &'static Format,
    bytes: &[u8],
    memory: u64,
) -> std::result::Result<Document, SkipReason> {
    let mut command = Command::new(program);
    command
        .arg("read")
        .arg(format.name)
        .arg("--memory")
        .arg(memory.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Perhaps there is no room for another process now: the file is looked at again.
    let mut child = command.spawn().map_err(|_| SkipReason::Unreadable)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else { return Err(SkipReason::Unreadable) };
    let (told, last_words) = std::thread::scope(|scope| {
        scope.spawn(move || {
            // Whoever does not read to the end has said why.
            let _ = stdin.write_all(bytes);
        });
        let told = scope.spawn(move || {
            let mut told = Vec::new();
            stdout.take(MOST_TOLD).read_to_end(&mut told).map(|_| told)
        });
        let last_words = scope.spawn(move || {
            let mut words = Vec::new();
            let mut stderr = stderr;
            let _ = stderr.by_ref().take(MOST_WORDS).read_to_end(&mut words);
            // One that goes on talking must not wait for a listener.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            words
        });
        let started = Instant::now();
        while !told.is_finished() && started.elapsed() < LONGEST {
            std::thread::sleep(LOOK);
        }
        let in_time = told.is_finished();
        end(&mut child);
        let told = told.join().ok().and_then(std::result::Result::ok).filter(|_| in_time);
        (told, last_words.join().unwrap_or_default())
    });
    let status = child.wait();
    let Some(told) = told else { return Err(SkipReason::Overrun) };
    match serde_json::from_slice::<Told>(&told) {
        Ok(Told { document: Some(document), .. }) => Ok(document),
        Ok(Told { refused: Some(reason), .. }) => Err(SkipReason::from_name(&reason).unwrap_or(SkipReason::Malformed)),
        _ if status.is_ok_and(process::ran_out_of_time) => Err(SkipReason::Overrun),
        _ if memchr::memmem::find(&last_words, OUT_OF_MEMORY).is_some() => Err(SkipReason::Overweight),
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
pub fn serve_reader(format: &str, memory: u64) -> Result<()> {
    let format = documents::by_name(format).ok_or_else(|| Error::invalid_argument("there is no such format"))?;
    let limited = process::limit(memory.min(MOST_MEMORY), Some(MOST_TIME));
    limited.map_err(|error| Error::internal("a limit cannot be set").caused_by(error))?;
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| Error::internal("a pipe broke").caused_by(error);
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || caught(format, &bytes));
    let reader = reader.map_err(failed)?;
    // Some readers take it for a fault of the file that they are refused memory.
    let is_large = || process::peak_memory().is_some_and(|peak| peak > memory.min(MOST_MEMORY) / SHARE);
    let told = match reader.join().unwrap_or(Err(SkipReason::Malformed)) {
        Err(SkipReason::Malformed) if is_large() => {
            Told { document: None, refused: Some(SkipReason::Overweight.as_str().to_owned()) }
        }
        Ok(document) => Told { document: Some(document), refused: None },
        Err(reason) => Told { document: None, refused: Some(reason.as_str().to_owned()) },
    };
    serde_json::to_writer(std::io::stdout().lock(), &told)
        .map_err(|error| Error::internal("a document could not be told").caused_by(error))
}
