//! Processes. Windows has neither users by number nor limits that a process sets itself: who started it waits so long and
//! no longer.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Every user has a folder for what is temporary: no number is needed to tell them apart.
pub const fn own_user() -> u32 {
    0
}

/// The name of a variable of the environment, by which it is looked up: `Path` is `PATH`.
pub fn variable(mut name: String) -> String {
    name.make_ascii_uppercase();
    name
}

/// Prepares a process that is to outlive this one: its console is another, which nobody sees.
pub fn outlives(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// Done by whoever started this process, by [`outlives`].
pub const fn leave_terminal() {}

/// What the process starts itself ends when its input does.
pub const fn leads(_: &mut Command) {}

pub fn end(child: &mut Child) {
    let _already_gone = child.kill();
    let _reaped = child.wait();
}

/// Nothing: see above.
pub const fn limit(_memory: u64, _seconds: Option<u64>) -> io::Result<()> {
    Ok(())
}

/// Nobody asks the system for it.
pub const fn peak_memory() -> Option<u64> {
    None
}

/// There is none.
pub const fn ran_out_of_time(_: ExitStatus) -> bool {
    false
}

/// There is no bound.
pub const fn raise_file_limit() {}

/// What tells a program to end: from a console, or when it closes.
pub struct Ending {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl Ending {
    /// Within a runtime. From here on nothing of it ends the process by itself.
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
    }

    /// Its name, when it has come.
    pub async fn come(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.stop.recv() => "Ctrl-Break",
            _ = self.close.recv() => "its console was closed",
        }
    }
}
