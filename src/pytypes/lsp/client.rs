//! A language server connected by two pipes.
//!
//! Owns the framing, the request ids, and the responses to the server's own requests. Does not know about Python.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, unbounded};
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::printable;

/// The maximum message size in bytes.
const MAX_MESSAGE_SIZE: usize = 256 << 20;
/// How often a waiting caller checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(super) struct Client {
    process: Mutex<Child>,
    stdin: Mutex<ChildStdin>,
    next: AtomicU64,
    /// The pending requests; `None` if the server has exited.
    pending: Mutex<Option<HashMap<u64, Sender<Value>>>>,
}

impl Client {
    pub fn start(program: &Path, arguments: &[&str], root: &Path) -> Result<Arc<Self>> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(|error| {
            Error::internal(format!("cannot start {}: {error}", printable(&program.to_string_lossy())))
                .hint("Set python.ty to the path of ty 0.0.74 or newer, or python.engine to embedded.")
        })?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::internal("the language server has no pipes"));
        };
        let client = Arc::new(Self {
            process: Mutex::new(process),
            stdin: Mutex::new(stdin),
            next: AtomicU64::new(1),
            pending: Mutex::new(Some(HashMap::new())),
        });
        let reading = Arc::downgrade(&client);
        let reader = std::thread::Builder::new().name("server-messages".to_owned());
        let spawned = reader.spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = receive(&mut reader) {
                let Some(client) = reading.upgrade() else { return };
                client.handle(&message);
            }
            if let Some(client) = reading.upgrade() {
                *client.pending() = None;
            }
        });
        spawned.map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
        Ok(client)
    }

    fn handle(&self, message: &Value) {
        let id = message.get("id");
        if message.get("method").is_some() {
            // The server asks for settings, to register for file events, or to show progress. Null is a valid response
            // to each.
            if let Some(id) = id {
                let items = message["params"]["items"].as_array().map(Vec::len);
                let result = items.map_or(Value::Null, |number| json!(vec![Value::Null; number]));
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            return;
        }
        let id = id.and_then(Value::as_u64);
        let sender = id.and_then(|id| self.pending().as_mut()?.remove(&id));
        if let Some(sender) = sender {
            let _caller_is_gone = sender.send(message.clone());
        }
    }

    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its result. Fails with `CANCELLED` once `is_over` is set.
    pub fn request(&self, method: &str, params: &Value, is_over: &AtomicBool) -> Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = unbounded();
        // If the server has exited, the sender is dropped here and the wait ends at once.
        if let Some(pending) = self.pending().as_mut() {
            pending.insert(id, sender);
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            match answer.recv_timeout(POLL_INTERVAL) {
                Ok(message) => {
                    let fault = message["error"]["message"].as_str().map(printable);
                    return match fault {
                        Some(fault) => Err(Error::internal(format!("the language server rejected {method}: {fault}"))),
                        None => Ok(message.get("result").cloned().unwrap_or_default()),
                    };
                }
                Err(RecvTimeoutError::Timeout) if is_over.load(Ordering::Relaxed) => {
                    self.notify("$/cancelRequest", &json!({ "id": id }));
                    return Err(Error::new(ErrorKind::Cancelled, "the call was cancelled"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("the language server exited").hint("Ask again."));
                }
            }
        }
    }

    pub fn is_alive(&self) -> bool {
        self.pending().is_some()
    }

    fn pending(&self) -> MutexGuard<'_, Option<HashMap<u64, Sender<Value>>>> {
        locked(&self.pending)
    }

    fn send(&self, message: &Value) {
        let body = message.to_string();
        let mut stdin = locked(&self.stdin);
        // A waiting caller notices if the server is gone.
        let _ = write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| stdin.flush());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut process = locked(&self.process);
        let _already_gone = process.kill();
        let _reaped = process.wait();
    }
}

/// The next message; `None` at the end of the stream or if it is malformed.
fn receive(reader: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    if length > MAX_MESSAGE_SIZE {
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
