//! Sessions of the revisions with a handshake, and the streams in which their answers can be resumed.
//!
//! Owns ids, the limits on sessions and on the events that are kept, and when both expire. A session belongs to one
//! repository. It has a connection of its own to that repository's daemon, which holds the negotiated revision.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::{mpsc, watch};

use super::pipe::{Message, OpenRequest, Pipe};
use super::reply;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::platform::random;

/// Sessions that may be open. The one that was unused longest makes way for another.
const MAX_SESSIONS: usize = 256;
/// How long a session may be unused.
const EXPIRY: Duration = Duration::from_secs(30 * 60);
/// How long the events of an answered request are kept, how many such requests, and how many bytes of a session.
const KEPT: Duration = Duration::from_secs(5 * 60);
const MAX_KEPT: usize = 32;
const MAX_KEPT_BYTES: usize = 2 << 20;
/// How often a quiet stream sends a comment.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that wait for a client to read them.
const MAX_QUEUED: usize = 16;
/// How long a client waits before it resumes a stream.
const RETRY_MS: u64 = 1000;
/// From this revision on, clients accept an event without data.
const WITH_FIRST_EVENT: &str = "2025-11-25";

#[derive(Default)]
pub struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

pub struct Session {
    pub id: String,
    /// The name of the repository.
    pub repository: String,
    /// The negotiated revision.
    pub revision: String,
    pub pipe: Arc<Pipe>,
    used: Mutex<Instant>,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    last: u64,
    by_number: BTreeMap<u64, Arc<Stream>>,
}

/// The messages that answer one request.
pub struct Stream {
    number: u64,
    messages: Mutex<Vec<String>>,
    /// How many messages there are, and whether the last one has arrived.
    progress: watch::Sender<(usize, bool)>,
    finished: Mutex<Option<Instant>>,
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        locked(&self.0)
    }

    /// Begins a session over a connection whose handshake has succeeded.
    pub fn begin(&self, repository: &str, revision: String, pipe: Arc<Pipe>) -> Result<Arc<Session>> {
        let id = random::secret().map_err(Error::no_random_bytes)?;
        let session = Arc::new(Session {
            id: id.clone(),
            repository: repository.to_owned(),
            revision,
            pipe,
            used: Mutex::new(Instant::now()),
            streams: Mutex::default(),
        });
        let mut open = self.open();
        if open.len() >= MAX_SESSIONS {
            let oldest = open.values().min_by_key(|session| (!session.pipe.is_idle(), *locked(&session.used)));
            let oldest = oldest.map(|session| session.id.clone());
            oldest.and_then(|id| open.remove(&id));
        }
        open.insert(id, Arc::clone(&session));
        Ok(session)
    }

    /// The session with this id, if it belongs to that repository.
    pub fn find(&self, id: &str, repository: &str) -> Option<Arc<Session>> {
        let session = self.open().get(id).filter(|session| session.repository == repository).cloned()?;
        if session.pipe.has_ended() {
            self.end(id);
            return None;
        }
        session.touch();
        Some(session)
    }

    pub fn end(&self, id: &str) {
        let session = self.open().remove(id);
        session.iter().for_each(|session| session.pipe.end());
    }

    /// Ends the sessions that were not used for long, and drops the events that are no longer kept.
    pub fn expire(&self) {
        let is_used = |session: &Session| locked(&session.used).elapsed() < EXPIRY || !session.pipe.is_idle();
        let mut open = self.open();
        open.retain(|_, session| is_used(session));
        for session in open.values() {
            locked(&session.streams).expire();
        }
    }
}

impl Session {
    pub fn touch(&self) {
        *locked(&self.used) = Instant::now();
    }

    /// Collects the messages for a request, whether or not the client stays connected.
    pub fn stream(self: &Arc<Self>, mut request: OpenRequest) -> Arc<Stream> {
        let stream = {
            let mut streams = locked(&self.streams);
            streams.last += 1;
            streams.expire();
            let stream = Arc::new(Stream {
                number: streams.last,
                messages: Mutex::default(),
                progress: watch::Sender::new((0, false)),
                finished: Mutex::default(),
            });
            streams.by_number.insert(stream.number, Arc::clone(&stream));
            stream
        };
        let (session, filled) = (Arc::clone(self), Arc::clone(&stream));
        tokio::spawn(async move {
            while let Some(message) = request.next().await {
                let (line, is_last) = match message {
                    Message::Notification(line) => (line, false),
                    Message::Answer(line) => (line, true),
                };
                filled.push(line);
                if is_last {
                    break;
                }
            }
            filled.finish();
            session.touch();
        });
        stream
    }

    /// The stream of an event, and how many of its messages the client has; `None` if it is unknown or was dropped.
    pub fn resume(&self, event: &str) -> Option<(Arc<Stream>, usize)> {
        let (number, index) = event.split_once('-')?;
        let (number, index) = (number.parse::<u64>().ok()?, index.parse::<usize>().ok()?);
        let stream = locked(&self.streams).by_number.get(&number).cloned()?;
        let count = stream.progress.borrow().0;
        (index <= count).then_some((stream, index))
    }

    pub fn wants_first_event(&self) -> bool {
        self.revision.as_str() >= WITH_FIRST_EVENT
    }
}

impl Streams {
    fn expire(&mut self) {
        self.by_number.retain(|_, stream| stream.finished().is_none_or(|since| since.elapsed() < KEPT));
        let mut finished: Vec<_> = self.by_number.values().filter(|stream| stream.finished().is_some()).collect();
        finished.reverse();
        let (mut bytes, mut dropped) = (0, Vec::new());
        for (kept, stream) in finished.into_iter().enumerate() {
            bytes += locked(&stream.messages).iter().map(String::len).sum::<usize>();
            if kept >= MAX_KEPT || bytes > MAX_KEPT_BYTES {
                dropped.push(stream.number);
            }
        }
        self.by_number.retain(|number, _| !dropped.contains(number));
    }
}

impl Stream {
    fn push(&self, line: String) {
        let mut messages = locked(&self.messages);
        messages.push(line);
        self.progress.send_replace((messages.len(), false));
    }

    fn finish(&self) {
        *locked(&self.finished) = Some(Instant::now());
        self.progress.send_modify(|progress| progress.1 = true);
    }

    fn finished(&self) -> Option<Instant> {
        *locked(&self.finished)
    }

    /// The events after the first `sent` messages, until the last one or the client disconnects.
    pub fn events(self: Arc<Self>, mut sent: usize, has_first_event: bool) -> mpsc::Receiver<Bytes> {
        let (events, receiver) = mpsc::channel(MAX_QUEUED);
        tokio::spawn(async move {
            let mut progress = self.progress.subscribe();
            if has_first_event {
                let first = reply::first_event(&format!("{}-0", self.number), RETRY_MS);
                let _disconnected = events.send(first).await;
            }
            loop {
                let (count, is_finished) = *progress.borrow_and_update();
                while sent < count {
                    sent += 1;
                    let line = locked(&self.messages)[sent - 1].clone();
                    let event = reply::event(Some(&format!("{}-{sent}", self.number)), &line);
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
                if is_finished {
                    return;
                }
                let changed = tokio::select! {
                    changed = tokio::time::timeout(KEEP_ALIVE, progress.changed()) => changed,
                    () = events.closed() => return,
                };
                match changed {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return,
                    Err(_) => {
                        let _disconnected = events.send(reply::KEEP_ALIVE).await;
                    }
                }
            }
        });
        receiver
    }
}

/// The events of a request that is cancelled when the client disconnects.
pub fn cancelled_with_client(
    mut request: OpenRequest,
    when_answered: impl FnOnce() + Send + 'static,
) -> mpsc::Receiver<Bytes> {
    let (events, receiver) = mpsc::channel(MAX_QUEUED);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                message = tokio::time::timeout(KEEP_ALIVE, request.next()) => message,
                () = events.closed() => return,
            };
            let event = match message {
                Err(_) => reply::KEEP_ALIVE,
                Ok(Some(Message::Notification(line))) => reply::event(None, &line),
                Ok(Some(Message::Answer(line))) => {
                    let _disconnected = events.send(reply::event(None, &line)).await;
                    when_answered();
                    return;
                }
                Ok(None) => return,
            };
            if events.send(event).await.is_err() {
                return;
            }
        }
    });
    receiver
}
