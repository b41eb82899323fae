//! Files that `rename --apply` and `infer --apply` write: all files or none, whatever comes in between.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};

use crate::crash::SmallDisk;
use crate::support::harness::{Repo, numberless, repeatedly, shown_run};

/// A function, and modules that call it.
const PAY: &str = "\
//- /a/pay.py
def pay(amount):
    return amount * 2
//- /b/buy.py
from a.pay import pay

total = pay(3)
//- /c/sell.py
from a.pay import pay

total = pay(4)
";
const RENAME: &[&str] = &["rename", "pay", "settle", "--apply"];
const INFER: &[&str] = &["infer", "--apply"];
const INTERRUPTED: &str =
    "an interrupted command replaced N of N files: `ixmcp doctor edits --fix` finishes or undoes that";
const NO_EDITS: &str = "edits      ok       no interrupted edits\n";

/// All files with their bytes, but not those of ixmcp.
fn tree(repo: &Repo) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![repo.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                let is_own = [".ixmcp", ".git", ".flashgrep"].iter().any(|name| path.ends_with(name));
                folders.extend((!is_own).then_some(path));
            } else {
                files.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The name of the file that lists the edits of a command in this repository.
fn journal_name(repo: &Repo) -> String {
    let root = repo.path().canonicalize().unwrap();
    format!("{}.json", &blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex()[..32])
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The program without root's right to write what permissions forbid.
fn as_owner(repo: &Repo, arguments: &[&str]) -> Output {
    repo.run_by_setpriv(&["--bounding-set=-all", "--inh-caps=-all"], arguments)
}

#[test]
fn a_read_only_folder_or_file_leaves_every_file_as_it_was() {
    let mut refused = String::new();
    for (arguments, closed, mode, open) in [
        (RENAME, "c", 0o555, 0o755),
        (RENAME, "a", 0o555, 0o755),
        (RENAME, "b/buy.py", 0o444, 0o644),
        (INFER, "c", 0o555, 0o755),
        (INFER, "a/pay.py", 0o444, 0o644),
    ] {
        let repo = Repo::new(PAY);
        repo.write("c/more.py", "def twice(amount):\n    return amount * 2\n\n\ntwice(1)\n");
        let closed = repo.path().join(closed);
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        let before = tree(&repo);
        refused += &repo.named(&shown_run(arguments, &as_owner(&repo, arguments)), &[]);
        assert_eq!(tree(&repo), before, "{closed:?} {arguments:?}");
        // Once it can be written, the same command succeeds.
        fs::set_permissions(&closed, fs::Permissions::from_mode(open)).unwrap();
        let output = as_owner(&repo, arguments);
        assert_eq!(output.status.code(), Some(0), "{closed:?} {arguments:?}: {}", stderr(&output));
        assert_eq!(tree(&repo).len(), before.len(), "no temporary file is left");
        assert_ne!(tree(&repo), before);
    }
    expect![[r#"
        $ ixmcp rename pay settle --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/c/sell.py: Permission denied (os error 13); no file was changed. Check the permissions of the file and its folder.
        exit code 2
        $ ixmcp rename pay settle --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/a/pay.py: Permission denied (os error 13); no file was changed. Check the permissions of the file and its folder.
        exit code 2
        $ ixmcp rename pay settle --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/b/buy.py: permission denied; no file was changed. Check the permissions of the file and its folder.
        exit code 2
        $ ixmcp infer --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/c/more.py: Permission denied (os error 13); no file was changed. Check the permissions of the file and its folder.
        exit code 2
        $ ixmcp infer --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/a/pay.py: permission denied; no file was changed. Check the permissions of the file and its folder.
        exit code 2
    "#]].assert_eq(&refused);
}

#[test]
fn a_full_disk_leaves_every_file_as_it_was() {
    let repo = Repo::new("");
    let Some(disk) = SmallDisk::on(&repo.path().join("c"), "1m") else { return };
    repo.write_files(PAY);
    repo.write("c/sell.py", format!("from a.pay import pay\n\ntotal = pay(4)\n# {}\n", "x".repeat(200_000)));
    disk.leave(8);
    let before = tree(&repo);
    expect![[r#"
        $ ixmcp rename pay settle --apply
        ixmcp: READ_ONLY: cannot write REPOSITORY/c/sell.py: No space left on device (os error 28); no file was changed. The disk is full: free some space.
    "#]].assert_eq(&repo.failures(&[RENAME], &[]));
    assert_eq!(tree(&repo), before);
    disk.resize("2m");
    repo.ok(RENAME);
    assert_eq!(renamed(&repo), 3);
    assert_eq!(tree(&repo).len(), before.len());
}

#[test]
fn a_full_disk_of_the_users_state_changes_nothing() {
    let repo = Repo::new(PAY);
    let Some(_disk) = SmallDisk::on(&repo.home().join(".local/state"), "64k") else { return };
    let filler = repo.home().join(".local/state/filler");
    fs::write(&filler, vec![0; 128 << 10]).expect_err("the disk is small");
    let before = tree(&repo);
    expect![[r#"
        $ ixmcp rename pay settle --apply
        ixmcp: READ_ONLY: cannot write HOME/.local/state/ixmcp/edits/JOURNAL: No space left on device (os error 28); no file was changed. The disk is full: free some space.
    "#]].assert_eq(
        &repo.failures(&[RENAME], &[(repo.home().to_str().unwrap(), "HOME"), (&journal_name(&repo), "JOURNAL")]),
    );
    assert_eq!(tree(&repo), before);
    fs::remove_file(&filler).unwrap();
    repo.ok(RENAME);
}

#[test]
fn a_file_that_is_changed_while_the_edits_are_computed_is_not_written() {
    let mut refused = String::new();
    for (arguments, changed) in [(RENAME, "b/buy.py"), (INFER, "a/pay.py")] {
        let repo = Repo::new(PAY);
        let path = repo.path().join(changed);
        let first = fs::read_to_string(&path).unwrap();
        let before: Vec<_> = tree(&repo).into_iter().filter(|(file, _)| *file != path).collect();
        // As editors save: the file is never seen half written.
        let saved = repo.home().join("saved.py");
        let save = |round| {
            fs::write(&saved, format!("# saved {round}\n{first}")).unwrap();
            fs::rename(&saved, &path).unwrap();
        };
        refused += &repeatedly(save, || repo.failures(&[arguments], &[]));
        let after: Vec<_> = tree(&repo).into_iter().filter(|(file, _)| *file != path).collect();
        assert_eq!(after, before, "{arguments:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# saved ") && text.ends_with(&first), "the save is lost: {text}");
        repo.ok(arguments);
    }
    expect![[r#"
        $ ixmcp rename pay settle --apply
        ixmcp: BUSY: REPOSITORY/b/buy.py was changed meanwhile. Run the command again.
        $ ixmcp infer --apply
        ixmcp: BUSY: REPOSITORY/a/pay.py was changed meanwhile. Run the command again.
    "#]]
    .assert_eq(&refused);
}

#[test]
fn permissions_and_links_stay() {
    let repo = Repo::new(PAY);
    let linked = repo.path().join("b/buy.py");
    fs::rename(&linked, repo.path().join("b/real.py")).unwrap();
    symlink("real.py", &linked).unwrap();
    fs::set_permissions(repo.path().join("c/sell.py"), fs::Permissions::from_mode(0o751)).unwrap();
    repo.ok(RENAME);
    assert_eq!(fs::read_link(&linked).unwrap().to_str(), Some("real.py"));
    assert_eq!(fs::metadata(repo.path().join("c/sell.py")).unwrap().mode() & 0o777, 0o751);
    for (file, text) in [
        ("b/real.py", "from a.pay import settle\n\ntotal = settle(3)\n"),
        ("c/sell.py", "from a.pay import settle\n\ntotal = settle(4)\n"),
    ] {
        assert_eq!(fs::read_to_string(repo.path().join(file)).unwrap(), text);
    }
}

const CALLERS: usize = 40;

/// Many callers, each with text enough to take a while.
fn many() -> Repo {
    let repo = Repo::new("//- /a/pay.py\ndef pay(amount):\n    return amount * 2\n");
    let long = format!("# {}\n", "x".repeat(10_000)).repeat(20);
    for at in 0..CALLERS {
        repo.write(&format!("b/f{at:02}.py"), format!("from a.pay import pay\n\ntotal = pay({at})\n{long}"));
    }
    repo
}

/// Files that hold the new name.
fn renamed(repo: &Repo) -> usize {
    tree(repo).iter().filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains("settle")).count()
}

/// A repository in which a rename was killed between two files, and its files before.
fn interrupted() -> (Repo, Vec<(PathBuf, Vec<u8>)>) {
    for attempt in 1..=30 {
        let repo = many();
        let before = tree(&repo);
        let first = repo.path().join("a/pay.py");
        let inode = || fs::metadata(&first).unwrap().ino();
        let old = inode();
        let mut child = repo.command(RENAME).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while inode() == old && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        let was_killed = child.wait().unwrap().signal().is_some();
        let replaced = before.iter().filter(|(file, bytes)| fs::read(file).unwrap() != *bytes).count();
        if was_killed && (1..=CALLERS).contains(&replaced) {
            println!("killed after {replaced} of {} files, in attempt {attempt}", CALLERS + 1);
            return (repo, before);
        }
    }
    panic!("no process could be killed between two files");
}

#[test]
fn what_a_killed_rename_left_is_undone_by_the_next_command_or_the_doctor() {
    let (repo, before) = interrupted();
    let reported = repo.transcript(&[&["doctor", "edits"]], &[]);
    assert_ne!(tree(&repo), before, "looking changes nothing");
    let fixed = repo.transcript(&[&["doctor", "edits", "--fix"], &["doctor", "edits"]], &[]);
    expect![[r#"
        $ ixmcp doctor edits
        edits      warning  `rename --apply` or `infer --apply` was interrupted: N of N files replaced
                            Finish or undo it, as the next such command does.
                            `ixmcp doctor --fix` does that
        $ ixmcp doctor edits --fix
        edits      warning  `rename --apply` or `infer --apply` was interrupted: N of N files replaced
                            fixed
        $ ixmcp doctor edits
        edits      ok       no interrupted edits
    "#]]
    .assert_eq(&numberless(&(reported + &fixed)));
    assert_eq!(tree(&repo), before);

    let (repo, before) = interrupted();
    let output = repo.run(&["infer", "--apply", "a/pay.py"]);
    expect![[r#"
        an interrupted command replaced N of N files: `ixmcp doctor edits --fix` finishes or undoes that
        the edits of an interrupted command were undone
    "#]]
    .assert_eq(&numberless(&stderr(&output)));
    assert_eq!(renamed(&repo), 0);
    let now = tree(&repo);
    let others = |files: &[(PathBuf, Vec<u8>)]| -> Vec<_> {
        files.iter().filter(|(file, _)| !file.ends_with("a/pay.py")).cloned().collect()
    };
    assert_eq!(others(&now), others(&before));

    let (repo, _) = interrupted();
    let output = repo.run(RENAME);
    expect![[r#"
        an interrupted command replaced N of N files: `ixmcp doctor edits --fix` finishes or undoes that
        the edits of an interrupted command were undone
    "#]]
    .assert_eq(&numberless(&stderr(&output)));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(renamed(&repo), CALLERS + 1);
}

#[test]
fn every_command_says_that_an_interrupted_one_left_files_replaced() {
    let (repo, _before) = interrupted();
    for arguments in [&["query", "pay"][..], &["rename", "pay", "settle"], &["files"]] {
        let said = stderr(&repo.run(arguments));
        assert_eq!(numberless(said.lines().next().unwrap()), INTERRUPTED, "{arguments:?}");
    }
    repo.ok(&["doctor", "edits", "--fix"]);
    assert_eq!(stderr(&repo.run(&["query", "pay"])), "10 of 41 shown; more with --offset 10\n");
}

#[test]
fn a_signal_between_two_files_leaves_all_as_they_were() {
    for signal in [Signal::INT, Signal::TERM] {
        // Under load the command is often faster than the signal.
        let came_between = (1..=100).any(|_| is_stopped_between_two_files(signal));
        assert!(came_between, "no {signal:?} came between two files");
    }
}

/// Sends a signal while files are replaced. `false` if the command was faster.
fn is_stopped_between_two_files(signal: Signal) -> bool {
    let repo = many();
    let before = tree(&repo);
    let first = repo.path().join("a/pay.py");
    let inode = || fs::metadata(&first).unwrap().ino();
    let old = inode();
    let mut child = repo.command(RENAME).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while inode() == old && child.try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
    let _has_ended = kill_process(Pid::from_child(&child), signal);
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    if !said.contains("a signal stopped the command; no file was changed") {
        assert_eq!(renamed(&repo), CALLERS + 1, "{said}");
        return false;
    }
    assert_eq!(tree(&repo), before);
    assert_eq!(repo.ok(&["doctor", "edits"]), NO_EDITS);
    true
}

#[test]
fn a_clone_cannot_bring_edits_of_its_own() {
    let repo = Repo::new(PAY);
    let (root, outside) = (repo.path().canonicalize().unwrap(), repo.home().join("profile"));
    fs::write(&outside, "mine").unwrap();
    let [before, after] = ["mine", "theirs"].map(|text| blake3::hash(text.as_bytes()).to_hex().to_string());
    let entry = serde_json::json!({ "file": outside, "staged": root.join("staged"), "before": before, "after": after });
    let journal = serde_json::json!({ "root": root, "is_done": false, "files": [entry] }).to_string();
    repo.write("staged", "theirs");
    let name = journal_name(&repo);
    for folder in [".ixmcp/edits", ".ixmcp", ".flashgrep", "edits", "ixmcp/edits"] {
        repo.write(&format!("{folder}/{name}"), &journal);
    }
    repo.ok(RENAME);
    assert_eq!(repo.ok(&["doctor", "edits", "--fix"]), NO_EDITS);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
}
