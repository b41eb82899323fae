//! A line connection to a repository's daemon that carries the requests of HTTP clients.
//!
//! Owns which answer and which progress notification belong to which request. The relay behind it finds the daemon, starts
//! it, and repeats what a daemon did not survive.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, DuplexStream, ReadHalf};
use tokio::sync::mpsc;

use crate::locked::locked;
use crate::serve::Relay;
use crate::serve::envelope::Id;
use crate::serve::framing::{Line, Lines, Outbox};

/// Bytes of the buffer between this end and the relay.
const BUFFER_BYTES: usize = 64 << 10;

pub struct Pipe {
    outbox: Outbox,
    routes: Arc<Routes>,
}

/// A message of the daemon for one request.
#[derive(Debug)]
pub enum Message {
    Notification(String),
    Answer(String),
}

/// The open requests by their ids; `None` once the connection has ended.
struct Routes(Mutex<Option<HashMap<String, Route>>>);

struct Route {
    id: Id,
    /// The client's progress token, as JSON.
    token: Option<String>,
    messages: mpsc::UnboundedSender<Message>,
}

/// Why a request was not sent.
#[derive(Debug, PartialEq, Eq)]
pub enum SendError {
    IdTaken,
    Ended,
}

impl Pipe {
    pub fn open(relay: Arc<Relay>) -> Arc<Self> {
        let (near, far) = tokio::io::duplex(BUFFER_BYTES);
        let (far_reader, far_writer) = tokio::io::split(far);
        tokio::spawn(async move { relay.serve(far_reader, far_writer).await });
        let (reader, writer) = tokio::io::split(near);
        let (outbox, writing) = Outbox::to(writer);
        tokio::spawn(writing);
        let routes = Arc::new(Routes(Mutex::new(Some(HashMap::new()))));
        tokio::spawn(read(reader, Arc::clone(&routes)));
        Arc::new(Self { outbox, routes })
    }

    /// Sends a request, which is one line. The id must not belong to an open request.
    pub async fn request(
        self: &Arc<Self>,
        id: &Id,
        token: Option<&Value>,
        line: String,
    ) -> Result<OpenRequest, SendError> {
        let (messages, receiver) = mpsc::unbounded_channel();
        let route = Route { id: id.clone(), token: token.map(Value::to_string), messages };
        {
            let mut routes = locked(&self.routes.0);
            let open = routes.as_mut().ok_or(SendError::Ended)?;
            if open.contains_key(&id.key()) {
                return Err(SendError::IdTaken);
            }
            open.insert(id.key(), route);
        }
        let request = OpenRequest { pipe: Arc::clone(self), id: id.clone(), messages: receiver, is_answered: false };
        self.outbox.send(line).await;
        Ok(request)
    }

    pub async fn notify(&self, line: String) {
        self.outbox.send(line).await;
    }

    /// Stops waiting for the answer to a request that the client has cancelled.
    pub fn forget(&self, id: &Id) {
        if let Some(open) = locked(&self.routes.0).as_mut() {
            open.remove(&id.key());
        }
    }

    /// Cancels every open request. No further requests are sent.
    pub fn end(&self) {
        let open = locked(&self.routes.0).take().unwrap_or_default();
        open.values().for_each(|route| self.cancel(&route.id));
    }

    fn cancel(&self, id: &Id) {
        let id = serde_json::from_str::<Value>(&id.to_string()).unwrap_or_default();
        let params = json!({ "requestId": id });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        // If the queue is full, the request may not have been sent either. Its deadline ends it otherwise.
        self.outbox.try_send(cancel.to_string());
    }

    pub fn has_ended(&self) -> bool {
        locked(&self.routes.0).is_none()
    }

    pub fn is_idle(&self) -> bool {
        locked(&self.routes.0).as_ref().is_none_or(HashMap::is_empty)
    }
}

/// A request that is not answered yet. Dropping it cancels the request.
pub struct OpenRequest {
    pipe: Arc<Pipe>,
    id: Id,
    messages: mpsc::UnboundedReceiver<Message>,
    is_answered: bool,
}

impl OpenRequest {
    /// The next message; `None` after the answer, or if the connection ended without one.
    pub async fn next(&mut self) -> Option<Message> {
        let message = self.messages.recv().await;
        self.is_answered |= !matches!(message, Some(Message::Notification(_)));
        message
    }

    /// Waits for the answer and drops notifications.
    pub async fn answer(mut self) -> Option<String> {
        loop {
            match self.next().await? {
                Message::Notification(_) => {}
                Message::Answer(line) => return Some(line),
            }
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        self.pipe.forget(&self.id);
        self.pipe.cancel(&self.id);
    }
}

async fn read(reader: ReadHalf<DuplexStream>, routes: Arc<Routes>) {
    deliver(reader, &routes).await;
    // Requests that are still open receive no answer.
    *locked(&routes.0) = None;
}

async fn deliver<R: AsyncRead + Unpin>(reader: R, routes: &Routes) {
    let mut lines = Lines::up_to(usize::MAX, reader);
    while let Ok(Some(Line::Text(line))) = lines.next().await {
        if let Ok(line) = String::from_utf8(line) {
            routes.deliver(line);
        }
    }
}

impl Routes {
    fn deliver(&self, line: String) {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(borrow, default)]
            params: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress {
            progress_token: Value,
        }
        let Ok(envelope) = serde_json::from_str::<Envelope>(&line) else { return };
        let key = envelope.id.and_then(Id::new).map(|id| id.key());
        let progress = envelope.params.and_then(|raw| serde_json::from_str::<Progress>(raw.get()).ok());
        let mut routes = locked(&self.0);
        let Some(open) = routes.as_mut() else { return };
        // A client that has disconnected receives nothing.
        match (key, progress) {
            (Some(key), _) => {
                let route = open.remove(&key);
                let _disconnected = route.map(|route| route.messages.send(Message::Answer(line)));
            }
            (None, Some(progress)) => {
                let token = progress.progress_token.to_string();
                let route = open.values().find(|route| route.token.as_ref() == Some(&token));
                let _disconnected = route.map(|route| route.messages.send(Message::Notification(line)));
            }
            (None, None) => {}
        }
    }
}
