//! The requests of one connection that are not answered yet.
//!
//! Owns which ids are taken, how many may be open, what a cancellation reaches, and how a batch is put together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::envelope::Id;
use super::framing::Unread;
use super::progress::Reporter;
use crate::budget::Budget;
use crate::locked::locked;

/// Requests that one connection may have open.
pub const MAX_OPEN: u32 = 64;

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

/// What a call under way carries with it. Its number is the id by which rmcp knows it.
#[derive(Clone)]
pub struct Ticket {
    pub number: u64,
    pub budget: Budget,
    pub progress: Reporter,
}

/// One open request.
pub struct Flight {
    pub id: Id,
    pub route: Route,
    /// Its reply is not wanted any more.
    pub is_forgotten: bool,
    /// Told when the reply is queued.
    pub landed: Option<oneshot::Sender<()>>,
    pub dialect: Dialect,
    ticket: Ticket,
    /// Given back when the reply is queued.
    _place: OwnedSemaphorePermit,
}

/// Why a request does not take off.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    IdTaken,
    Full,
}

pub struct Flights {
    places: Arc<Semaphore>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    flights: HashMap<u64, Flight>,
    numbers: HashMap<String, u64>,
}

impl Flights {
    pub fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_OPEN as usize)), open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        locked(&self.open)
    }

    pub fn take_off(
        &self,
        id: &Id,
        dialect: Dialect,
        route: Route,
        budget: Budget,
        progress: Reporter,
    ) -> Result<Ticket, Refusal> {
        let mut open = self.open();
        let key = id.key();
        if open.numbers.contains_key(&key) {
            return Err(Refusal::IdTaken);
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refusal::Full)?;
        open.last += 1;
        let ticket = Ticket { number: open.last, budget, progress };
        let flight = Flight {
            id: id.clone(),
            route,
            is_forgotten: false,
            landed: None,
            dialect,
            ticket: ticket.clone(),
            _place: place,
        };
        open.numbers.insert(key, ticket.number);
        open.flights.insert(ticket.number, flight);
        Ok(ticket)
    }

    /// Resolves when the reply to that request is queued.
    pub fn landing(&self, ticket: &Ticket) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        if let Some(flight) = self.open().flights.get_mut(&ticket.number) {
            flight.landed = Some(sender);
        }
        receiver
    }

    /// Stops the work for `id`. Unknown ids are answered already: nothing happens.
    pub fn cancel(&self, id: &Id) {
        let mut open = self.open();
        let key = id.key();
        let Some(number) = open.numbers.get(&key).copied() else { return };
        let Some(flight) = open.flights.get_mut(&number) else { return };
        flight.ticket.budget.cancel();
        flight.ticket.progress.close();
        if flight.dialect == Dialect::Mcp {
            flight.is_forgotten = true;
            open.numbers.remove(&key);
        }
    }

    pub fn cancel_all(&self) {
        self.open().flights.values().for_each(|flight| flight.ticket.budget.cancel());
    }

    /// The request whose answer is ready; no progress is told from here on.
    pub fn land(&self, number: u64) -> Option<Flight> {
        let mut open = self.open();
        let flight = open.flights.remove(&number)?;
        flight.ticket.progress.close();
        let key = flight.id.key();
        if open.numbers.get(&key) == Some(&number) {
            open.numbers.remove(&key);
        }
        Some(flight)
    }

    /// Returns once every reply is queued. Nothing can take off afterwards.
    pub async fn all_landed(&self) {
        if let Ok(places) = self.places.acquire_many(MAX_OPEN).await {
            places.forget();
        }
    }
}

/// The text of a reply, and its place in the count of what is unread.
pub struct Reply {
    pub text: String,
    pub unread: Option<Unread>,
}

/// One that is too small to count.
impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, unread: None }
    }
}

/// Replies that go out as one array, in the order of the requests.
pub struct Batch(Mutex<Settling>);

struct Settling {
    replies: Vec<Option<Reply>>,
    unsettled: usize,
}

impl Batch {
    pub fn of(messages: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Settling {
            replies: std::iter::repeat_with(|| None).take(messages).collect(),
            unsettled: messages,
        })))
    }

    /// Settles one message, with or without a reply. The last one gets the line to send, if there is any.
    pub fn settle(&self, place: usize, reply: Option<Reply>) -> (Option<String>, Vec<Unread>) {
        let mut settling = locked(&self.0);
        settling.replies[place] = reply;
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
