//! A child process for one piece of work: its input goes to stdin, its result comes from stdout, and it exits.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::pipe;
use crate::platform::process;

/// How long a process may take to exit after it has written its result.
const EXIT_GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes that are kept of stderr.
const MAX_STDERR: u64 = 1 << 16;

pub struct Finished {
    pub stdout: Vec<u8>,
    /// The beginning of it.
    pub stderr: Vec<u8>,
    /// `None` if the system did not report it.
    pub status: Option<ExitStatus>,
}

/// Runs `command` on `input`. A process that has not finished its output after `timeout`, and then gets no CPU
/// time for that long again, is killed: the result is `None`. Where the system does not report CPU time, it is killed after
/// `timeout`. On a busy machine a process may wait for minutes until it runs. It limits its own CPU time.
/// At most `max_stdout` bytes are read.
pub fn run_to_end(command: Command, input: &[u8], timeout: Duration, max_stdout: u64) -> io::Result<Option<Finished>> {
    let mut used = None;
    let progresses = |id| {
        let before = std::mem::replace(&mut used, process::cpu_time(id));
        used != before
    };
    run_while(command, input, max_stdout, timeout, progresses)
}

/// Runs `command` on `input` and passes its process id to `goes_on` after each `interval`. Once that is false, the process is
/// killed, with its group if it leads one: the result is `None`. At most `max_stdout` bytes are read.
pub fn run_while(
    mut command: Command,
    input: &[u8],
    max_stdout: u64,
    interval: Duration,
    mut goes_on: impl FnMut(u32) -> bool,
) -> io::Result<Option<Finished>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (mut stdin, stdout) = (pipe(child.stdin.take())?, pipe(child.stdout.take())?);
    let mut stderr = pipe(child.stderr.take())?;
    Ok(std::thread::scope(|scope| {
        // A process that does not read all of it explains itself on stdout.
        scope.spawn(move || drop(stdin.write_all(input)));
        let (sender, result) = bounded(1);
        scope.spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(max_stdout).read_to_end(&mut bytes).map(|_| bytes);
            let _timed_out = sender.send(read);
        });
        let stderr = scope.spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.by_ref().take(MAX_STDERR).read_to_end(&mut bytes);
            // The process must not block on a full pipe.
            let _ = io::copy(&mut stderr, &mut io::sink());
            bytes
        });
        let stdout = loop {
            match result.recv_timeout(interval) {
                Err(RecvTimeoutError::Timeout) if goes_on(child.id()) => {}
                Err(RecvTimeoutError::Timeout) => break None,
                read => break read.ok().and_then(Result::ok),
            }
        };
        let status = exit(&mut child, if stdout.is_some() { EXIT_GRACE } else { Duration::ZERO });
        let stderr = stderr.join().unwrap_or_default();
        stdout.map(|stdout| Finished { stdout, stderr, status })
    }))
}

/// Waits until the process exits; kills it after `grace`.
fn exit(child: &mut Child, grace: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(POLL_INTERVAL);
    }
    process::kill_group(child);
    child.wait().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_waits_is_killed_and_one_that_computes_is_not() {
        let run = |script: &str| {
            let mut command = Command::new("bash");
            command.arg("-c").arg(script);
            run_to_end(command, b"", Duration::from_secs(1), 1 << 10).unwrap()
        };
        assert!(run("sleep 1000").is_none());
        let finished = run("while [ $SECONDS -lt 3 ]; do :; done; echo done").expect("it gets CPU time all along");
        assert_eq!(finished.stdout, b"done\n");
    }
}
