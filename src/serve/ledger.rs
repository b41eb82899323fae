//! The in-flight requests of a relay's client, for when the daemon ends.
//!
//! Owns the rule: reads are sent to the next daemon, all other requests are answered with an error. The handshake is
//! repeated, and its second answer is dropped.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::envelope::{self, Id, Malformed, Message, RpcError};
use super::mcp;
use crate::error::{Error, ErrorKind};

/// The id of a repeated handshake.
const REPLAY: &str = "\"ixmcp/replay";
/// How often a read is sent. One that this many daemons did not survive may be what crashes them.
const MAX_ATTEMPTS: u8 = 12;

/// The in-flight requests of one client, in the order in which they arrived.
pub struct Ledger {
    /// Whether a tool, given by name, only reads.
    reads: fn(&str) -> bool,
    last: u64,
    open: BTreeMap<u64, Entry>,
    numbers: HashMap<String, u64>,
    /// The params of the last successful `initialize`.
    handshake: Option<String>,
}

/// One line with at least one request.
struct Entry {
    line: String,
    requests: Vec<Request>,
    is_batch: bool,
    attempts: u8,
}

struct Request {
    id: Id,
    is_mcp_call: bool,
    is_modern: bool,
    is_mcp: bool,
    only_reads: bool,
    is_cancelled: bool,
    /// The params, if this is `initialize`.
    handshake: Option<String>,
}

/// Action for a line of the client.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    Forward,
    Reply(String),
    Drop,
}

/// Messages to send after a daemon ended.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Lines for the next daemon, the handshake first.
    pub resend: Vec<String>,
    /// Lines for the client.
    pub replies: Vec<String>,
}

impl Ledger {
    pub fn new(reads: fn(&str) -> bool) -> Self {
        Self { reads, last: 0, open: BTreeMap::new(), numbers: HashMap::new(), handshake: None }
    }

    pub fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Records the requests in a line of the client.
    pub fn take(&mut self, line: &str) -> Action {
        if line.starts_with('[') {
            return self.take_batch(line);
        }
        match envelope::parse(line) {
            Err(Malformed { id, fault }) => Action::Reply(envelope::error(id.as_ref(), &fault)),
            // A reply, but we send clients no requests.
            Ok(None) => Action::Drop,
            Ok(Some(Message { id: None, method, params })) => {
                if method == "notifications/cancelled" {
                    self.cancel(params);
                }
                Action::Forward
            }
            Ok(Some(message)) => {
                let Some(request) = self.request(message) else { return Action::Drop };
                if self.numbers.contains_key(&request.id.key()) {
                    let fault = RpcError::request("a request with this id is still open");
                    return Action::Reply(envelope::error(Some(&request.id), &fault));
                }
                self.note(line, vec![request], false);
                Action::Forward
            }
        }
    }

    /// Records the ids in a batch. The daemon reports its errors.
    fn take_batch(&mut self, line: &str) -> Action {
        let Ok(messages) = envelope::parse_batch(line) else { return Action::Forward };
        let requests = messages.into_iter().filter_map(|message| {
            let message = envelope::parse(message.get()).ok()??;
            self.request(message).filter(|request| !self.numbers.contains_key(&request.id.key()))
        });
        let requests: Vec<_> = requests.collect();
        if !requests.is_empty() {
            self.note(line, requests, true);
        }
        Action::Forward
    }

    fn request(&self, message: Message) -> Option<Request> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Params<'a> {
            #[serde(borrow)]
            name: Option<std::borrow::Cow<'a, str>>,
            #[serde(rename = "_meta")]
            meta: serde_json::Map<String, serde_json::Value>,
        }
        let Message { id, method, params } = message;
        let is_mcp = mcp::METHODS.contains(&method.as_str());
        let is_mcp_call = method == "tools/call";
        let mut is_modern = false;
        let only_reads = if is_mcp_call {
            let params: Params = params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
            is_modern = mcp::is_modern(&params.meta);
            params.name.is_some_and(|name| (self.reads)(&name))
        } else {
            is_mcp || method == "ping" || (self.reads)(&method)
        };
        let handshake = (method == "initialize").then(|| params.map_or("{}", RawValue::get).to_owned());
        Some(Request { id: id?, is_mcp_call, is_modern, is_mcp, only_reads, is_cancelled: false, handshake })
    }

    fn note(&mut self, line: &str, requests: Vec<Request>, is_batch: bool) {
        self.last += 1;
        for request in &requests {
            self.numbers.insert(request.id.key(), self.last);
        }
        self.open.insert(self.last, Entry { line: line.to_owned(), requests, is_batch, attempts: 1 });
    }

    fn cancel(&mut self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "requestId")]
            id: serde_json::Value,
        }
        let id = params.and_then(|raw| serde_json::from_str::<Params>(raw.get()).ok());
        let Some(id) = id.and_then(|params| Id::from_value(&params.id)) else { return };
        let Some(number) = self.numbers.get(&id.key()).copied() else { return };
        let Some(entry) = self.open.get_mut(&number) else { return };
        let key = id.key();
        let request = entry.requests.iter_mut().find(|request| request.id.key() == key);
        let Some(request) = request else { return };
        request.is_cancelled = true;
        // MCP sends no reply to a cancelled request, so its id is free again.
        if request.is_mcp && !entry.is_batch {
            self.close(number);
        }
    }

    fn close(&mut self, number: u64) -> Option<Entry> {
        let entry = self.open.remove(&number)?;
        for request in &entry.requests {
            self.numbers.remove(&request.id.key());
        }
        Some(entry)
    }

    /// Records the answers in a line of the daemon. Returns whether to send it to the client.
    pub fn settle(&mut self, line: &str) -> bool {
        if line.starts_with('[') {
            let Ok(replies) = envelope::parse_batch(line) else { return true };
            let wanted: Vec<bool> = replies.into_iter().map(|reply| self.settle_one(reply.get())).collect();
            return wanted.into_iter().all(|is_wanted| is_wanted);
        }
        self.settle_one(line)
    }

    fn settle_one(&mut self, line: &str) -> bool {
        #[derive(Deserialize)]
        struct Reply<'a> {
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(borrow, default)]
            error: Option<&'a RawValue>,
        }
        let Ok(reply) = serde_json::from_str::<Reply>(line) else { return true };
        let Some(id) = reply.id.and_then(Id::new) else { return true };
        let key = id.key();
        if key == REPLAY {
            return false;
        }
        let Some(number) = self.numbers.get(&key).copied() else { return true };
        if let Some(entry) = self.close(number)
            && reply.error.is_none()
            && let Some(params) = entry.requests.into_iter().find_map(|request| request.handshake)
        {
            self.handshake = Some(params);
        }
        true
    }

    /// Decides what to do with the in-flight requests after the daemon has ended.
    pub fn recover(&mut self) -> Recovery {
        let mut recovery = Recovery::default();
        if let Some(params) = &self.handshake {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{REPLAY}","method":"initialize","params":{params}}}"#);
            recovery.resend.push(request);
        }
        for number in self.open.keys().copied().collect::<Vec<_>>() {
            let Some(entry) = self.open.get_mut(&number) else { continue };
            let is_cancelled = entry.requests.iter().any(|request| request.is_cancelled);
            let only_reads = entry.requests.iter().all(|request| request.only_reads);
            if only_reads && !is_cancelled && entry.attempts < MAX_ATTEMPTS {
                entry.attempts += 1;
                recovery.resend.push(entry.line.clone());
                continue;
            }
            if let Some(entry) = self.close(number) {
                recovery.replies.extend(entry.error_reply());
            }
        }
        recovery
    }
}

impl Entry {
    fn error_reply(&self) -> Option<String> {
        let replies: Vec<String> = self.requests.iter().map(Request::error_reply).collect();
        if self.is_batch { Some(format!("[{}]", replies.join(","))) } else { replies.into_iter().next() }
    }
}

impl Request {
    fn error_reply(&self) -> String {
        let error = if self.is_cancelled {
            Error::new(ErrorKind::Cancelled, "the call was cancelled")
        } else {
            Error::new(ErrorKind::Busy, "the daemon exited before it answered; changes that it made are kept")
                .hint("Send the request again (retry).")
        };
        let outcome =
            if self.is_mcp_call { mcp::call_result(Err(error), self.is_modern) } else { Err(RpcError::from(&error)) };
        match outcome {
            Ok(result) => envelope::result(&self.id, &result),
            Err(fault) => envelope::error(Some(&self.id), &fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(|name| name == "query")
    }

    #[test]
    fn reads_are_sent_again_in_order_and_other_requests_are_answered() {
        let mut ledger = ledger();
        let query = r#"{"jsonrpc":"2.0","id":1,"method":"query","params":{"text":"x"}}"#;
        let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"query","arguments":{}}}"#;
        let write = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"update_index"}}"#;
        let unknown = r#"{"jsonrpc":"2.0","id":4,"method":"whatever"}"#;
        for line in [query, call, write, unknown] {
            assert_eq!(ledger.take(line), Action::Forward);
        }
        let Recovery { resend, replies } = ledger.recover();
        assert_eq!(resend, [query, call]);
        expect![[r#"
            {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"BUSY: the daemon exited before it answered; changes that it made are kept. Send the request again (retry)."}],"isError":true}}
            {"jsonrpc":"2.0","id":4,"error":{"code":1007,"data":{"code":"BUSY","hint":"Send the request again (retry)."},"message":"the daemon exited before it answered; changes that it made are kept"}}"#]].assert_eq(&replies.join("\n"));
        assert!(ledger.settle(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert_eq!(ledger.recover().resend, [call]);
        for _ in 0..MAX_ATTEMPTS {
            ledger.recover();
        }
        assert!(ledger.is_settled(), "a read that crashes every daemon is answered with an error");
    }

    #[test]
    fn an_answered_handshake_is_repeated_and_its_second_answer_is_dropped() {
        let mut ledger = ledger();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        assert_eq!(ledger.take(initialize), Action::Forward);
        assert_eq!(ledger.recover().resend, [initialize], "it was not answered, so it is sent unchanged");
        assert!(ledger.settle(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#));
        let resend = ledger.recover().resend;
        expect![[
            r#"{"jsonrpc":"2.0","id":"ixmcp/replay","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
        ]]
        .assert_eq(&resend.join("\n"));
        assert!(!ledger.settle(r#"{"jsonrpc":"2.0","id":"ixmcp/replay","result":{}}"#));
    }

    #[test]
    fn cancelled_requests_are_not_sent_again() {
        let mut ledger = ledger();
        ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"query"}"#);
        ledger.take(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"query"}}"#);
        for id in [1, 2] {
            let cancel =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
            assert_eq!(ledger.take(&cancel), Action::Forward);
        }
        let Recovery { resend, replies } = ledger.recover();
        assert!(resend.is_empty());
        // MCP does not answer cancelled requests, the plain methods do.
        expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":1008,"data":{"code":"CANCELLED"},"message":"the call was cancelled"}}"#]].assert_eq(&replies.join("\n"));
    }

    #[test]
    fn malformed_lines_and_ids_in_use_are_answered_here() {
        let mut ledger = ledger();
        let fault = |action| if let Action::Reply(line) = action { line } else { String::new() };
        expect![[r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON: key must be a string at line 1 column 3"}}"#]].assert_eq(&fault(ledger.take("{ no json")));
        expect![[
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id must be a string or a number"}}"#
        ]]
        .assert_eq(&fault(ledger.take(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#)));
        assert_eq!(ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Action::Forward);
        expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is still open"}}"#
        ]]
        .assert_eq(&fault(ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)));
        assert_eq!(ledger.take(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Action::Drop);
    }

    #[test]
    fn a_batch_is_sent_again_as_a_whole() {
        let mut ledger = ledger();
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"query"},7]"#;
        assert_eq!(ledger.take(batch), Action::Forward);
        assert_eq!(ledger.recover().resend, [batch]);
        assert!(ledger.settle(r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#));
        assert!(ledger.is_settled());
    }
}
