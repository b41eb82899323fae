//! Minutes of a real repository under `ixmcp sync --watch`, while it is edited, renamed and switched between branches.
//! `.ci/soak` runs it: `IXMCP_SOAK_TREE` names the sources, `IXMCP_SOAK_MINUTES` how long.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::harness::{Repo, processor_time};
use crate::support::sound::{assert_sound, number, open};
use crate::support::tree::Random;

/// A copy of the sources under git, and the files of it that are edited.
struct Checkout {
    repo: Repo,
    random: Random,
    branches: u64,
}

impl Checkout {
    fn copy(sources: &str) -> Self {
        let repo = Repo::new("");
        fs::remove_dir_all(repo.path().join(".git")).unwrap();
        let copied = Command::new("cp")
            .args(["-a", "--no-preserve=ownership"])
            .arg(format!("{sources}/."))
            .arg(repo.path())
            .status()
            .unwrap();
        assert!(copied.success(), "{sources} cannot be copied");
        let _ = fs::remove_dir_all(repo.path().join(".ixmcp"));
        let _ = fs::remove_dir_all(repo.path().join(".git"));
        let checkout = Self { repo, random: Random(1), branches: 1 };
        checkout.git(&["init", "-q", "-b", "branch0"]);
        checkout.git(&["add", "."]);
        checkout.git(&["commit", "-qm", "sources"]);
        checkout
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "gc.auto=0"]);
        let output = git.args(arguments).current_dir(self.repo.path()).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn tracked(&self) -> Vec<PathBuf> {
        let output = Command::new("git").arg("ls-files").current_dir(self.repo.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| self.repo.path().join(line)).filter(|path| path.is_file()).collect()
    }

    fn step(&mut self) {
        let files = self.tracked();
        let file = self.random.pick(&files).clone();
        let folder = file.parent().unwrap().to_owned();
        match self.random.below(10) {
            0..=4 => {
                let mut text = fs::read(&file).unwrap();
                text.extend_from_slice(format!("\n# edit {}\n", self.random.next()).as_bytes());
                fs::write(&file, text).unwrap();
            }
            5 => fs::rename(&file, folder.join(format!("renamed_{}.py", self.random.below(1000)))).unwrap(),
            6 if folder != self.repo.path() => {
                let to = format!("{}_{}", folder.display(), self.random.below(100));
                let _ = fs::rename(&folder, to);
            }
            7 => {
                let new = folder.join(format!("new{}/deep", self.random.below(1000)));
                fs::create_dir_all(&new).unwrap();
                fs::write(new.join("made.py"), format!("made_{} = 1\n", self.random.next())).unwrap();
            }
            8 => fs::remove_file(&file).unwrap(),
            _ => {
                self.git(&["add", "-A"]);
                self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
                let old = format!("branch{}", self.random.below(self.branches));
                self.git(&["checkout", "-q", &old]);
                if self.random.below(3) == 0 {
                    let new = format!("branch{}", self.branches);
                    self.git(&["checkout", "-q", "-b", &new]);
                    self.branches += 1;
                }
            }
        }
    }
}

/// Resident memory of a process in MB.
fn resident(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
#[ignore = "takes minutes, and sources to work on"]
fn a_watched_repository_stays_right_and_small() {
    let sources = std::env::var("IXMCP_SOAK_TREE").expect("IXMCP_SOAK_TREE names the sources to work on");
    let minutes = number("IXMCP_SOAK_MINUTES", 10);
    let mut checkout = Checkout::copy(&sources);
    let mut command = checkout.repo.command(&["sync", "--watch", "--json"]);
    let reports = tempfile::NamedTempFile::new().unwrap();
    let mut child = command.stdout(reports.reopen().unwrap()).stderr(Stdio::inherit()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    let reported = || fs::read_to_string(reports.path()).unwrap().lines().count();
    while reported() == 0 {
        std::thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "sync --watch ended by itself");
    }
    let (started, mut steps, mut samples) = (Instant::now(), 0_u64, Vec::new());
    let mut next_sample = Duration::ZERO;
    while started.elapsed() < Duration::from_secs(minutes * 60) {
        checkout.step();
        steps += 1;
        // A person, or a program: now and then a pause, mostly none.
        let pause = if steps.is_multiple_of(20) { 1500 } else { checkout.random.below(150) };
        std::thread::sleep(Duration::from_millis(pause));
        assert!(child.try_wait().unwrap().is_none(), "sync --watch ended by itself");
        if started.elapsed() >= next_sample {
            samples.push(resident(pid));
            println!(
                "{:>5.0?}  {steps} steps, {} reports, {} MB",
                started.elapsed(),
                reported(),
                samples[samples.len() - 1]
            );
            next_sample += Duration::from_secs(30);
        }
    }
    // It has caught up when it has nothing more to tell and to do: an update may take longer than any pause where
    // others have the processors.
    let worked = || processor_time(&pid.as_raw_nonzero().to_string());
    let mut rested = (reported(), worked(), Instant::now());
    while rested.2.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(200));
        if reported() != rested.0 || worked() > rested.1 + Duration::from_millis(20) {
            rested = (reported(), worked(), Instant::now());
        }
    }
    samples.push(resident(pid));
    kill_process(pid, Signal::TERM).unwrap();
    child.wait().unwrap();
    println!("{steps} steps, {} branches, {} reports, resident MB: {samples:?}", checkout.branches, rested.0);
    // As the watcher left it: no sync in between.
    assert_sound(&open(checkout.repo.path()), "after the soak");
    let (early, late) = samples.split_at(samples.len() / 2);
    let (early, late) = (early.iter().max().copied().unwrap_or(0), late.iter().max().copied().unwrap_or(0));
    assert!(late <= early + early / 4 + 20, "memory grew from {early} to {late} MB");
}
