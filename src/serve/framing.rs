//! Lines in and lines out: bounded reading, and one writer a connection.
//!
//! Owns where a line ends, how long it may be, and how much may wait to be written. Knows no JSON.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The longest line that is read, without its end.
pub const MAX_LINE: usize = 4 << 20;
/// Read at once: small, because most connections are idle most of the time.
const BUFFER: usize = 16 << 10;
/// Replies joined into one write, and their bytes: a large one is written from where it is.
const JOINED: usize = 64;
const JOINED_BYTES: usize = 64 << 10;
/// Replies that may wait for the writer, and their bytes: beyond either, whoever answers waits too.
const WAITING: usize = 256;
const WAITING_BYTES: usize = 16 << 20;
/// Bytes of answers that a client may have without reading them, those that wait for the writer's queue included.
const UNREAD_BYTES: usize = 32 << 20;

/// What stands between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Text(Vec<u8>),
    /// More than the reader admits; told as soon as it is known, the rest of the line is dropped.
    TooLong,
}

/// Reads lines; skips blank ones; strips a byte order mark and surrounding white space.
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self::up_to(MAX_LINE, reader)
    }

    /// Lines of at most so many bytes.
    pub fn up_to(longest: usize, reader: R) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER, reader), line: Vec::new(), longest, skipping: false }
    }

    /// The next line; `None` at the end of the input, whose last line need not be ended.
    ///
    /// A dropped call loses nothing: what was read stays in `self`.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok(if self.skipping { None } else { stripped(last).map(Line::Text) });
            }
            let end = memchr::memchr(b'\n', read);
            let piece = &read[..end.unwrap_or(read.len())];
            let used = piece.len() + usize::from(end.is_some());
            let mut too_long = false;
            if !self.skipping {
                too_long = self.line.len() + piece.len() > self.longest;
                if too_long {
                    self.line = Vec::new();
                } else {
                    self.line.extend_from_slice(piece);
                }
            }
            self.reader.consume(used);
            self.skipping = (self.skipping || too_long) && end.is_none();
            if too_long {
                return Ok(Some(Line::TooLong));
            }
            if end.is_some()
                && let Some(line) = stripped(std::mem::take(&mut self.line))
            {
                return Ok(Some(Line::Text(line)));
            }
        }
    }
}

/// `None` when nothing is left.
fn stripped(mut line: Vec<u8>) -> Option<Vec<u8>> {
    line.truncate(line.trim_ascii_end().len());
    let text = line.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let before = line.len() - text.len();
    line.drain(..before);
    (!line.is_empty()).then_some(line)
}

/// Where replies go: the way to a connection's writer. Clones are the same way.
#[derive(Clone)]
pub struct Outbox {
    lines: mpsc::Sender<Outgoing>,
    room: Arc<Semaphore>,
    unread: Arc<AtomicUsize>,
}

/// Counts an answer among those that its client has not read, until it is dropped.
pub struct Unread {
    unread: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.unread.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

enum Outgoing {
    Line {
        text: String,
        /// Keeps the line's bytes counted until they are written.
        _room: OwnedSemaphorePermit,
        _unread: Vec<Unread>,
    },
    End,
}

impl Outbox {
    /// The way, and the task's work at its end, which lasts until [`Outbox::end`] or until the peer is gone.
    pub fn to<W: AsyncWrite + Unpin>(writer: W) -> (Self, impl Future<Output = io::Result<()>>) {
        let (lines, waiting) = mpsc::channel(WAITING);
        let room = Arc::new(Semaphore::new(WAITING_BYTES));
        (Self { lines, room, unread: Arc::default() }, write(writer, waiting))
    }

    /// Queues a line. Waits while too much is queued; drops the line when nobody is there to read it.
    pub async fn send(&self, line: String) {
        self.send_counted(line, Vec::new()).await;
    }

    /// The same for answers that are counted.
    pub async fn send_counted(&self, mut line: String, unread: Vec<Unread>) {
        line.push('\n');
        let Ok(_room) = Arc::clone(&self.room).acquire_many_owned(weight(&line)).await else { return };
        let _gone = self.lines.send(Outgoing::Line { text: line, _room, _unread: unread }).await;
    }

    /// Counts an answer of so many bytes as unread; none where its client has left too much unread. One answer alone,
    /// however large, is never too much.
    pub fn count_unread(&self, bytes: usize) -> Option<Unread> {
        let fits = |unread: usize| {
            let after = unread.checked_add(bytes)?;
            (unread == 0 || after <= UNREAD_BYTES).then_some(after)
        };
        self.unread.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Unread { unread: Arc::clone(&self.unread), bytes })
    }

    /// Queues a line if there is room for it now.
    pub fn try_send(&self, mut line: String) -> bool {
        line.push('\n');
        let Ok(_room) = Arc::clone(&self.room).try_acquire_many_owned(weight(&line)) else { return false };
        self.lines.try_send(Outgoing::Line { text: line, _room, _unread: Vec::new() }).is_ok()
    }

    /// The writer stops after what is queued now.
    pub async fn end(&self) {
        let _gone = self.lines.send(Outgoing::End).await;
    }

    /// Returns once nothing can be written any more.
    pub async fn closed(&self) {
        self.lines.closed().await;
    }
}

fn weight(line: &str) -> u32 {
    u32::try_from(line.len().min(WAITING_BYTES)).expect("the bound fits")
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut waiting: mpsc::Receiver<Outgoing>) -> io::Result<()> {
    let mut batch = Vec::with_capacity(JOINED);
    let mut joined = Vec::new();
    let mut ended = false;
    while !ended && waiting.recv_many(&mut batch, JOINED).await > 0 {
        for outgoing in batch.drain(..) {
            match outgoing {
                Outgoing::Line { text, .. } if joined.len() + text.len() <= JOINED_BYTES => {
                    joined.extend_from_slice(text.as_bytes());
                }
                Outgoing::Line { text, .. } => {
                    writer.write_all(&joined).await?;
                    joined.clear();
                    writer.write_all(text.as_bytes()).await?;
                }
                Outgoing::End => ended = true,
            }
        }
        writer.write_all(&joined).await?;
        joined.clear();
        writer.flush().await?;
    }
    writer.shutdown().await
}
