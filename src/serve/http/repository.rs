//! A repository that is served, and the connections to its daemon for requests without a session.
//!
//! Owns the name in the path, and the connections that are kept open between requests. Such a connection carries one request
//! at a time, so ids and progress tokens of different clients do not meet.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pipe::Pipe;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::printable;
use crate::platform::paths::canonical;
use crate::serve::Relay;

/// Requests without a session that may be in flight.
const MAX_REQUESTS: usize = 64;
/// Connections that are kept open while they are not used.
const MAX_IDLE: usize = 16;

pub struct Repository {
    pub name: String,
    pub root: PathBuf,
    relay: Arc<Relay>,
    idle: Mutex<Vec<Arc<Pipe>>>,
    slots: Arc<Semaphore>,
}

/// A connection to the daemon for one request.
pub struct Borrowed {
    pub pipe: Arc<Pipe>,
    repository: Arc<Repository>,
    _slot: OwnedSemaphorePermit,
}

impl Repository {
    pub fn new(name: String, relay: Relay) -> Arc<Self> {
        let root = relay.root.clone();
        let slots = Arc::new(Semaphore::new(MAX_REQUESTS));
        Arc::new(Self { name, root, relay: Arc::new(relay), idle: Mutex::default(), slots })
    }

    /// Fails if the folder was removed, or replaced by a link, since it was named.
    pub fn check(&self) -> Result<()> {
        if self.root.is_dir() && canonical(&self.root).is_ok_and(|real| real == self.root) {
            return Ok(());
        }
        let message = format!("the repository {} does not exist any more", printable(&self.name));
        Err(Error::invalid_path(message)
            .hint("The user who runs `ixmcp http` can remove it from --repo, or restore the folder."))
    }

    /// A connection for a session.
    pub fn connect(&self) -> Arc<Pipe> {
        Pipe::open(Arc::clone(&self.relay))
    }

    /// A connection for one request; `None` if too many are in flight.
    pub fn borrow(self: &Arc<Self>) -> Option<Borrowed> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        let mut idle = locked(&self.idle);
        idle.retain(|pipe| !pipe.has_ended());
        let pipe = idle.pop();
        drop(idle);
        let pipe = pipe.unwrap_or_else(|| self.connect());
        Some(Borrowed { pipe, repository: Arc::clone(self), _slot: slot })
    }
}

impl Borrowed {
    /// Keeps the connection for other requests, because this one is answered.
    pub fn give_back(self) {
        let mut idle = locked(&self.repository.idle);
        if self.pipe.is_idle() && !self.pipe.has_ended() && idle.len() < MAX_IDLE {
            idle.push(Arc::clone(&self.pipe));
        }
    }
}
