//! How long a client waits: `cargo bench --bench latency [-- REPOSITORY]`.
//!
//! Without a repository it measures on a small one of its own. Prints one line a figure; judges none of them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const STATS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"stats"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_symbol","arguments":{"symbol_name":"Model"}}}"#;
const RELATIONS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_symbol","arguments":{"symbol_name":"Model","relations":true}}}"#;
/// In a repository of git with uncommitted changes.
const CHANGES: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"changes","arguments":{}}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let own = tempfile::tempdir().expect("a temporary folder");
    let root = given.map_or_else(|| small(own.path()), PathBuf::from);
    let root = root.canonicalize().expect("the repository");
    run(&root, &["daemon", "stop"]);
    run(&root, &["sync"]);

    figure("initialize, no daemon", starts(&root, 10, true));
    figure("initialize, daemon up", starts(&root, 20, false));
    let socket = UnixStream::connect(root.join(".flashgrep/mcp.sock")).expect("the daemon's socket");
    let reader = BufReader::new(socket.try_clone().expect("a second handle"));
    let mut direct = Client { reader, writer: socket };
    figure("socket, ping", direct.times(PING, 5000));
    direct.ask(INITIALIZE);
    figure("socket, MCP ping", direct.times(PING, 5000));
    figure("socket, stats", direct.times(STATS, 200));
    figure("socket, MCP get_symbol", direct.times(CALL, 200));
    figure("socket, MCP get_symbol with relations", direct.times(RELATIONS, 50));
    figure("socket, MCP changes", direct.times(CHANGES, 50));
    let mut child = relay(&root);
    let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut relayed = Client { reader: BufReader::new(output), writer: input };
    relayed.ask(INITIALIZE);
    figure("relay, MCP ping", relayed.times(PING, 5000));
    drop(relayed);
    child.wait().expect("the relay ends with its input");
    drop(direct);
    println!("{}", run(&root, &["daemon", "status"]));
    run(&root, &["daemon", "stop"]);
}

struct Client<R, W> {
    reader: BufReader<R>,
    writer: W,
}

impl<R: Read, W: Write> Client<R, W> {
    fn ask(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).expect("written");
        let mut reply = String::new();
        self.reader.read_line(&mut reply).expect("a reply");
        assert!(reply.contains("\"result\""), "{reply}");
    }

    fn times(&mut self, line: &str, rounds: usize) -> Vec<Duration> {
        self.ask(line);
        let once = |_| {
            let begun = Instant::now();
            self.ask(line);
            begun.elapsed()
        };
        (0..rounds).map(once).collect()
    }
}

/// From starting `ixmcp mcp` to its answer to `initialize`.
fn starts(root: &Path, rounds: usize, without_daemon: bool) -> Vec<Duration> {
    let once = |_| {
        if without_daemon {
            run(root, &["daemon", "stop"]);
        }
        let begun = Instant::now();
        let mut child = relay(root);
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut client = Client { reader: BufReader::new(output), writer: input };
        client.ask(INITIALIZE);
        let took = begun.elapsed();
        drop(client);
        child.wait().expect("the relay ends with its input");
        took
    };
    (0..rounds).map(once).collect()
}

fn relay(root: &Path) -> std::process::Child {
    let mut command = command(root, &["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the relay starts")
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("--repo").arg(root).args(arguments).env("IXMCP_TCP", "off");
    command
}

fn run(root: &Path, arguments: &[&str]) -> String {
    let output = command(root, arguments).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn small(folder: &Path) -> PathBuf {
    std::fs::create_dir(folder.join(".git")).expect("a folder");
    for number in 0..200 {
        let text = format!("class Model{number}:\n    def save(self):\n        return {number}\n");
        std::fs::write(folder.join(format!("m{number}.py")), text).expect("a file");
    }
    folder.to_owned()
}

fn figure(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("{name:<26} p50 {:>10.1?}   p99 {:>10.1?}   of {}", at(50), at(99), times.len());
}
