//! Limits the number of connections, such that clients without the token cannot lock out the browser that has it.
//!
//! A connection is unauthenticated until a request on it has the token. If there are too many unauthenticated connections,
//! the oldest is closed.

use crate::locked::locked;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

/// Unauthenticated connections. A browser's connection is one until its first request, which follows immediately.
const MAX_UNAUTHENTICATED: usize = 64;
/// Connections that have sent the token. A browser opens six, which all windows share.
const MAX_AUTHENTICATED: usize = 64;

#[derive(Default)]
pub struct ConnectionSlots(Mutex<Connections>);

/// Each connection is represented by what notifies it when it is evicted.
#[derive(Default)]
struct Connections {
    /// The oldest first.
    unauthenticated: VecDeque<Arc<Notify>>,
    authenticated: Vec<Arc<Notify>>,
}

/// The slot of one connection, which is released when it is dropped.
pub struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    eviction: Arc<Notify>,
}

impl ConnectionSlots {
    pub fn enter(self: &Arc<Self>) -> ConnectionSlot {
        let eviction = Arc::new(Notify::new());
        let mut connections = locked(&self.0);
        connections.unauthenticated.push_back(Arc::clone(&eviction));
        if connections.unauthenticated.len() > MAX_UNAUTHENTICATED
            && let Some(oldest) = connections.unauthenticated.pop_front()
        {
            oldest.notify_one();
        }
        drop(connections);
        ConnectionSlot { slots: Arc::clone(self), eviction }
    }
}

impl ConnectionSlot {
    /// Marks the connection as authenticated, so that it is not evicted. If there are too many of these, it stays
    /// unauthenticated.
    pub fn authenticate(&self) {
        let mut connections = locked(&self.slots.0);
        if connections.authenticated.len() < MAX_AUTHENTICATED {
            let at = connections.unauthenticated.iter().position(|other| Arc::ptr_eq(other, &self.eviction));
            let own = at.and_then(|at| connections.unauthenticated.remove(at));
            connections.authenticated.extend(own);
        }
    }

    /// Waits until the connection is evicted.
    pub async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut connections = locked(&self.slots.0);
        connections.unauthenticated.retain(|other| !Arc::ptr_eq(other, &self.eviction));
        connections.authenticated.retain(|other| !Arc::ptr_eq(other, &self.eviction));
    }
}
