//! Processes: whose, what ends them, and how much they may take.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

/// The number of this user.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The name of a variable of the environment, by which it is looked up.
pub const fn variable(name: String) -> String {
    name
}

/// Prepares a process that is to outlive this one: it does the rest itself, by [`leave_terminal`].
pub const fn outlives(_: &mut Command) {}

/// Lets the terminal go, and whoever started this process.
pub fn leave_terminal() {
    // One that leads a session already is as detached as can be.
    let _ = rustix::process::setsid();
}

/// Has what the process starts itself end with it, by [`end`].
pub fn leads(command: &mut Command) {
    command.process_group(0);
}

/// Ends a process, with those that it started if it [`leads`] them.
pub fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && child.try_wait().is_ok_and(|ended| ended.is_none())
    {
        let _already_gone = kill_process_group(group, Signal::KILL);
    }
    let _already_gone = child.kill();
    let _reaped = child.wait();
}

/// Limits this process: so many bytes of address space, so many seconds of processor time if it is not to stay, and no
/// picture of its memory on disk should it fall.
pub fn limit(memory: u64, seconds: Option<u64>) -> io::Result<()> {
    for (resource, most) in [(Resource::As, Some(memory)), (Resource::Cpu, seconds), (Resource::Core, Some(0))] {
        setrlimit(resource, Rlimit { current: most, maximum: most })?;
    }
    Ok(())
}

/// The most memory that this process has had at once, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Whether it was the limit of processor time that ended a process.
pub fn ran_out_of_time(status: ExitStatus) -> bool {
    let by = [Signal::XCPU, Signal::KILL].map(Signal::as_raw);
    status.signal().is_some_and(|signal| by.contains(&signal))
}

/// As many open files as the system lets this user have.
pub fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the bound on open files stays");
    }
}

/// What tells a program to end: from a terminal, or from whoever started it.
pub struct Ending {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Ending {
    /// Within a runtime. From here on nothing of it ends the process by itself.
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Its name, when it has come.
    pub async fn come(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
