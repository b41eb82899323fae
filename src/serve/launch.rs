//! Starting and ending daemons from outside.
//!
//! Owns the detached process and the wait until it answers. Who becomes the daemon when several start at once is
//! settled by `place`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Map;

use super::client::{self, About, Age, Client, Peer};
use super::hello::Hello;
use super::place::Place;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process;

/// How long a daemon gets to answer its first question, or to end.
const START: Duration = Duration::from_secs(30);
const STOP: Duration = Duration::from_secs(20);
const RETRY: Duration = Duration::from_millis(4);

/// Starts daemons: this very program, with the settings of this process.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    /// Options of `ixmcp daemon run` that were given to this process.
    options: Vec<String>,
    environment: Environment,
}

impl Launcher {
    pub fn new(environment: &Environment, options: Vec<String>) -> Result<Self> {
        let program = environment.program().ok_or_else(|| Error::internal("this program's file cannot be found"))?;
        Ok(Self { program: program.to_owned(), options, environment: environment.clone() })
    }

    /// Has another process start it, whose end leaves the daemon an orphan: this process never has to bury it.
    pub fn start(&self, root: &Path) -> Result<()> {
        let mut command = self.command(root, "start");
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| Error::io("start", &self.program, error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(refused(&output.stderr))
    }

    fn command(&self, root: &Path, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--repo").arg(root).args(["daemon", verb]).args(&self.options).current_dir("/");
        command
    }

    /// Starts it as this process's own child and waits until it answers, or another daemon of the repository does.
    pub fn spawn(&self, root: &Path) -> Result<About> {
        let mut command = self.command(root, "run");
        command.arg("--detached").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        process::detach(&mut command);
        let mut child = command.spawn().map_err(|error| Error::io("start", &self.program, error))?;
        let give_up = Instant::now() + START;
        loop {
            if let Some(client) = find(root, &self.environment)? {
                return Ok(client.about().clone());
            }
            let ended = child.try_wait().ok().flatten();
            if let Some(status) = ended.filter(|status| !status.success()) {
                let mut said = Vec::new();
                if let Some(stderr) = &mut child.stderr {
                    // What it said before it ended; nothing, if that cannot be read.
                    let _ = stderr.take(64 << 10).read_to_end(&mut said);
                }
                tracing::debug!(%status, "the daemon did not start");
                return Err(refused(&said));
            }
            if Instant::now() >= give_up {
                return Err(Error::new(ErrorKind::Busy, "the daemon was started but does not answer")
                    .hint("See .ixmcp/log, or use --no-daemon."));
            }
            std::thread::sleep(RETRY);
        }
    }
}

/// What the other process wrote, as an error of this one.
fn refused(stderr: &[u8]) -> Error {
    let said = String::from_utf8_lossy(stderr);
    let said = said.lines().last().unwrap_or("it ended without a word");
    let said = said.strip_prefix("ixmcp: ").unwrap_or(said);
    let (kind, message) = said.split_once(": ").unwrap_or(("", said));
    match ErrorKind::named(kind) {
        Some(kind) => Error::new(kind, message),
        None => Error::internal(format!("the daemon did not start: {}", crate::model::printable(said))),
    }
}

/// The daemon of the repository at `root`, of whatever release.
pub fn find(root: &Path, environment: &Environment) -> Result<Option<Client>> {
    let place = Place::of(root, environment);
    let runtime = client::runtime()?;
    let peer = runtime.block_on(Peer::connect(&place, &Hello::ours(root.to_owned())))?;
    Ok(peer.map(|peer| Client::over(peer, runtime)))
}

/// Asks the daemon of the repository at `root` to end, and waits for that. False when there was none.
pub fn stop(root: &Path, environment: &Environment) -> Result<bool> {
    let Some(mut client) = find(root, environment)? else { return Ok(false) };
    let budget = Budget::lasting(STOP);
    if let Ok(answer) = client.ask("ixmcp/stop", Map::new(), &budget, &|_| {}) {
        answer?;
    }
    let place = Place::of(root, environment);
    let give_up = Instant::now() + STOP;
    let is_gone = client.wait_gone(STOP);
    while is_gone && place.is_held() && Instant::now() < give_up {
        std::thread::sleep(RETRY);
    }
    if !is_gone || place.is_held() {
        return Err(Error::new(ErrorKind::Busy, format!("the daemon, process {}, does not end", client.about().pid))
            .hint("End it by its process number."));
    }
    Ok(true)
}

/// Makes sure that the repository at `root` has a daemon that this program can use: starts one, or replaces one
/// that is older.
pub fn ensure(root: &Path, launcher: &Launcher) -> Result<About> {
    if let Some(client) = find(root, &launcher.environment)? {
        let about = client.about().clone();
        match about.age() {
            Age::Usable => return Ok(about),
            Age::Older => drop(client),
            Age::Foreign => {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("the daemon is of a later release, {}", about.version),
                )
                .hint("Update this program."));
            }
        }
        stop(root, &launcher.environment)?;
    }
    launcher.spawn(root)
}
