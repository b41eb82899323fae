//! Starting and stopping daemons from other processes.
//!
//! Owns the detached process and the wait until it answers. If several processes start at the same time, `socket_path` decides
//! which becomes the daemon.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Map;

use super::client::{self, Client, Compatibility, DaemonConnection, DaemonIdentity};
use super::hello::Hello;
use super::socket_path::SocketPath;
use super::status::Status;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process;

/// The timeouts for a daemon to answer its first request, and to end.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_INTERVAL: Duration = Duration::from_millis(4);

/// Starts daemons from this program's executable, with the settings of this process.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    /// Options of `ixmcp daemon run` from this process's command line.
    options: Vec<String>,
    environment: Environment,
}

impl Launcher {
    pub fn new(environment: &Environment, options: Vec<String>) -> Result<Self> {
        let program =
            environment.program().ok_or_else(|| Error::internal("this program's executable cannot be found"))?;
        Ok(Self { program: program.to_owned(), options, environment: environment.clone() })
    }

    /// Starts the daemon through another process that exits, so that the daemon is not a child of this process, which would
    /// have to wait for it.
    pub fn start(&self, root: &Path) -> Result<()> {
        let mut command = self.command(root, "start");
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| Error::io("start", &self.program, error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(start_error(&output.stderr))
    }

    fn command(&self, root: &Path, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--repo").arg(root).args(["daemon", verb]).args(&self.options).current_dir("/");
        command
    }

    /// Starts the daemon as a child process and waits until it, or another daemon of the repository, answers.
    pub fn spawn(&self, root: &Path) -> Result<DaemonIdentity> {
        let mut command = self.command(root, "run");
        command.arg("--detached").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        process::detach(&mut command);
        let mut child = command.spawn().map_err(|error| Error::io("start", &self.program, error))?;
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            if let Some(client) = find(root, &self.environment)? {
                return Ok(client.about().clone());
            }
            let ended = child.try_wait().ok().flatten();
            if let Some(status) = ended.filter(|status| !status.success()) {
                let mut output = Vec::new();
                if let Some(stderr) = &mut child.stderr {
                    // If its messages cannot be read, the error is less specific.
                    let _ = stderr.take(64 << 10).read_to_end(&mut output);
                }
                tracing::debug!(%status, "the daemon did not start");
                return Err(start_error(&output));
            }
            if Instant::now() >= deadline {
                return Err(Error::new(ErrorKind::Busy, "the daemon was started but does not answer")
                    .hint("See .ixmcp/log, or use --no-daemon."));
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }
}

/// Converts the error message of the started process to an error.
fn start_error(stderr: &[u8]) -> Error {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().last().unwrap_or("it exited without a message");
    let line = line.strip_prefix("ixmcp: ").unwrap_or(line);
    let (kind, message) = line.split_once(": ").unwrap_or(("", line));
    match ErrorKind::named(kind) {
        Some(kind) => Error::new(kind, message),
        None => Error::internal(format!("the daemon did not start: {}", crate::model::printable(line))),
    }
}

/// Connects to the daemon of the repository at `root`, of any release.
pub fn find(root: &Path, environment: &Environment) -> Result<Option<Client>> {
    let path = SocketPath::find(root, environment);
    let runtime = client::runtime()?;
    let connection = runtime.block_on(DaemonConnection::connect(&path, &Hello::ours(root.to_owned())))?;
    Ok(connection.map(|connection| Client::new(connection, runtime)))
}

/// The status of the daemon of the repository at `root`; `None` if there is none.
pub fn status(root: &Path, environment: &Environment) -> Result<Option<Status>> {
    let Some(mut client) = find(root, environment)? else { return Ok(None) };
    // A daemon that ends before it answers counts as ended.
    let Ok(answer) = client.call("ixmcp/status", Map::new(), &Budget::unlimited(), &|_| {}) else { return Ok(None) };
    let unexpected = |error| Error::internal("the daemon's status has an unexpected form").caused_by(error);
    serde_json::from_value(answer?).map(Some).map_err(unexpected)
}

/// Stops the daemon of the repository at `root` and waits for its end. False if there was none.
pub fn stop(root: &Path, environment: &Environment) -> Result<bool> {
    let Some(mut client) = find(root, environment)? else { return Ok(false) };
    let budget = Budget::lasting(STOP_TIMEOUT);
    if let Ok(answer) = client.call("ixmcp/stop", Map::new(), &budget, &|_| {}) {
        answer?;
    }
    let path = SocketPath::find(root, environment);
    let deadline = Instant::now() + STOP_TIMEOUT;
    let is_closed = client.wait_closed(STOP_TIMEOUT);
    while is_closed && path.is_held() && Instant::now() < deadline {
        std::thread::sleep(RETRY_INTERVAL);
    }
    if !is_closed || path.is_held() {
        return Err(Error::new(ErrorKind::Busy, format!("the daemon, process {}, does not exit", client.about().pid))
            .hint("Kill that process."));
    }
    Ok(true)
}

/// Ensures that the repository at `root` has a daemon that this program can use: starts one, or replaces an older one.
pub fn ensure(root: &Path, launcher: &Launcher) -> Result<DaemonIdentity> {
    if let Some(client) = find(root, &launcher.environment)? {
        let about = client.about().clone();
        match about.compatibility() {
            Compatibility::Usable => return Ok(about),
            Compatibility::Older => drop(client),
            Compatibility::Incompatible => {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("the daemon is from a later release, {}", about.version),
                )
                .hint("Update this program."));
            }
        }
        stop(root, &launcher.environment)?;
    }
    launcher.spawn(root)
}
