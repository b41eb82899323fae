//! Running a program and what it cost: wall time, CPU time of it and its children, and peak memory.
//!
//! A child inherits the peak of the process that forked it, so this program must stay small: whatever opens an index
//! runs in a process of its own.

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::threads::Threads;

/// Time and memory of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub wall: Duration,
    pub cpu: Duration,
    pub peak_bytes: u64,
}

/// Runs a program to its end; gives its cost and its standard output. A failing program is an error.
pub fn run(command: &mut Command) -> Result<(Cost, String), Box<dyn Error>> {
    let (status, cost, output) = run_to_any_end(command)?;
    if status != 0 {
        return Err(format!("{} ended with status {status:#x}", shown(command)).into());
    }
    Ok((cost, output))
}

/// Runs a program whose exit code is part of its answer; returns the raw status, its cost and its standard output.
pub fn run_to_any_end(command: &mut Command) -> Result<(i32, Cost, String), Box<dyn Error>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", shown(command)))?;
    let mut output = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut output)?;
    }
    let (status, usage) = wait(child.id(), 0)?.ok_or("a child has not ended")?;
    Ok((status, Cost { wall: started.elapsed(), ..usage }, output))
}

/// Runs a program to its end and looks at its threads meanwhile; gives its cost with their CPU times. A failing program is an error.
pub fn run_with_threads(command: &mut Command) -> Result<(Cost, Threads), Box<dyn Error>> {
    const EVERY: Duration = Duration::from_millis(20);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (started, mut threads) = (Instant::now(), Threads::default());
    let child = command.spawn().map_err(|error| format!("{}: {error}", shown(command)))?;
    loop {
        threads.look(child.id());
        match wait(child.id(), NO_WAIT)? {
            None => std::thread::sleep(EVERY),
            Some((0, usage)) => return Ok((Cost { wall: started.elapsed(), ..usage }, threads)),
            Some((status, _)) => return Err(format!("{} ended with status {status:#x}", shown(command)).into()),
        }
    }
}

/// Whether a program of that name can be started.
pub fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn shown(command: &Command) -> String {
    Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The kernel's `struct rusage` on 64-bit systems; only the first fields are asked for.
#[repr(C)]
#[derive(Default)]
struct Usage {
    user: [i64; 2],
    system: [i64; 2],
    peak_kib: i64,
    rest: [i64; 13],
}

/// `WNOHANG`.
const NO_WAIT: i32 = 1;

/// Waits for a child; gives its raw exit status, and its cost without the wall time. `None`: it runs, with [`NO_WAIT`].
fn wait(child: u32, options: i32) -> Result<Option<(i32, Cost)>, Box<dyn Error>> {
    #[expect(unsafe_code, reason = "std tells no child's resource usage; wait4 does")]
    mod system {
        unsafe extern "C" {
            pub safe fn wait4(pid: i32, status: &mut i32, options: i32, usage: &mut super::Usage) -> i32;
        }
    }
    let (mut status, mut usage) = (0, Usage::default());
    let pid = i32::try_from(child)?;
    match system::wait4(pid, &mut status, options, &mut usage) {
        0 => return Ok(None),
        found if found != pid => return Err(std::io::Error::last_os_error().into()),
        _ => {}
    }
    let time = |[seconds, micros]: [i64; 2]| {
        Duration::from_secs(seconds.unsigned_abs()) + Duration::from_micros(micros.unsigned_abs())
    };
    let cpu = time(usage.user) + time(usage.system);
    Ok(Some((status, Cost { wall: Duration::ZERO, cpu, peak_bytes: usage.peak_kib.unsigned_abs() * 1024 })))
}
