//! Processes. Windows has no numeric user ids, and a process cannot limit its own resources: the parent enforces a
//! timeout instead.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Not needed to tell users apart: each has a temporary folder of its own.
pub const fn user_id() -> u32 {
    0
}

/// The name of this user's folder among those of others.
pub fn own_name() -> String {
    format!("ixmcp-{}", user_id())
}

/// Normalizes the name of an environment variable for lookups: `Path` is `PATH`.
pub fn variable(mut name: String) -> String {
    name.make_ascii_uppercase();
    name
}

/// Prepares a command that outlives this process, without a console window.
pub fn detach(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// Does nothing: [`detach`] already detached this process.
pub const fn leave_terminal() {}

/// Does nothing: the child's descendants exit when their input ends.
pub const fn own_group(_: &mut Command) {}

pub fn kill_group(child: &mut Child) {
    let _already_gone = child.kill();
    let _reaped = child.wait();
}

/// Does nothing; see the module documentation.
pub const fn limit(_memory: u64, _seconds: Option<u64>) -> io::Result<()> {
    Ok(())
}

/// Not implemented.
pub const fn cpu_time(_pid: u32) -> Option<Duration> {
    None
}

/// Not implemented.
pub const fn peak_memory() -> Option<u64> {
    None
}

/// Not implemented.
pub const fn total_memory() -> Option<u64> {
    None
}

/// Not implemented.
pub const fn resident_memory(_pid: u32) -> Option<u64> {
    None
}

/// Always false: there is no such limit.
pub const fn ran_out_of_time(_: ExitStatus) -> bool {
    false
}

/// Does nothing: there is no such limit.
pub const fn raise_file_limit() {}

/// Console events that request termination of the program.
pub struct TerminationSignal {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl TerminationSignal {
    /// Must be called in a runtime. From then on the events no longer terminate the process by default.
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
    }

    /// Waits for an event and returns its name.
    pub async fn recv(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.stop.recv() => "Ctrl-Break",
            _ = self.close.recv() => "its console was closed",
        }
    }
}
