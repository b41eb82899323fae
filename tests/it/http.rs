//! `ixmcp http`: both forms of Streamable HTTP, what its clients can reach, and which requests are refused.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::waiting::until;
use crate::support::wire::{TIMEOUT, Wire, hello, initialize, request};

const SHOP: &str = "//- /src/shop.py\nclass Cart:\n    def total_price(self):\n        return sum(self.items)\n";
const BANK: &str = "//- /bank.py\ndef withdraw_money():\n    pass\n";
const MODERN: &str = "2026-07-28";

/// `ixmcp http` at work.
struct Http {
    child: Child,
    /// The address of each repository.
    addresses: Vec<String>,
    token: String,
}

/// An answer of the server.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Http {
    fn start(repo: &Repo, arguments: &[&str], repositories: usize) -> Self {
        let mut command = repo.command(&[&["http", "--listen", "127.0.0.1:0"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = |line: String| line.split("  ").next().unwrap().to_owned();
        let addresses = lines.by_ref().take(repositories).map(address).collect();
        let token = lines.next().unwrap().strip_prefix("token  ").unwrap().to_owned();
        Self { child, addresses, token }
    }

    fn host(&self) -> &str {
        self.addresses[0].strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    /// The path of a repository.
    fn path(&self, index: usize) -> &str {
        let address = self.addresses[index].strip_prefix("http://").unwrap();
        &address[address.find('/').unwrap()..]
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Sends exactly these bytes and reads until the server closes the connection.
    fn send_raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may refuse the request before all of it is sent.
        let _refused = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let text = format!("{line} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        self.send_raw(text.as_bytes())
    }

    /// Sends a message with the token, and these further headers.
    fn post(&self, path: &str, headers: &[(&str, &str)], message: &Value) -> Answer {
        let token = format!("Bearer {}", self.token);
        let own = [
            ("Host", self.host()),
            ("Authorization", &*token),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        self.send(&format!("POST {path}"), &[&own, headers].concat(), &message.to_string())
    }

    /// A request without a session.
    fn ask(&self, index: usize, method: &str, mut params: Value) -> Answer {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        self.post(self.path(index), &headers, &request("a", method, params))
    }

    /// The result of a call without a session.
    fn call(&self, index: usize, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(index, "tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer.status, 200, "{tool}: {answer:?}");
        answer.json()["result"].take()
    }

    /// The text of a call that fails.
    fn fault(&self, index: usize, tool: &str, arguments: &Value) -> String {
        let result = self.call(index, tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Begins a session, and gives its id.
    fn begin(&self, index: usize, revision: &str) -> String {
        let mut message = initialize(0);
        message["params"]["protocolVersion"] = json!(revision);
        let answer = self.post(self.path(index), &[], &message);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], revision);
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(self.path(index), &[("Mcp-Session-Id", &id)], &said).status, 202);
        id
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        // A connection that is refused early may be reset before it is read to its end.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The events of a stream: their ids and messages.
    fn events(&self) -> Vec<(String, Value)> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"), "{self:?}");
        let (mut id, mut events) = (String::new(), Vec::new());
        for line in self.body.lines() {
            if let Some(said) = line.strip_prefix("id: ") {
                said.clone_into(&mut id);
            } else if let Some(data) = line.strip_prefix("data:") {
                events.push((id.clone(), serde_json::from_str(data).unwrap_or_default()));
            }
        }
        events
    }

    fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_default()
    }
}

#[test]
fn requests_without_a_session_are_answered() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    let found = http.ask(0, "server/discover", json!({}));
    assert_eq!((found.status, found.header("content-type")), (200, Some("application/json")), "{found:?}");
    assert_eq!(found.json()["result"]["supportedVersions"].as_array().unwrap().len(), 5);
    let listed = http.ask(0, "tools/list", json!({})).json();
    let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names.len(), 21, "without those that write: {names:?}");
    let hit = http.call(0, "query", &json!({ "text": "total_price", "mode": "literal" }));
    assert_eq!(hit["structuredContent"]["results"][0]["file_path"], "src/shop.py", "{hit}");
    // A save is seen by the next request.
    repo.write("src/new.py", "def brand_new(): pass\n");
    let hit = http.call(0, "query", &json!({ "text": "brand_new", "mode": "literal" }));
    assert_eq!(hit["structuredContent"]["results"][0]["file_path"], "src/new.py", "{hit}");
    // A body may have line ends, and the path the name of the repository.
    let named = format!("/mcp/{}", repo.path().file_name().unwrap().to_str().unwrap());
    let pretty = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} } } });
    let pretty = serde_json::to_string_pretty(&pretty).unwrap();
    let token = format!("Bearer {}", http.token);
    let headers = [
        ("Host", http.host()),
        ("Authorization", &*token),
        ("Content-Type", "application/json; charset=utf-8"),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "server/discover"),
    ];
    assert_eq!(http.send(&format!("POST {named}"), &headers, &pretty).status, 200);
    // Progress needs a stream, which ends with the answer.
    let params = json!({ "name": "ixchel_tags", "arguments": {}, "_meta": { "progressToken": 7 } });
    let events = http.ask(0, "tools/call", params).events();
    assert_eq!(events.last().unwrap().1["id"], "a", "{events:?}");
}

#[test]
fn headers_and_revisions_are_checked() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    let asked = |headers: &[(&str, &str)], version: Option<&str>, method: &str| {
        let mut meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
        if let Some(version) = version {
            meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
        }
        let answer = http.post("/mcp", headers, &request(1, method, json!({ "name": "stats", "_meta": meta })));
        assert_eq!(answer.json()["id"], 1, "{answer:?}");
        (answer.status, answer.code())
    };
    let (revision, call, name) =
        (("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "stats"));
    assert_eq!(asked(&[revision, call, name], Some(MODERN), "tools/call"), (200, 0));
    assert_eq!(asked(&[call, name], Some(MODERN), "tools/call"), (400, -32020));
    assert_eq!(asked(&[revision, call], Some(MODERN), "tools/call"), (400, -32020));
    assert_eq!(asked(&[revision, call, ("Mcp-Name", "query")], Some(MODERN), "tools/call"), (400, -32020));
    assert_eq!(asked(&[revision, call, name], Some("v9"), "tools/call"), (400, -32020));
    assert_eq!(asked(&[revision, call, name], None, "tools/call"), (400, -32602));
    let unknown = ("MCP-Protocol-Version", "2099-01-01");
    assert_eq!(asked(&[unknown, call, name], Some("2099-01-01"), "tools/call"), (400, -32022));
    assert_eq!(asked(&[("MCP-Protocol-Version", "1999-01-01")], None, "tools/list"), (400, -32022));
    for method in ["initialize", "ping", "logging/setLevel", "query", "ixmcp/status", "ixmcp/hello", "prompts/list"] {
        assert_eq!(asked(&[revision, ("Mcp-Method", method)], Some(MODERN), method), (404, -32601), "{method}");
    }
    let token = format!("Bearer {}", http.token);
    let own = [("Host", http.host()), ("Authorization", &*token)];
    let json = [own[0], own[1], ("Content-Type", "application/json")];
    for (line, headers, body, status) in [
        ("POST /mcp", &own[..], "{}", 415),
        ("POST /mcp", &[&json[..], &[("Accept", "text/html")]].concat(), "{}", 406),
        ("POST /mcp", &json, "{", 400),
        ("POST /mcp", &json, "[]", 400),
        ("POST /mcp", &json, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400),
        ("POST /other", &json, "{}", 404),
        ("POST /mcp/none", &json, "{}", 404),
        ("PUT /mcp", &json, "{}", 405),
        ("GET /mcp", &own, "", 405),
        ("DELETE /mcp", &own, "", 400),
        ("DELETE /mcp", &[&own[..], &[revision]].concat(), "", 405),
    ] {
        assert_eq!(http.send(line, headers, body).status, status, "{line} {body}");
    }
}

#[test]
fn a_session_lasts_until_it_is_ended_and_its_answers_can_be_resumed() {
    let repo = Repo::new(SHOP);
    let other = Repo::new(BANK);
    let named = format!("other={}", other.path().display());
    let http = Http::start(&repo, &["--repo", &format!("shop={}", repo.path().display()), "--repo", &named], 2);
    assert_eq!((http.path(0), http.path(1)), ("/mcp/shop", "/mcp/other"));
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = http.begin(0, revision);
        let own = [("Mcp-Session-Id", &*id), ("MCP-Protocol-Version", revision)];
        let listed = http.post("/mcp/shop", &own, &request(1, "tools/list", json!({})));
        assert_eq!(listed.json()["result"]["tools"].as_array().unwrap().len(), 21, "{revision}");
        assert_eq!(http.post("/mcp/shop", &own, &request(2, "ping", json!({}))).json()["result"], json!({}));
        let call = request("c", "tools/call", json!({ "name": "get_symbol", "arguments": { "symbol_name": "Cart" } }));
        let events = http.post("/mcp/shop", &own, &call).events();
        let has_first = revision == "2025-11-25";
        assert_eq!(events.len(), 1 + usize::from(has_first), "{events:?}");
        let (last, answer) = events.last().unwrap();
        assert_eq!(answer["result"]["structuredContent"]["symbols"][0]["name"], "Cart");

        let token = format!("Bearer {}", http.token);
        let get = |event: &str, session: &str| {
            let headers = [
                ("Host", http.host()),
                ("Authorization", &*token),
                ("Accept", "text/event-stream"),
                ("Last-Event-ID", event),
                ("Mcp-Session-Id", session),
            ];
            http.send("GET /mcp/shop", &headers, "")
        };
        let first = format!("{}-0", last.split('-').next().unwrap());
        assert_eq!(get(&first, &id).events(), [(last.clone(), answer.clone())], "the answer again");
        assert_eq!(get(last, &id).events(), [], "there is nothing after it");
        for unknown in ["9-0", "1-9", "x", "-1", "1-1-1"] {
            assert_eq!(get(unknown, &id).status, 400, "{unknown}");
        }
        assert_eq!(get(&first, "0000").status, 404);

        // It is a session of one repository, and only MCP is spoken in it.
        assert_eq!(http.post("/mcp/other", &own, &request(3, "ping", json!({}))).status, 404);
        for method in ["query", "ixmcp/status", "ixmcp/stop", "ixmcp/hello", "no/such"] {
            let answer = http.post("/mcp/shop", &own, &request(4, method, json!({ "text": "Cart" })));
            assert_eq!((answer.status, answer.code()), (200, -32601), "{method}");
        }
        let unmarked = hello(&json!({ "cwd": other.path() }));
        assert_eq!(http.post("/mcp/shop", &own, &unmarked).status, 400);
        assert_eq!(http.post("/mcp/shop", &[own[0], own[0]], &request(5, "ping", json!({}))).status, 400);
        assert_eq!(http.post("/mcp/shop", &[], &request(6, "ping", json!({}))).status, 400);

        let batch = json!([request(7, "ping", json!({})), request(8, "tools/list", json!({}))]);
        let answer = http.post("/mcp/shop", &own, &batch);
        assert_eq!(answer.status, if revision == "2025-03-26" { 200 } else { 400 }, "{revision}");
        if answer.status == 200 {
            assert_eq!((&answer.json()[0]["id"], &answer.json()[1]["id"]), (&json!(7), &json!(8)));
        }

        let headers = [("Host", http.host()), ("Authorization", &*token), own[0]];
        assert_eq!(http.send("DELETE /mcp/shop", &headers, "").status, 204);
        assert_eq!(http.send("DELETE /mcp/shop", &headers, "").status, 404);
        assert_eq!(http.post("/mcp/shop", &own, &request(9, "ping", json!({}))).status, 404);
    }
}

#[test]
fn a_session_survives_the_end_of_its_daemon() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    let id = http.begin(0, "2025-11-25");
    let ask = || {
        let call = request(1, "tools/call", json!({ "name": "stats", "arguments": {} }));
        let events = http.post("/mcp", &[("Mcp-Session-Id", &id)], &call).events();
        events.last().unwrap().1["result"]["structuredContent"]["total_files"].clone()
    };
    assert_eq!(ask(), 1);
    for _ in 0..2 {
        repo.ok(&["daemon", "stop"]);
        assert_eq!(ask(), 1);
        assert_eq!(http.call(0, "stats", &json!({}))["structuredContent"]["total_files"], 1);
    }
}

#[test]
fn strangers_and_other_sites_get_nothing() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &["--allow-origin", "https://app.example.com"], 1);
    let (host, token) = (http.host().to_owned(), format!("Bearer {}", http.token));
    let port = host.split(':').nth(1).unwrap();
    assert!(http.token.len() >= 64);
    let local = format!("localhost:{port}");
    let own_origin = format!("http://{local}");
    let body = request(1, "initialize", initialize(1)["params"].clone()).to_string();
    let send = |line: &str, headers: &[(&str, &str)]| {
        let answer = http.send(line, &[&[("Content-Type", "application/json")], headers].concat(), &body);
        assert!(answer.status == 200 || !answer.body.contains("shop"), "{answer:?}");
        answer
    };
    let (own, bearer) = (("Host", &*host), ("Authorization", &*token));
    assert_eq!(send("POST /mcp", &[own, bearer]).status, 200);
    assert_eq!(send("POST /mcp", &[("Host", &local), bearer, ("Origin", &own_origin)]).status, 200);
    let allowed = send("POST /mcp", &[own, bearer, ("Origin", "https://app.example.com")]);
    assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (200, Some("https://app.example.com")));
    assert!(allowed.header("access-control-expose-headers").unwrap().contains("mcp-session-id"));
    for (headers, status) in [
        (vec![own], 401),
        (vec![own, ("Authorization", "Bearer 0000")], 401),
        (vec![own, ("Authorization", &token[..token.len() - 1])], 401),
        (vec![own, ("Cookie", &token)], 401),
        (vec![("Host", "evil.example"), bearer], 403),
        (vec![("Host", "127.0.0.1"), bearer], 403),
        (vec![("Host", "127.0.0.1.evil.example"), bearer], 403),
        (vec![bearer], 403),
        (vec![own, bearer, ("Origin", "http://evil.example")], 403),
        (vec![own, bearer, ("Origin", "null")], 403),
        (vec![own, bearer, ("Origin", "http://127.0.0.1:1")], 403),
        (vec![own, bearer, ("Origin", "https://app.example.com.evil.example")], 403),
    ] {
        for line in ["POST /mcp", "POST /mcp/none", "GET /mcp", "DELETE /mcp", "GET /"] {
            assert_eq!(send(line, &headers).status, status, "{line} {headers:?}");
        }
    }
    let preflight = |origin: &str| {
        let headers = [own, ("Origin", origin), ("Access-Control-Request-Method", "POST")];
        http.send("OPTIONS /mcp", &headers, "")
    };
    let allowed = preflight("https://app.example.com");
    assert_eq!(allowed.status, 204);
    assert!(allowed.header("access-control-allow-headers").unwrap().contains("authorization"));
    let refused = preflight("https://evil.example");
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
}

#[test]
fn only_the_named_repositories_can_be_reached() {
    let (shop, bank, secret) = (Repo::new(SHOP), Repo::new(BANK), Repo::new("//- /plan.md\nThe plan.\n"));
    std::os::unix::fs::symlink(secret.path(), shop.path().join("link")).unwrap();
    let (one, two) = (format!("shop={}", shop.path().display()), format!("bank={}", bank.path().display()));
    let http = Http::start(&shop, &["--repo", &one, "--repo", &two], 2);
    let hit = |index, text: &str| {
        let answer = http.call(index, "query", &json!({ "text": text, "mode": "literal" }));
        answer["structuredContent"]["total"].clone()
    };
    assert_eq!((hit(0, "total_price"), hit(0, "withdraw_money")), (json!(1), json!(0)));
    assert_eq!((hit(1, "total_price"), hit(1, "withdraw_money")), (json!(0), json!(1)));
    let outside = |path: &Path| path.display().to_string();
    for path in [outside(bank.path()), outside(secret.path()), "/none".to_owned(), "..".to_owned(), "link".to_owned()] {
        let fault = http.fault(0, "stats", &json!({ "repo": path }));
        assert!(fault.starts_with("INVALID_PATH: argument `repo`: this connection reaches only"), "{path}: {fault}");
    }
    for scope in [json!("@deps"), json!("@group"), json!("org:*"), json!(["."]), json!("../*")] {
        let fault = http.fault(0, "query", &json!({ "text": "plan", "repo": scope }));
        assert!(fault.starts_with("INVALID_PATH: argument `repo`"), "{scope}: {fault}");
    }
    let plan = outside(&secret.path().join("plan.md"));
    for file in [&*plan, "/etc/passwd", "../plan.md", "link/plan.md", "/none/at/all"] {
        for (tool, arguments) in [
            ("get_slice", json!({ "file_path": file, "start_line": 1, "end_line": 1 })),
            ("get_file_details", json!({ "filePath": file })),
            ("symbols", json!({ "file": file })),
            ("goto_definition", json!({ "file": file, "line": 1, "column": 1 })),
            ("search_documents", json!({ "query": "plan", "options": { "folderPath": file } })),
        ] {
            let fault = http.fault(0, tool, &arguments);
            assert!(fault.starts_with("INVALID_PATH: argument `"), "{tool} {file}: {fault}");
            assert!(!fault.contains("The plan"), "{fault}");
        }
    }
    for (tool, arguments) in [
        ("ixchel_sync", json!({})),
        ("index_files", json!({ "folderPath": outside(shop.path()) })),
        ("update_index", json!({ "folderPath": outside(shop.path()), "changes": [] })),
    ] {
        let fault = http.fault(0, tool, &arguments);
        assert!(fault.starts_with("READ_ONLY") && fault.contains("--allow-write"), "{fault}");
    }
    drop(http);

    let http = Http::start(&shop, &["--allow-write"], 1);
    assert_eq!(http.ask(0, "tools/list", json!({})).json()["result"]["tools"].as_array().unwrap().len(), 24);
    assert_eq!(http.call(0, "ixchel_sync", &json!({}))["structuredContent"]["scanned"], 0);
    let fault = http.fault(0, "index_files", &json!({ "folderPath": outside(secret.path()) }));
    assert!(fault.starts_with("INVALID_PATH: argument `folderPath`"), "{fault}");
    let indexed = http.call(0, "index_files", &json!({ "folderPath": "src" }));
    assert_eq!(indexed["structuredContent"]["processedFiles"], 1, "{indexed}");
}

#[test]
fn the_daemon_enforces_what_the_hello_restricts() {
    let (repo, other) = (Repo::new(SHOP), Repo::new(BANK));
    repo.ok(&["daemon", "start"]);
    let mut wire = Wire::unix(&repo.socket());
    wire.send(&hello(&json!({ "cwd": repo.path(), "restriction": {} })));
    let about = wire.call("ixmcp/about", json!({}));
    assert_eq!(about["result"]["restricted"], true, "{about}");
    for method in ["query", "stats", "ixmcp/status", "ixmcp/call", "ixmcp/sync", "ixmcp/stop"] {
        let answer = wire.call(method, json!({ "text": "Cart", "tool": "query", "arguments": { "text": "Cart" } }));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // A second hello changes nothing.
    wire.send(&hello(&json!({ "cwd": other.path() })));
    let mut call = |tool: &str, arguments: Value| {
        wire.call("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].take()
    };
    let text = |result: Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(call("stats", json!({}))["structuredContent"]["total_files"], 1);
    assert!(text(call("stats", json!({ "repo": other.path() }))).starts_with("INVALID_PATH"));
    assert!(text(call("ixchel_sync", json!({}))).starts_with("READ_ONLY"));
    let names = wire.call("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len();
    assert_eq!(names, 21);
    let mut free = Wire::unix(&repo.socket());
    assert_eq!(free.call("ixmcp/about", json!({}))["result"]["restricted"], Value::Null);
}

#[test]
fn hostile_bodies_and_connections_are_refused() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    let (host, token) = (http.host().to_owned(), http.token.clone());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    );
    let of = |rest: &str| http.send_raw(format!("{head}{rest}").as_bytes());
    assert_eq!(of("Content-Length: 104857600\r\n\r\n{").status, 413, "100 MB are not even read");
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    // The connection may be reset before the answer is read.
    assert!(matches!(of(&format!("Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(65))).status, 413 | 0));
    assert_eq!(of("Transfer-Encoding: chunked\r\n\r\nzz\r\n").status, 400);
    assert_eq!(of("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}").status, 400);
    assert_eq!(of("Content-Length: -1\r\n\r\n").status, 400);
    assert_eq!(of("Transfer-Encoding: chunked, identity\r\nContent-Length: 2\r\n\r\n{}").status, 400);
    assert!(matches!(of(&format!("X: {}\r\nContent-Length: 2\r\n\r\n{{}}", "x".repeat(1 << 20))).status, 431 | 0));
    assert_eq!(of(&format!("{}Content-Length: 2\r\n\r\n{{}}", "X: y\r\n".repeat(100))).status, 431);
    assert_eq!(
        http.send_raw(format!("POST http://{host}/mcp HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).status,
        400
    );
    assert_ne!(http.send_raw(b"\x16\x03\x01\x02\x00\x01\x00").status, 200, "TLS where there is none");
    // What follows a chunked body is not a second request.
    let smuggled = format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let answer = of(&format!("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"));
    assert_eq!((answer.status, answer.body.contains("HTTP/1.1")), (400, false), "{answer:?}");

    // Neither idle connections nor ones that never end their header keep a client with the token out.
    let idle: Vec<_> = (0..400).map(|_| http.connect()).collect();
    let mut slow = http.connect();
    slow.write_all(head.split("Authorization").next().unwrap().as_bytes()).unwrap();
    assert_eq!(http.call(0, "stats", &json!({}))["structuredContent"]["total_files"], 1);
    let mut closed = 0;
    for mut stream in idle.into_iter().take(100) {
        closed += usize::from(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
    assert_eq!(closed, 100, "the oldest make way");
    slow.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let ended = slow.read(&mut [0]).map_err(|error| error.kind());
    assert!(
        matches!(ended, Ok(0) | Err(std::io::ErrorKind::ConnectionReset)),
        "a connection without a token stays: {ended:?}"
    );
    assert_eq!(http.call(0, "stats", &json!({}))["structuredContent"]["total_files"], 1);
}

#[test]
fn a_repository_that_is_removed_is_reported_and_not_made_again() {
    let (repo, other) = (Repo::new(SHOP), Repo::new(BANK));
    let root = other.path().join("inner");
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::write(root.join("a.py"), "x = 1\n").unwrap();
    let (one, two) = (format!("inner={}", root.display()), format!("shop={}", repo.path().display()));
    let http = Http::start(&repo, &["--repo", &one, "--repo", &two], 2);
    let id = http.begin(0, "2025-11-25");
    assert_eq!(http.call(0, "stats", &json!({}))["structuredContent"]["total_files"], 1);
    std::fs::rename(&root, other.path().join("moved")).unwrap();
    assert!(http.fault(0, "stats", &json!({})).starts_with("INVALID_PATH: the repository inner does not exist"));
    let call = request(1, "tools/call", json!({ "name": "stats", "arguments": {} }));
    let answer = http.post("/mcp/inner", &[("Mcp-Session-Id", &id)], &call).json();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    std::os::unix::fs::symlink(other.path().join("moved"), &root).unwrap();
    assert!(http.fault(0, "stats", &json!({})).starts_with("INVALID_PATH"), "a link is not the repository");
    assert_eq!(http.call(1, "stats", &json!({}))["structuredContent"]["total_files"], 1);
    assert!(root.is_symlink());
}

#[test]
fn an_address_that_others_reach_needs_a_token_file_and_tls() {
    let repo = Repo::new(SHOP);
    let folder = repo.home();
    let file = |name: &str| folder.join(name).display().to_string();
    let (token_file, certificate, key) = (file("token"), file("cert.pem"), file("key.pem"));
    let token = "0123456789abcdef0123456789abcdef";
    std::fs::write(&token_file, format!("{token}\n")).unwrap();
    std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let root = repo.path().display().to_string();
    let name = repo.path().file_name().unwrap().to_str().unwrap();
    let named = [(folder.to_str().unwrap(), "HOME"), (&*root, "REPOSITORY"), (name, "NAME")];
    let mut refused = repo.failures(
        &[
            &["http", "--listen", "0.0.0.0:0"],
            &["http", "--listen", "0.0.0.0:0", "--token-file", &token_file],
            &["http", "--listen", "127.0.0.1:0", "--token-file", &token_file],
        ],
        &named,
    );
    std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(file("short"), "short").unwrap();
    std::fs::set_permissions(file("short"), std::fs::Permissions::from_mode(0o600)).unwrap();
    refused += &repo.failures(
        &[
            &["http", "--listen", "127.0.0.1:0", "--token-file", &file("short")],
            &["http", "--listen", "example.com:80"],
            &["http", "--listen", "127.0.0.1:0", "--allow-origin", "*"],
            &["http", "--listen", "127.0.0.1:0", "--repo", "/none"],
            &["http", "--listen", "127.0.0.1:0", "--repo", &root, "--repo", &root],
        ],
        &named,
    );

    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=ixmcp.test", "-addext", "subjectAltName=DNS:ixmcp.test"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let tls = ["--tls-cert", &certificate, "--tls-key", &key];
    refused +=
        &repo.failures(&[&["http", "--listen", "127.0.0.1:0", "--tls-cert", &token_file, "--tls-key", &key]], &named);
    expect![[r#"
        $ ixmcp http --listen 0.0.0.0:0
        ixmcp: INVALID_ARGUMENT: --listen 0.0.0.0:0: other machines can reach this address, so the token must be in a file. Write one with `openssl rand -hex 32 > token`, make it private, and give --token-file.
        $ ixmcp http --listen 0.0.0.0:0 --token-file HOME/token
        ixmcp: INVALID_ARGUMENT: --listen 0.0.0.0:0: other machines can reach this address, so the connection must be encrypted. Give --tls-cert and --tls-key, or --behind-tls-proxy if a proxy in front of it terminates TLS.
        $ ixmcp http --listen 127.0.0.1:0 --token-file HOME/token
        ixmcp: INVALID_ARGUMENT: --token-file: HOME/token is not a private file. Make it readable for its owner only: `chmod 600 FILE`.
        $ ixmcp http --listen 127.0.0.1:0 --token-file HOME/short
        ixmcp: INVALID_ARGUMENT: --token-file: HOME/short must contain one token of 32 or more characters. Write one with `openssl rand -hex 32 > FILE`.
        $ ixmcp http --listen example.com:80
        ixmcp: INVALID_ARGUMENT: --listen: "example.com:80" is not an address with a port. Give an IP address of this machine: 127.0.0.1:7780, 0.0.0.0:7780 or [::1]:7780.
        $ ixmcp http --listen 127.0.0.1:0 --allow-origin *
        ixmcp: INVALID_ARGUMENT: "*" is not an origin. Give the scheme, the host and, if it is not the default, the port: https://app.example.com.
        $ ixmcp http --listen 127.0.0.1:0 --repo /none
        ixmcp: INVALID_PATH: --repo: /none is not a folder. Give the path of a repository.
        $ ixmcp http --listen 127.0.0.1:0 --repo REPOSITORY --repo REPOSITORY
        ixmcp: INVALID_ARGUMENT: --repo: REPOSITORY and REPOSITORY have the same name, NAME. Give each a name: --repo NAME=PATH.
        $ ixmcp http --listen 127.0.0.1:0 --tls-cert HOME/token --tls-key HOME/key.pem
        ixmcp: INVALID_PATH: HOME/token does not contain a certificate: it has no section CERTIFICATE. Give PEM files: the certificate with its chain, and its private key.
    "#]].assert_eq(&refused);
    let arguments =
        [&["http", "--listen", "0.0.0.0:0", "--token-file", &token_file, "--allow-host", "ixmcp.test"], &tls[..]]
            .concat();
    let mut child = repo.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let port = line.strip_prefix("https://0.0.0.0:").unwrap().split('/').next().unwrap();
    let curl = |host: &str, token: &str| {
        let output = Command::new("curl")
            .args(["--silent", "--cacert", &certificate, "--noproxy", "*", "--max-time", "40"])
            .args(["--connect-to", &format!("ixmcp.test:{port}:127.0.0.1:{port}")])
            .args(["-H", &format!("Host: {host}"), "-H", &format!("Authorization: Bearer {token}")])
            .args(["-H", "Content-Type: application/json", "-w", "\n%{http_code}"])
            .args(["--data", &initialize(1).to_string(), &format!("https://ixmcp.test:{port}/mcp")])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.rsplit('\n').next().unwrap().to_owned()
    };
    let own = format!("ixmcp.test:{port}");
    assert_eq!(curl(&own, token), "200");
    assert_eq!(curl(&format!("127.0.0.1:{port}"), token), "200");
    assert_eq!(curl("evil.example", token), "403");
    assert_eq!(curl(&own, "wrong"), "401");
    let mut plain = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    plain.write_all(format!("GET /mcp HTTP/1.1\r\nHost: {own}\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut plain).status, 0, "nothing is answered without TLS");
    let _ = child.kill();
    let _ = child.wait();
}

/// The scenarios of the official suite that concern a server with tools: revision, name, passed checks, failed checks, and
/// the reasons of the latter.
const SCENARIOS: &[(&str, &str, usize, usize, &[&str])] = &[
    ("2025-06-18", "server-initialize", 3, 0, &[]),
    ("2025-11-25", "server-initialize", 3, 0, &[]),
    ("2025-03-26", "server-session-lifecycle", 3, 0, &[]),
    ("2025-11-25", "server-session-lifecycle", 3, 0, &[]),
    ("2025-11-25", "ping", 2, 0, &[]),
    ("2025-06-18", "tools-list", 2, 0, &[]),
    ("2025-11-25", "tools-list", 3, 0, &[]),
    ("2025-11-25", "server-sse-multiple-streams", 1, 0, &[]),
    ("2025-11-25", "dns-rebinding-protection", 2, 0, &[]),
    // What fails needs tools of the suite.
    (MODERN, "server-stateless", 21, 4, &["does not list the diagnostic tool"]),
    (MODERN, "tools-list", 4, 0, &[]),
    (MODERN, "dns-rebinding-protection", 2, 0, &[]),
    (MODERN, "http-header-validation", 14, 0, &[]),
    (MODERN, "server-sse-multiple-streams", 1, 0, &[]),
    // It also asks for the hints of prompts, resources and their templates, of which there are none.
    (
        MODERN,
        "caching",
        4,
        3,
        &["no method prompts/list", "no method resources/list", "no method resources/templates/list"],
    ),
];

#[test]
fn the_conformance_suite_finds_what_it_expects() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let clients = top.join("target/clients");
    let suite = clients.join("conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    assert!(suite.exists(), "{} is missing: run .ci/setup", suite.display());
    let url = format!("http://{}/mcp", http.host());
    let mut wrong = Vec::new();
    for (revision, scenario, passes, lacks, reasons) in SCENARIOS {
        let output = Command::new(clients.join("node/node_modules/.bin/node"))
            .arg("--import")
            .arg(top.join("tests/clients/bearer.mjs"))
            .arg(&suite)
            .args(["server", "--url", &url, "--scenario", scenario, "--spec-version", revision])
            .env("MCP_TOKEN", &http.token)
            .current_dir(repo.home())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let expected = format!("Passed: {passes}/{}, {lacks} failed, 0 warnings", passes + lacks);
        if !said.contains(&expected) || !reasons.iter().all(|reason| said.contains(reason)) {
            wrong.push(format!("{revision} {scenario}: not {expected}\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn many_clients_are_answered_at_the_same_time() {
    let repo = Repo::new(SHOP);
    let http = Http::start(&repo, &[], 1);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let id = http.begin(0, "2025-11-25");
                for number in 0..5 {
                    // All have the same ids.
                    let call = json!({ "name": "query", "arguments": { "text": "total_price", "mode": "literal" } });
                    let answer = http.post("/mcp", &[("Mcp-Session-Id", &id)], &request(number, "tools/call", call));
                    assert_eq!(answer.events().last().unwrap().1["result"]["structuredContent"]["total"], 1);
                    let hit = http.call(0, "query", &json!({ "text": "total_price", "mode": "literal" }));
                    assert_eq!(hit["structuredContent"]["total"], 1);
                }
            });
        }
    });
    until("the daemon serves on", || repo.status()["running"] == true);
}
