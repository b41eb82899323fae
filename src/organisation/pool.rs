//! Connections that wait for the next call.
//!
//! Owns how many wait and for how long. Processes that stay search often, and a login takes longer than a statement.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::Connection;
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{ErrorKind, Result};
use crate::locked::locked;

/// Connections that wait at the same time.
const MAX_WAITING: usize = 2;
/// A connection that waited longer is not used again.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// The server ends connections that nothing uses: many processes wait, and few search.
const SETTINGS: &str = "SET idle_session_timeout = '600s'";

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

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
    let mut connection = Connection::open(address, budget)?;
    connection.run(budget, async |client| client.batch_execute(SETTINGS).await)?;
    Ok(connection)
}

fn waiting(address: &ServerAddress) -> Option<Connection> {
    let mut waiting = locked(&WAITING);
    waiting.retain(|one| one.since.elapsed() < MAX_WAIT);
    let at = waiting.iter().position(|one| one.address == *address)?;
    Some(waiting.swap_remove(at).connection)
}

/// Keeps a connection for the next call.
pub(super) fn keep(address: &ServerAddress, connection: Connection) {
    let mut waiting = locked(&WAITING);
    if connection.is_usable() && waiting.len() < MAX_WAITING {
        waiting.push(Waiting { address: address.clone(), since: Instant::now(), connection });
    }
}
