//! A client at one end of an in-memory pipe, and at the other a connection in front of small tools that echo, wait,
//! count and fail.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ixmcp::error::{Error, ErrorKind};
use ixmcp::serve::{ClientScope, ConnectionPolicy, Server, Service, ToolCard, ToolListing, WriteAccess, connection};
use ixmcp::tools::Request;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// Generous: nothing below waits for it unless something is broken.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// The tools behind the wire.
#[derive(Default)]
pub struct Workbench {
    pub at_work: AtomicUsize,
}

pub const KINDS: &[ErrorKind] = &[
    ErrorKind::InvalidPath,
    ErrorKind::NotFound,
    ErrorKind::InvalidArgument,
    ErrorKind::Timeout,
    ErrorKind::CorruptIndex,
    ErrorKind::Internal,
];

impl Service for Workbench {
    fn tools(&self) -> Vec<ToolCard> {
        let card = |name, title| ToolCard {
            name,
            title,
            about: "For tests.",
            writes: name == "scribble",
            long: name == "count",
            core: name == "echo",
            input_schema: json!({ "type": "object" }),
            argument_names: Vec::new(),
            output_schema: json!({ "type": "object" }),
        };
        vec![
            card("wait", "Wait until stopped"),
            card("echo", "Give back the arguments"),
            card("count", "Count with progress"),
            card("fail", "Fail as told"),
            card("crash", "Panic"),
            card("scribble", "Write"),
            card("caller", "Say who asks"),
        ]
    }

    fn call(&self, call: Request) -> Result<Value, Error> {
        let arguments = call.arguments;
        match call.tool.as_str() {
            "echo" | "scribble" => Ok(arguments),
            "wait" => {
                self.at_work.fetch_add(1, Ordering::SeqCst);
                while !call.budget.is_spent() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.at_work.fetch_sub(1, Ordering::SeqCst);
                Err(call.budget.error())
            }
            "count" => {
                let wanted = call.on_progress.is_some();
                let report = call.on_progress.unwrap_or_else(|| Arc::new(|_, _| {}));
                for done in [1, 2, 2, 1, 3] {
                    report(done, 3);
                    std::thread::sleep(Duration::from_millis(110));
                }
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50));
                    report(4, 4);
                });
                Ok(json!({
                    "done": 3,
                    "wanted": wanted,
                    "deadline": call.budget.deadline().is_some(),
                }))
            }
            "fail" => {
                let kind = KINDS.iter().find(|kind| kind.name() == arguments["kind"]).expect("a kind");
                Err(Error::new(*kind, "it went wrong").hint("Do this."))
            }
            "crash" => panic!("on purpose"),
            "caller" => Ok(json!({
                "root": call.root,
                "cap": call.cap,
                "deadline": call.budget.deadline().is_some(),
                "env": call.python,
            })),
            name => Err(Error::new(ErrorKind::UnknownTool, format!("no tool {name:?}")).hint("Did you mean echo?")),
        }
    }
}

pub struct Client {
    pub bench: Arc<Workbench>,
    pub reader: BufReader<ReadHalf<DuplexStream>>,
    pub writer: WriteHalf<DuplexStream>,
    pub served: JoinHandle<()>,
}

pub fn policy() -> ConnectionPolicy {
    ConnectionPolicy {
        root: PathBuf::from("/repo"),
        listing: ToolListing::All,
        writing: WriteAccess::Allowed,
        scope: ClientScope::Machine,
        restriction: None,
        drain: Duration::from_millis(500),
    }
}

impl Client {
    pub fn new() -> Self {
        Self::through(policy())
    }

    pub fn through(policy: ConnectionPolicy) -> Self {
        let bench = Arc::new(Workbench::default());
        let (near, far) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(far);
        let server = Server::new(Arc::clone(&bench) as Arc<dyn Service>);
        let served = tokio::spawn(connection(server, reader, writer, policy));
        let (reader, writer) = tokio::io::split(near);
        Self { bench, reader: BufReader::new(reader), writer, served }
    }

    /// A client that has shaken hands on `revision`.
    pub async fn initialized(revision: &str) -> Self {
        let mut client = Self::new();
        let reply = client.ask(initialize(revision)).await;
        assert_eq!(reply["result"]["protocolVersion"], revision);
        client.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        tokio::time::timeout(TIMEOUT, self.writer.write_all(bytes.as_ref())).await.expect("in time").unwrap();
    }

    pub async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n")).await;
    }

    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(TIMEOUT, self.reader.read_line(&mut line)).await.expect("a reply in time").unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    pub async fn reply(&mut self) -> Value {
        serde_json::from_str(&self.line().await).expect("JSON")
    }

    pub async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.reply().await
    }

    /// Writes lines and gives the one line that comes back for them; a ping behind them proves that it is only one.
    pub async fn raw(&mut self, bytes: impl AsRef<[u8]>) -> String {
        self.write(bytes).await;
        self.write("\n").await;
        let line = self.line().await;
        self.silent().await;
        line
    }

    /// Nothing was sent before the answer to this.
    pub async fn silent(&mut self) {
        let reply = self.ask(json!({ "jsonrpc": "2.0", "id": "sentinel", "method": "ping" })).await;
        assert_eq!(reply, json!({ "jsonrpc": "2.0", "id": "sentinel", "result": {} }));
    }

    /// Waits until this many calls of `wait` are under way.
    pub async fn until_at_work(&self, calls: usize) {
        let begun = Instant::now();
        while self.bench.at_work.load(Ordering::SeqCst) != calls {
            assert!(begun.elapsed() < TIMEOUT, "{} at work", self.bench.at_work.load(Ordering::SeqCst));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

pub fn initialize(revision: &str) -> Value {
    let params =
        json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

pub fn plain(id: impl Into<Value>, tool: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": tool, "params": params })
}

pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    plain(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Turns a request into one of the era without a handshake.
pub fn modern(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

pub fn cancel(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id.into() } })
}
