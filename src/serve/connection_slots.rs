//! Limits the number of connections of a listener, such that idle ones cannot lock out others.
//!
//! A connection is pending until it has shown that it is a client's: over HTTP by a request with the token, on the daemon's socket
//! and port by a line. If there are too many pending connections, the oldest is closed.

use crate::locked::locked;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

pub struct ConnectionSlots {
    max_pending: usize,
    max_clients: usize,
    connections: Mutex<Connections>,
}

/// Each connection is represented by what notifies it when it is evicted.
#[derive(Default)]
struct Connections {
    /// The oldest first.
    pending: VecDeque<Arc<Notify>>,
    clients: Vec<Arc<Notify>>,
}

/// The slot of one connection, which is released when it is dropped.
pub struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    eviction: Arc<Notify>,
}

impl ConnectionSlots {
    pub fn new(max_pending: usize, max_clients: usize) -> Arc<Self> {
        Arc::new(Self { max_pending, max_clients, connections: Mutex::default() })
    }

    pub fn enter(self: &Arc<Self>) -> ConnectionSlot {
        let eviction = Arc::new(Notify::new());
        let mut connections = locked(&self.connections);
        connections.pending.push_back(Arc::clone(&eviction));
        if connections.pending.len() > self.max_pending
            && let Some(oldest) = connections.pending.pop_front()
        {
            oldest.notify_one();
        }
        drop(connections);
        ConnectionSlot { slots: Arc::clone(self), eviction }
    }
}

impl ConnectionSlot {
    /// Marks the connection as a client's, so that it is not evicted. If there are too many of these, it stays pending.
    pub fn keep(&self) {
        let mut connections = locked(&self.slots.connections);
        if connections.clients.len() < self.slots.max_clients {
            let at = connections.pending.iter().position(|other| Arc::ptr_eq(other, &self.eviction));
            let own = at.and_then(|at| connections.pending.remove(at));
            connections.clients.extend(own);
        }
    }

    /// Waits until the connection is evicted.
    pub async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut connections = locked(&self.slots.connections);
        connections.pending.retain(|other| !Arc::ptr_eq(other, &self.eviction));
        connections.clients.retain(|other| !Arc::ptr_eq(other, &self.eviction));
    }
}
