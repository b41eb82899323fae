//! Clients of a daemon that hold their connection open: over its socket, over TCP, and by way of `ixmcp mcp`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::harness::Repo;

/// Generous: nothing waits for it unless something is broken. The daemon itself waits for 60 s for what a client has not
/// sent: an answer that had to wait for that comes too late.
pub const TIMEOUT: Duration = Duration::from_secs(50);

/// A connection that speaks lines of JSON.
pub struct Wire {
    reader: BufReader<Box<dyn Read + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    /// The relay behind it.
    child: Option<Child>,
}

impl Wire {
    pub fn unix(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let reader: Box<dyn Read + Send> = Box::new(stream.try_clone().unwrap());
        Self { reader: BufReader::new(reader), writer: Some(Box::new(stream)), child: None }
    }

    pub fn tcp(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let reader: Box<dyn Read + Send> = Box::new(stream.try_clone().unwrap());
        Self { reader: BufReader::new(reader), writer: Some(Box::new(stream)), child: None }
    }

    /// `ixmcp mcp` with these further arguments.
    pub fn relay(repo: &Repo, arguments: &[&str]) -> Self {
        let mut command = repo.command(&[&["mcp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let reader: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap());
        let writer: Box<dyn Write + Send> = Box::new(child.stdin.take().unwrap());
        Self { reader: BufReader::new(reader), writer: Some(writer), child: Some(child) }
    }

    pub fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next line; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line
    }

    pub fn reply(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.reply()
    }

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.ask(&request(1, method, params))
    }

    /// Takes the connection apart: each half is for a thread.
    #[allow(clippy::type_complexity, reason = "said once, taken apart at once")]
    pub fn halves(mut self) -> (BufReader<Box<dyn Read + Send>>, Box<dyn Write + Send>, Option<Child>) {
        let writer = self.writer.take().unwrap();
        let child = self.child.take();
        let empty: Box<dyn Read + Send> = Box::new(std::io::empty());
        (std::mem::replace(&mut self.reader, BufReader::new(empty)), writer, child)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.writer = None;
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub fn initialize(id: impl Into<Value>) -> Value {
    let client = json!({ "name": "t", "version": "1" });
    request(id, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }))
}

pub fn hello(fields: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "ixmcp/hello", "params": fields })
}
