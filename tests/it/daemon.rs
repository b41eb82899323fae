//! The daemon as a process: which process becomes it, when it exits, and what its clients notice of either.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ixmcp::config::{self, Environment, Flags, Sources};
use ixmcp::serve::ToolListing;
use ixmcp::serve::daemon::DaemonSettings;
use ixmcp::serve::socket_path::SocketPath;
use ixmcp::workspace::{Watching, Workspaces};
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::waiting::{has_ended, until};
use crate::support::wire::{TIMEOUT, Wire, hello, initialize, request};

const SMALL: &str = "\
//- /src/shop.py
class Cart:
    def total_price(self):
        return sum(self.items)
//- /README.md
# Shop

How to check out.
";

fn pid(repo: &Repo) -> u64 {
    repo.status()["pid"].as_u64().expect("a daemon")
}

fn kill(pid: u64, signal: &str) {
    assert!(std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Not there, or only its parent's to bury.
#[test]
fn it_starts_answers_and_stops() {
    let repo = Repo::new(SMALL);
    assert_eq!(repo.status()["running"], false);
    assert_eq!(repo.run(&["daemon", "stop"]).status.code(), Some(1), "there is nothing to stop");
    repo.ok(&["daemon", "start"]);
    let first = pid(&repo);
    repo.ok(&["daemon", "start"]);
    assert_eq!(pid(&repo), first, "a second start changes nothing");

    let mode = |path: &str| fs::symlink_metadata(repo.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".flashgrep"), mode(".flashgrep/mcp.sock"), mode(".ixmcp/token")), (0o700, 0o600, 0o600));
    assert_eq!(fs::read_to_string(repo.path().join(".flashgrep/.gitignore")).unwrap(), "*\n");

    assert_eq!(repo.call("get_symbol", &json!({ "symbol_name": "Cart" }))["total"], 1);
    assert_eq!(repo.sync()["added"], 2);
    let status = repo.status();
    assert_eq!(status["requests"]["get_symbol"]["calls"], 1, "commands ask the daemon: {status}");
    assert_eq!(
        (&status["clients"], &status["tcp"], &status["watch_mode"].is_string()),
        (&json!(0), &Value::Null, &true)
    );
    assert!(status["memory"]["rss_bytes"].as_u64().unwrap() > 1 << 20);

    repo.ok(&["daemon", "stop"]);
    until("it has ended", || has_ended(first));
    assert!(!repo.socket().exists());
    assert_eq!(repo.call("get_symbol", &json!({ "symbol_name": "Cart" }))["total"], 1, "and without it");
    assert_eq!(repo.status()["running"], false, "commands start none");
}

#[test]
fn faults_of_a_call_read_the_same_with_and_without_a_daemon() {
    let repo = Repo::new(SMALL);
    let ask = || repo.fails(&["call", "get_slice", "--args", r#"{"file_path":"no.py","start_line":1,"end_line":1}"#]);
    let alone = ask();
    repo.ok(&["daemon", "start"]);
    assert_eq!(ask(), alone);
    assert!(alone.contains("INVALID_PATH"), "{alone}");
}

#[test]
fn of_ten_that_start_at_once_one_becomes_the_daemon() {
    let repo = Repo::new(SMALL);
    let starts: Vec<_> = (0..10).map(|_| repo.command(&["daemon", "start"]).spawn().unwrap()).collect();
    for mut start in starts {
        assert!(start.wait().unwrap().success());
    }
    let daemon = pid(&repo);
    // Those that lost have gone or are going; the one holds on.
    let root = repo.path().canonicalize().unwrap();
    let running = || {
        let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let pid: u64 = entry.file_name().to_str()?.parse().ok()?;
            let words = fs::read_to_string(entry.path().join("cmdline")).ok()?;
            (words.contains(root.to_str().unwrap()) && words.contains("\0run\0")).then_some(pid)
        });
        processes.collect::<Vec<_>>()
    };
    until("one daemon is left", || running() == [daemon]);
}

#[test]
fn what_a_killed_daemon_left_does_not_block_the_next() {
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start"]);
    let first = pid(&repo);
    kill(first, "-9");
    until("it has ended", || has_ended(first));
    assert!(repo.socket().exists(), "nobody removed it");
    assert_eq!(repo.call("stats", &json!({}))["total_files"], 2, "a dead socket is no daemon");
    repo.ok(&["daemon", "start"]);
    assert_ne!(pid(&repo), first);
    let log = fs::read_to_string(repo.path().join(".ixmcp/log")).unwrap();
    let reports = || log.lines().filter(|line| line.contains("ended from outside"));
    assert!(reports().count() == 1 && reports().all(|line| line.contains(&format!("pid={first}"))), "{log}");
    // One that ends by itself is not reported.
    repo.ok(&["daemon", "stop"]);
    repo.ok(&["daemon", "start"]);
    let log = fs::read_to_string(repo.path().join(".ixmcp/log")).unwrap();
    assert_eq!(log.matches("ended from outside").count(), 1, "{log}");
}

/// A program cuts the index or its shared memory in place: reading what was mapped raises a signal.
#[test]
fn a_daemon_whose_index_is_cut_logs_why_it_ends_and_the_next_one_answers() {
    let mut ended = 0;
    for (name, bytes) in [("index.db", 16 << 10), ("index.db", 0), ("index.db-shm", 0)] {
        let repo = Repo::new(SMALL);
        for number in 0..300 {
            repo.write(&format!("many/m{number}.py"), format!("def walrus_{number}(): return {number}\n").repeat(20));
        }
        repo.ok(&["sync"]);
        repo.ok(&["daemon", "start"]);
        let first = pid(&repo);
        let mut wire = Wire::unix(&repo.socket());
        let before = wire.call("stats", json!({}))["result"]["total_files"].clone();
        let file = fs::OpenOptions::new().write(true).open(repo.path().join(".ixmcp").join(name)).unwrap();
        file.set_len(bytes).unwrap();
        // It ends at the first page that it lacks, or notices the damage and replaces the index.
        for number in 0..300 {
            if has_ended(first) {
                break;
            }
            let asked = request(number, "get_symbol", json!({ "symbol_name": format!("walrus_{number}") }));
            let _is_gone = UnixStream::connect(repo.socket()).and_then(|mut stream| {
                stream.write_all(format!("{asked}\n").as_bytes())?;
                stream.read(&mut [0])
            });
        }
        assert_eq!(repo.call("stats", &json!({}))["total_files"], before, "{name}");
        let log = fs::read_to_string(repo.path().join(".ixmcp/log")).unwrap();
        if has_ended(first) {
            ended += 1;
            assert!(log.contains("another program cut the index"), "{name} {bytes}: {log}");
        } else {
            assert!(log.contains("damaged"), "{name} {bytes}: {log}");
        }
    }
    assert!(ended > 0, "none was ended by the signal");
}

#[test]
fn a_live_socket_is_never_removed() {
    let repo = Repo::new(SMALL);
    fs::create_dir(repo.path().join(".flashgrep")).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(repo.socket()).unwrap();
    let answerer = std::thread::spawn(move || {
        // Whatever it is, it does not answer as a daemon does.
        for stream in listener.incoming().take(3) {
            let _ = stream.and_then(|mut stream| stream.write_all(b"{}\n"));
        }
    });
    let said = repo.fails(&["daemon", "run"]);
    assert!(said.contains("another program listens"), "{said}");
    assert!(repo.socket().exists());
    drop(UnixStream::connect(repo.socket()));
    drop(UnixStream::connect(repo.socket()));
    answerer.join().unwrap();
    fs::remove_file(repo.socket()).unwrap();
}

#[test]
fn sigterm_lets_open_calls_end_and_leaves_nothing_behind() {
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start"]);
    let daemon = pid(&repo);
    let mut wire = Wire::unix(&repo.socket());
    for id in 0..40 {
        wire.send(&request(id, "query", json!({ "text": "total price" })));
    }
    assert!(wire.reply()["result"].is_object(), "they are being answered");
    kill(daemon, "-TERM");
    let mut replies = 1;
    while let line = wire.line()
        && !line.is_empty()
    {
        assert!(line.contains("\"result\""), "{line}");
        replies += 1;
    }
    assert!(replies <= 40);
    until("it has ended", || has_ended(daemon));
    assert!(!repo.socket().exists());
}

#[test]
fn it_exits_when_no_client_is_connected_for_long() {
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start", "--idle", "1s"]);
    let daemon = pid(&repo);
    let wire = Wire::unix(&repo.socket());
    std::thread::sleep(Duration::from_millis(2000));
    assert!(!has_ended(daemon), "somebody is connected");
    drop(wire);
    until("it has ended", || has_ended(daemon));
    assert!(!repo.socket().exists());
}

#[test]
fn clients_that_come_and_go_keep_it_running() {
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start", "--idle", "2s"]);
    let daemon = pid(&repo);
    // Each stays for a moment, between two checks of the daemon.
    for _ in 0..30 {
        Wire::unix(&repo.socket()).call("ping", json!({}));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!has_ended(daemon), "the last client left just now");
}

#[test]
fn it_leaves_when_its_folder_vanishes() {
    for vanishing in [".flashgrep", ""] {
        let repo = Repo::new(SMALL);
        repo.ok(&["daemon", "start"]);
        let daemon = pid(&repo);
        fs::remove_dir_all(repo.path().join(vanishing)).unwrap();
        until("it has ended", || has_ended(daemon));
    }
}

#[test]
fn a_rebuilt_index_is_the_one_that_answers() {
    let repo = Repo::new(SMALL);
    let mut relay = Wire::relay(&repo, &[]);
    assert_eq!(relay.call("stats", json!({}))["result"]["total_files"], 2);
    repo.ok(&["rebuild"]);
    repo.write("new.py", "x = 1\n");
    until("the new one is seen", || relay.call("stats", json!({}))["result"]["total_files"] == 3);
    assert_eq!(repo.call("stats", &json!({}))["total_files"], 3);
}

#[test]
fn a_deep_repository_has_its_socket_elsewhere_and_a_pointer_to_it() {
    let repo = Repo::new("");
    let deep = repo.path().join("d".repeat(60)).join("e".repeat(60));
    fs::create_dir_all(deep.join(".git")).unwrap();
    fs::write(deep.join("a.py"), "class Deep: pass\n").unwrap();
    let deep_path = deep.to_str().unwrap();
    repo.ok(&["--repo", deep_path, "daemon", "start"]);
    let pointer = fs::read_to_string(deep.join(".flashgrep/mcp.sock.path")).unwrap();
    let mut wire = Wire::unix(pointer.as_ref());
    assert_eq!(wire.call("get_symbol", json!({ "symbol_name": "Deep" }))["result"]["total"], 1);
    let folder = std::path::Path::new(&pointer).parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    let status: Value = serde_json::from_str(&repo.ok(&["--repo", deep_path, "daemon", "status", "--json"])).unwrap();
    assert_eq!(status["socket"], pointer.as_str());
    // Another session of the same user finds it by the pointer alone.
    let mut command = repo.command(&["--repo", deep_path, "daemon", "stop"]);
    assert!(command.env_remove("XDG_RUNTIME_DIR").status().unwrap().success());
    assert!(!std::path::Path::new(&pointer).exists());
}

// ---- the relay

#[test]
fn two_clients_share_one_daemon() {
    let repo = Repo::new(SMALL);
    let (mut one, mut two) = (Wire::relay(&repo, &[]), Wire::relay(&repo, &["--tools", "core"]));
    for wire in [&mut one, &mut two] {
        assert_eq!(wire.ask(&initialize(0))["result"]["serverInfo"]["name"], "ixmcp");
    }
    let tools = |wire: &mut Wire| wire.call("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len();
    assert!(tools(&mut two) < tools(&mut one), "each has the list it asked for");
    assert_eq!(repo.status()["clients"], 2);
    drop((one, two));
    until("both have gone", || repo.status()["clients"] == 0);
}

#[test]
fn a_client_goes_on_when_its_daemon_is_killed() {
    let repo = Repo::new(SMALL);
    let mut wire = Wire::relay(&repo, &[]);
    let opening = wire.ask(&initialize("first"));
    assert_eq!((&opening["id"], &opening["result"]["protocolVersion"]), (&json!("first"), &json!("2025-06-18")));
    let first = pid(&repo);
    kill(first, "-9");
    until("it has ended", || has_ended(first));
    // What comes back shows that the handshake was repeated: its revision shapes the results.
    let call = request(7, "tools/call", json!({ "name": "query", "arguments": { "text": "Cart" } }));
    let reply = wire.ask(&call);
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(7), &json!(false)), "{reply}");
    assert_ne!(pid(&repo), first);
    assert_eq!(wire.call("ping", json!({}))["result"], json!({}), "and nothing came in between");
}

#[test]
fn a_stopped_daemon_is_not_started_again_until_something_is_asked() {
    let repo = Repo::new(SMALL);
    let mut wire = Wire::relay(&repo, &[]);
    wire.ask(&initialize(0));
    repo.ok(&["daemon", "stop"]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(repo.status()["running"], false);
    assert_eq!(wire.call("stats", json!({}))["result"]["total_files"], 2);
    assert_eq!(repo.status()["running"], true);
}

#[test]
fn kill_9_under_load_loses_and_doubles_no_answer() {
    let kills: usize = if is_soak() { 100 } else { 5 };
    let repo = Repo::new(SMALL);
    for number in 0..200 {
        repo.write(&format!("src/m{number}.py"), format!("def function_{number}(): return {number}\n"));
    }
    let mut wire = Wire::relay(&repo, &[]);
    wire.ask(&initialize("i"));
    let (mut reader, mut writer, child) = wire.halves();
    let (done, stop) = (Arc::new(std::sync::atomic::AtomicBool::new(false)), std::sync::atomic::Ordering::SeqCst);
    let asker_done = Arc::clone(&done);
    let (answered_send, answered) = std::sync::mpsc::sync_channel::<()>(32);
    let (count, relaxed) = (Arc::new(std::sync::atomic::AtomicUsize::new(0)), std::sync::atomic::Ordering::Relaxed);
    let collected = Arc::clone(&count);
    // Up to 32 queries are open at a time: each answer admits one more.
    for _ in 0..32 {
        answered_send.send(()).unwrap();
    }
    let asker = std::thread::spawn(move || {
        let mut asked = 0;
        while !asker_done.load(stop) {
            if answered.recv_timeout(TIMEOUT).is_err() {
                return Err(format!("no answer any more after {asked} questions"));
            }
            let number = asked % 200;
            let arguments = json!({ "symbol_name": format!("function_{number}") });
            let request = match asked % 3 {
                0 => request(asked, "get_symbol", arguments),
                1 => request(asked, "tools/call", json!({ "name": "get_symbol", "arguments": arguments })),
                _ => request(asked, "ping", json!({})),
            };
            writer.write_all(format!("{request}\n").as_bytes()).unwrap();
            asked += 1;
        }
        Ok(asked)
    });
    let collector = std::thread::spawn(move || {
        let mut answers: HashMap<String, Vec<String>> = HashMap::new();
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap() > 0 {
            let reply: Value = serde_json::from_str(&line).unwrap();
            answers.entry(reply["id"].to_string()).or_default().push(std::mem::take(&mut line));
            let is_ping = reply["id"].as_u64().is_some_and(|id| id % 3 == 2);
            collected.fetch_add(usize::from(!is_ping), relaxed);
            let _ = answered_send.try_send(());
        }
        answers
    });
    let mut killed = std::collections::BTreeSet::new();
    while killed.len() < kills {
        if let Some(daemon) = repo.status()["pid"].as_u64()
            && killed.insert(daemon)
        {
            // A read that was open as a dozen daemons ended is given up: each gets through some.
            let before = count.load(relaxed);
            until("it answers", || count.load(relaxed) >= before + 8);
            kill(daemon, "-9");
            until("it has ended", || has_ended(daemon));
        }
    }
    done.store(true, stop);
    let asked = asker.join().unwrap().unwrap();
    let answers = collector.join().unwrap();
    let _ = child.map(|mut child| child.wait());
    // How many there are is the machine's affair; some must have been open at every kill.
    assert!(asked > kills, "{asked} questions are no load");
    assert_eq!(answers.len(), asked, "one answer each");
    for (id, lines) in &answers {
        assert_eq!(lines.len(), 1, "{lines:?}");
        let number: usize = id.parse().unwrap();
        let right = if number % 3 == 2 { "\"result\":{}".to_owned() } else { format!("src/m{}.py", number % 200) };
        assert!(lines[0].contains(&right), "{}", lines[0]);
    }
    repo.run(&["daemon", "stop"]);
    repo.ok(&["sync", "--verify"]);
    let integrity = repo.ok(&["sql", "PRAGMA integrity_check"]);
    assert!(integrity.contains("ok"), "{integrity}");
}

/// `.ci/soak` runs long loops whole.
fn is_soak() -> bool {
    std::env::var_os("SOAK").is_some()
}

#[test]
fn a_newer_program_replaces_the_daemon_and_an_older_one_connects_to_it() {
    for (version, is_replaced) in [("0.0.1", true), ("99.0.0", false)] {
        let repo = Repo::new(SMALL);
        let root = repo.path().canonicalize().unwrap();
        let environment = Environment::new([], "/nowhere".into(), root.clone());
        let claim = SocketPath::find(&root, &environment).claim(&environment).unwrap().expect("nobody else's");
        let settings = DaemonSettings {
            config: config::Daemon { tcp: None, idle: TIMEOUT },
            listing: ToolListing::All,
            environment: environment.clone(),
            launcher: None,
            version: version.to_owned(),
        };
        let workspaces = Arc::new(Workspaces::new(Sources { flags: Flags::default(), environment }, Watching::Yes));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let served = runtime.spawn(ixmcp::serve::daemon::run(claim, workspaces, settings));
        until("it answers", || repo.status()["version"] == version);

        let mut wire = Wire::relay(&repo, &[]);
        assert_eq!(wire.call("stats", json!({}))["result"]["total_files"], 2);
        let now = repo.status()["version"].clone();
        assert_eq!(now != version, is_replaced, "{now}");
        drop(wire);
        repo.ok(&["daemon", "stop"]);
        runtime.block_on(async { tokio::time::timeout(TIMEOUT, served).await }).expect("ends").unwrap().unwrap();
    }
}

#[test]
fn calls_for_another_repository_go_to_its_own_daemon() {
    let (here, there) = (Repo::new(SMALL), Repo::new("//- /other.py\nclass Elsewhere: pass\n"));
    let there_path = there.path().canonicalize().unwrap();
    let params = json!({ "symbol_name": "Elsewhere", "repo": there_path });
    let mut wire = Wire::relay(&here, &[]);
    let reply = wire.call("get_symbol", params.clone());
    assert_eq!(reply["result"]["total"], 1, "{reply}");
    assert_eq!(there.status()["requests"]["get_symbol"]["calls"], 1, "its own daemon was started and asked");
    let missing =
        wire.call("get_slice", json!({ "file_path": "no.py", "start_line": 1, "end_line": 1, "repo": there_path }));
    assert_eq!(missing["error"]["data"]["code"], "INVALID_PATH", "{missing}");

    // A process without a daemon asks one that runs, and starts none.
    let mut alone = Wire::relay(&here, &["--no-daemon"]);
    assert_eq!(alone.call("get_symbol", params.clone())["result"]["total"], 1);
    assert_eq!(there.status()["requests"]["get_symbol"]["calls"], 2);
    there.ok(&["daemon", "stop"]);
    assert_eq!(alone.call("get_symbol", params)["result"]["total"], 1);
    assert_eq!(there.status()["running"], false);
}

#[test]
fn where_no_daemon_can_be_the_relay_serves_by_itself() {
    let repo = Repo::new(SMALL);
    // A home is never a repository, and the tools are listed all the same.
    let mut command = repo.command(&["mcp"]);
    command.env("HOME", repo.path());
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = format!("{}\n{}\n", initialize(0), request(1, "stats", json!({})));
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.contains("serverInfo") && said.contains("INVALID_PATH"), "{said}");
    // A program that cannot run here, because its lock is a folder that cannot be removed.
    fs::create_dir_all(repo.path().join(".flashgrep/mcp.lock/x")).unwrap();
    let mut wire = Wire::relay(&repo, &[]);
    assert_eq!(wire.ask(&initialize(0))["result"]["serverInfo"]["name"], "ixmcp");
    assert_eq!(wire.call("stats", json!({}))["result"]["total_files"], 2);
    assert_eq!(repo.status()["running"], false);
}

#[test]
fn the_hello_names_the_client_s_folder_and_the_tools_it_wants() {
    let (here, there) = (Repo::new(SMALL), Repo::new("//- /other.py\nclass Elsewhere: pass\n"));
    here.ok(&["daemon", "start"]);
    let mut wire = Wire::unix(&here.socket());
    wire.send(&hello(&json!({ "proto": 1, "cwd": there.path().join("."), "tools": "stats", "unknown": 1 })));
    let tools = wire.call("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!((tools.as_array().unwrap().len(), &tools[0]["name"]), (1, &json!("stats")));
    let root = there.path().canonicalize().unwrap();
    assert_eq!(wire.call("stats", json!({}))["result"]["root"], root.to_str().unwrap());
}

#[test]
fn what_was_saved_before_a_query_is_in_its_answer() {
    let rounds = if is_soak() { 1000 } else { 100 };
    let repo = Repo::new("");
    for number in 0..5000 {
        repo.write(&format!("d{}/f{number}.py", number % 50), format!("value_{number} = {number}\n"));
    }
    repo.ok(&["daemon", "start"]);
    let mut wire = Wire::unix(&repo.socket());
    wire.call("stats", json!({}));
    for round in 0..rounds {
        repo.write(&format!("d{}/f{}.py", round % 50, round % 50), format!("def round_{round}(): pass\n"));
        let saved = Instant::now();
        let reply = wire.call("get_symbol", json!({ "symbol_name": format!("round_{round}") }));
        // While the index is being built, the total is not known.
        let found = reply["result"]["symbols"].as_array().map_or(0, Vec::len);
        assert_eq!(found, 1, "round {round}, {:?} after the save: {reply}", saved.elapsed());
    }
}

#[test]
fn twenty_clients_that_ask_steadily_leave_its_memory_flat() {
    let time = Duration::from_secs(if is_soak() { 300 } else { 2 });
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start"]);
    let steadily = |time: Duration| {
        let clients: Vec<_> = (0..20)
            .map(|_| {
                let mut wire = Wire::unix(&repo.socket());
                std::thread::spawn(move || {
                    let begun = Instant::now();
                    let mut due = Duration::ZERO;
                    while begun.elapsed() < time {
                        let reply = wire.call("get_symbol", json!({ "symbol_name": "Cart" }));
                        assert_eq!(reply["result"]["total"], 1, "{reply}");
                        // 50 a second, however long each takes.
                        due += Duration::from_millis(20);
                        std::thread::sleep(due.saturating_sub(begun.elapsed()));
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        repo.status()["memory"]["rss_bytes"].as_u64().unwrap()
    };
    let warm = steadily(time / 4);
    let after = steadily(time);
    assert!(after < warm + (16 << 20), "{} MB, then {} MB", warm >> 20, after >> 20);
}

#[test]
fn a_folder_that_is_only_readable_is_served_without_a_daemon() {
    let repo = Repo::new(SMALL);
    repo.sync();
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0;
    assert!(is_root, "this test needs to be root: it hands its program to a user who may not write");
    fs::set_permissions(repo.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_ixmcp"), "mcp"]);
    command.current_dir(repo.path()).env("HOME", "/nonexistent").env("IXMCP_TCP", "off").env_remove("RUST_LOG");
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = format!("{}\n{}\n", initialize(0), request(1, "tools/list", json!({})));
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.contains("serverInfo") && said.contains("get_slice"), "{said}");
    assert!(!repo.path().join(".flashgrep").exists());
}
