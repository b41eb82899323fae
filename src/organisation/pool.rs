//! Connections that wait for the next call.
//!
//! Owns how many wait and for how long. Processes that stay search often, and a login takes longer than a statement. The server is not
//! asked to end them: a setting would stay on a session that a pooler shares.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{Connection, Purpose};
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{ErrorKind, Result};
use crate::locked::locked;

/// Connections that wait at the same time.
const MAX_WAITING: usize = 2;
/// A connection that waited longer is not used again.
const MAX_WAIT: Duration = Duration::from_secs(120);

static WAITING: Mutex<Pool> = Mutex::new(Pool { waiting: Vec::new(), is_watched: false });

struct Pool {
    waiting: Vec<Waiting>,
    /// Whether a thread closes connections that wait for too long.
    is_watched: bool,
}

struct Waiting {
    address: ServerAddress,
    since: Instant,
    connection: Connection,
}

/// A connection that waits and whose server answers, or a new one.
pub(super) fn take(address: &ServerAddress, budget: &Budget) -> Result<Connection> {
    while let Some(mut connection) = waiting(address) {
        match connection.check_protocol(budget) {
            Ok(()) => return Ok(connection),
            Err(error) if matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Timeout) => return Err(error),
            // The server may have been restarted.
            Err(_) => {}
        }
    }
    Connection::open(address, Purpose::Read, budget)
}

fn waiting(address: &ServerAddress) -> Option<Connection> {
    let waiting = &mut locked(&WAITING).waiting;
    let fits = |one: &Waiting| one.address == *address && one.since.elapsed() < MAX_WAIT;
    let at = waiting.iter().position(fits)?;
    Some(waiting.swap_remove(at).connection)
}

/// Keeps a connection for the next call.
pub(super) fn keep(address: &ServerAddress, connection: Connection) {
    let mut pool = locked(&WAITING);
    if !connection.is_usable() || pool.waiting.len() >= MAX_WAITING {
        return;
    }
    pool.waiting.push(Waiting { address: address.clone(), since: Instant::now(), connection });
    if !pool.is_watched {
        pool.is_watched = std::thread::Builder::new().name("idle-connections".to_owned()).spawn(close_idle).is_ok();
    }
}

/// Closes connections that were idle for too long, until none is left: many processes wait, and few search.
fn close_idle() {
    loop {
        std::thread::sleep(MAX_WAIT / 4);
        let mut pool = locked(&WAITING);
        pool.waiting.retain(|one| one.since.elapsed() < MAX_WAIT);
        if pool.waiting.is_empty() {
            pool.is_watched = false;
            return;
        }
    }
}
