//! Output for people: the only code that writes to stdout outside the protocol.
//!
//! Results go to stdout, everything else to stderr. Text for a terminal is escaped here, whichever command prints it
//! (`terminal_text`); a pipe or a file is given the bytes as they are. A reader that went away (`| head`) ends the
//! program quietly.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{Outcome, terminal_text};
use crate::budget::{self, Phase, Progress};
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::serve::client;

/// Work shorter than this shows no progress.
const QUIET: Duration = Duration::from_millis(400);
/// How often a bar moves, and how often a line is written where there is no terminal.
const TICK: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(5);
const MB: u64 = 1 << 20;

/// How far work has come: files and bytes, done and in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HowFar {
    /// `None` for work that only counts files.
    phase: Option<Phase>,
    files: (u64, u64),
    bytes: (u64, u64),
}

impl HowFar {
    pub(super) fn from_progress(progress: &Progress) -> Self {
        Self { phase: Some(progress.phase()), files: progress.files(), bytes: progress.bytes() }
    }

    pub(super) fn of_files(files: (u64, u64)) -> Self {
        Self { files, ..Self::default() }
    }

    /// Says what is done; `None` if nothing is known of it.
    fn text(&self) -> Option<String> {
        let doing = |what: &str| Some(what.to_owned());
        match self.phase {
            Some(Phase::Waiting) => doing("waiting for other work on the index"),
            Some(Phase::Listing) => doing("listing files"),
            Some(Phase::Merging) => doing("merging the full-text index"),
            Some(Phase::Vectors) => doing("making vectors"),
            Some(Phase::History) => doing("reading the history"),
            Some(Phase::Substrings) => doing("gathering substrings"),
            Some(Phase::Files) | None => self.count(),
        }
    }

    fn count(&self) -> Option<String> {
        let (done, files) = self.files;
        let (done_bytes, bytes) = self.bytes;
        let of_bytes = match bytes {
            0 => String::new(),
            1..MB => format!(", {} of {} kB", done_bytes >> 10, bytes >> 10),
            _ => format!(", {} of {} MB", done_bytes >> 20, bytes >> 20),
        };
        (files > 0).then(|| format!("{done} of {files} files{of_bytes}"))
    }
}

/// A sentence about work that takes long, written once before its progress is shown.
pub(super) struct Announcement {
    text: String,
    after: Duration,
}

impl Announcement {
    /// Announces work after an answer, once it takes longer than in most commands.
    pub(super) const fn after_answer(text: String) -> Self {
        Self { text, after: Duration::from_secs(2) }
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

/// The exit code if the reader of stdout goes away before the end.
static CODE_WITHOUT_READER: AtomicU8 = AtomicU8::new(0);

/// Sets the exit code for a reader that goes away before the end: a command whose code is its answer ends with that.
pub(super) fn ends_without_reader_as(outcome: Outcome) {
    CODE_WITHOUT_READER.store(outcome as u8, Ordering::Relaxed);
}

/// A reader that went away has seen enough; a disk that is full has not taken what was asked for.
fn end_unless(written: std::io::Result<()>) {
    if let Err(failed) = written {
        if failed.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(CODE_WITHOUT_READER.load(Ordering::Relaxed).into());
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
    showing(ProgressDisplay::new(None), how_far, work)
}

/// Does `work` like [`with_progress`], but shows nothing before the announcement.
pub(super) fn with_announced_progress<T>(
    announcement: Announcement,
    how_far: impl Fn() -> HowFar + Sync,
    work: impl FnOnce() -> T,
) -> T {
    showing(ProgressDisplay::new(Some(announcement)), how_far, work)
}

fn showing<T>(mut shown: ProgressDisplay, how_far: impl Fn() -> HowFar + Sync, work: impl FnOnce() -> T) -> T {
    budget::ticking(TICK, || shown.update(&how_far()), work)
}

/// Shows the progress of work that another process does and reports.
pub(super) fn with_remote_progress<T>(work: impl FnOnce(&(dyn Fn(client::RemoteProgress) + Sync)) -> T) -> T {
    let latest = std::sync::Mutex::new(HowFar::default());
    let now = || *locked(&latest);
    let tell = |far: client::RemoteProgress| {
        *locked(&latest) = HowFar::of_files((far.done, far.total));
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
    announcement: Option<Announcement>,
    is_terminal: bool,
    bar: Option<ProgressBar>,
    /// Whether the bar shows a speed.
    has_speed: Option<bool>,
    last_line: (Instant, String),
}

impl ProgressDisplay {
    fn new(announcement: Option<Announcement>) -> Self {
        let started = Instant::now();
        let last_line = (started, String::new());
        Self { started, announcement, is_terminal: *IS_STDERR_TERMINAL, bar: None, has_speed: None, last_line }
    }

    fn update(&mut self, how_far: &HowFar) {
        let quiet = self.announcement.as_ref().map_or(QUIET, |announcement| announcement.after);
        if self.started.elapsed() < quiet {
            return;
        }
        if let Some(announcement) = self.announcement.take() {
            note(&announcement.text);
        }
        let Some(text) = how_far.text() else { return };
        if self.is_terminal {
            let bar = self.bar.get_or_insert_with(|| ProgressBar::new(0));
            let has_speed = how_far.phase == Some(Phase::Files) && how_far.bytes.1 > 0;
            if self.has_speed.replace(has_speed) != Some(has_speed) {
                bar.set_style(bar_style(has_speed));
            }
            let (done, total) = if how_far.bytes.1 > 0 { how_far.bytes } else { how_far.files };
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(text);
        } else if let Some(line) = self.next_line(text, Instant::now()) {
            note(&line);
        }
    }

    /// The line to write at `now`, where there is no terminal. One that says nothing new is left out.
    fn next_line(&mut self, text: String, now: Instant) -> Option<String> {
        let (last, written) = &self.last_line;
        if now.saturating_duration_since(*last) < LINE || *written == text {
            return None;
        }
        let line = format!("indexing: {text}");
        self.last_line = (now, text);
        Some(line)
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar_style(has_speed: bool) -> ProgressStyle {
    let template = if has_speed {
        "indexing {wide_bar} {msg}  {binary_bytes_per_sec}  {eta} left"
    } else {
        "indexing {wide_bar} {msg}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn progress_says_what_is_done_and_counts_bytes_of_small_repositories() {
        let progress = Progress::default();
        let text = || HowFar::from_progress(&progress).text();
        progress.begin(818, 700 << 10);
        progress.advance(1, 12 << 10);
        assert_eq!(text().as_deref(), Some("1 of 818 files, 12 of 700 kB"));
        progress.begin(11_739, 89 << 20);
        assert_eq!(text().as_deref(), Some("0 of 11739 files, 0 of 89 MB"));
        let phases =
            [Phase::Waiting, Phase::Listing, Phase::Merging, Phase::Vectors, Phase::History, Phase::Substrings];
        let mut texts: Vec<Option<String>> = Vec::new();
        for phase in phases {
            progress.enter(phase);
            assert_eq!(progress.phase(), phase);
            assert!(text().is_some_and(|text| !text.contains("files,")) && !texts.contains(&text()), "{phase:?}");
            texts.push(text());
        }
        assert_eq!(HowFar::of_files((3, 20)).text().as_deref(), Some("3 of 20 files"));
        assert_eq!(HowFar::default().text(), None);
    }

    #[test]
    fn a_line_of_progress_is_written_only_if_it_says_something_new() {
        let mut shown = ProgressDisplay::new(None);
        let begun = shown.started;
        let mut lines =
            |seconds: u64, text: &str| shown.next_line(text.to_owned(), begun + Duration::from_secs(seconds));
        assert_eq!(lines(4, "making vectors"), None, "too early");
        assert_eq!(lines(5, "making vectors").as_deref(), Some("indexing: making vectors"));
        for seconds in 6..300 {
            assert_eq!(lines(seconds, "making vectors"), None);
        }
        assert_eq!(lines(300, "reading the history").as_deref(), Some("indexing: reading the history"));
    }

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
