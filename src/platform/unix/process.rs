//! Processes: their user, termination, and resource limits.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

/// The effective user id.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The name of this user's folder among those of others.
pub fn own_name() -> String {
    format!("ixmcp-{}", user_id())
}

/// Normalizes the name of an environment variable for lookups.
pub const fn variable(name: String) -> String {
    name
}

/// Prepares a command that outlives this process. On Unix the child detaches itself with [`leave_terminal`].
pub const fn detach(_: &mut Command) {}

/// Detaches from the terminal and from the parent process.
pub fn leave_terminal() {
    // Fails if this process already leads a session, which is detached as well.
    let _ = rustix::process::setsid();
}

/// Puts the child into its own process group, so that [`kill_group`] also kills its descendants.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills a child, and its whole process group if it was started with [`own_group`].
pub fn kill_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && child.try_wait().is_ok_and(|ended| ended.is_none())
    {
        let _already_gone = kill_process_group(group, Signal::KILL);
    }
    let _already_gone = child.kill();
    let _reaped = child.wait();
}

/// Limits this process to `memory` bytes of address space and, if given, `seconds` of CPU time, and disables core
/// dumps.
pub fn limit(memory: u64, seconds: Option<u64>) -> io::Result<()> {
    for (resource, max) in [(Resource::As, Some(memory)), (Resource::Cpu, seconds), (Resource::Core, Some(0))] {
        setrlimit(resource, Rlimit { current: max, maximum: max })?;
    }
    Ok(())
}

/// The CPU time that a process and its threads have used, if the system reports it.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain anything.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    memory("self", "VmHWM:")
}

/// The resident memory of a process in bytes, if the system reports it.
pub fn resident_memory(pid: u32) -> Option<u64> {
    memory(&pid.to_string(), "VmRSS:")
}

/// The memory of this machine in bytes, or of the container that this process runs in, if the system reports it.
pub fn total_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let size = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = size.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10;
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    Some(limit.and_then(|limit| limit.trim().parse().ok()).map_or(total, |limit: u64| limit.min(total)))
}

fn memory(process: &str, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix(field))?;
    Some(size.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Whether a process was killed because it exceeded its CPU time limit.
pub fn ran_out_of_time(status: ExitStatus) -> bool {
    let by = [Signal::XCPU, Signal::KILL].map(Signal::as_raw);
    status.signal().is_some_and(|signal| by.contains(&signal))
}

/// Raises the limit of open files to the maximum for this user.
pub fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}

/// Signals that request termination of the program.
pub struct TerminationSignal {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl TerminationSignal {
    /// Must be called in a runtime. From then on the signals no longer terminate the process by default.
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for a signal and returns its name.
    pub async fn recv(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
