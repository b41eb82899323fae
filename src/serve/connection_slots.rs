//! Limits the number of HTTP connections, such that clients without the token cannot lock out those that have it.
//!
//! A connection is unauthenticated until a request on it has the token. If there are too many unauthenticated connections,
//! the oldest is closed.

use crate::locked::locked;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

pub struct ConnectionSlots {
    /// A connection is unauthenticated until its first request, which follows immediately.
    max_unauthenticated: usize,
    max_authenticated: usize,
    connections: Mutex<Connections>,
}

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
    pub fn new(max_unauthenticated: usize, max_authenticated: usize) -> Arc<Self> {
        Arc::new(Self { max_unauthenticated, max_authenticated, connections: Mutex::default() })
    }

    pub fn enter(self: &Arc<Self>) -> ConnectionSlot {
        let eviction = Arc::new(Notify::new());
        let mut connections = locked(&self.connections);
        connections.unauthenticated.push_back(Arc::clone(&eviction));
        if connections.unauthenticated.len() > self.max_unauthenticated
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
        let mut connections = locked(&self.slots.connections);
        if connections.authenticated.len() < self.slots.max_authenticated {
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
        let mut connections = locked(&self.slots.connections);
        connections.unauthenticated.retain(|other| !Arc::ptr_eq(other, &self.eviction));
        connections.authenticated.retain(|other| !Arc::ptr_eq(other, &self.eviction));
    }
}
