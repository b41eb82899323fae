//! The client side of a daemon's socket: connecting, identifying the daemon, and sending one request at a time.
//!
//! Owns the check that the other end is this user's daemon for this repository. `launch` starts daemons.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;

use super::framing::{Line, Lines};
use super::hello::{Hello, PROTO};
use super::socket_path::SocketPath;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::socket::{self, OwnedReadHalf, OwnedWriteHalf};
use crate::wording::Wording;

/// Maximum size of an answer in bytes. Answers to the plain methods are not truncated; a list of all files may be long.
const MAX_ANSWER_BYTES: usize = 1 << 30;
/// A daemon that does not identify itself within this time hangs.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// A daemon's identity.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DaemonIdentity {
    pub proto: u32,
    pub version: String,
    pub pid: u32,
    pub root: PathBuf,
    /// Whether the daemon restricts this connection, as its hello requires.
    #[serde(default, rename = "restricted", skip_serializing_if = "std::ops::Not::not")]
    pub is_restricted: bool,
}

/// Whether this program can use a daemon of another release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// An older release, which this program replaces.
    Older,
    Usable,
    /// A later release with another protocol.
    Incompatible,
}

impl DaemonIdentity {
    pub fn compatibility(&self) -> Compatibility {
        compatibility(self.proto, &self.version, PROTO, env!("CARGO_PKG_VERSION"))
    }
}

fn compatibility(proto: u32, version: &str, own_proto: u32, own_version: &str) -> Compatibility {
    let numbers = |version: &str| -> Vec<u64> {
        let core = version.split(['-', '+']).next().unwrap_or_default();
        core.split('.').map(|number| number.parse().unwrap_or(0)).collect()
    };
    if numbers(version) < numbers(own_version) {
        Compatibility::Older
    } else if proto == own_proto {
        Compatibility::Usable
    } else {
        Compatibility::Incompatible
    }
}

/// A connection to a daemon that has identified itself.
pub struct DaemonConnection {
    pub about: DaemonIdentity,
    pub reader: Lines<OwnedReadHalf>,
    pub writer: OwnedWriteHalf,
}

impl DaemonConnection {
    /// Connects to a daemon; `None` if none listens. Fails if the listener cannot be trusted or the daemon hangs.
    pub async fn connect(path: &SocketPath, hello: &Hello) -> Result<Option<Self>> {
        if !path.check()? {
            return Ok(None);
        }
        // This user owns the folder, but the listening process must be checked, too.
        let Some(stream) = socket::connect(&path.socket).await.map_err(|_| {
            Error::invalid_path("another user listens on this repository's socket")
                .hint("Remove the folder .flashgrep.")
        })?
        else {
            return Ok(None);
        };
        let (reader, mut writer) = stream.into_split();
        let mut reader = Lines::up_to(MAX_ANSWER_BYTES, reader);
        let identify = async {
            let about = json!({ "jsonrpc": "2.0", "id": "ixmcp/about", "method": "ixmcp/about" });
            writer.write_all(format!("{}\n{about}\n", hello.line()).as_bytes()).await.ok()?;
            answer(&mut reader).await
        };
        let identity = tokio::time::timeout(HELLO_TIMEOUT, identify).await;
        let identity = identity.map_err(|_| Error::new(ErrorKind::Busy, "the repository's daemon does not answer"));
        // A daemon that is exiting closes the connection.
        let Some(line) = identity? else { return Ok(None) };
        let about: Answer = serde_json::from_slice(&line).unwrap_or_default();
        match serde_json::from_value::<DaemonIdentity>(about.result.unwrap_or_default()) {
            Ok(about) if about.root == path.root => Ok(Some(Self { about, reader, writer })),
            _ => Err(Error::internal("the process that listens on this repository's socket is not its daemon")
                .hint("Stop it, or remove the folder .flashgrep.")),
        }
    }

    /// Sends a request and waits for its answer. The outer error means that the daemon closed the connection.
    pub async fn call(
        &mut self,
        method: &str,
        mut params: Map<String, Value>,
        budget: &Budget,
        report: &(dyn Fn(RemoteProgress) + Sync),
    ) -> Result<Result<Value>, ConnectionClosed> {
        params.insert("_meta".to_owned(), json!({ "progressToken": 0 }));
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(&request).await?;
        let mut is_cancelled = false;
        loop {
            let line = tokio::select! {
                line = answer(&mut self.reader) => line.ok_or(ConnectionClosed)?,
                () = budget.spent(), if !is_cancelled => {
                    is_cancelled = true;
                    let params = json!({ "requestId": 1 });
                    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                    self.send(&cancel).await?;
                    continue;
                }
            };
            let Ok(answer) = serde_json::from_slice::<Answer>(&line) else { return Err(ConnectionClosed) };
            match answer {
                Answer { params: Some(progress), .. } => report(progress),
                Answer { error: Some(_), .. } if is_cancelled => return Ok(Err(budget.error())),
                Answer { error: Some(fault), .. } => return Ok(Err(fault.into())),
                Answer { result, .. } => return Ok(Ok(result.unwrap_or_default())),
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), ConnectionClosed> {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.map_err(|_| ConnectionClosed)
    }

    /// Waits until the daemon closes the connection.
    pub async fn closed(&mut self) {
        while answer(&mut self.reader).await.is_some() {}
    }
}

/// The daemon ended before it answered.
#[derive(Debug)]
pub struct ConnectionClosed;

/// The progress of a request that a daemon is working on.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct RemoteProgress {
    #[serde(rename = "progress")]
    pub done: u64,
    #[serde(default)]
    pub total: u64,
}

/// An answer, or a progress notification.
#[derive(Default, Deserialize)]
struct Answer {
    params: Option<RemoteProgress>,
    result: Option<Value>,
    error: Option<RemoteFault>,
}

#[derive(Deserialize)]
struct RemoteFault {
    message: String,
    #[serde(default)]
    data: RemoteData,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RemoteData {
    code: String,
    hint: Option<String>,
    /// The parts of the message and hint; a daemon of another build may send parts that this build does not know.
    wording: Option<Value>,
}

#[derive(Deserialize)]
struct RemoteWording {
    message: Wording,
    hint: Option<Wording>,
}

impl From<RemoteFault> for Error {
    fn from(fault: RemoteFault) -> Self {
        let kind = ErrorKind::named(&fault.data.code).unwrap_or(ErrorKind::Internal);
        let wording = fault.data.wording.and_then(|wording| serde_json::from_value(wording).ok());
        let RemoteWording { message, hint } = wording.unwrap_or_else(|| RemoteWording {
            message: fault.message.into(),
            hint: fault.data.hint.map(Wording::from),
        });
        let error = Self::new(kind, message);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

async fn answer<R: tokio::io::AsyncRead + Unpin>(lines: &mut Lines<R>) -> Option<Vec<u8>> {
    match lines.next().await {
        Ok(Some(Line::Text(line))) => Some(line),
        _ => None,
    }
}

/// A daemon connection for threads that may block.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    connection: DaemonConnection,
}

impl Client {
    /// Connects to the running daemon of the repository at `root`, for a client with the current directory `cwd`. `None` if
    /// there is no daemon, or none that this program can use.
    pub fn find(root: &Path, cwd: &Path, environment: &Environment) -> Option<Self> {
        let path = SocketPath::find(root, environment);
        // Usually there is no daemon, and then no runtime is needed.
        path.socket.symlink_metadata().ok()?;
        let runtime = runtime().ok()?;
        let hello = Hello { env: environment.python(), ..Hello::ours(cwd.to_owned()) };
        let connected = runtime.block_on(DaemonConnection::connect(&path, &hello));
        let connection = connected.inspect_err(|error| tracing::warn!("{}", printable(&error.to_string()))).ok()??;
        (connection.about.compatibility() == Compatibility::Usable).then_some(Self { runtime, connection })
    }

    pub fn new(connection: DaemonConnection, runtime: tokio::runtime::Runtime) -> Self {
        Self { runtime, connection }
    }

    pub fn about(&self) -> &DaemonIdentity {
        &self.connection.about
    }

    pub fn call(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        budget: &Budget,
        report: &(dyn Fn(RemoteProgress) + Sync),
    ) -> Result<Result<Value>, ConnectionClosed> {
        self.runtime.block_on(self.connection.call(method, params, budget, report))
    }

    /// Waits until the daemon closes the connection; false on a timeout.
    pub fn wait_closed(&mut self, timeout: Duration) -> bool {
        self.runtime.block_on(async { tokio::time::timeout(timeout, self.connection.closed()).await.is_ok() })
    }
}

/// A single-threaded runtime.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_release_replaces_a_daemon() {
        for (version, proto, is) in [
            ("0.1.0", 1, Compatibility::Usable),
            ("0.0.9", 1, Compatibility::Older),
            ("0.0.9", 0, Compatibility::Older),
            ("0.10.0", 1, Compatibility::Usable),
            ("0.10.0", 2, Compatibility::Incompatible),
            ("0.1.0-rc.1", 1, Compatibility::Usable),
        ] {
            assert_eq!(compatibility(proto, version, 1, "0.1.0"), is, "{version}");
        }
    }
}
