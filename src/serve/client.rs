//! Our own end of a daemon's socket: connecting, knowing who answers, and asking one thing at a time.
//!
//! Owns the check that the peer is this user's daemon for this repository. Starting one is `launch`'s.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;

use super::framing::{Line, Lines};
use super::hello::{Hello, PROTO};
use super::place::Place;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::socket::{self, OwnedReadHalf, OwnedWriteHalf};

/// Answers of a daemon have no bound of ours: a list of every file may be long.
const LONGEST_ANSWER: usize = 1 << 30;
/// A daemon that does not say who it is in this time hangs.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// How soon a cancelled question is given up.
const LOOK: Duration = Duration::from_millis(20);

/// What a daemon says of itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct About {
    pub proto: u32,
    pub version: String,
    pub pid: u32,
    pub root: PathBuf,
}

/// How a daemon's release compares with this program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// It gives way.
    Older,
    Usable,
    /// It speaks with its own kind alone.
    Foreign,
}

impl About {
    pub fn age(&self) -> Age {
        age(self.proto, &self.version, PROTO, env!("CARGO_PKG_VERSION"))
    }
}

fn age(proto: u32, version: &str, own_proto: u32, own_version: &str) -> Age {
    let numbers = |version: &str| -> Vec<u64> {
        let core = version.split(['-', '+']).next().unwrap_or_default();
        core.split('.').map(|number| number.parse().unwrap_or(0)).collect()
    };
    if numbers(version) < numbers(own_version) {
        Age::Older
    } else if proto == own_proto {
        Age::Usable
    } else {
        Age::Foreign
    }
}

/// A connection to a daemon that has said who it is.
pub struct Peer {
    pub about: About,
    pub reader: Lines<OwnedReadHalf>,
    pub writer: OwnedWriteHalf,
}

impl Peer {
    /// `None` when no daemon listens there. The error is one of trust, or of a daemon that hangs.
    pub async fn connect(place: &Place, hello: &Hello) -> Result<Option<Self>> {
        if !place.check()? {
            return Ok(None);
        }
        // The folder is ours, and so must be whoever listens in it.
        let Some(stream) = socket::connect(&place.socket).await.map_err(|_| {
            Error::invalid_path("another user listens on this repository's socket")
                .hint("Remove the folder .flashgrep.")
        })?
        else {
            return Ok(None);
        };
        let (reader, mut writer) = stream.into_split();
        let mut reader = Lines::up_to(LONGEST_ANSWER, reader);
        let introduction = async {
            let about = json!({ "jsonrpc": "2.0", "id": "ixmcp/about", "method": "ixmcp/about" });
            writer.write_all(format!("{}\n{about}\n", hello.line()).as_bytes()).await.ok()?;
            answer(&mut reader).await
        };
        let introduced = tokio::time::timeout(INTRODUCTION, introduction).await;
        let introduced = introduced.map_err(|_| Error::new(ErrorKind::Busy, "the repository's daemon does not answer"));
        // One that ends right now is none.
        let Some(line) = introduced? else { return Ok(None) };
        let about: Answer = serde_json::from_slice(&line).unwrap_or_default();
        match serde_json::from_value::<About>(about.result.unwrap_or_default()) {
            Ok(about) if about.root == place.root => Ok(Some(Self { about, reader, writer })),
            _ => Err(Error::internal("what listens on this repository's socket is not its daemon")
                .hint("End it, or remove the folder .flashgrep.")),
        }
    }

    /// Asks one thing. The outer error is that the daemon went away.
    pub async fn ask(
        &mut self,
        method: &str,
        mut params: Map<String, Value>,
        budget: &Budget,
        tell: &(dyn Fn(HowFar) + Sync),
    ) -> Result<Result<Value>, Gone> {
        params.insert("_meta".to_owned(), json!({ "progressToken": 0 }));
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(&request).await?;
        let mut is_cancelled = false;
        loop {
            let line = match tokio::time::timeout(LOOK, answer(&mut self.reader)).await {
                Ok(line) => line.ok_or(Gone)?,
                Err(_) if budget.is_spent() && !is_cancelled => {
                    is_cancelled = true;
                    let params = json!({ "requestId": 1 });
                    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                    self.send(&cancel).await?;
                    continue;
                }
                Err(_) => continue,
            };
            let Ok(answer) = serde_json::from_slice::<Answer>(&line) else { return Err(Gone) };
            match answer {
                Answer { params: Some(far), .. } => tell(far),
                Answer { error: Some(_), .. } if is_cancelled => return Ok(Err(budget.error())),
                Answer { error: Some(fault), .. } => return Ok(Err(fault.into())),
                Answer { result, .. } => return Ok(Ok(result.unwrap_or_default())),
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), Gone> {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.map_err(|_| Gone)
    }

    /// Returns when the daemon has closed the connection.
    pub async fn gone(&mut self) {
        while answer(&mut self.reader).await.is_some() {}
    }
}

/// The daemon ended before it answered.
#[derive(Debug)]
pub struct Gone;

/// How far the work that is waited for has come.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct HowFar {
    #[serde(rename = "progress")]
    pub done: u64,
    #[serde(default)]
    pub total: u64,
}

/// An answer, or a word on progress.
#[derive(Default, Deserialize)]
struct Answer {
    params: Option<HowFar>,
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
}

impl From<RemoteFault> for Error {
    fn from(fault: RemoteFault) -> Self {
        let kind = ErrorKind::named(&fault.data.code).unwrap_or(ErrorKind::Internal);
        let error = Self::new(kind, fault.message);
        match fault.data.hint {
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

/// A daemon to ask from a thread that may wait.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    peer: Peer,
}

impl Client {
    /// The running daemon of the repository at `root` for a client that stands in `cwd`; `None` when there is none,
    /// or none that this program should use.
    pub fn find(root: &Path, cwd: &Path, environment: &Environment) -> Option<Self> {
        let place = Place::of(root, environment);
        // Most often there is none: that is known without a runtime.
        place.socket.symlink_metadata().ok()?;
        let runtime = runtime().ok()?;
        let hello = Hello { env: environment.python(), ..Hello::ours(cwd.to_owned()) };
        let found = runtime.block_on(Peer::connect(&place, &hello));
        let peer = found.inspect_err(|error| tracing::warn!("{}", printable(&error.to_string()))).ok()??;
        (peer.about.age() == Age::Usable).then_some(Self { runtime, peer })
    }

    pub fn over(peer: Peer, runtime: tokio::runtime::Runtime) -> Self {
        Self { runtime, peer }
    }

    pub fn about(&self) -> &About {
        &self.peer.about
    }

    pub fn ask(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        budget: &Budget,
        tell: &(dyn Fn(HowFar) + Sync),
    ) -> Result<Result<Value>, Gone> {
        self.runtime.block_on(self.peer.ask(method, params, budget, tell))
    }

    /// Waits until the daemon has closed the connection; false when it did not in this time.
    pub fn wait_gone(&mut self, time: Duration) -> bool {
        self.runtime.block_on(async { tokio::time::timeout(time, self.peer.gone()).await.is_ok() })
    }
}

/// A small runtime for one thread that waits.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_newer_program_replaces_a_daemon() {
        for (version, proto, is) in [
            ("0.1.0", 1, Age::Usable),
            ("0.0.9", 1, Age::Older),
            ("0.0.9", 0, Age::Older),
            ("0.10.0", 1, Age::Usable),
            ("0.10.0", 2, Age::Foreign),
            ("0.1.0-rc.1", 1, Age::Usable),
        ] {
            assert_eq!(age(proto, version, 1, "0.1.0"), is, "{version}");
        }
    }
}
