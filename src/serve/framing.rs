//! Reading and writing of lines: bounded reading, and one writer per connection.
//!
//! Owns line ends, the maximum length of a line, and the limits on queued output. Does not know JSON.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Bytes of a line, without its end.
pub const MAX_LINE: usize = 4 << 20;
/// Bytes of a read buffer. It is small because most connections are idle most of the time.
const BUFFER_BYTES: usize = 16 << 10;
/// Replies that are joined into one write, and their bytes. A larger reply is written without copying.
const MAX_JOINED: usize = 64;
const MAX_JOINED_BYTES: usize = 64 << 10;
/// Replies that are queued for the writer, and their bytes. If the queue is full, senders wait.
const MAX_QUEUED: usize = 256;
const MAX_QUEUED_BYTES: usize = 16 << 20;
/// Bytes of answers that a client may leave unread, including those that wait for the queue.
const MAX_UNREAD_BYTES: usize = 32 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Text(Vec<u8>),
    /// The line exceeds the reader's limit. Returned as soon as that is known; the rest of the line is dropped.
    TooLong,
}

/// Reads lines. Skips blank lines, and strips a byte order mark and surrounding white space.
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self::up_to(MAX_LINE, reader)
    }

    /// Reads lines of at most `max_bytes` bytes.
    pub fn up_to(max_bytes: usize, reader: R) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, reader), line: Vec::new(), max_bytes, skipping: false }
    }

    /// The next line; `None` at the end of the input. The last line may lack a line end.
    ///
    /// Cancel safe: the bytes that were read stay in `self`.
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
                too_long = self.line.len() + piece.len() > self.max_bytes;
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

/// Strips white space and a byte order mark; `None` if nothing is left.
fn stripped(mut line: Vec<u8>) -> Option<Vec<u8>> {
    line.truncate(line.trim_ascii_end().len());
    let text = line.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let before = line.len() - text.len();
    line.drain(..before);
    (!line.is_empty()).then_some(line)
}

/// The sending end of a connection's writer. Clones send to the same writer.
#[derive(Clone)]
pub struct Outbox {
    lines: mpsc::Sender<Outgoing>,
    queue_bytes: Arc<Semaphore>,
    unread: Arc<AtomicUsize>,
}

/// Counts the bytes of an answer as unread until it is dropped.
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
        /// Counts the line's bytes as queued until they are written.
        _permit: OwnedSemaphorePermit,
        _unread: Vec<Unread>,
    },
    End,
}

impl Outbox {
    /// The outbox, and the future that writes its lines. The future completes after [`Outbox::end`], or with an error if the
    /// client has disconnected.
    pub fn to<W: AsyncWrite + Unpin>(writer: W) -> (Self, impl Future<Output = io::Result<()>>) {
        let (lines, queue) = mpsc::channel(MAX_QUEUED);
        let queue_bytes = Arc::new(Semaphore::new(MAX_QUEUED_BYTES));
        (Self { lines, queue_bytes, unread: Arc::default() }, write(writer, queue))
    }

    /// Queues a line. Waits while the queue is full; drops the line if the client has disconnected.
    pub async fn send(&self, line: String) {
        self.send_counted(line, Vec::new()).await;
    }

    /// Queues a line of answers that are counted as unread until it is written.
    pub async fn send_counted(&self, mut line: String, unread: Vec<Unread>) {
        line.push('\n');
        let Ok(_permit) = Arc::clone(&self.queue_bytes).acquire_many_owned(weight(&line)).await else { return };
        let _disconnected = self.lines.send(Outgoing::Line { text: line, _permit, _unread: unread }).await;
    }

    /// Counts an answer as unread; `None` if the client has too many unread bytes. A single answer is always accepted,
    /// however large it is.
    pub fn count_unread(&self, bytes: usize) -> Option<Unread> {
        let fits = |unread: usize| {
            let after = unread.checked_add(bytes)?;
            (unread == 0 || after <= MAX_UNREAD_BYTES).then_some(after)
        };
        self.unread.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Unread { unread: Arc::clone(&self.unread), bytes })
    }

    /// Queues a line if the queue is not full.
    pub fn try_send(&self, mut line: String) -> bool {
        line.push('\n');
        let Ok(_permit) = Arc::clone(&self.queue_bytes).try_acquire_many_owned(weight(&line)) else { return false };
        self.lines.try_send(Outgoing::Line { text: line, _permit, _unread: Vec::new() }).is_ok()
    }

    /// Lets the writer stop after the lines that are queued now.
    pub async fn end(&self) {
        let _disconnected = self.lines.send(Outgoing::End).await;
    }

    /// Waits until the writer has stopped.
    pub async fn closed(&self) {
        self.lines.closed().await;
    }
}

fn weight(line: &str) -> u32 {
    u32::try_from(line.len().min(MAX_QUEUED_BYTES)).expect("the limit fits")
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut queue: mpsc::Receiver<Outgoing>) -> io::Result<()> {
    let mut batch = Vec::with_capacity(MAX_JOINED);
    let mut joined = Vec::new();
    let mut ended = false;
    while !ended && queue.recv_many(&mut batch, MAX_JOINED).await > 0 {
        for outgoing in batch.drain(..) {
            match outgoing {
                Outgoing::Line { text, .. } if joined.len() + text.len() <= MAX_JOINED_BYTES => {
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
