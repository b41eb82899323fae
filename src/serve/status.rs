//! The status of a daemon.
//!
//! Owns its shape on the wire. Does not own how it is measured ([`super::daemon_service`]).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::client::DaemonIdentity;
use super::meters::{Memory, ToolStatus};

/// The answer that `ixmcp daemon status` prints.
#[derive(Debug, Deserialize, Serialize)]
pub struct Status {
    pub(super) running: bool,
    #[serde(flatten)]
    pub about: DaemonIdentity,
    pub uptime_seconds: u64,
    /// Connected clients, without the one that requests the status.
    pub clients: usize,
    pub requests: BTreeMap<String, ToolStatus>,
    pub pending_changes: u64,
    pub memory: Memory,
    pub watch_mode: String,
    pub socket: PathBuf,
    /// `None` if the settings turn it off.
    pub tcp: Option<TcpStatus>,
}

/// The state of the TCP listener.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TcpStatus {
    /// The addresses.
    Listening(Vec<String>),
    /// The reason.
    Failed(String),
}
