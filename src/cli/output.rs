//! Output for people: the only code that writes to stdout outside the protocol.
//!
//! Results go to stdout, everything else to stderr. Text for a terminal is escaped here, whichever command prints it
//! (`terminal_text`); a pipe or a file is given the bytes as they are. A reader that went away (`| head`) ends the
//! program quietly.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::terminal_text;
use crate::budget::{self, Progress};
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::serve::client;

/// Work shorter than this shows no progress.
const QUIET: Duration = Duration::from_millis(400);
/// How often a bar moves, and how often a line is written where there is no terminal.
const TICK: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(5);

/// How far work has come: files and bytes, done and in all. In all 0: not known yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HowFar {
    pub files: (u64, u64),
    pub bytes: (u64, u64),
}

impl HowFar {
    pub(super) fn from_progress(progress: &Progress) -> Self {
        Self { files: progress.files(), bytes: progress.bytes() }
    }
}

static IS_STDOUT_TERMINAL: LazyLock<bool> = LazyLock::new(|| std::io::stdout().is_terminal());
static IS_STDERR_TERMINAL: LazyLock<bool> = LazyLock::new(|| std::io::stderr().is_terminal());

pub(super) fn line(text: &str) {
    write_line(&terminal_text::line(text, *IS_STDOUT_TERMINAL));
}

fn write_line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
    end_unless(written);
}

/// The text of a file, or of a format for other programs, as it is and without a line break of ours.
pub(super) fn raw(text: &str) {
    let text = if *IS_STDOUT_TERMINAL { terminal_text::verbatim(text) } else { text.into() };
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    end_unless(written);
}

/// A reader that went away has seen enough; a disk that is full has not taken what was asked for.
fn end_unless(written: std::io::Result<()>) {
    if let Err(failed) = written {
        if failed.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        error(&Error::io("write", Path::new("stdout"), failed));
        std::process::exit(2);
    }
}

/// One line of compact JSON.
pub(super) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) if *IS_STDOUT_TERMINAL => write_line(&terminal_text::json(&text)),
        Ok(text) => write_line(&text),
        Err(error) => note(&format!("cannot write JSON: {error}")),
    }
}

/// A line next to the results.
pub(super) fn note(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // No reader is left.
    let _ = writeln!(stderr, "{}", terminal_text::line(text, *IS_STDERR_TERMINAL));
}

/// Writes a line of the log to stderr.
pub(super) fn log(line: &[u8]) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    if *IS_STDERR_TERMINAL {
        return stderr.write_all(terminal_text::log(&String::from_utf8_lossy(line)).as_bytes());
    }
    stderr.write_all(line)
}

pub(super) fn error(error: &Error) {
    note(&format!("ixmcp: {error}"));
}

/// An error of a command that was asked for JSON: the result is that object.
pub(super) fn json_error(error: &Error) {
    json(&serde_json::json!({ "error": error.to_json() }));
}

/// A number with the word for that number of things.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Notes that the index is being built.
pub(super) fn note_indexing(done: u64, total: u64) {
    note(&format!("{done} of {total} files are indexed; more results may come"));
}

/// Does `work` while showing how far it is: a bar on a terminal, a line now and then in a pipe.
pub(super) fn with_progress<T>(how_far: impl Fn() -> HowFar + Sync, work: impl FnOnce() -> T) -> T {
    let mut shown = ProgressDisplay::new();
    budget::ticking(TICK, || shown.update(&how_far()), work)
}

/// Shows the progress of work that another process does and reports.
pub(super) fn with_remote_progress<T>(work: impl FnOnce(&(dyn Fn(client::RemoteProgress) + Sync)) -> T) -> T {
    let latest = std::sync::Mutex::new(HowFar::default());
    let now = || *locked(&latest);
    let tell = |far: client::RemoteProgress| {
        let how_far = HowFar { files: (0, 0), bytes: (far.done, far.total) };
        *locked(&latest) = how_far;
    };
    with_progress(now, || work(&tell))
}

/// Asks for agreement on the terminal. Without an answer, the user does not agree.
pub(super) fn is_agreed(prompt: &str) -> Result<bool> {
    let mut stderr = std::io::stderr().lock();
    let prompt = terminal_text::line(prompt, *IS_STDERR_TERMINAL);
    let asked = write!(stderr, "{prompt} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    if asked.is_ok() {
        let read = std::io::stdin().read_line(&mut answer);
        read.map_err(|error| Error::io("read", Path::new("stdin"), error))?;
    }
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The progress of one piece of work, as far as it is shown yet.
struct ProgressDisplay {
    started: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl ProgressDisplay {
    fn new() -> Self {
        let started = Instant::now();
        Self { started, is_terminal: *IS_STDERR_TERMINAL, bar: None, last_line: started }
    }

    fn update(&mut self, how_far: &HowFar) {
        let HowFar { files: (done_files, files), bytes: (done_bytes, bytes) } = *how_far;
        if self.started.elapsed() < QUIET || bytes == 0 {
            return;
        }
        if self.is_terminal {
            let bar = self.bar.get_or_insert_with(new_bar);
            bar.set_length(bytes);
            bar.set_position(done_bytes);
            if files > 0 {
                bar.set_message(format!("{done_files}/{files} files"));
            }
        } else if self.last_line.elapsed() >= LINE {
            self.last_line = Instant::now();
            let of_files = if files > 0 { format!("{done_files} of {files} files, ") } else { String::new() };
            note(&format!("indexing: {of_files}{} of {} MB", done_bytes >> 20, bytes >> 20));
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let template = "indexing {wide_bar} {msg}  {binary_bytes_per_sec}  {eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_panic_ends_the_progress_and_goes_on_to_the_caller() {
        let (ended, end) = mpsc::channel();
        std::thread::spawn(move || {
            let work = || -> Result<()> { with_progress(HowFar::default, || panic!("on purpose")) };
            ended.send(crate::panics::caught(work)).unwrap();
        });
        let outcome = end.recv_timeout(Duration::from_secs(60)).expect("the command ends");
        assert_eq!(outcome.unwrap_err().kind, crate::error::ErrorKind::Internal);
    }
}
