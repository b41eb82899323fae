//! What a client has asked through the relay and was not answered yet, and what becomes of it when the daemon ends.
//!
//! Owns the rule: reads are asked again, everything else is answered with an error that says so; the handshake is
//! repeated, and its second answer is nobody's.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::envelope::{self, Fault, Id, Malformed, Message};
use super::mcp;
use crate::error::{Error, ErrorKind};

/// The id of a repeated handshake.
const REPLAY: &str = "\"ixmcp/replay";
/// A read that has ended so many daemons is not asked again: it may be what ends them.
const ATTEMPTS: u8 = 12;

/// Open requests of one client, in the order in which they came.
pub struct Ledger {
    /// Whether a tool of that name only reads.
    reads: fn(&str) -> bool,
    last: u64,
    open: BTreeMap<u64, Entry>,
    numbers: HashMap<String, u64>,
    /// The params of the `initialize` that was answered.
    handshake: Option<String>,
}

/// One line with at least one request.
struct Entry {
    line: String,
    requests: Vec<Request>,
    is_batch: bool,
    asked: u8,
}

struct Request {
    id: Id,
    is_mcp_call: bool,
    is_modern: bool,
    is_mcp: bool,
    only_reads: bool,
    is_cancelled: bool,
    /// Of `initialize` alone.
    handshake: Option<String>,
}

/// What to do with a line of the client.
#[derive(Debug, PartialEq, Eq)]
pub enum Take {
    Forward,
    Reply(String),
    Drop,
}

/// What a lost daemon leaves to be done.
#[derive(Debug, Default)]
pub struct Left {
    /// Lines for the next daemon, the handshake first.
    pub again: Vec<String>,
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

    /// Notes what a line of the client asks.
    pub fn take(&mut self, line: &str) -> Take {
        if line.starts_with('[') {
            return self.take_batch(line);
        }
        match envelope::parse(line) {
            Err(Malformed { id, fault }) => Take::Reply(envelope::error(id.as_ref(), &fault)),
            // We ask clients nothing.
            Ok(None) => Take::Drop,
            Ok(Some(Message { id: None, method, params })) => {
                if method == "notifications/cancelled" {
                    self.cancel(params);
                }
                Take::Forward
            }
            Ok(Some(message)) => {
                let Some(request) = self.request(message) else { return Take::Drop };
                if self.numbers.contains_key(&request.id.key()) {
                    let fault = Fault::request("a request with this id is still open");
                    return Take::Reply(envelope::error(Some(&request.id), &fault));
                }
                self.note(line, vec![request], false);
                Take::Forward
            }
        }
    }

    /// Its faults are the daemon's to find: what matters here is which ids it opens.
    fn take_batch(&mut self, line: &str) -> Take {
        let Ok(messages) = envelope::parse_batch(line) else { return Take::Forward };
        let requests = messages.into_iter().filter_map(|message| {
            let message = envelope::parse(message.get()).ok()??;
            self.request(message).filter(|request| !self.numbers.contains_key(&request.id.key()))
        });
        let requests: Vec<_> = requests.collect();
        if !requests.is_empty() {
            self.note(line, requests, true);
        }
        Take::Forward
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
        self.open.insert(self.last, Entry { line: line.to_owned(), requests, is_batch, asked: 1 });
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
        // MCP answers it no more, and the id is free again.
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

    /// Notes what a line of the daemon answers; whether the client gets it.
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

    /// The daemon has ended: what now?
    pub fn lost(&mut self) -> Left {
        let mut left = Left::default();
        if let Some(params) = &self.handshake {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{REPLAY}","method":"initialize","params":{params}}}"#);
            left.again.push(request);
        }
        for number in self.open.keys().copied().collect::<Vec<_>>() {
            let Some(entry) = self.open.get_mut(&number) else { continue };
            let is_cancelled = entry.requests.iter().any(|request| request.is_cancelled);
            let only_reads = entry.requests.iter().all(|request| request.only_reads);
            if only_reads && !is_cancelled && entry.asked < ATTEMPTS {
                entry.asked += 1;
                left.again.push(entry.line.clone());
                continue;
            }
            if let Some(entry) = self.close(number) {
                left.replies.extend(entry.apology());
            }
        }
        left
    }
}

impl Entry {
    fn apology(&self) -> Option<String> {
        let replies: Vec<String> = self.requests.iter().map(Request::apology).collect();
        if self.is_batch { Some(format!("[{}]", replies.join(","))) } else { replies.into_iter().next() }
    }
}

impl Request {
    fn apology(&self) -> String {
        let error = if self.is_cancelled {
            Error::new(ErrorKind::Cancelled, "the call was cancelled")
        } else {
            Error::new(ErrorKind::Busy, "the daemon ended before it answered; what it had done stands")
                .hint("Send the call again: retry.")
        };
        if self.is_mcp_call {
            envelope::result(&self.id, &mcp::refused_call(&error, self.is_modern))
        } else {
            envelope::error(Some(&self.id), &Fault::from(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(|name| name == "query")
    }

    #[test]
    fn reads_are_asked_again_in_order_and_the_rest_is_answered() {
        let mut ledger = ledger();
        let query = r#"{"jsonrpc":"2.0","id":1,"method":"query","params":{"text":"x"}}"#;
        let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"query","arguments":{}}}"#;
        let write = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"update_index"}}"#;
        let unknown = r#"{"jsonrpc":"2.0","id":4,"method":"whatever"}"#;
        for line in [query, call, write, unknown] {
            assert_eq!(ledger.take(line), Take::Forward);
        }
        let Left { again, replies } = ledger.lost();
        assert_eq!(again, [query, call]);
        assert_eq!(replies.len(), 2);
        assert!(replies[0].starts_with(r#"{"jsonrpc":"2.0","id":3,"result""#) && replies[0].contains("retry"));
        assert!(replies[1].starts_with(r#"{"jsonrpc":"2.0","id":4,"error":{"code":1007"#), "{}", replies[1]);
        assert!(ledger.settle(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert_eq!(ledger.lost().again, [call]);
        for _ in 0..ATTEMPTS {
            ledger.lost();
        }
        assert!(ledger.is_settled(), "a read that ends every daemon is given up");
    }

    #[test]
    fn the_handshake_is_repeated_once_it_was_answered_and_its_answer_swallowed() {
        let mut ledger = ledger();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        assert_eq!(ledger.take(initialize), Take::Forward);
        assert_eq!(ledger.lost().again, [initialize], "nobody was answered: it is asked as it was");
        assert!(ledger.settle(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#));
        let again = ledger.lost().again;
        assert_eq!(again.len(), 1);
        assert!(again[0].contains("2025-06-18"), "{}", again[0]);
        assert!(!ledger.settle(r#"{"jsonrpc":"2.0","id":"ixmcp/replay","result":{}}"#));
    }

    #[test]
    fn what_is_cancelled_is_not_asked_again() {
        let mut ledger = ledger();
        ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"query"}"#);
        ledger.take(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"query"}}"#);
        for id in [1, 2] {
            let cancel =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
            assert_eq!(ledger.take(&cancel), Take::Forward);
        }
        let Left { again, replies } = ledger.lost();
        assert!(again.is_empty());
        assert_eq!(replies.len(), 1, "MCP answers no cancelled request, the plain methods do");
        assert!(replies[0].contains("CANCELLED"));
    }

    #[test]
    fn malformed_lines_and_taken_ids_are_answered_here() {
        let mut ledger = ledger();
        let fault = |take| if let Take::Reply(line) = take { line } else { String::new() };
        assert!(fault(ledger.take("{ no json")).contains("-32700"));
        assert!(fault(ledger.take(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#)).contains("-32600"));
        assert_eq!(ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Take::Forward);
        assert!(fault(ledger.take(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).contains("still open"));
        assert_eq!(ledger.take(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Take::Drop);
    }

    #[test]
    fn a_batch_is_one_question() {
        let mut ledger = ledger();
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"query"},7]"#;
        assert_eq!(ledger.take(batch), Take::Forward);
        assert_eq!(ledger.lost().again, [batch]);
        assert!(ledger.settle(r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#));
        assert!(ledger.is_settled());
    }
}
