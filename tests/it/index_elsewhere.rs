//! Repositories that cannot hold their index: mounted read-only, or on a file system without locks that reports no changes.
//! Their index is in a folder of the user, and answers are as fresh as elsewhere.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

const FILES: &str = "//- /first.py\ndef first_of_all(): pass\n//- /deep/second.py\ndef second_of_all(): pass\n";

/// Another folder at which a repository is mounted, for as long as this lives. The repository can still be changed at its own.
struct Mounted {
    repo: Repo,
    folder: tempfile::TempDir,
    /// The program that serves the file system, if it is not the kernel.
    served_by: Option<Child>,
}

impl Mounted {
    fn mount(arguments: &[&str], folder: &Path) -> bool {
        let mount = Command::new("mount").args(arguments).arg(folder).output().unwrap();
        if !mount.status.success() {
            println!("SKIPPED: mounting is not permitted: {}", String::from_utf8_lossy(&mount.stderr));
        }
        mount.status.success()
    }

    /// Read-only, even for root. `None`, with a message, where mounting is not permitted.
    fn read_only(files: &str) -> Option<Self> {
        let (repo, folder) = (Repo::new(files), tempfile::tempdir().unwrap());
        let from = repo.path().to_str().unwrap();
        if !Self::mount(&["--bind", from], folder.path()) {
            return None;
        }
        let mounted = Self { repo, folder, served_by: None };
        mounted.set_writable(false);
        Some(mounted)
    }

    /// On a file system in user space whose server refuses all locks, and which reports no changes made behind it.
    fn without_locks(files: &str) -> Option<Self> {
        let (repo, folder) = (Repo::new(files), tempfile::tempdir().unwrap());
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disks/without_locks.py");
        let mut command = Command::new("python3");
        command.arg(server).args([repo.path(), folder.path()]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line != "ready\n" {
            let output = server.wait_with_output().unwrap();
            println!("SKIPPED: mounting is not permitted: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self { repo, folder, served_by: Some(server) })
    }

    fn set_writable(&self, is_writable: bool) {
        let options = if is_writable { "remount,rw,bind" } else { "remount,ro,bind" };
        assert!(Self::mount(&["-o", options], self.folder.path()), "{options}");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.repo.command(arguments);
        command.current_dir(self.folder.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        serde_json::from_str(&self.ok(&["call", tool, "--args", &arguments.to_string()])).unwrap()
    }

    /// The path of the only hit of an answer that is not marked stale.
    fn finds(&self, text: &str) -> Option<String> {
        only(&self.call("query", &json!({ "text": text, "mode": "literal" })))
    }

    /// The folder of the index, which is not in the repository.
    fn index(&self) -> PathBuf {
        let stats = self.call("stats", &json!({}));
        let database = PathBuf::from(stats["index_path"].as_str().unwrap());
        assert!(database.is_file() && !database.starts_with(self.folder.path()), "{stats}");
        assert!(!self.repo.path().join(".ixmcp").exists(), "nothing of it is in the repository");
        database.parent().unwrap().to_owned()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
        if let Some(server) = &mut self.served_by {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn only(answer: &Value) -> Option<String> {
    assert_eq!(answer.get("stale"), None, "{answer}");
    assert!(answer["results"].as_array().unwrap().len() <= 1, "{answer}");
    answer["results"][0]["file_path"].as_str().map(str::to_owned)
}

fn mode_of(folder: &Path) -> u32 {
    fs::symlink_metadata(folder).unwrap().permissions().mode() & 0o7777
}

/// Level, message and remedy of the findings of a check.
fn findings(mounted: &Mounted, check: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(&mounted.ok(&["doctor", "--json", check])).unwrap();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings.map(|one| format!("{} {} {}", one["level"], one["message"], one["remedy"])).collect()
}

#[test]
fn a_read_only_repository_without_an_index_has_it_in_the_cache() {
    let Some(mounted) = Mounted::read_only(FILES) else { return };
    expect![[r#""note" "there is no index yet" "Run `ixmcp sync`, or any query: the first one builds it.""#]]
        .assert_eq(&findings(&mounted, "database")[0]);
    assert_eq!(mounted.finds("first_of_all").as_deref(), Some("first.py"));
    let index = mounted.index();
    let cache = mounted.repo.home().canonicalize().unwrap().join(".cache/ixmcp");
    assert_eq!(index.parent().unwrap(), cache);
    assert_eq!((mode_of(&index), mode_of(&cache)), (0o700, 0o700));

    // Every command works as elsewhere.
    mounted.repo.write("first.py", "def third_of_all(): pass\n");
    assert_eq!((mounted.finds("third_of_all").as_deref(), mounted.finds("first_of_all")), (Some("first.py"), None));
    assert_eq!(mounted.ok(&["sql", "select count(*) from files"]).lines().last(), Some("2"));
    let counts: Value = serde_json::from_str(&mounted.ok(&["--json"])).unwrap();
    assert_eq!(counts["index"]["files"], 2, "{counts}");
    assert!(mounted.ok(&["stats"]).contains(&format!("stored in   {}", index.join("index.db").display())));
    mounted.ok(&["rebuild"]);
    mounted.ok(&["sync", "--verify"]);
    let options = json!({ "folderPath": "deep", "options": { "chunkSize": 100, "overlap": 10 } });
    assert_eq!(mounted.call("index_files", &options)["totalFiles"], 1);
    let folders = &mounted.call("stats", &json!({}))["document_folders"];
    assert_eq!(folders[0]["folderPath"], "deep", "{folders}");
    let found = findings(&mounted, "database");
    expect![[r#""ok" "the index is sound: 2 files, schema 7" null"#]].assert_eq(&found[0]);
    expect![[r#""note" "the index is in INDEX, not in the repository: it cannot be written" "Nothing to do. The index can be deleted at any time.""#]].assert_eq(&found[1].replace(index.to_str().unwrap(), "INDEX"));

    // A deleted index is built again.
    fs::remove_dir_all(&index).unwrap();
    assert_eq!(mounted.finds("third_of_all").as_deref(), Some("first.py"));
    // The cache may be on a disk that fills up or is closed. What is in it still answers.
    assert_eq!(mounted.index(), index);

    mounted.set_writable(true);
    assert_eq!(mounted.finds("third_of_all").as_deref(), Some("first.py"));
    assert!(mounted.folder.path().join(".ixmcp/index.db").is_file(), "a repository that can hold its index does");
}

#[test]
fn a_client_of_a_read_only_repository_sees_every_save() {
    let Some(mounted) = Mounted::read_only(FILES) else { return };
    for arguments in [["mcp"].as_slice(), &["mcp", "--no-daemon"]] {
        let mut server = Server::start_mcp(mounted.command(arguments));
        let mut finds = |text: &str| only(&server.tool("query", &json!({ "text": text, "mode": "literal" })));
        assert_eq!(finds("second_of_all").as_deref(), Some("deep/second.py"));
        for round in 0..20 {
            mounted.repo.write("deep/new.py", format!("def of_round_{round}_(): pass\n"));
            assert_eq!(finds(&format!("of_round_{round}_")).as_deref(), Some("deep/new.py"), "{arguments:?}");
        }
        let stats = server.tool("stats", &json!({}));
        assert_eq!(stats["watch_mode"], "watch", "changes are reported through both folders");
    }
    mounted.index();
    assert!(!mounted.repo.path().join(".flashgrep").exists());
}

#[test]
fn a_read_only_repository_has_a_daemon_whose_files_are_next_to_its_index() {
    let Some(mounted) = Mounted::read_only(FILES) else { return };
    mounted.ok(&["daemon", "start"]);
    let status: Value = serde_json::from_str(&mounted.ok(&["daemon", "status", "--json"])).unwrap();
    let socket = Path::new(status["socket"].as_str().unwrap());
    assert!(socket.exists() && !socket.starts_with(mounted.folder.path()), "{status}");
    let token = mounted.index().join("token");
    assert_eq!(fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(mounted.finds("first_of_all").as_deref(), Some("first.py"));
    let status: Value = serde_json::from_str(&mounted.ok(&["daemon", "status", "--json"])).unwrap();
    assert!(!status["requests"].as_object().unwrap().is_empty(), "the daemon has answered: {status}");
    mounted.ok(&["daemon", "stop"]);
    assert!(!socket.exists());

    // An index in the repository answers, too. There is no token then, and no place for one.
    mounted.set_writable(true);
    mounted.ok(&["sync"]);
    mounted.set_writable(false);
    mounted.ok(&["daemon", "start"]);
    assert!(mounted.ok(&["query", "first_of_all"]).contains("first.py"));
    assert!(!mounted.folder.path().join(".ixmcp/token").exists());
    mounted.ok(&["daemon", "stop"]);
}

#[test]
fn a_cache_that_is_not_the_users_own_is_not_used() {
    let Some(mounted) = Mounted::read_only(FILES) else { return };
    let (other, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(other.path(), mounted.repo.home().join(".cache")).unwrap();
    symlink("/etc", other.path().join("ixmcp")).unwrap();
    let call = |folder: &Path| {
        let mut command = mounted.command(&["call", "stats"]);
        command.env("TMPDIR", folder).output().unwrap()
    };
    let output = call(Path::new("/nonexistent"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("READ_ONLY") && error.contains("XDG_CACHE_HOME"), "{error}");
    // The folder for temporary files is the next choice.
    let stats: Value = serde_json::from_slice(&call(temporary.path()).stdout).unwrap();
    let index = stats["index_path"].as_str().unwrap();
    let temporary = temporary.path().canonicalize().unwrap();
    assert!(Path::new(index).starts_with(&temporary), "{index}");
    assert_eq!(mode_of(Path::new(index).parent().unwrap().parent().unwrap()), 0o700);
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
}

#[test]
fn a_file_system_without_locks_and_events_is_served_with_fresh_answers() {
    let Some(mounted) = Mounted::without_locks(FILES) else { return };
    assert_eq!(mounted.finds("first_of_all").as_deref(), Some("first.py"));
    let index = mounted.index();
    assert!(index.starts_with(mounted.repo.home().canonicalize().unwrap()));
    let mode = mounted.call("stats", &json!({}))["watch_mode"].as_str().unwrap().to_owned();
    assert!(mode.starts_with("sweep: the file system does not report changes"), "{mode}");
    expect![[r#""note" "the file system does not report changes that other machines make: every read looks at all files" "Nothing to do. Reads are faster on a local disk.""#]].assert_eq(&findings(&mounted, "watching")[0]);
    let found = findings(&mounted, "database");
    assert!(found.iter().any(|one| one.contains("has no locks")), "{found:?}");

    // Another machine changes files: the system reports nothing. Reads follow each other as closely as they can.
    for arguments in [["mcp"].as_slice(), &["mcp", "--no-daemon"]] {
        let mut server = Server::start_mcp(mounted.command(arguments));
        let mut finds = |text: &str| only(&server.tool("query", &json!({ "text": text, "mode": "literal" })));
        assert_eq!(finds("second_of_all").as_deref(), Some("deep/second.py"));
        for round in 0..20 {
            mounted.repo.write(&format!("deep/n{round}.py"), format!("def new_{round}_(): pass\n"));
            assert_eq!(finds(&format!("new_{round}_")), Some(format!("deep/n{round}.py")), "{arguments:?}");
            mounted.repo.write("first.py", format!("def of_round_{round}_(): pass\n"));
            assert_eq!(finds(&format!("of_round_{round}_")).as_deref(), Some("first.py"), "{arguments:?}");
            mounted.repo.remove(&format!("deep/n{round}.py"));
            assert_eq!(finds(&format!("new_{round}_")), None, "{arguments:?}");
        }
    }

    // Where no folder has locks there is no index, and the error says what to do.
    let mut command = mounted.command(&["call", "stats"]);
    command.env("XDG_CACHE_HOME", mounted.folder.path().join("cache")).env("TMPDIR", mounted.folder.path());
    let error = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(
        error.contains("READ_ONLY") && error.contains("without locks") && error.contains("XDG_CACHE_HOME"),
        "{error}"
    );
}
