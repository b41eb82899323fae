//! Who may be connected at the same time: whoever brings no token must not keep out the browser that has one.
//!
//! A connection is a stranger's until a request on it brings the token. There is room for so many strangers; when one
//! more comes, the one that has been there longest goes.

use crate::locked::locked;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

/// Strangers at once. A browser's connection is one until its first question, which comes at once.
const STRANGERS: usize = 64;
/// Connections that brought the token: a browser opens six, for each window the same.
const KNOWN: usize = 64;

#[derive(Default)]
pub struct Places {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    /// The one that came first in front; each with what tells it to go.
    strangers: VecDeque<Arc<Notify>>,
    known: Vec<Arc<Notify>>,
}

/// The place of one connection, free again when it is dropped.
pub struct Place {
    of: Arc<Places>,
    told: Arc<Notify>,
}

impl Places {
    pub fn enter(self: &Arc<Self>) -> Place {
        let told = Arc::new(Notify::new());
        self.inside(|inside| {
            inside.strangers.push_back(Arc::clone(&told));
            if inside.strangers.len() > STRANGERS
                && let Some(first) = inside.strangers.pop_front()
            {
                first.notify_one();
            }
        });
        Place { of: Arc::clone(self), told }
    }

    fn inside<T>(&self, work: impl FnOnce(&mut Inside) -> T) -> T {
        work(&mut locked(&self.inside))
    }
}

impl Place {
    /// It brought the token, so no stranger takes its place. Where too many did, it stays one that may have to go.
    pub fn brought_token(&self) {
        self.of.inside(|inside| {
            if inside.known.len() < KNOWN {
                let at = inside.strangers.iter().position(|other| Arc::ptr_eq(other, &self.told));
                inside.known.extend(at.and_then(|at| inside.strangers.remove(at)));
            }
        });
    }

    /// Waits until it has to go.
    pub async fn told_to_go(&self) {
        self.told.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.inside(|inside| {
            inside.strangers.retain(|other| !Arc::ptr_eq(other, &self.told));
            inside.known.retain(|other| !Arc::ptr_eq(other, &self.told));
        });
    }
}
