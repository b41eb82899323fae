//! How `ixmcp http` answers many clients: `cargo bench --bench http [-- REPOSITORY [SECONDS]]`.
//!
//! One client asks for the latency of a warm query, then 20 clients send 10 requests a second each, half of them in sessions. Prints
//! latencies, errors, and the memory of both processes over time; judges none of them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const CLIENTS: usize = 20;
const INTERVAL: Duration = Duration::from_millis(100);
const WARM: usize = 200;
const TEXTS: [&str; 8] = [
    "path resolver",
    "write lock",
    "parse arguments",
    "connection closed",
    "error message",
    "read settings",
    "session token",
    "file changed",
];

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let root = given.first().map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let seconds = given.get(1).map_or(60, |text| text.parse().expect("a number of seconds"));
    let server = Server::start(&root);
    let mut client = Client::new(&server);
    client.ask(TEXTS[0]);
    let mut warm: Vec<_> = (0..WARM).map(|number| client.ask(TEXTS[number % TEXTS.len()])).collect();
    println!("warm query, one client: {}", quantiles(&mut warm));
    let mut client = Client::new(&server);
    client.begin();
    let mut warm: Vec<_> = (0..WARM).map(|number| client.ask(TEXTS[number % TEXTS.len()])).collect();
    println!("warm query in a session, one client: {}", quantiles(&mut warm));

    let (errors, ends) = (AtomicUsize::new(0), AtomicBool::new(false));
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (server, errors, times) = (&server, &errors, &times);
            scope.spawn(move || {
                let mut client = Client::new(server);
                if number % 2 == 1 {
                    client.begin();
                }
                let begun = Instant::now();
                let mut own = Vec::new();
                for round in 0u32.. {
                    let due = INTERVAL * round;
                    // A machine that is too slow for all requests is not asked longer.
                    if due.max(begun.elapsed()) >= Duration::from_secs(seconds) {
                        break;
                    }
                    std::thread::sleep(due.saturating_sub(begun.elapsed()));
                    match client.try_ask(TEXTS[(round as usize + number) % TEXTS.len()]) {
                        Some(time) => own.push(time),
                        None => _ = errors.fetch_add(1, Ordering::Relaxed),
                    }
                }
                times.lock().expect("no thread panicked").extend(own);
            });
        }
        let (server, ends) = (&server, &ends);
        scope.spawn(move || {
            let begun = Instant::now();
            let step = Duration::from_secs((seconds / 5).max(1));
            while !ends.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(seconds) {
                let (own, daemon) = (memory(server.child.id()), memory(server.daemon));
                println!("after {:>3} s: ixmcp http {own}, daemon {daemon}", begun.elapsed().as_secs());
                std::thread::sleep(step);
            }
        });
    });
    ends.store(true, Ordering::Relaxed);
    let mut times = times.into_inner().expect("no thread panicked");
    println!(
        "{CLIENTS} clients, {} requests in {seconds} s, {errors:?} errors: {}",
        times.len(),
        quantiles(&mut times)
    );
    println!("at the end: ixmcp http {}, daemon {}", memory(server.child.id()), memory(server.daemon));
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    format!("p50 {:.1} ms, p90 {:.1} ms, p99 {:.1} ms, highest {:.1} ms", at(50), at(90), at(99), at(100))
}

/// The memory of a process that it does not share, as far as the system reports it.
fn memory(pid: u32) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let pss = text.lines().find_map(|line| line.strip_prefix("Pss:")).map(|line| line.trim().to_owned());
    pss.unwrap_or_else(|| "unknown".to_owned())
}

struct Server {
    child: Child,
    host: String,
    token: String,
    daemon: u32,
}

impl Server {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("--repo").arg(root).args(["daemon", "start", "--tcp", "off"]);
        assert!(command.status().expect("the daemon starts").success());
        let status = Command::new(PROGRAM).arg("--repo").arg(root).args(["daemon", "status", "--json"]).output();
        let status = String::from_utf8(status.expect("a status").stdout).expect("JSON");
        let pid = status.split("\"pid\":").nth(1).and_then(|rest| rest.trim().split([',', '}']).next());
        let daemon = pid.and_then(|pid| pid.trim().parse().ok()).expect("the daemon's process");
        let mut command = Command::new(PROGRAM);
        command.args(["http", "--listen", "127.0.0.1:0", "--repo"]).arg(root).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let address = lines.next().expect("an address");
        let host = address.trim_start_matches("http://").split('/').next().expect("a host").to_owned();
        let token = lines.next().expect("a token").trim_start_matches("token").trim().to_owned();
        Self { child, host, token, daemon }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that keeps its connection.
struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    token: String,
    session: Option<String>,
    last: usize,
}

impl Client {
    fn new(server: &Server) -> Self {
        let stream = TcpStream::connect(&server.host).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let (host, token) = (server.host.clone(), server.token.clone());
        Self { stream: BufReader::new(stream), host, token, session: None, last: 0 }
    }

    fn begin(&mut self) {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let (status, head, _) = self.send("", body).expect("an answer");
        assert_eq!(status, 200, "{head}");
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        self.session = Some(id.to_owned());
    }

    fn ask(&mut self, text: &str) -> Duration {
        self.try_ask(text).expect("an answer")
    }

    /// The time of one query; `None` if it fails.
    fn try_ask(&mut self, text: &str) -> Option<Duration> {
        self.last += 1;
        let id = self.last;
        let call = format!(
            r#""jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"query","arguments":{{"text":"{text}"}}"#
        );
        let (headers, body) = match &self.session {
            Some(session) => (format!("Mcp-Session-Id: {session}\r\n"), format!("{{{call}}}}}")),
            None => (
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: query\r\n".to_owned(),
                format!(
                    r#"{{{call},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
                ),
            ),
        };
        let begun = Instant::now();
        let (status, _, body) = self.send(&headers, &body)?;
        (status == 200 && body.contains("structuredContent") && !body.contains("\"isError\":true"))
            .then(|| begun.elapsed())
    }

    fn send(&mut self, headers: &str, body: &str) -> Option<(u16, String, String)> {
        let (host, token, length) = (&self.host, &self.token, body.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).ok()?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let body = match length {
            Some(length) => self.exactly(length)?,
            None => self.chunks()?,
        };
        Some((status, head, body))
    }

    fn exactly(&mut self, length: usize) -> Option<String> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn chunks(&mut self) -> Option<String> {
        let mut whole = String::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            let chunk = self.exactly(length + 2)?;
            if length == 0 {
                return Some(whole);
            }
            whole.push_str(chunk.trim_end_matches("\r\n"));
        }
    }
}
