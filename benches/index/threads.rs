//! CPU time of a process by its threads, read while it runs: what one did in its last moments is unknown.
//!
//! In a build by `ixmcp sync`, the main thread writes the database.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// Group of the main thread.
pub const MAIN: &str = "main: plans, and writes the database";
/// The kernel counts CPU time for programs in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Threads that were seen, with their group and CPU time.
#[derive(Default)]
pub struct Threads(BTreeMap<u32, (String, Duration)>);

impl Threads {
    /// Reads the CPU times of the threads that exist now.
    pub fn look(&mut self, process: u32) {
        let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return };
        for task in tasks.flatten() {
            let seen = fs::read_to_string(task.path().join("stat")).ok().and_then(|stat| parse(&stat));
            if let Some((thread, name, cpu)) = seen {
                self.0.insert(thread, (if thread == process { MAIN.to_owned() } else { name }, cpu));
            }
        }
    }

    /// CPU time of each group.
    pub fn groups(&self) -> BTreeMap<&str, Duration> {
        let mut groups = BTreeMap::new();
        for (name, cpu) in self.0.values() {
            *groups.entry(name.as_str()).or_default() += *cpu;
        }
        groups
    }
}

/// The id, the name and the CPU time of a thread in `/proc/…/stat`. A name may contain spaces and parentheses.
fn parse(stat: &str) -> Option<(u32, String, Duration)> {
    let (head, rest) = stat.rsplit_once(") ")?;
    let (id, name) = head.split_once(" (")?;
    let mut times = rest.split(' ').skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((id.parse().ok()?, name.to_owned(), TICK * (user + system)))
}
