//! Accidents that must not harm the index: processes killed, disks full, writers at once, readers that stay, folders
//! that cannot be written. Whatever happened, it has no faults, and the next sync makes of it what a fresh build would
//! be.
//!
//! `IXMCP_KILLS=N` kills N times (`.ci/soak` does).

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::error::ErrorKind;
use ixmcp::model::{ContentHash, RepoPath};
use ixmcp::repository::Thoroughness;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_sound, dump, freshen, number, open, rows, sync, watched};
use crate::support::tree::{Random, Tree};
use crate::support::waiting::until;
use crate::worktrees::committed;

const KILLS: u64 = 6;

/// Some kilobytes of code.
fn module(seed: u64) -> String {
    let mut random = Random(seed);
    let function = |n| format!("def function_{n}(x, y):\n    return Class{n}.method_{n}(x) + helper_{n}(y)\n\n");
    (0..40).map(|_| function(random.below(1000))).collect()
}

/// Rewrites, makes and removes files enough to keep a sync busy.
fn change_much(repo: &Repo, random: &mut Random) {
    for _ in 0..60 {
        let path = format!("many/{}/f{}.py", random.below(5), random.below(150));
        if random.below(4) == 0 {
            let _ = fs::remove_file(repo.path().join(&path));
        } else {
            repo.write_if_possible(&path, &module(random.next()));
        }
    }
}

#[test]
fn a_process_that_is_killed_leaves_a_sound_index() {
    let mut tree = Tree::new(7);
    change_much(&tree.repo, &mut Random(70));
    let started = Instant::now();
    tree.repo.sync();
    let mut window = started.elapsed();
    let (kills, mut in_the_midst, mut at_commits) = (number("IXMCP_KILLS", KILLS), 0, 0);
    for round in 0..kills {
        (0..5).for_each(|_| tree.step());
        let mut random = Random(round);
        change_much(&tree.repo, &mut random);
        let arguments: &[&str] = match random.below(8) {
            0 => &["rebuild"],
            1 => &["sync", "--force"],
            _ => &["sync"],
        };
        if random.below(6) == 0 {
            fs::remove_dir_all(tree.repo.path().join(".ixmcp")).unwrap();
        }
        let at_commit = round % 2 == 1;
        let mut was_killed = false;
        // On a busy machine it may write all its batches between two looks at the log: then it gets new work, and is killed sooner.
        let batches: &[u64] = if at_commit { &[4, 2, 1, 1] } else { &[0] };
        for most in batches {
            let mut command = tree.repo.command(arguments);
            // Even of so small a tree.
            command.env("IXMCP_TRIGRAMS_FROM", "0");
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            if at_commit {
                wait_for_commit(&mut child, &tree.repo.path().join(".ixmcp"), *most, &mut random);
            } else {
                // At any moment of its life.
                std::thread::sleep(window.mul_f64(f64::from(u32::try_from(random.below(1000)).unwrap()) / 1000.0));
            }
            child.kill().unwrap();
            was_killed = child.wait().unwrap().code().is_none();
            if was_killed {
                break;
            }
            change_much(&tree.repo, &mut random);
        }
        in_the_midst += u64::from(was_killed);
        at_commits += u64::from(was_killed && at_commit);
        if !at_commit {
            // So that nine of ten are still at work, on a machine of any speed.
            window = window.mul_f64(if was_killed { 1.05 } else { 0.6 }).max(Duration::from_millis(20));
        }

        let context = format!("round {round}, {arguments:?}: {:#?}", tree.log);
        let workspace = open(tree.repo.path());
        assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
        sync(&workspace);
        assert_sound(&workspace, &context);
    }
    println!("{in_the_midst} of {kills} were killed in the midst, {at_commits} of them as they wrote");
    assert!(in_the_midst * 2 >= kills, "only {in_the_midst} of {kills} were killed in the midst");
    assert!(at_commits * 5 >= kills, "only {at_commits} of {kills} were killed as they wrote");
}

/// Returns when the process has begun to write one of its first `most` batches into the log, or moments after: a commit
/// takes about as long.
fn wait_for_commit(child: &mut Child, folder: &Path, most: u64, random: &mut Random) {
    let logs = ["index.db-wal", "index.db.new-wal"].map(|name| folder.join(name));
    let lengths = || logs.clone().map(|log| fs::metadata(log).map_or(0, |found| found.len()));
    for _ in 0..=random.below(most) {
        let before = lengths();
        while lengths() == before {
            if child.try_wait().unwrap().is_some() {
                return;
            }
            std::hint::spin_loop();
        }
    }
    let moment = Instant::now();
    let rest = Duration::from_micros(random.below(800));
    while moment.elapsed() < rest {
        std::hint::spin_loop();
    }
}

/// A small file system on a folder, for as long as this lives.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, said aloud, where mounting is not permitted.
    pub fn on(folder: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let options = format!("size={size}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output().unwrap();
        if !mount.status.success() {
            println!("SKIPPED: mounting is not permitted: {}", String::from_utf8_lossy(&mount.stderr));
            return None;
        }
        Some(Self(folder.to_owned()))
    }

    pub fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        let mount = Command::new("mount").args(["-o", &options]).arg(&self.0).output().unwrap();
        assert!(mount.status.success(), "{options}: {}", String::from_utf8_lossy(&mount.stderr));
    }

    /// Leaves this many kilobytes free, as the system counts: a list of its files misses those without a name.
    pub fn leave(&self, free_kilobytes: u64) {
        let found = rustix::fs::statvfs(&self.0).unwrap();
        let used = (found.f_blocks - found.f_bfree) * found.f_frsize;
        self.resize(&format!("{}k", used / 1024 + free_kilobytes));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_the_update_and_nothing_else() {
    let repo = Repo::new("//- /first.py\ndef first_of_all(): pass\n");
    let Some(disk) = SmallDisk::on(&repo.path().join(".ixmcp"), "20m") else { return };
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(server.finds("first_of_all").unwrap(), "first.py");
    // Vectors come after the first answer, and their table takes much of the disk at once.
    until("all chunks have vectors", || server.call("stats", &json!({}))["vectors_pending"] == 0);
    disk.leave(400);

    for at in 0..200 {
        repo.write(&format!("more/f{at}.py"), module(at));
    }
    // A process that stays answers from what it has, and says so.
    let answer = server.call("query", &json!({ "text": "first_of_all" }));
    assert_eq!(answer["results"][0]["file_path"], "first.py");
    assert!(answer["stale"].as_str().is_some_and(|reason| reason.contains("the disk is full")), "{answer}");
    // One that only syncs fails, with what to do.
    let error = repo.fails(&["sync"]);
    assert!(error.contains("READ_ONLY") && error.contains("the disk is full"), "{error}");
    assert_eq!(repo.call("query", &json!({ "text": "first_of_all" }))["results"][0]["file_path"], "first.py");
    assert_eq!(open(repo.path()).faults().unwrap(), Vec::<String>::new());

    disk.resize("200m");
    assert_eq!(server.call("query", &json!({ "text": "first_of_all" })).get("stale"), None);
    assert_eq!(server.call("stats", &json!({}))["total_files"], 201);
    drop(server);
    assert_sound(&open(repo.path()), "after the disk was full");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_named() {
    let repo = Repo::new("//- /first.py\ndef first_of_all(): pass\n");
    let Some(disk) = SmallDisk::on(&repo.path().join(".ixmcp"), "32k") else { return };
    let error = repo.fails(&["sync"]);
    assert!(error.contains("READ_ONLY") && error.contains("the disk is full"), "{error}");
    let reported = String::from_utf8(repo.run(&["doctor", "database"]).stdout).unwrap();
    assert!(!reported.contains("sound"), "{reported}");
    disk.resize("20m");
    assert_eq!(repo.sync()["added"], 1);
}

#[test]
fn a_file_that_a_full_disk_cannot_take_is_refused_as_one() {
    let repo = Repo::new("//- /first.py\ndef first_of_all(): pass\n");
    repo.sync();
    let folder = repo.path().join(".ixmcp/small");
    fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::on(&folder, "16k") else { return };
    let error = repo.fails(&["snapshot", "save", ".ixmcp/small/index.snapshot"]);
    assert!(error.contains("READ_ONLY") && error.contains("The disk is full: free some space."), "{error}");
}

#[test]
fn git_ignores_the_index_whatever_became_of_the_rules_in_its_folder() {
    let repo = committed("//- /first.py\ndef first_of_all(): pass\n");
    let is_clean = |context: &str| {
        let status =
            Command::new("git").args(["status", "--porcelain", "-uall"]).current_dir(repo.path()).output().unwrap();
        assert_eq!(String::from_utf8(status.stdout).unwrap(), "", "{context}");
    };
    let commands: [&[&str]; 3] = [&["sync"], &["query", "first_of_all"], &["daemon", "start"]];
    let rules = [".ixmcp/.gitignore", ".flashgrep/.gitignore"];
    repo.ok(&["daemon", "start"]);
    repo.ok(&["daemon", "stop"]);
    for damage in ["absent", "empty", "changed", "folder", "link"] {
        for command in commands {
            for rule in rules.map(|rule| repo.path().join(rule)) {
                if rule.is_dir() {
                    fs::remove_dir_all(&rule).unwrap();
                } else {
                    fs::remove_file(&rule).unwrap();
                }
                match damage {
                    "absent" => {}
                    "empty" => fs::write(&rule, "").unwrap(),
                    "changed" => fs::write(&rule, "!*\n").unwrap(),
                    "folder" => fs::create_dir(&rule).unwrap(),
                    _ => std::os::unix::fs::symlink("index.db", &rule).unwrap(),
                }
            }
            repo.ok(command);
            if command[0] != "daemon" {
                assert_eq!(fs::read(repo.path().join(rules[0])).unwrap(), b"*\n", "{damage}, {command:?}");
                repo.ok(&["daemon", "start"]);
            }
            is_clean(&format!("{damage}, {command:?}"));
            repo.ok(&["daemon", "stop"]);
        }
    }
}

#[test]
fn rules_for_git_that_a_full_disk_prevented_come_when_there_is_space() {
    let repo = committed("//- /first.py\ndef first_of_all(): pass\n");
    let folder = repo.path().join(".ixmcp");
    let Some(disk) = SmallDisk::on(&folder, "4k") else { return };
    // The first page of a file system is its folder.
    fs::write(folder.join("filler"), "x").ok();
    repo.run(&["sync"]);
    let rules = folder.join(".gitignore");
    assert!(fs::read(&rules).map_or(true, |text| text == b"*\n"), "a part is worse than nothing");
    disk.resize("20m");
    repo.ok(&["sync"]);
    assert_eq!(fs::read(&rules).unwrap(), b"*\n");
}

/// Changes to the tree in one round of concurrent writers.
const MAX_STEPS: usize = 2000;

#[test]
fn writers_at_once_over_a_changing_tree_leave_what_a_fresh_build_would() {
    let mut tree = Tree::new(11);
    let mut random = Random(11);
    for round in 0..number("IXMCP_ROUNDS", 3) {
        change_much(&tree.repo, &mut random);
        let all: [&[&str]; 4] = [&["sync"], &["sync", "--force"], &["sync"], &["rebuild"]];
        let quiet = |arguments: &&[&str]| {
            let mut command = tree.repo.command(arguments);
            command.env("IXMCP_TRIGRAMS_FROM", "0");
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut children: Vec<_> = all.iter().map(quiet).collect();
        let mut steps = 0;
        while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
            // Each writer plans again when another has written. In a tree that never rests that has no end.
            if steps < MAX_STEPS {
                tree.step();
                steps += 1;
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let workspace = open(tree.repo.path());
        sync(&workspace);
        assert_sound(&workspace, &format!("round {round}: {:#?}", tree.log));
    }
}

/// One process makes everything again, again and again, from what it read a moment ago; another has indexed a later
/// save in between. What that one answers must never fall back behind the save.
#[test]
fn a_slow_writer_never_brings_back_what_another_has_replaced() {
    let repo = Repo::new("");
    for at in 0..900 {
        repo.write(&format!("many/f{at}.py"), format!("def before_{at}(): pass\n"));
    }
    let workspace = watched(repo.path());
    let mut random = Random(5);
    let mut writer = None;
    for round in 0..40 {
        let is_done = |child: &mut Child| child.try_wait().unwrap().is_some();
        if writer.as_mut().is_none_or(is_done) {
            let arguments: &[&str] = if random.below(3) == 0 { &["rebuild"] } else { &["sync", "--force"] };
            writer = Some(repo.command(arguments).stdout(Stdio::null()).spawn().unwrap());
        }
        let at = random.below(900);
        let (path, other) = (format!("many/f{at}.py"), format!("many/g{round}.py"));
        let text = format!("def after_{round}(): pass\n");
        repo.write(&path, &text);
        // A rename in the other's plan, of a file that is not what it was.
        fs::rename(repo.path().join(&path), repo.path().join(&other)).unwrap();
        repo.write(&path, module(round));
        freshen(&workspace);
        for (path, text) in [(&path, &module(round)), (&other, &text)] {
            let at = [RepoPath::new(path.as_str()).unwrap()];
            let stored = workspace.read(&Budget::unlimited(), |snapshot| snapshot.stored_files_at(&at)).unwrap();
            let hashes: Vec<ContentHash> = stored.iter().map(|file| file.hash).collect();
            assert_eq!(hashes, [ContentHash::compute(text.as_bytes())], "round {round}: {path}");
        }
    }
    assert!(writer.unwrap().wait().unwrap().success());
    freshen(&workspace);
    assert_sound(&workspace, "after forced syncs beside a watch");
}

#[test]
fn an_index_that_is_removed_under_a_live_process_is_made_again() {
    let repo = Repo::new("//- /first.py\ndef first_of_all(): pass\n");
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(server.finds("first_of_all").unwrap(), "first.py");
    for removed in [".ixmcp", ".ixmcp/index.db"] {
        let removed = repo.path().join(removed);
        if removed.is_dir() {
            fs::remove_dir_all(&removed).unwrap();
        } else {
            fs::remove_file(&removed).unwrap();
        }
        assert_eq!(server.finds("first_of_all").unwrap(), "first.py", "{}", removed.display());
        repo.write("second.py", "def second_of_all(): pass\n");
        assert_eq!(server.finds("second_of_all").unwrap(), "second.py");
        repo.remove("second.py");
    }
    drop(server);
    sync(&open(repo.path()));
    assert_sound(&open(repo.path()), "after the index was removed twice");
}

#[test]
fn a_reader_keeps_its_state_through_a_bulk_build() {
    let repo = Repo::new("");
    for at in 0..1100 {
        repo.write(&format!("many/f{at}.py"), format!("def before_{at}(): pass\n"));
    }
    let workspace = open(repo.path());
    sync(&workspace);
    let before = dump(&workspace);
    let (has_begun, begun) = mpsc::channel();
    let (finish, may_finish) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            workspace.read(&Budget::unlimited(), move |snapshot| {
                let first = rows(snapshot)?;
                has_begun.send(()).unwrap();
                may_finish.recv().unwrap();
                Ok((first, rows(snapshot)?))
            })
        });
        begun.recv().unwrap();
        for at in 0..1100 {
            repo.write(&format!("many/f{at}.py"), format!("def after_{at}(): pass\n"));
        }
        sync(&workspace);
        finish.send(()).unwrap();
        let (first, second) = reader.join().unwrap().unwrap();
        assert!(first == before && second == before, "the snapshot moved");
    });
    assert_sound(&workspace, "after a reader held a snapshot");
    // No one holds the log any more.
    sync(&workspace);
    let log = repo.path().join(".ixmcp/index.db-wal");
    assert_eq!(fs::metadata(&log).map_or(0, |data| data.len()), 0, "the log stays long");
}

#[test]
fn updates_end_although_several_processes_write_in_a_tree_that_never_rests() {
    // Two batches: between them the other process has its turn.
    const FILES: usize = 600;
    let repo = Repo::new("");
    let write_all =
        |text: &str| (0..FILES).for_each(|at| repo.write(&format!("many/f{at}.txt"), format!("{text} {at}\n")));
    write_all("first");
    let workspaces = [open(repo.path()), open(repo.path())];
    sync(&workspaces[0]);
    let (budget, ended) = (Budget::lasting(Duration::from_secs(240)), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for workspace in &workspaces {
            scope.spawn(|| {
                let report = workspace.sync(Thoroughness::Changed, &Arc::default(), &budget);
                ended.fetch_add(1, Ordering::SeqCst);
                report.unwrap();
            });
        }
        for round in 0.. {
            write_all(&format!("round {round}"));
            if ended.load(Ordering::SeqCst) == workspaces.len() {
                break;
            }
        }
    });
    sync(&workspaces[1]);
    assert_sound(&workspaces[1], "after two processes updated a tree that never rested");
}

#[test]
fn a_call_that_gives_up_takes_no_other_with_it() {
    let repo = Repo::new("");
    for at in 0..600 {
        repo.write(&format!("many/f{at}.py"), module(at));
    }
    let workspace = open(repo.path());
    let impatient = Budget::unlimited();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| workspace.sync(Thoroughness::Changed, &Arc::default(), &impatient));
        while workspace.progress().is_none() {
            std::thread::yield_now();
        }
        let second = scope.spawn(|| freshen(&workspace));
        impatient.cancel();
        second.join().unwrap();
        assert!(first.join().unwrap().is_err_and(|error| error.kind == ErrorKind::Cancelled));
    });
    assert_sound(&workspace, "after a sync was given up");
}

/// A user that owns a repository and is not root, because root ignores modes.
struct Owner {
    repo: Repo,
    program: PathBuf,
}

const UNPRIVILEGED: u32 = 65534;

impl Owner {
    /// `None`, with a message, if this process cannot become another user.
    fn new(files: &str) -> Option<Self> {
        let repo = Repo::new(files);
        if !rustix::process::geteuid().is_root() {
            println!("SKIPPED: only root can run programs as another user");
            return None;
        }
        // The program's own folder may be closed to others.
        let program = repo.path().join(".git/program");
        fs::copy(env!("CARGO_BIN_EXE_ixmcp"), &program).unwrap();
        for entry in [repo.path().to_owned()].into_iter().chain(Self::entries(repo.path())) {
            chown(entry, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        Some(Self { repo, program })
    }

    fn entries(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(Self::entries(&path));
            }
            found.push(path);
        }
        found
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.repo.path()).uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        // There is no other folder that an index could be in.
        command.env_clear().env("HOME", "/nonexistent").env("TMPDIR", "/nonexistent");
        command
    }

    /// The answer of a tool, or the error.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let output = self.command(&["call", tool, "--args", &arguments.to_string()]).output().unwrap();
        if output.status.success() {
            return Ok(serde_json::from_slice(&output.stdout).unwrap());
        }
        Err(String::from_utf8(output.stderr).unwrap())
    }

    fn set_writable(&self, folder: &str, is_writable: bool) {
        let mode = if is_writable { 0o755 } else { 0o555 };
        fs::set_permissions(self.repo.path().join(folder), fs::Permissions::from_mode(mode)).unwrap();
    }
}

const ONE: &str = "//- /first.py\ndef first_of_all(): pass\n";

#[test]
fn a_read_only_checkout_is_served_from_its_index_and_refused_without() {
    let Some(owner) = Owner::new(ONE) else { return };
    owner.set_writable("", false);
    let error = owner.call("query", &json!({ "text": "first_of_all" })).unwrap_err();
    assert!(error.contains("READ_ONLY"), "{error}");

    owner.set_writable("", true);
    let answer = owner.call("query", &json!({ "text": "first_of_all" })).unwrap();
    assert_eq!((answer["results"][0]["file_path"].as_str(), answer.get("stale")), (Some("first.py"), None));

    // Files of the index may stay writable: what counts is whether new ones can be made.
    for folder in ["", ".ixmcp"] {
        owner.set_writable(folder, false);
    }
    let answer = owner.call("query", &json!({ "text": "first_of_all" })).unwrap();
    assert_eq!(answer["results"][0]["file_path"], "first.py");
    assert!(answer["stale"].is_string(), "{answer}");
    let sync = owner.command(&["sync"]).output().unwrap();
    let error = String::from_utf8_lossy(&sync.stderr).into_owned();
    assert!(!sync.status.success() && error.contains("READ_ONLY"), "{error}");
    for folder in ["", ".ixmcp"] {
        owner.set_writable(folder, true);
    }
    assert_sound(&open_as_root(&owner), "after a time when it was read-only");
}

/// Root runs the check itself, so the index must belong to root then.
fn open_as_root(owner: &Owner) -> Arc<ixmcp::workspace::Workspace> {
    for entry in Owner::entries(&owner.repo.path().join(".ixmcp")) {
        chown(entry, Some(0), Some(0)).unwrap();
    }
    chown(owner.repo.path().join(".ixmcp"), Some(0), Some(0)).unwrap();
    open(owner.repo.path())
}

#[test]
fn a_folder_that_becomes_unwritable_between_two_reads_makes_answers_stale_at_worst() {
    let Some(owner) = Owner::new(ONE) else { return };
    let mut server = Server::start(owner.command(&["mcp", "--no-daemon"]));
    assert_eq!(server.finds("first_of_all").unwrap(), "first.py");
    owner.set_writable(".ixmcp", false);
    fs::write(owner.repo.path().join("first.py"), "def second_of_all(): pass\n").unwrap();
    // The process that has the database open may go on writing it; then it must, and it says nothing.
    let answer = server.call("query", &json!({ "text": "second_of_all", "mode": "literal" }));
    let is_found = answer["results"][0]["file_path"] == "first.py";
    assert!(is_found != answer["stale"].is_string(), "{answer}");
    drop(server);
    // One that comes now cannot: the answer is what there is, and says so.
    fs::write(owner.repo.path().join("first.py"), "def third_of_all(): pass\n").unwrap();
    let answer = owner.call("query", &json!({ "text": "third_of_all", "mode": "literal" })).unwrap();
    assert_eq!(answer["results"], json!([]));
    assert!(answer["stale"].is_string(), "{answer}");
    owner.set_writable(".ixmcp", true);
    let answer = owner.call("query", &json!({ "text": "third_of_all", "mode": "literal" })).unwrap();
    assert_eq!((answer["results"][0]["file_path"].as_str(), answer.get("stale")), (Some("first.py"), None));
}

#[test]
fn another_program_that_closes_the_database_leaves_the_log_of_a_running_process() {
    let repo = Repo::new("//- /a.py\na = 1\n");
    let workspace = open(repo.path());
    sync(&workspace);
    // A query during another one opens a second connection.
    workspace
        .read(&Budget::unlimited(), |_| workspace.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)))
        .unwrap();
    repo.write("b.py", "b = 1\n");
    sync(&workspace);
    let log = repo.path().join(".ixmcp/index.db-wal");
    assert!(log.exists());
    let database = repo.path().join(".ixmcp/index.db");
    let asked = Command::new("sqlite3").arg(&database).arg("SELECT count(*) FROM files").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), "2");
    // The last process to close a database deletes its log. That was not the last.
    assert!(log.exists(), "the locks of this process are gone");
}
