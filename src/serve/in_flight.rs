//! The in-flight requests of one connection.
//!
//! Owns the ids that are in use, the maximum number of requests, cancellation, and the reply to a batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::envelope::Id;
use super::framing::Unread;
use super::progress::ProgressReporter;
use crate::budget::Budget;
use crate::locked::locked;

/// In-flight requests per connection.
pub const MAX_IN_FLIGHT: u32 = 64;

/// Which rules a reply follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A cancelled request gets no reply.
    Mcp,
    /// A cancelled request is answered `CANCELLED`.
    Plain,
}

/// Where a reply goes.
#[derive(Clone)]
pub enum Route {
    Line,
    Batch(Arc<Batch>, usize),
}

/// Facts that the work for a request needs. rmcp uses the number as the request's id.
#[derive(Clone)]
pub struct Ticket {
    pub number: u64,
    pub budget: Budget,
    /// `None` if the client does not want progress.
    pub progress: Option<ProgressReporter>,
}

impl Ticket {
    fn close_progress(&self) {
        if let Some(progress) = &self.progress {
            progress.close();
        }
    }
}

/// One in-flight request.
pub struct InFlightRequest {
    pub id: Id,
    pub route: Route,
    /// Whether the client cancelled it, so that no reply is sent.
    pub is_cancelled: bool,
    /// Notified when the reply is queued.
    pub finished: Option<oneshot::Sender<()>>,
    pub dialect: Dialect,
    ticket: Ticket,
    /// Released when the reply is queued.
    _slot: OwnedSemaphorePermit,
}

/// Why a request is rejected.
#[derive(Debug, PartialEq, Eq)]
pub enum BeginError {
    IdTaken,
    Full,
}

pub struct InFlightRequests {
    slots: Arc<Semaphore>,
    open: Mutex<InFlightState>,
}

#[derive(Default)]
struct InFlightState {
    last: u64,
    in_flight: HashMap<u64, InFlightRequest>,
    numbers: HashMap<String, u64>,
}

impl InFlightRequests {
    pub fn new() -> Self {
        Self { slots: Arc::new(Semaphore::new(MAX_IN_FLIGHT as usize)), open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, InFlightState> {
        locked(&self.open)
    }

    pub fn begin(
        &self,
        id: &Id,
        dialect: Dialect,
        route: Route,
        budget: Budget,
        progress: Option<ProgressReporter>,
    ) -> Result<Ticket, BeginError> {
        let mut open = self.open();
        let key = id.key();
        if open.numbers.contains_key(&key) {
            return Err(BeginError::IdTaken);
        }
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| BeginError::Full)?;
        open.last += 1;
        let ticket = Ticket { number: open.last, budget, progress };
        let request = InFlightRequest {
            id: id.clone(),
            route,
            is_cancelled: false,
            finished: None,
            dialect,
            ticket: ticket.clone(),
            _slot: slot,
        };
        open.numbers.insert(key, ticket.number);
        open.in_flight.insert(ticket.number, request);
        Ok(ticket)
    }

    /// Resolves when the reply to a request is queued.
    pub fn until_finished(&self, ticket: &Ticket) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        if let Some(request) = self.open().in_flight.get_mut(&ticket.number) {
            request.finished = Some(sender);
        }
        receiver
    }

    /// Cancels the request `id`. Does nothing if it is unknown, because it has already been answered.
    pub fn cancel(&self, id: &Id) {
        let mut open = self.open();
        let key = id.key();
        let Some(number) = open.numbers.get(&key).copied() else { return };
        let Some(request) = open.in_flight.get_mut(&number) else { return };
        request.ticket.budget.cancel();
        request.ticket.close_progress();
        if request.dialect == Dialect::Mcp {
            request.is_cancelled = true;
            open.numbers.remove(&key);
        }
    }

    pub fn cancel_all(&self) {
        self.open().in_flight.values().for_each(|request| request.ticket.budget.cancel());
    }

    /// Removes a request whose answer is ready. No progress is reported afterwards.
    pub fn finish(&self, number: u64) -> Option<InFlightRequest> {
        let mut open = self.open();
        let request = open.in_flight.remove(&number)?;
        request.ticket.close_progress();
        let key = request.id.key();
        if open.numbers.get(&key) == Some(&number) {
            open.numbers.remove(&key);
        }
        Some(request)
    }

    /// Waits until every reply is queued. No request can begin afterwards.
    pub async fn all_finished(&self) {
        if let Ok(slots) = self.slots.acquire_many(MAX_IN_FLIGHT).await {
            slots.forget();
        }
    }
}

/// The text of a reply, and its share of the unread bytes.
pub struct Reply {
    pub text: String,
    pub unread: Option<Unread>,
}

/// A reply that is too small to be counted as unread.
impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, unread: None }
    }
}

/// Replies that are sent as one array, in the order of the requests.
pub struct Batch(Mutex<BatchState>);

struct BatchState {
    replies: Vec<Option<Reply>>,
    unsettled: usize,
}

impl Batch {
    pub fn new(messages: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(BatchState {
            replies: std::iter::repeat_with(|| None).take(messages).collect(),
            unsettled: messages,
        })))
    }

    /// Settles one message, with or without a reply. For the last message, returns the line to send, if any.
    pub fn settle(&self, index: usize, reply: Option<Reply>) -> (Option<String>, Vec<Unread>) {
        let mut settling = locked(&self.0);
        settling.replies[index] = reply;
        settling.unsettled -= 1;
        if settling.unsettled > 0 {
            return (None, Vec::new());
        }
        let replies = settling.replies.drain(..).flatten();
        let (texts, unread): (Vec<String>, Vec<Option<Unread>>) =
            replies.map(|reply| (reply.text, reply.unread)).unzip();
        let line = (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")));
        (line, unread.into_iter().flatten().collect())
    }
}
