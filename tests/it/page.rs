//! `ixmcp ui`: the page in a real browser, and which requests are rejected.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::harness::Repo;
use crate::support::waiting::until;
use crate::support::wire::Wire;

const SHOP: &str = "\
//- /src/shop.py
class Cart:
    def total_price(self):
        return sum(self.items)
//- /README.md
---
tags: [manual]
---
# Shop

How to check out.
//- /page.html
<p>Hello</p>
<img src=x onerror=alert(1)>
<script>alert(2)</script>
//- /docs/<b>odd & name.md
# Odd

Text.
//- /docs/guide.md
---
tags: [guide]
---
# Guide

See [the cart](../src/shop.py#L2), `dec-1a2b3c` and [below](#how-it-works). The code is in `deep/only/child/store.rs:7`, not in `a/b`.

| name | size |
|------|-----:|
| a    | 1    |

- [x] done
- harmless <script>alert(4)</script> <b onclick=\"alert(5)\">bold</b> [harm](javascript:alert(6)) ![logo](https://example.com/x.png)

## How it works

```rust
fn answer() -> u8 { 42 }
```
//- /deep/only/child/store.rs
pub struct Store {
    items: Vec<u8>,
}

/// Comments are gray.
impl Store {
    pub fn first_item(&self) -> u8 {
        checked(self.items.len() as usize)
    }
}

fn checked(size: usize) -> u8 {
    let text = \"a string\";
    size as u8
}
//- /.ixchel/decisions/dec-1a2b3c.md
---
id: dec-1a2b3c
title: Carts <i>sum</i> their items
status: accepted
tags: [shop]
relates_to: [iss-42aa]
---
See `Cart` in src/shop.py. <script>alert(3)</script>
//- /.ixchel/issues/iss-42aa.md
---
id: iss-42aa
title: Sums are slow
status: open
tags: [shop, speed]
---
Very.
//- /.ixchel/ideas/idea-77.md
---
id: idea-77
title: Cache the sums
implements: [iss-42aa]
---
Perhaps.
";

/// `ixmcp ui` at work.
pub struct Page {
    child: Child,
    pub address: String,
}

impl Page {
    pub fn open(repo: &Repo) -> Self {
        Self::start(repo.command(&["ui", "--no-open"]))
    }

    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    /// `127.0.0.1:PORT`
    fn host(&self) -> &str {
        self.address.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    fn token(&self) -> &str {
        self.address.split("#token=").nth(1).unwrap()
    }

    /// Sends a request with exactly these headers, and gives the status and the whole answer.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request =
            format!("{line} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // One that is refused early may be reset before it is read to its end.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    /// The status and the data of a query that the page itself could ask.
    pub fn ask(&self, line: &str, body: &str) -> (u16, Value) {
        let token = format!("Bearer {}", self.token());
        let (status, answer) = self.send(line, &[("Host", self.host()), ("Authorization", &token)], body);
        let data = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        (status, serde_json::from_str(data).unwrap_or_default())
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients")
}

/// The browser of this machine, by one of the names that distributions give it. The headless shell needs a quarter less CPU time.
fn browser() -> PathBuf {
    let found = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| {
        std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.exists())
    });
    found.expect("chromium is missing: run .ci/setup")
}

fn node() -> Command {
    let node = clients().join("node/node_modules/.bin/node");
    assert!(node.exists() && clients().join("page/node_modules").exists(), "clients are missing: run .ci/setup");
    Command::new(node)
}

/// A cycle of 2,500 entities, of which every third is tied to one of them, too; and one that is tied to nothing known.
fn thousands() -> Repo {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    for number in 0..2500 {
        let (own, next) = (issue(number), issue((number + 1) % 2500));
        let to = if number % 3 == 0 { format!("[{next}, {}]", issue(7)) } else { next };
        let tag = if number % 2 == 0 { "even" } else { "odd" };
        let title = format!("Number {number} {}", "of many ".repeat(number as usize % 40));
        repo.write(
            &format!(".ixchel/issues/{own}.md"),
            format!("---\nid: {own}\ntitle: {title}\ntags: [{tag}]\nrelates_to: {to}\n---\nText.\n"),
        );
    }
    repo.write(".ixchel/issues/last.md", "---\nid: iss-ffff\ntitle: Last\nblocks: iss-nowhere\n---\n");
    repo
}

fn issue(number: u32) -> String {
    format!("iss-{number:04x}")
}

/// Two repositories, indexed by the user of `asking`: their paths.
fn in_group(around: &TempDir, asking: &Repo) -> [String; 2] {
    ["basket", "billing"].map(|name| {
        let root = around.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let file = if name == "basket" { "basket" } else { "invoice" };
        let text = format!("def total_price_of_{file}(items):\n    return sum(items)\n");
        std::fs::write(root.join(format!("{file}.py")), text).unwrap();
        let root = root.to_str().unwrap().to_owned();
        asking.ok(&["--repo", &root, "sync"]);
        root
    })
}

#[test]
fn a_page_of_several_repositories_searches_all_and_shows_one_at_a_time() {
    let repo = Repo::new(SHOP);
    let around = tempfile::tempdir().unwrap();
    let [basket, billing] = in_group(&around, &repo);
    let settings = repo.home().join(".config/ixmcp");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), format!("[groups]\nmoney = [{basket:?}, {billing:?}]\n")).unwrap();
    let page = Page::start(repo.command(&["ui", "--no-open", "--group", "money"]));
    let (_, state) = page.ask("GET /api/state", "");
    assert_eq!(state["repositories"], json!([basket, billing]), "{state}");
    assert_eq!(state["root"], json!(basket), "{state}");
    let query = |arguments: Value| page.ask("POST /api/tool/query", &arguments.to_string());
    let (_, all) = query(json!({ "text": "total price" }));
    let mut repositories: Vec<&str> =
        all["results"].as_array().unwrap().iter().map(|hit| hit["repo"].as_str().unwrap()).collect();
    repositories.sort_unstable();
    assert_eq!(repositories, [basket.as_str(), billing.as_str()], "{all}");
    let (_, one) = query(json!({ "text": "total price", "repo": billing }));
    assert_eq!((&one["total"], &one["results"][0]["file_path"]), (&json!(1), &json!("invoice.py")), "{one}");
    // Views and files are those of the repository that is named, else of the first one.
    let slice = |file: &str, repo: Option<&str>| {
        let given = json!({ "file_path": file, "start_line": 1, "end_line": 1, "repo": repo });
        let given: serde_json::Map<_, _> =
            given.as_object().unwrap().clone().into_iter().filter(|(_, one)| !one.is_null()).collect();
        page.ask("POST /api/tool/get_slice", &Value::Object(given).to_string())
    };
    assert_eq!(slice("invoice.py", Some(&billing)).0, 200);
    assert_eq!(slice("invoice.py", None).0, 404);
    assert_eq!(slice("basket.py", None).0, 200);
    let (status, chunks) =
        page.ask("POST /api/view/chunks", &json!({ "file": "invoice.py", "repo": billing }).to_string());
    assert_eq!((status, &chunks["total"]), (200, &json!(1)), "{chunks}");
    // Nothing else can be named: not the repository that the command was started in, not all, not a list.
    for other in [json!(repo.path()), json!("@money"), json!("."), json!([basket]), json!(7), json!("org:*")] {
        let (status, answer) = query(json!({ "text": "total", "repo": other }));
        assert_eq!((status, &answer["code"]), (400, &json!("INVALID_ARGUMENT")), "{other}: {answer}");
    }
}

#[test]
fn a_person_sees_in_a_browser_what_agents_see() {
    let repo = Repo::new(SHOP);
    repo.write("long.txt", format!("first\n{}\nlast\n", "a long line ".repeat(20_000)));
    for number in 0..3000 {
        repo.write(&format!("many/file_{number:04}.txt"), "x\n");
    }
    for version in 1..4 {
        let text = "# Refunds\n\nThe refund policy: whoever returns a cart within thirty days gets the whole price back, without a reason.\n";
        repo.write(&format!("docs/v{version}/refunds.md"), text);
    }
    std::fs::remove_dir(repo.path().join(".git")).unwrap();
    for arguments in
        [&["init", "--quiet"][..], &["add", "README.md"], &["commit", "--quiet", "--message", "Sell things"]]
    {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let git = Command::new("git").current_dir(repo.path()).args(identity).args(arguments).output().unwrap();
        assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    }
    repo.sync();
    // Where others have the processors, the page may leave its daemon alone for a while.
    repo.ok(&["daemon", "start", "--idle", "15m"]);
    let page = Page::open(&repo);
    let bare = Repo::new("//- /only.py\ndef alone(): pass\n");
    let bare_page = Page::open(&bare);
    let large = thousands();
    large.sync();
    let large_page = Page::open(&large);

    let group = tempfile::tempdir().unwrap();
    let billing = in_group(&group, &large);
    let group_page = Page::start(large.command(&["ui", "--no-open", "--repo", &billing[0], "--repo", &billing[1]]));

    let said = in_browser(
        "page.cjs",
        &repo,
        json!({
            "address": page.address,
            "bare": bare_page.address,
            "large": large_page.address,
            "group": group_page.address,
            "pid": bare_page.child.id(),
            "root": repo.path(),
        }),
    );
    assert!(said["checks"].as_u64().unwrap() > 70, "{said}");
}

/// Runs a script of `tests/clients` in the browser, with the environment of a repository's user. Returns what it said.
pub fn in_browser(script: &str, repo: &Repo, mut plan: Value) -> Value {
    plan["browser"] = json!(browser());
    plan["program"] = json!(env!("CARGO_BIN_EXE_ixmcp"));
    // For looking at what went wrong.
    plan["shots"] = json!(std::env::var_os("PAGE_SHOTS").map(PathBuf::from));
    let plan_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(plan_file.path(), plan.to_string()).unwrap();
    let mut command = node();
    for (name, value) in repo.command(&[]).get_envs() {
        _ = match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
    let output = command.arg(script).arg(clients().join("page")).arg(plan_file.path()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["failures"], json!([]), "{said:#}\n{shown}");
    said
}

/// Text that makes a page that trusts its repository run scripts, ask other sites, hide or turn text.
const HOSTILE: &str = r#"//- /hostile.md
# Hostile <script>alert(1)</script>

<svg onload=alert(2)><script>alert(3)</script></svg> <style>body { display: none }</style> <base href="https://evil.example/">
<iframe src="https://evil.example"></iframe><form action="https://evil.example"><input name=a></form>
<meta http-equiv="refresh" content="0;url=https://evil.example"><img src=x onerror=alert(4)>

[a](javascript:alert(5)) [b](JaVaScRiPt:alert(6)) [c](data:text/html,<script>alert(7)</script>) [d](//evil.example/x)
[e](vbscript:x) [f](file:///etc/passwd) [g](https://example.com/?q="onmouseover="alert(8)) [h](../../../../etc/passwd)
![i](javascript:alert(9)) ![j](https://evil.example/pixel.png) <a href="javascript:alert(10)" onclick="alert(11)">k</a>

[l]: javascript:alert(12)
[l] <javascript:alert(13)> `<script>alert(14)</script>` &lt;script&gt;alert(15)&lt;/script&gt;

```html" onload="alert(16)
<script>alert(17)</script>
```

| <script>alert(18)</script> |
|---|
| [x](javascript:alert(19)) |

the end of it
//- /hostile.svg
<svg xmlns="http://www.w3.org/2000/svg" onload="alert(20)"><script>alert(21)</script>
<foreignObject><iframe src="https://evil.example"></iframe></foreignObject><image href="https://evil.example/x.png"/></svg>
"#;

#[test]
fn the_page_survives_whatever_a_repository_has_and_whatever_goes_away() {
    let repo = Repo::new(HOSTILE);
    repo.write("latin.py", b"name = 'caf\xe9, d\xe9j\xe0 vu'  # na\xefve, not UTF-8\n");
    repo.write("five.js", format!("let a = '{}';\n", "x".repeat(5 << 20)));
    repo.write("five.txt", format!("first\n{}\nlast\n", "five megabytes ".repeat(350_000)));
    repo.write("wide.txt", format!("first\n{} needle {}\nlast\n", "wide ".repeat(100_000), "wide ".repeat(100_000)));
    for name in [
        "<img src=x onerror=alert(1)>",
        "turned\u{202e}yp.exe",
        "bell\u{7}",
        "mark\u{200f}\u{2066}s",
        "quote\"'&amp;",
        "\u{1f41d}bee",
    ] {
        repo.write(&format!("names/{name}.py"), "def harmless_name():\n    return harmless_name\n");
    }
    let deep: String = (0..16).map(|level| format!("level_{level}/")).collect();
    for (at, _) in deep.match_indices('/') {
        repo.write(&format!("{}here.py", &deep[..=at]), "x = 1\n");
    }
    repo.write(&format!("{deep}deepest.py"), "def deepest_function():\n    pass\n");
    let turned = "Turned \u{202e}gnihtyna\u{202c} <script>alert(22)</script>";
    repo.write(
        ".ixchel/decisions/dec-0bad.md",
        format!("---\nid: dec-0bad\ntitle: \"{turned}\"\nstatus: \"op\u{202e}en\"\ntags: [\"<b>tag\u{202e}\"]\nrelates_to: [dec-0ther]\n---\n# {turned}\n\n`{turned}`\n\n```\n{turned}\n```\n"),
    );
    repo.sync();
    let page = Page::open(&repo);
    let building = Repo::new("//- /zoo/keeper.py\ndef feedPenguins():\n    pass\n");
    for number in 0..BUSY {
        let functions: String =
            (0..16).map(|at| format!("def f_{number}_{at}(a, b):\n    return call_{at}(a) + b\n\n")).collect();
        building.write(&format!("many/d{}/m{number}.py", number % 30), functions);
    }
    let building_page = Page::open(&building);
    let files = format!("{},{:03}", (BUSY + 1) / 1000, (BUSY + 1) % 1000);
    let plan =
        json!({ "address": page.address, "root": repo.path(), "building": building_page.address, "files": files });
    let said = in_browser("page_bad_input.cjs", &repo, plan);
    assert!(said["checks"].as_u64().unwrap() > 50, "{said}");
}

/// Files that keep a build busy while the page is opened.
const BUSY: usize = 5_000;

#[test]
fn strangers_get_nothing_of_the_page() {
    let repo = Repo::new(SHOP);
    let page = Page::open(&repo);
    let (host, token) = (page.host().to_owned(), format!("Bearer {}", page.token()));
    let port = host.split(':').nth(1).unwrap();
    let own = [("Host", host.as_str()), ("Authorization", token.as_str())];
    assert!(page.token().len() >= 32, "at least 128 bits");
    assert_eq!(page.send("GET /api/state", &own, "").0, 200);
    let local = format!("localhost:{port}");
    assert_eq!(page.send("GET /api/state", &[("Host", &local), own[1]], "").0, 200);

    for (headers, status) in [
        (vec![own[0]], 401),
        (vec![own[0], ("Authorization", "Bearer 0000")], 401),
        (vec![own[0], ("Authorization", &token[..token.len() - 1])], 401),
        (vec![own[0], ("Cookie", &token)], 401),
        (vec![("Host", "evil.example"), own[1]], 403),
        (vec![("Host", "127.0.0.1"), own[1]], 403),
        (vec![("Host", "127.0.0.1.evil.example"), own[1]], 403),
        (vec![own[1]], 403),
        (vec![own[0], own[1], ("Origin", "http://evil.example")], 403),
        (vec![own[0], own[1], ("Origin", "null")], 403),
        (vec![own[0], own[1], ("Origin", "http://127.0.0.1:1")], 403),
    ] {
        for line in ["GET /api/state", "GET /api/calls?after=0", "POST /api/tool/query", "GET /api/nothing"] {
            let (answered, text) = page.send(line, &headers, "{\"text\":\"Cart\"}");
            assert_eq!(answered, status, "{line} {headers:?}: {text}");
            assert!(!text.contains("shop.py") && !text.contains(&*repo.path().to_string_lossy()), "{text}");
        }
    }
    // A name that is not ours gets not even the page.
    assert_eq!(page.send("GET /", &[("Host", "evil.example")], "").0, 403);
    let (status, text) = page.send("GET /", &[own[0]], "");
    assert_eq!(status, 200);
    assert!(!text.contains(page.token()), "what everybody gets tells no token");
    let head = text.split("\r\n\r\n").next().unwrap().to_lowercase();
    // All but the length of the page and the date of the request.
    let is_stable = |line: &&str| !line.starts_with("content-length:") && !line.starts_with("date:");
    let mut headers: Vec<&str> = head.lines().filter(is_stable).collect();
    headers.sort_unstable();
    expect![[r#"
        cache-control: no-store
        connection: close
        content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        content-type: text/html; charset=utf-8
        cross-origin-opener-policy: same-origin
        cross-origin-resource-policy: same-origin
        http/1.1 200 ok
        referrer-policy: no-referrer
        x-content-type-options: nosniff
        x-frame-options: deny"#]].assert_eq(&headers.join("\n"));
    // Only this machine reaches it at all.
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = listening.lines().filter(|row| row.contains(&format!(":{:04X} ", port.parse::<u16>().unwrap())));
    assert!(rows.filter(|row| row.contains(" 0A ")).all(|row| row.contains("0100007F:")));
}

#[test]
fn odd_requests_are_refused_and_the_page_lives_on() {
    let repo = Repo::new(SHOP);
    let page = Page::open(&repo);
    let token = format!("Bearer {}", page.token());
    let (host, bearer) = (("Host", page.host()), ("Authorization", token.as_str()));
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "QUERY"] {
        assert_eq!(page.send(&format!("{method} /"), &[host], "").0, 405, "{method}");
        assert_eq!(page.send(&format!("{method} /api/state"), &[host], "").0, 401, "{method}");
        assert_eq!(page.send(&format!("{method} /api/tool/stats"), &[host, bearer], "{}").0, 404, "{method}");
    }
    assert_eq!(page.send("CONNECT evil.example:80", &[host], "").0, 405);
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/page.js/../../../etc/passwd",
        "/page.js%00.css",
        "/built/page.js",
        "/api",
        "//api/state",
        "/API/state",
        "/%61pi/state",
        "/api%2fstate",
        "*",
    ] {
        let (status, text) = page.send(&format!("GET {path}"), &[host], "");
        assert!([400, 404].contains(&status) && !text.contains("root:"), "{path}: {status}");
    }
    for path in ["/api/", "/api//state", "/api/state/", "/api/../state", "/api/tool/%71uery", "/api/tool/stats/.."] {
        assert_eq!(page.send(&format!("GET {path}"), &[host, bearer], "").0, 404, "{path}");
        assert_eq!(page.send(&format!("POST {path}"), &[host, bearer], "{}").0, 404, "{path}");
        assert_eq!(page.send(&format!("POST {path}"), &[host], "{}").0, 401, "{path}");
    }
    assert_eq!(page.send("GET /api/state", &[host, host, bearer], "").0, 403, "two names");
    assert_eq!(page.send("GET /api/state", &[host, bearer, bearer], "").0, 401, "two tokens");
    assert_eq!(page.send(&format!("GET /{}", "a".repeat(100_000)), &[host], "").0, 414);
    let long = "a".repeat(1 << 20);
    assert!([0, 431].contains(&page.send("GET /", &[host, ("X-Long", &long)], "").0));
    let many: Vec<_> = std::iter::repeat_n(("X-Many", "1"), 200).chain([host]).collect();
    assert_eq!(page.send("GET /", &many, "").0, 431);
    for garbage in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n", "{\"jsonrpc\":\"2.0\"}\n\r\n\r\n"] {
        let mut stream = TcpStream::connect(page.host()).unwrap();
        stream.write_all(garbage.as_bytes()).unwrap();
        let mut answer = String::new();
        let _reset = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    for (body, chunks) in [("zz\r\n{}\r\n0\r\n\r\n", true), ("ffffffffffffffffff\r\n{}", true), ("", false)] {
        let mut stream = TcpStream::connect(page.host()).unwrap();
        let length = if chunks { "Transfer-Encoding: chunked" } else { "Content-Length: 99999999999" };
        let head =
            format!("POST /api/tool/query HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}\r\n{length}", page.host());
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _reset = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    let deep = format!("{{\"text\":{}", "[".repeat(60_000));
    for wrong in [
        deep.as_str(),
        r#"{"text":"a","limit":-1}"#,
        r#"{"text":"a","limit":1e400}"#,
        r#"{"text":"(((((((((((((((((((a{999}){999}){999})","mode":"regex"}"#,
        r#"{"text":["a"]}"#,
        r#"{"text":"a","timeout_ms":"x"}"#,
        "null",
        "\u{feff}{}",
    ] {
        let (status, answer) = page.ask("POST /api/tool/query", wrong);
        assert_eq!(status, 400, "{}: {answer}", &wrong[..wrong.len().min(60)]);
    }
    for (words, status) in [(100, 200), (10_000, 400)] {
        let words = json!({ "text": "cart ".repeat(words), "limit": 1_000_000 }).to_string();
        assert_eq!(page.ask("POST /api/tool/query", &words).0, status);
    }
    // A client that sends less than it promised receives an error; meanwhile others are answered.
    let mut slow = TcpStream::connect(page.host()).unwrap();
    let head = format!("POST /api/tool/query HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}", page.host());
    slow.write_all(format!("{head}\r\nContent-Length: 50\r\n\r\n{{").as_bytes()).unwrap();
    assert_eq!(page.ask("GET /api/state", "").0, 200);
    let mut answer = String::new();
    let _reset = slow.read_to_string(&mut answer);
    let [head, text] = answer.split("\r\n\r\n").collect::<Vec<_>>()[..] else { panic!("{answer}") };
    assert_eq!(head.lines().next(), Some("HTTP/1.1 400 Bad Request"));
    expect![[r#"{"code":"INVALID_ARGUMENT","hint":null,"message":"the request's body did not arrive in time"}"#]]
        .assert_eq(text);
}

#[test]
fn waiting_strangers_block_no_client() {
    let repo = Repo::new(SHOP);
    let page = Page::open(&repo);
    let query =
        format!("GET /api/state HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n", page.host(), page.token());
    let ask = |stream: &mut TcpStream| {
        stream.write_all(query.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // To the end of the JSON: the connection stays open.
        while !answer.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    };
    let mut browser = TcpStream::connect(page.host()).unwrap();
    ask(&mut browser);
    // Clients that send nothing, the beginning of a request, a request for a public file, and a guess.
    let beginnings = ["", "GET /api/st", "GET /icon.svg HTTP/1.1\r\nHost: HOST\r\n\r\n"];
    let guess = "GET /api/state HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer 00\r\n\r\n";
    let strangers: Vec<TcpStream> = (0..300)
        .map(|number| {
            let mut stream = TcpStream::connect(page.host()).unwrap();
            let said = beginnings.get(number % 4).unwrap_or(&guess).replace("HOST", page.host());
            // Some have had to go before they spoke.
            let _gone = stream.write_all(said.as_bytes());
            stream
        })
        .collect();
    ask(&mut browser);
    let mut other = TcpStream::connect(page.host()).unwrap();
    ask(&mut other);
    ask(&mut browser);
    // The first of them was closed.
    let mut rest = Vec::new();
    let _reset = (&strangers[0]).read_to_end(&mut rest);
    assert!(rest.is_empty());
    // A client with the token that has gone has freed its slot.
    for _ in 0..200 {
        ask(&mut TcpStream::connect(page.host()).unwrap());
    }
    ask(&mut other);
}

#[test]
fn errors_name_neither_tools_nor_commands() {
    let repo = Repo::new(SHOP);
    repo.sync();
    let page = Page::open(&repo);
    let mut said = String::new();
    for (tool, arguments) in [
        ("query", r#"{"text":""}"#),
        ("get_symbol", r#"{"symbol_name":"Cart","kind":"cartoon"}"#),
        ("get_file_details", r#"{"filePath":"src"}"#),
        ("get_slice", r#"{"file_path":"src/shop.py","start_line":5,"end_line":2}"#),
    ] {
        let (_, answer) = page.ask(&format!("POST /api/tool/{tool}"), arguments);
        let hint = answer["hint"].as_str().map(|hint| hint.split(':').next().unwrap().to_owned());
        said += &format!("{tool}: {} {hint:?}\n", answer["message"].as_str().unwrap());
    }
    expect![[r#"
        query: the input is empty Some("Give a query.")
        get_symbol: there is no kind "cartoon" Some("Kinds are")
        get_file_details: src is a folder Some("Name one of its files.")
        get_slice: `end_line` 2 is before `start_line` 5; the file has 3 lines None
    "#]]
    .assert_eq(&said);
}

#[test]
fn the_page_only_reads_and_only_its_own_repository() {
    let repo = Repo::new(SHOP);
    let other = Repo::new("//- /secret.py\nclass Secret: pass\n");
    let page = Page::open(&repo);
    for tool in ["index_files", "update_index", "ixchel_sync", "rename_symbol", "check", "../state", "", "query/"] {
        let (status, answer) = page.ask(&format!("POST /api/tool/{tool}"), "{\"folderPath\":\"src\"}");
        assert_eq!((status, &answer["code"]), (404, &json!("NOT_FOUND")), "{tool}: {answer}");
    }
    let named = json!({ "text": "Secret", "repo": other.path() }).to_string();
    for line in ["POST /api/tool/query", "POST /api/view/graph"] {
        let (status, answer) = page.ask(line, &named);
        assert_eq!((status, &answer["code"]), (400, &json!("INVALID_ARGUMENT")), "{answer}");
    }
    let (status, answer) =
        page.ask("POST /api/tool/get_slice", r#"{"file_path":"/etc/passwd","start_line":1,"end_line":2}"#);
    assert_eq!((status, &answer["code"]), (404, &json!("INVALID_PATH")));
    for wrong in ["", "[]", "{", &format!("{{\"text\":\"{}\"}}", "a".repeat(100_000))] {
        let (status, answer) = page.ask("POST /api/tool/query", wrong);
        assert_eq!(status, 400, "{answer}");
    }
    assert_eq!(page.ask("GET /api/tool/query", "").0, 404);
    assert_eq!(page.send("POST /", &[("Host", page.host())], "").0, 405);
    assert_eq!(page.send("GET /../Cargo.toml", &[("Host", page.host())], "").0, 404);
    assert_eq!(page.send("GET /page.css", &[("Host", page.host())], "").0, 200);
    let (status, found) = page.ask("POST /api/tool/query", r#"{"text":"total price"}"#);
    assert_eq!((status, &found["results"][0]["file_path"]), (200, &json!("src/shop.py")));
    let (_, graph) = page.ask("POST /api/view/graph", "{}");
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 3);
    assert!(
        graph["edges"]
            .as_array()
            .unwrap()
            .contains(&json!({ "from": "dec-1a2b3c", "to": "iss-42aa", "rel": "relates_to" }))
    );
    let (_, chunks) = page.ask("POST /api/view/chunks", r#"{"file":"src/shop.py"}"#);
    assert_eq!((&chunks["total"], &chunks["chunks"][0]["start_line"]), (&json!(1), &json!(1)));
    let (_, state) = page.ask("GET /api/state", "");
    assert_eq!(state["daemon"], Value::Null, "it starts no daemon: {state}");
    assert!(!repo.socket().exists());
}

#[test]
fn the_page_gets_files_highlighted_rendered_and_related() {
    let repo = Repo::new(SHOP);
    repo.write("latin.py", b"name = 'caf\xe9'  # not UTF-8\n");
    repo.write("odd.js", format!("let a = '{}';\n", "x".repeat(5 << 20)));
    repo.write("docs/deep.md", "> ".repeat(30_000));
    let page = Page::open(&repo);
    let view = |name: &str, given: Value| {
        let (status, answer) = page.ask(&format!("POST /api/view/{name}"), &given.to_string());
        assert_eq!(status, 200, "{name}: {answer}");
        answer
    };
    let spans = view("highlight", json!({ "file": "src/shop.py", "start_line": 1, "lines": 1 }));
    // `class` is a keyword, `Cart` a type.
    assert_eq!(spans["lines"], json!([[0, 5, 6, 6, 4, 7]]));
    let latin = view("highlight", json!({ "file": "latin.py" }));
    assert_eq!(latin["lines"][0].as_array().unwrap()[..3], [json!(7), json!(6), json!(2)], "{latin}");
    assert_eq!(view("highlight", json!({ "file": "page.html", "start_line": 99 }))["lines"], json!([]));
    assert_eq!(view("highlight", json!({ "file": "odd.js" }))["highlighted"], json!(false));
    assert_eq!(page.ask("POST /api/view/highlight", r#"{"file":"nowhere.py"}"#).0, 404);
    assert_eq!(page.ask("POST /api/view/highlight", r#"{"file":"/etc/passwd"}"#).0, 404);
    let previews =
        json!({ "snippets": [{ "file": "a.rs", "text": "fn a() {}" }, { "file": "a.unknown", "text": "x" }] });
    assert_eq!(view("snippets", previews)["lines"], json!([[0, 2, 6, 3, 1, 8], []]));

    let guide = view("markdown", json!({ "file": "docs/guide.md" }));
    let elements = guide["elements"].as_array().unwrap();
    assert_eq!(
        (&elements[0]["tag"], &elements[1]["tag"], &elements[1]["id"]),
        (&json!("front"), &json!("h1"), &json!("guide"))
    );
    let links: Vec<&Value> =
        elements[2]["children"].as_array().unwrap().iter().filter(|piece| piece.is_object()).collect();
    assert_eq!((&links[0]["file"], &links[1]["entity"]), (&json!("src/shop.py"), &json!("dec-1a2b3c")), "{links:?}");
    // Code that is the path of a file leads to it.
    let code: Vec<&Value> = links.iter().filter(|piece| piece["tag"] == "code").map(|piece| &piece["file"]).collect();
    assert_eq!(code, [&Value::Null, &json!("deep/only/child/store.rs"), &Value::Null], "{links:?}");
    assert!(!view("markdown", json!({ "file": "docs/deep.md" }))["elements"].as_array().unwrap().is_empty());

    let related = view("relations", json!({ "file": "deep/only/child/store.rs", "line": 12 }));
    let callers = related["groups"].as_array().unwrap().iter().find(|group| group["relation"] == "called by").unwrap();
    assert_eq!((&related["name"], &callers["total"]), (&json!("checked"), &json!(1)), "{related}");
    assert_eq!(page.ask("POST /api/view/relations", r#"{"file":"src/shop.py","line":3}"#).0, 404);
    assert_eq!(view("outline", json!({ "file": "src/shop.py" }))["symbols"][0]["name"], "Cart");
    let overview = view("overview", json!({}));
    let open: Vec<&Value> = overview["open"].as_array().unwrap().iter().map(|entity| &entity["id"]).collect();
    assert_eq!(open, [&json!("dec-1a2b3c"), &json!("iss-42aa")], "{overview}");

    let (_, listed) = page.ask("POST /api/tool/list_files", "{}");
    let mut before = String::new();
    let paths = view("paths", json!({}));
    let whole = paths["paths"].as_array().unwrap().iter().map(|path| {
        let (shared, rest) = path.as_str().unwrap().split_once(' ').unwrap();
        before = before[..shared.parse().unwrap()].to_owned() + rest;
        json!(before)
    });
    assert_eq!(whole.collect::<Vec<_>>(), *listed["files"].as_array().unwrap());
    let rest = view("paths", json!({ "offset": 2 }));
    assert_eq!(rest["paths"].as_array().unwrap()[..], paths["paths"].as_array().unwrap()[2..]);
}

#[test]
fn the_overview_has_what_files_really_refer_to_and_the_latest_commits() {
    let repo = Repo::new(
        "//- /src/lib.rs\npub mod cart;\npub mod list;\n\
         //- /src/cart.rs\npub struct Cart {\n    pub items: Vec<u32>,\n}\n\
         //- /src/list.rs\npub struct List;\nimpl List {\n    pub fn map(&self) {}\n    pub fn collect(&self) {}\n}\n",
    );
    for number in 0..12 {
        let used = if number < 4 {
            "use crate::cart::Cart;\npub fn sum(cart: &Cart) -> usize {\n    cart.items.len()\n}\n"
        } else {
            ""
        };
        let text = "pub fn names(all: &[u32]) -> Vec<String> {\n    all.iter().map(ToString::to_string).collect()\n}\n";
        repo.write(&format!("src/part_{number}.rs"), format!("{used}{text}"));
    }
    std::fs::remove_dir(repo.path().join(".git")).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let run = Command::new("git").current_dir(repo.path()).args(identity).args(arguments).output().unwrap();
        assert!(run.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    };
    git(&["init", "--quiet"]);
    let page = Page::open(&repo);
    let overview = || {
        let (status, overview) = page.ask("POST /api/view/overview", "{}");
        assert_eq!(status, 200, "{overview}");
        overview
    };
    let found = overview();
    let names: Vec<&Value> = found["symbols"].as_array().unwrap().iter().map(|symbol| &symbol["name"]).collect();
    // `map` and `collect` are in three times as many files, but there they are those of an iterator.
    assert_eq!(names, [&json!("Cart")], "{found}");
    assert_eq!(
        (&found["symbols"][0]["files"], &found["symbols"][0]["file"]),
        (&json!(4), &json!("src/cart.rs")),
        "{found}"
    );
    assert_eq!(found["commits"], json!([]), "nothing is committed yet");
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "Add carts\n\nAnd lists."]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "Ünïcödé and <b>markup</b>"]);
    let found = overview();
    let subjects: Vec<&Value> = found["commits"].as_array().unwrap().iter().map(|commit| &commit["subject"]).collect();
    assert_eq!(subjects, [&json!("Ünïcödé and <b>markup</b>"), &json!("Add carts")], "{found}");
    assert!(found["commits"][0]["when"].as_str().is_some_and(|when| when.starts_with("20")), "{found}");
}

#[test]
fn the_overview_counts_the_files_that_refer_to_modules_and_functions_of_elixir() {
    let repo = Repo::new(
        "//- /lib/shop.ex\ndefmodule Shop do\nend\n\
         //- /lib/shop/cart.ex\ndefmodule Shop.Cart do\n  def total_of(cart), do: cart\nend\n",
    );
    for number in 0..9 {
        let body = match number % 3 {
            0 => "  alias Shop.Cart\n  def go(x), do: Cart.total_of(x)\n",
            1 => "  def go(x), do: Shop.Cart.total_of(x)\n",
            _ => "  import Shop.Cart\n  def go(x), do: total_of(x)\n",
        };
        repo.write(&format!("lib/part_{number}.ex"), format!("defmodule Part{number} do\n{body}end\n"));
    }
    let page = Page::open(&repo);
    let (status, overview) = page.ask("POST /api/view/overview", "{}");
    assert_eq!(status, 200, "{overview}");
    let symbols = overview["symbols"].as_array().unwrap();
    let mut found: Vec<_> = symbols.iter().map(|one| (one["name"].as_str().unwrap(), one["files"].as_u64())).collect();
    found.sort_unstable();
    // Six files name `Shop` as the first part of a name, which says that they refer to what is in it.
    found.retain(|(name, _)| *name != "Shop");
    assert_eq!(found, [("Shop.Cart", Some(9)), ("total_of", Some(9))], "{overview}");
}

#[test]
fn of_a_graph_of_thousands_the_page_gets_a_part_and_the_size_of_the_whole() {
    let repo = thousands();
    let page = Page::open(&repo);
    let ask = |given: Value| {
        let (status, answer) = page.ask("POST /api/view/graph", &given.to_string());
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let ids = |answer: &Value| -> Vec<String> {
        answer["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
    };
    let whole = ask(json!({}));
    assert_eq!((&whole["total"], &whole["total_edges"]), (&json!(2502), &json!(2500 + 833 + 1)));
    assert_eq!(whole["kinds"], json!([{ "kind": "issue", "count": 2501 }, { "count": 1 }]));
    assert_eq!(ids(&whole).len(), 2000);
    assert_eq!((&whole["nodes"][0]["id"], &whole["nodes"][0]["links"]), (&json!(issue(7)), &json!(835)));
    let drawn: std::collections::HashSet<String> = ids(&whole).into_iter().collect();
    for edge in whole["edges"].as_array().unwrap() {
        assert!(drawn.contains(edge["from"].as_str().unwrap()) && drawn.contains(edge["to"].as_str().unwrap()));
    }
    // All that one is tied to, whole; and where that is little, what lies beyond.
    let hub = ask(json!({ "around": issue(7) }));
    assert_eq!(ids(&hub)[0], issue(7));
    assert_eq!(ids(&hub).len(), 1 + 835);
    let own = |edge: &&Value| edge["from"] == json!(issue(7)) || edge["to"] == json!(issue(7));
    assert_eq!(hub["edges"].as_array().unwrap().iter().filter(own).count(), 835);
    assert_eq!(ids(&ask(json!({ "around": issue(1000) }))).len(), 60);
    assert_eq!(ids(&ask(json!({ "around": "iss-nowhere" }))), ["iss-nowhere", "iss-ffff"]);
    assert_eq!(ids(&ask(json!({ "around": issue(7), "limit": 5 }))).len(), 5);
    // By words and by tag, with how many there are.
    let found = ask(json!({ "find": "NUMBER 12 even", "limit": 12 }));
    assert_eq!(ids(&found).len(), 12);
    expect![[r#""Number 12 of many of many of many of many of many of many of many of many of many of many of many of many" of 106"#]].assert_eq(&format!("{} of {}", found["nodes"][0]["title"], found["found"]));
    let tagged = ask(json!({ "tag": "odd", "limit": 3 }));
    assert_eq!((&tagged["found"], ids(&tagged).len()), (&json!(1250), 3));
    assert_eq!(ask(json!({ "find": "zzznowhere" }))["found"], json!(0));
    // What is asked wrongly is said.
    for (wrong, status) in [
        (json!({ "around": "iss-0", "find": "x" }), 400),
        (json!({ "around": "iss-zzzz" }), 404),
        (json!({ "limit": "many" }), 400),
    ] {
        assert_eq!(page.ask("POST /api/view/graph", &wrong.to_string()).0, status, "{wrong}");
    }
}

#[test]
fn the_page_asks_a_daemon_that_comes_and_goes() {
    let repo = Repo::new(SHOP);
    let page = Page::open(&repo);
    assert_eq!(page.ask("GET /api/calls?after=0", "").1["daemon"], json!(false));
    repo.ok(&["daemon", "start"]);
    repo.call("get_symbol", &json!({ "symbol_name": "Cart" }));
    page.ask("POST /api/tool/query", r#"{"text":"Cart"}"#);
    let (_, calls) = page.ask("GET /api/calls?after=0", "");
    assert_eq!((&calls["daemon"], calls["calls"].as_array().unwrap().len()), (&json!(true), 1), "{calls}");
    assert_eq!(calls["calls"][0]["tool"], "get_symbol", "what the page asks is not shown: {calls}");
    assert_eq!(calls["calls"][0]["outcome"]["places"][0], "src/shop.py:1");
    assert_eq!(page.ask("GET /api/state", "").1["daemon"]["requests"]["get_symbol"]["calls"], 1);
    // A daemon does not wait for clients that wait for its next call.
    let version = calls["version"].as_u64().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| page.ask(&format!("GET /api/calls?after={version}"), ""));
        until("the page waits", || repo.status()["clients"] == 1);
        repo.ok(&["daemon", "stop"]);
        let (status, answer) = waiting.join().unwrap();
        assert_eq!((status, &answer["calls"]), (200, &json!([])));
    });
    assert_eq!(page.ask("POST /api/tool/query", r#"{"text":"Cart"}"#).0, 200, "this process answers again");
}

#[test]
fn recent_calls_are_for_our_own_programs_alone() {
    let repo = Repo::new(SHOP);
    let mut daemon = repo.command(&["daemon", "start", "--tcp", "127.0.0.1:0"]);
    assert!(daemon.status().unwrap().success());
    let mut own = Wire::unix(&repo.socket());
    own.call("query", json!({ "text": "Cart" }));
    let seen = own.call("ixmcp/recent", json!({}));
    assert_eq!(
        (&seen["result"]["calls"][0]["way"], &seen["result"]["calls"][0]["tool"]),
        (&json!("plain"), &json!("query"))
    );
    let address = repo.status()["tcp"]["listening"][0].as_str().unwrap().to_owned();
    let mut port = Wire::tcp(&address);
    for method in ["ixmcp/recent", "ixmcp/view", "chunks", "graph"] {
        assert_eq!(port.call(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    let named = own.call("tools/call", json!({ "name": "graph", "arguments": {} }));
    assert_eq!(named["error"]["code"], -32602, "a view is no tool: {named}");
}

#[test]
fn the_browser_is_led_to_the_page_without_showing_the_token_to_the_machine() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.sync();
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    std::fs::write(
        &opener,
        "#!/bin/sh\necho \"$@\" >\"$0.asked\"\ncp -p \"$1\" \"$0.read\"\nmv \"$0.asked\" \"$0.done\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = repo.command(&["ui"]);
    command.env("PATH", path.unwrap()).env("DISPLAY", ":0");
    let mut page = Page::start(command);
    let written = |suffix: &str| PathBuf::from(format!("{}.{suffix}", opener.display()));
    until("the browser was opened", || written("done").exists());
    let asked = std::fs::read_to_string(written("done")).unwrap();
    let root = repo.path().canonicalize().unwrap();
    assert_eq!(asked.trim(), root.join(".ixmcp/ui.html").to_str().unwrap());
    assert!(std::fs::read_to_string(written("read")).unwrap().contains(&page.address));
    assert_eq!(written("read").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    rustix::process::kill_process(page.pid(), rustix::process::Signal::TERM).unwrap();
    assert!(page.child.wait().unwrap().success(), "it ends well when told to");
    assert!(!repo.path().join(".ixmcp/ui.html").exists());

    let taken = Page::open(&repo);
    let port = taken.host().split(':').nth(1).unwrap().to_owned();
    expect![[r#"
        $ ixmcp ui --no-open --port PORT
        ixmcp: BUSY: cannot listen on port PORT: Address already in use (os error 98) (ixmcp, process ID has it). Choose another --port, or omit it to use any free port.
    "#]].assert_eq(&repo.failures(&[&["ui", "--no-open", "--port", &port]], &[(&port, "PORT"), (&taken.pid().as_raw_nonzero().to_string(), "ID")]));
}

#[test]
fn the_built_page_is_what_its_sources_give() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/ui");
    let lock = |folder: &Path| std::fs::read(folder.join("package-lock.json")).ok();
    let installed = clients().join("ui");
    assert_eq!(lock(&installed), lock(&sources), "target/clients/ui is missing or older: run .ci/setup");
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("src")).unwrap();
    for folder in ["", "src"] {
        for entry in sources.join(folder).read_dir().unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), copy.path().join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    std::os::unix::fs::symlink(installed.join("node_modules"), copy.path().join("node_modules")).unwrap();
    let output = node().arg(copy.path().join("build.mjs")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = |folder: PathBuf| {
        let mut names: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let names = files(sources.join("built"));
    assert_eq!(names, files(copy.path().join("built")));
    for name in names {
        let (kept, made) = (sources.join("built").join(&name), copy.path().join("built").join(&name));
        let same = std::fs::read(&kept).unwrap() == std::fs::read(made).unwrap();
        assert!(same, "{} is not what its sources give: `npm ci && npm run build` in src/serve/ui", kept.display());
    }
}
