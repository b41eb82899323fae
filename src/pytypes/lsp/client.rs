//! A language server in a child process.
//!
//! Owns the shapes of JSON-RPC, and the responses to the server's own requests. Does not know about Python.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::child_process::{ChildProcess, Group, Received, framing};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;

/// The maximum message size in bytes.
const MAX_MESSAGE_SIZE: usize = 256 << 20;

pub(super) struct Client(Arc<ChildProcess<Value>>);

impl Client {
    pub fn start(program: &Path, arguments: &[&str], root: &Path) -> Result<Arc<Self>> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root);
        let receive = |stdout: &mut _| framing::read_with_header(stdout, MAX_MESSAGE_SIZE);
        // The engine's process is killed with its group, which includes the server.
        let started = ChildProcess::start(command, Group::Inherited, receive, handle);
        let (server, _sends_no_first_message) = started.map_err(|error| {
            Error::internal(format!("cannot start {}: {error}", printable(&program.to_string_lossy())))
                .hint("Set python.ty to the path of ty 0.0.74 or newer, or python.engine to embedded.")
        })?;
        Ok(Arc::new(Self(server)))
    }

    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its result. Fails with `CANCELLED` once `is_over` is set.
    pub fn request(&self, method: &str, params: &Value, is_over: &AtomicBool) -> Result<Value> {
        let pending = self.0.begin();
        self.send(&json!({ "jsonrpc": "2.0", "id": pending.id, "method": method, "params": params }));
        match pending.wait(None, || is_over.load(Ordering::Relaxed)) {
            Received::Message(message) => match message["error"]["message"].as_str().map(printable) {
                Some(fault) => Err(Error::internal(format!("the language server rejected {method}: {fault}"))),
                None => Ok(message.get("result").cloned().unwrap_or_default()),
            },
            Received::Cancelled | Received::TimedOut => {
                self.notify("$/cancelRequest", &json!({ "id": pending.id }));
                Err(Error::new(ErrorKind::Cancelled, "the call was cancelled"))
            }
            Received::Exited => Err(Error::internal("the language server exited").hint("Try again.")),
        }
    }

    pub fn is_alive(&self) -> bool {
        self.0.is_alive()
    }

    fn send(&self, message: &Value) {
        self.0.send(&framing::with_header(message));
    }
}

/// Delivers a response, or responds to a request of the server.
fn handle(server: &ChildProcess<Value>, message: Value) {
    let id = message.get("id");
    if message.get("method").is_none() {
        if let Some(id) = id.and_then(Value::as_u64) {
            server.answer(id, message);
        }
    } else if let Some(id) = id {
        // The server asks for settings, to register for file events, or to show progress. Null is a valid response to
        // each.
        let items = message["params"]["items"].as_array().map(Vec::len);
        let result = items.map_or(Value::Null, |number| json!(vec![Value::Null; number]));
        server.send(&framing::with_header(&json!({ "jsonrpc": "2.0", "id": id, "result": result })));
    }
}
