//! A connection to an organisation's server, for callers that are threads.
//!
//! Owns the runtime that drives it, deadlines, and cancellation: a call that is cancelled cancels its statement on the server.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::{CancelToken, Client, Error as PgError};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{self, Target};
use super::errors::error_of;
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{Error, ErrorKind, Result};

/// How often a waiting call looks whether it is cancelled.
const TICK: Duration = Duration::from_millis(20);
/// The time for cancelling a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// A statement that takes longer is stopped by the server, even if this process is gone.
const SETTINGS: &str = "SET statement_timeout = '300s'; SET lock_timeout = '60s'; SET client_min_messages = 'warning'";
/// The version of the functions that this program calls.
const PROTOCOL: i32 = 1;
const PROTOCOL_OF_SERVER: &str = "SELECT ixmcp.protocol()";

pub struct Connection {
    /// Dropped after the client, whose messages it drives.
    client: Client,
    cancel: CancelToken,
    tls: MakeRustlsConnect,
    runtime: Runtime,
}

impl Connection {
    /// Connects to a server that has the schema of this program.
    pub fn open(address: &ServerAddress, budget: &Budget) -> Result<Self> {
        let mut connection = Self::open_any(address, budget)?;
        let version: i32 =
            connection.run(budget, async |client| client.query_one(PROTOCOL_OF_SERVER, &[]).await?.try_get(0))?;
        if version != PROTOCOL {
            let message =
                format!("the organisation's server has version {version} of the schema; this program needs {PROTOCOL}");
            let hint =
                if version > PROTOCOL { "Install a newer ixmcp." } else { "An administrator runs `ixmcp org init`." };
            return Err(Error::new(ErrorKind::UnsupportedFormat, message).hint(hint));
        }
        Ok(connection)
    }

    /// Connects to a server that may lack the schema.
    pub(super) fn open_any(address: &ServerAddress, budget: &Budget) -> Result<Self> {
        let Target { config, tls } = address::target(address)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
        let connected = runtime.block_on(async {
            let connecting = async {
                let (client, connection) = config.connect(tls.clone()).await?;
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!("the connection to the organisation's server ended: {}", error_of(&error));
                    }
                });
                client.batch_execute(SETTINGS).await?;
                Ok::<_, PgError>(client)
            };
            tokio::select! {
                connected = connecting => Some(connected),
                () = spent(budget) => None,
            }
        });
        let client = connected.ok_or_else(|| budget.error())?.map_err(|error| error_of(&error))?;
        Ok(Self { cancel: client.cancel_token(), client, tls, runtime })
    }

    /// Runs statements. When the budget is spent, they are cancelled on the server.
    pub(super) fn run<T>(
        &mut self,
        budget: &Budget,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, PgError>,
    ) -> Result<T> {
        budget.check()?;
        let client = &mut self.client;
        let done = self.runtime.block_on(async {
            tokio::select! {
                done = work(client) => Some(done),
                () = spent(budget) => None,
            }
        });
        if let Some(done) = done {
            return done.map_err(|error| error_of(&error));
        }
        let cancelled =
            self.runtime.block_on(tokio::time::timeout(CANCEL_TIMEOUT, self.cancel.cancel_query(self.tls.clone())));
        if !matches!(cancelled, Ok(Ok(()))) {
            tracing::debug!("a statement could not be cancelled on the organisation's server");
        }
        Err(budget.error())
    }

    /// Runs work of a library with errors of its own.
    pub(super) fn with_client<T>(&mut self, work: impl AsyncFnOnce(&mut Client) -> T) -> T {
        let client = &mut self.client;
        self.runtime.block_on(work(client))
    }
}

/// Returns when the budget is spent.
async fn spent(budget: &Budget) {
    while !budget.is_spent() {
        tokio::time::sleep(TICK).await;
    }
}
