//! Destination of log lines: stderr, or the daemon's file `log` next to the index, or next to its socket.
//!
//! stdout belongs to the protocol or the results. The daemon's lines wait in memory until the folder of its repository
//! is known to be safe to write in. The file is renamed to `log.1` when it has grown.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::output;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::platform::{files, mapped};
use crate::serve::socket_path;

/// The file is renamed at this size; there is one of before.
const LARGEST: u64 = 1 << 20;

static SINK: Mutex<Sink> = Mutex::new(Sink::Waiting(Vec::new()));

enum Sink {
    Waiting(Vec<u8>),
    File { file: File, path: PathBuf, size: u64 },
}

/// The last log line of a process whose index was cut, see [`mapped`].
const CUT: &str = "ERROR a file that is mapped into memory became shorter while it was read (SIGBUS): another program cut the index \
    (index.db, or index.db-shm), or its disk is full or failing. This process ends. The next one repairs the index.\n";

/// Log lines go to stderr.
pub(super) fn start(filter: &str, colored: bool) {
    let log = tracing_subscriber::fmt().with_env_filter(parse(filter)).with_writer(|| ToStderr).with_target(false);
    let log = log.with_ansi(colored);
    // A second start in one process keeps the first log.
    let _ = log.try_init();
    mapped::report_cut_files(CUT);
}

/// Log lines go to the file that [`open_file`] opens later.
pub(super) fn start_for_file(filter: &str) {
    let log = tracing_subscriber::fmt().with_env_filter(parse(filter)).with_writer(ToSink).with_ansi(false);
    let _ = log.try_init();
    mapped::report_cut_files(CUT);
}

fn parse(filter: &str) -> EnvFilter {
    // The library logs each error reply as a warning; the client has received it.
    EnvFilter::try_new(format!("rmcp=error,notify=error,{filter}")).unwrap_or_else(|_| EnvFilter::new("warn"))
}

/// `folder` is that of the index. If it cannot be written, the file is next to the daemon's socket.
pub(super) fn open_file(folder: &Path, socket: &Path) -> Result<()> {
    let path = if files::may_write(folder) { folder.join("log") } else { socket.with_extension("log") };
    let opened = socket_path::open_own(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (size, file) = opened.map_err(|error| Error::io("write", &path, error))?;
    let mut sink = locked(&SINK);
    mapped::report_to(&file);
    let waiting = std::mem::replace(&mut *sink, Sink::File { file, path, size });
    if let Sink::Waiting(lines) = waiting {
        // An unwritable log must not stop the program.
        let _ = sink.take(&lines);
    }
    Ok(())
}

impl Sink {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Waiting(lines) => lines.extend_from_slice(line),
            Self::File { file, path, size } => {
                if *size > LARGEST {
                    fs::rename(&*path, path.with_extension("1"))?;
                    let new = socket_path::open_own(path)?;
                    mapped::report_to(&new);
                    (*file, *size) = (new, 0);
                }
                file.write_all(line)?;
                *size += line.len() as u64;
            }
        }
        Ok(())
    }
}

struct ToStderr;

impl Write for ToStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        output::log(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct ToSink;

impl Write for ToSink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        locked(&SINK).take(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for ToSink {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grown_log_is_rotated_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut sink = Sink::File { file: socket_path::open_own(&path).unwrap(), path: path.clone(), size: 0 };
        let line = vec![b'x'; 300_000];
        for _ in 0..9 {
            sink.take(&line).unwrap();
        }
        assert!(fs::metadata(&path).unwrap().len() <= LARGEST + 300_000);
        assert!(fs::metadata(folder.path().join("log.1")).unwrap().len() > LARGEST);
    }
}
