//! Servers that are slow, full, read-only, of another version, with wrong clocks, or that lie.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};

use crate::organisation::publishing::{PAY, check_whole, commit_all};
use crate::organisation::server::{Organisation, Postgres};
use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;
use crate::worktrees::{committed, git};

/// Accepts connections for as long as this process lives. Returns the port.
fn listening(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

fn url(port: u16) -> String {
    format!("postgresql://team:hunter2@127.0.0.1:{port}/x?sslmode=disable")
}

/// stderr of a publication that must fail.
fn fails(repo: &Repo, url: &str) -> String {
    let output = repo.command(&["publish", "--as", "pay"]).env("IXMCP_ORG_URL", url).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    error
}

/// Messages of a server that has let a client in.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// Reads one message of a client: its tag and content. The first has no tag.
fn message(stream: &mut TcpStream, is_first: bool) -> Option<(u8, Vec<u8>)> {
    let mut tag = [0];
    if !is_first {
        stream.read_exact(&mut tag).ok()?;
    }
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut content = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?.checked_sub(4)?];
    stream.read_exact(&mut content).ok()?;
    Some((tag[0], content))
}

/// A server that lets everyone in and says that settings are set; its first other answer is what `lie` writes.
fn liar(lie: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    listening(move |mut stream| {
        message(&mut stream, true);
        let _ = stream.write_all(WELCOME);
        while let Some((tag, content)) = message(&mut stream, false) {
            if tag == b'Q' {
                let statements = content.iter().filter(|byte| **byte == b';').count() + 1;
                let _ =
                    stream.write_all(&[b"C\0\0\0\x08SET\0".repeat(statements).as_slice(), b"Z\0\0\0\x05I"].concat());
            } else {
                lie(&mut stream);
                let _ = stream.shutdown(Shutdown::Write);
                return;
            }
        }
    })
}

#[test]
fn a_server_that_lies_is_reported_and_does_not_fill_the_memory() {
    let repo = committed(PAY);
    // A row of 1 GB: only its beginning is read.
    let sent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sent);
    let port = liar(move |stream| {
        let _ = stream.write_all(b"1\0\0\0\x04D\x40\0\0\0");
        while stream.write_all(&[0; 1 << 16]).is_ok() && counted.load(Ordering::Relaxed) < 1 << 30 {
            counted.fetch_add(1 << 16, Ordering::Relaxed);
        }
    });
    let error = fails(&repo, &url(port));
    expect![[r#"
        ixmcp: UNSUPPORTED_FORMAT: the organisation's server sent more than 16 MiB for one answer. Check that its address is right.
    "#]].assert_eq(&error);
    assert!(sent.load(Ordering::Relaxed) < 64 << 20, "{} bytes were read", sent.load(Ordering::Relaxed));
    // The same for a client that searches, which then answers as before.
    let mut client = Server::start_mcp({
        let mut command = repo.command(&["mcp", "--no-daemon"]);
        command.env("IXMCP_ORG_URL", url(port));
        command
    });
    let own = repo.path().canonicalize().unwrap();
    let both = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"] });
    let mut reasons = String::new();
    for _ in 0..2 {
        let found = client.tool("query", &both);
        assert_eq!(found["total"], 1, "{found}");
        reasons += &format!("{}\n", found["problems"][0]["reason"].as_str().unwrap());
    }
    expect![[r#"
        UNSUPPORTED_FORMAT: the organisation's server sent more than 16 MiB for one answer. Check that its address is right.
        UNSUPPORTED_FORMAT: the organisation's server sent more than 16 MiB for one answer. Check that its address is right.
    "#]].assert_eq(&reasons);
    // What is not a message at all, at any moment.
    let garbage: &[&[u8]] = &[
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0\0\0\0\0\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"D\0\0\0\0",
        b"D\0\0\0\x06\xff\xff",
        b"T\0\0\0\x08\x7f\xff\0\0",
        b"E\0\0\0\x05\0",
        b"E\0\0\0\x20SFATAL\0C\xff\xff\xff\xff\xff\0Mx\x1b[31m\0\0\0\0\0\0\0\0\0",
    ];
    for bytes in garbage {
        let lying = liar(|stream| drop(stream.write_all(bytes)));
        let at_once = listening(|mut stream| {
            let _ = stream.write_all(bytes);
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read(&mut [0; 1024]);
        });
        for port in [lying, at_once] {
            let error = fails(&repo, &url(port));
            assert!(
                ["UNREACHABLE", "UNSUPPORTED_FORMAT", "INTERNAL"].iter().any(|code| error.contains(code)),
                "{error}"
            );
            assert!(!error.contains('\x1b') && !error.contains("panicked"), "{error}");
        }
    }
}

/// A server whose functions lie about one repository, `pay`, and one that reads it.
fn lying(functions: &str) -> (Organisation, String) {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    organisation.ok(&committed(PAY), &team, &["publish", "--as", "pay"]);
    organisation.sql(&format!("SET search_path = ixmcp; {functions}"));
    (organisation, team)
}

#[test]
fn what_a_server_says_of_files_is_not_believed() {
    const TEXT: &str = "def charge_forged(): pass";
    let long = "n".repeat(300);
    let returns = "RETURNS TABLE (repo text, path text, key bytea, bytes int) LANGUAGE sql SECURITY DEFINER AS";
    let file = |path: &str, key: &str, bytes: &str| format!("SELECT 'pay', {path}, {key}, {bytes}");
    let key = format!("sha256('{TEXT}')");
    let mut reasons = String::new();
    for (path, key, bytes) in [
        ("'../../forged.py'", key.as_str(), "25"),
        ("'/tmp/forged.py'", &key, "25"),
        ("'.git/hooks/forged.py'", &key, "25"),
        ("E'a\\nb/../../forged.py'", &key, "25"),
        ("repeat('n', 300) || '/forged.py'", &key, "25"),
        // The text has another key.
        ("'forged.py'", "sha256('other')", "25"),
        ("'forged.py'", "'\\x78'::bytea", "25"),
    ] {
        let one = file(path, key, bytes);
        // Once as one of few repositories, and once as one of many.
        let many = "CREATE OR REPLACE FUNCTION repositories(pattern text)
            RETURNS TABLE (name text, commit text, generation bigint, published_at text, files int, bytes bigint)
            LANGUAGE sql SECURITY DEFINER AS $$ SELECT 'pay', repeat('a', 40), 1::bigint, 'now', 1, 10::bigint
                UNION ALL SELECT 'made-' || n, 'b', 1::bigint, 'now', 1, 10::bigint FROM generate_series(1, 600) n $$;";
        for (scope, more) in [("few", ""), ("many", many)] {
            let other = format!("SELECT 'made-7', 'other.py', sha256('{TEXT}'), 25");
            let found = if scope == "many" { format!("{one} UNION ALL {other}") } else { one.clone() };
            let (organisation, team) = lying(&format!(
                "{more} CREATE OR REPLACE FUNCTION files_of(names text[]) {returns} $f$ {one} $f$;
                CREATE OR REPLACE FUNCTION files_with(patterns text[], needs text[], most int) {returns} $f$ {found} $f$;
                CREATE OR REPLACE FUNCTION texts_of(keys bytea[], of_repo text DEFAULT NULL)
                    RETURNS TABLE (key bytea, content text) LANGUAGE sql SECURITY DEFINER AS $f$ SELECT keys[1], '{TEXT}' $f$"
            ));
            let asking = Repo::new("//- /own.md\nnothing\n");
            let search = ["query", "charge_forged", "--mode", "literal", "--repo", "org:*", "--json"];
            let output = organisation.command(&asking, &team, &search).output().unwrap();
            if scope == "many" {
                // The others answer.
                let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                let hits: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|hit| &hit["repo"]).collect();
                assert_eq!(hits, ["org:made-7"], "{answer}");
                let problems = answer["problems"].as_array().unwrap();
                assert_eq!((problems.len(), &problems[0]["repo"]), (1, &json!("org:pay")), "{answer}");
                reasons += &format!("{path} of many: {}\n", problems[0]["reason"].as_str().unwrap());
            } else {
                assert_eq!(output.status.code(), Some(2), "{output:?}");
                reasons += &format!("{path} of few: {}", String::from_utf8(output.stderr).unwrap());
            }
            assert!(!std::path::Path::new("/tmp/forged.py").exists());
            assert_eq!(forged_below(asking.home()), 0, "{scope} {path} {key}");
            reasons = unmirrored(&reasons.replace(asking.home().to_str().unwrap(), "HOME"));
        }
    }
    expect![[r#"
        '../../forged.py' of few: ixmcp: UNSUPPORTED_FORMAT: the organisation's server has a file at "../../forged.py", which is not the path of a file. Publish the repository again.
        '../../forged.py' of many: UNSUPPORTED_FORMAT: the organisation's server has a file at "../../forged.py", which is not the path of a file. Publish the repository again.
        '/tmp/forged.py' of few: ixmcp: UNSUPPORTED_FORMAT: the organisation's server has a file at "/tmp/forged.py", which is not the path of a file. Publish the repository again.
        '/tmp/forged.py' of many: UNSUPPORTED_FORMAT: the organisation's server has a file at "/tmp/forged.py", which is not the path of a file. Publish the repository again.
        '.git/hooks/forged.py' of few: ixmcp: UNSUPPORTED_FORMAT: the organisation's server has a file at ".git/hooks/forged.py", which is not the path of a file. Publish the repository again.
        '.git/hooks/forged.py' of many: UNSUPPORTED_FORMAT: the organisation's server has a file at ".git/hooks/forged.py", which is not the path of a file. Publish the repository again.
        E'a\nb/../../forged.py' of few: ixmcp: UNSUPPORTED_FORMAT: the organisation's server has a file at "a\u{a}b/../../forged.py", which is not the path of a file. Publish the repository again.
        E'a\nb/../../forged.py' of many: UNSUPPORTED_FORMAT: the organisation's server has a file at "a\u{a}b/../../forged.py", which is not the path of a file. Publish the repository again.
        repeat('n', 300) || '/forged.py' of few: ixmcp: INVALID_PATH: cannot write HOME/MIRROR/LONG/forged.py: File name too long (os error 36). Check the path: a file with this path cannot exist.
        repeat('n', 300) || '/forged.py' of many: INVALID_PATH: cannot write HOME/MIRROR/LONG/forged.py: File name too long (os error 36). Check the path: a file with this path cannot exist.
        'forged.py' of few: ixmcp: BUSY: the repository was published while it was read. Try again.
        'forged.py' of many: BUSY: the repository was published while it was read. Try again.
        'forged.py' of few: ixmcp: BUSY: the repository was published while it was read. Try again.
        'forged.py' of many: BUSY: the repository was published while it was read. Try again.
    "#]].assert_eq(&reasons.replace(&long, "LONG"));
}

/// Replaces the folder of a mirror, which differs for each database.
fn unmirrored(text: &str) -> String {
    let Some((before, after)) = text.split_once(".cache/ixmcp/organisations/") else { return text.to_owned() };
    let file = after.splitn(3, '/').nth(2).unwrap();
    format!("{before}MIRROR/{file}")
}

/// How many files below a folder are what a lying server sent.
fn forged_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let forged = entries.map(|entry| match entry.path().is_dir() {
        true => forged_below(&entry.path()),
        false => usize::from(entry.file_name() == "forged.py"),
    });
    forged.sum()
}

#[test]
fn names_of_repositories_roles_and_groups_may_have_any_characters() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    let long = "n".repeat(300);
    let odd = ["it's", "a\nb", "say \"x\"", "; DROP TABLE x", "\u{202e}x", &long];
    let mut refused = String::new();
    for name in odd {
        refused += &format!("{name:?}\n");
        let scope = format!("org:{name}");
        for arguments in [&["query", "charge_card", "--repo", &scope][..], &["org", "status", name]] {
            refused += &organisation.fails(&repo, &team, arguments);
        }
        let code = |arguments: &[&str]| {
            let output = organisation.command(&repo, organisation.administrator(), arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        // There is no such role: a longer name is not cut off, so that it would be another.
        let (found, error) = code(&["org", "grant", name, "pay"]);
        assert_eq!(found, Some(1), "{error}");
        refused += &error;
        organisation.admin(&["org", "grant", &team, "pay", "--trust", name]);
        let stored = organisation.sql(&format!("SELECT count(*) FROM ixmcp.trust_groups WHERE name = $it${name}$it$"));
        assert_eq!(stored, "1", "{name:?}");
        let (found, error) = code(&["publish", "--as", "pay", "--branch", name]);
        assert_eq!(found, Some(2), "{error}");
        refused += &error;
    }
    // Each error is one line without control characters; of a long name it shows the beginning.
    expect![[r#"
        "it's"
        ixmcp: INVALID_ARGUMENT: "it's" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "it's" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "it's". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@it's" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        "a\nb"
        ixmcp: INVALID_ARGUMENT: "a\u{a}b" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "a\u{a}b" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "a\u{a}b". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@a\u{a}b" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        "say \"x\""
        ixmcp: INVALID_ARGUMENT: "say "x"" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "say "x"" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "say "x"". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@say "x"" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        "; DROP TABLE x"
        ixmcp: INVALID_ARGUMENT: "; DROP TABLE x" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "; DROP TABLE x" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "; DROP TABLE x". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@; DROP TABLE x" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        "\u{202e}x"
        ixmcp: INVALID_ARGUMENT: "\u{202e}x" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "\u{202e}x" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "\u{202e}x". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@\u{202e}x" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        "LONG"
        ixmcp: INVALID_ARGUMENT: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: INVALID_ARGUMENT: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" is not a pattern of names. Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*.
        ixmcp: NOT_FOUND: the server has no role "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn". Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.
        ixmcp: INVALID_ARGUMENT: "pay@nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
    "#]].assert_eq(&refused.replace(&long, "LONG"));
    let (role, cut) = ("r".repeat(63), "r".repeat(70));
    organisation.sql(&format!("CREATE ROLE {role}"));
    organisation.admin(&["org", "grant", &role, "pay"]);
    let output = organisation
        .command(&repo, organisation.administrator(), &["org", "grant", &cut, "pay", "--revoke"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(organisation.sql(&format!("SELECT count(*) FROM ixmcp.rules WHERE role = '{role}'")), "1");
    organisation.sql(&format!("DROP ROLE {role}"));
}

#[test]
fn a_server_that_is_silent_does_not_hold_a_call_past_its_deadline() {
    let repo = committed(PAY);
    let port = listening(|mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let own = repo.path().canonicalize().unwrap();
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    command.env("IXMCP_ORG_URL", url(port));
    let mut client = Server::start_mcp(command);
    let both = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"], "timeout_ms": 3000 });
    let found = client.tool("query", &both);
    assert_eq!(found["total"], 1, "{found}");
    expect!["TIMEOUT: the call ran past its deadline. Narrow the query, or pass a larger timeout_ms."]
        .assert_eq(found["problems"][0]["reason"].as_str().unwrap());
    // A publication has no deadline, but a login has.
    let error = fails(&repo, &url(port));
    assert_eq!(
        error.lines().last().unwrap(),
        "ixmcp: UNREACHABLE: the organisation's server does not answer in time. Check its address and that it runs; then try again."
    );
}

/// A way to a server over TCP that passes every piece on after a while.
fn slow_way(socket: PathBuf, delay: Duration) -> u16 {
    listening(move |stream| {
        let Ok(server) = UnixStream::connect(&socket) else { return };
        let (mut from, mut to) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
        let upwards = std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut server, mut stream) = (server, stream);
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = server.read(&mut piece) {
            std::thread::sleep(delay);
            if stream.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        let _ = (stream.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        let _ = upwards.join();
    })
}

#[test]
fn a_slow_server_over_tcp_is_waited_for_within_the_deadline_of_the_call() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    let slow = organisation.url_through(&team, slow_way(organisation.socket(), Duration::from_millis(100)));
    let other = committed(PAY);
    let output = other.command(&["publish", "--as", "pay"]).env("IXMCP_ORG_URL", &slow).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let own = repo.path().canonicalize().unwrap();
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    command.env("IXMCP_ORG_URL", &slow);
    let mut client = Server::start_mcp(command);
    let both = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"], "timeout_ms": 60_000 });
    assert_eq!(client.tool("query", &both)["total"], 2);
    // The next call uses the connection again.
    let connections = "SELECT count(*), min(backend_start) FROM pg_stat_activity WHERE datname = current_database() AND usename <> 'postgres'";
    until_is(
        &organisation,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename <> 'postgres'",
        "1",
    );
    let before = organisation.sql(connections);
    assert_eq!(client.tool("query", &both)["total"], 2);
    assert_eq!(organisation.sql(connections), before);
    // A statement that its call does not wait for ends on the server, over TCP, too.
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    command.env("IXMCP_ORG_URL", organisation.url_through(&team, slow_way(organisation.socket(), Duration::ZERO)));
    let mut client = Server::start_mcp(command);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            organisation.sql("BEGIN; LOCK TABLE ixmcp.repos IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(8)");
        });
        let locked = "SELECT count(*) FROM pg_locks WHERE relation = 'ixmcp.repos'::regclass AND mode = 'AccessExclusiveLock' AND granted";
        until_is(&organisation, locked, "1");
        let impatient = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"], "timeout_ms": 2000 });
        let found = client.tool("query", &impatient);
        expect!["TIMEOUT: the call ran past its deadline. Narrow the query, or pass a larger timeout_ms."]
            .assert_eq(found["problems"][0]["reason"].as_str().unwrap());
        let running = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{team}' AND state = 'active'");
        until_is(&organisation, &running, "0");
    });
}

fn until_is(organisation: &Organisation, statement: &str, expected: &str) {
    until(&format!("{statement} is {expected}"), || organisation.sql(statement) == expected);
}

#[test]
fn a_read_only_server_is_searched_and_not_published_to() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    organisation.sql(&format!("ALTER ROLE {team} SET default_transaction_read_only = on"));
    // A pooler keeps sessions that do not know of it.
    organisation.sql(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{team}'"));
    repo.write("pay.py", "def second(): pass\n");
    commit_all(&repo, "second");
    let published = organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
    let unpublished = organisation.fails(&repo, &team, &["unpublish", "--as", "pay"]);
    expect![[r#"
        ixmcp: READ_ONLY: the organisation's server cannot be written: its transactions may only read. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
        ixmcp: READ_ONLY: the organisation's server cannot be written: its transactions may only read. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
    "#]].assert_eq(&(published + &unpublished));
    let asking = Repo::new("//- /own.md\nnothing\n");
    let found = organisation.ok(&asking, &team, &["query", "charge_card", "--mode", "literal", "--repo", "org:pay"]);
    expect![[r#"
        org:pay/pay.py:1  [charge_card]
            def charge_card(card):
    "#]]
    .assert_eq(&found);
}

#[test]
fn a_server_of_another_version_is_named_and_local_repositories_answer() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    let own = repo.path().canonicalize().unwrap();
    let mut reasons = String::new();
    for version in [1, 99] {
        organisation.sql(&format!(
            "CREATE OR REPLACE FUNCTION ixmcp.protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER AS 'SELECT {version}'"
        ));
        reasons += &organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
        let mut client = Server::start_mcp(organisation.command(&repo, &team, &["mcp", "--no-daemon"]));
        let both = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"] });
        let found = client.tool("query", &both);
        assert_eq!(found["total"], 1, "{found}");
        reasons += &format!("{}\n", found["problems"][0]["reason"].as_str().unwrap());
    }
    expect![[r#"
        ixmcp: UNSUPPORTED_FORMAT: the organisation's server has version 1 of the schema; this program needs 6. An administrator runs `ixmcp org init`.
        UNSUPPORTED_FORMAT: the organisation's server has version 1 of the schema; this program needs 6. An administrator runs `ixmcp org init`.
        ixmcp: UNSUPPORTED_FORMAT: the organisation's server has version 99 of the schema; this program needs 6. Install a newer ixmcp.
        UNSUPPORTED_FORMAT: the organisation's server has version 99 of the schema; this program needs 6. Install a newer ixmcp.
    "#]].assert_eq(&reasons);
}

#[test]
fn a_full_server_keeps_what_was_published_and_is_written_again_when_it_has_space() {
    // Only root can make a small disk.
    let Some(server) = Postgres::with_small_disk(64) else { return };
    let organisation = Organisation::on(&server);
    let other = server.on_small_disk("other");
    let mut filling = std::fs::File::create(&other).unwrap();
    while filling.write_all(&[1; 1 << 20]).is_ok() {}
    let filled = filling.metadata().unwrap().len();
    filling.set_len(filled - (6 << 20)).unwrap();
    drop(filling);
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    // Texts that cannot be compressed much.
    let mut random = crate::support::tree::Random(7);
    for number in 0..20 {
        let mut text = String::new();
        while text.len() < 1_000_000 {
            text += &format!("v{:x} = {:x}\n", random.next(), random.next());
        }
        repo.write(&format!("big/m{number}.py"), text);
    }
    commit_all(&repo, "big");
    let error = organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
    assert!(error.contains("READ_ONLY: the organisation's server cannot be written"), "{error}");
    check_whole(&organisation, &[2]);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let found = organisation.ok(&asking, &team, &["query", "charge_card", "--mode", "literal", "--repo", "org:pay"]);
    expect![[r#"
        org:pay/pay.py:1  [charge_card]
            def charge_card(card):
    "#]]
    .assert_eq(&found);
    let full = organisation
        .command(&asking, organisation.administrator(), &["org", "sweep", "--older-than", "0"])
        .output()
        .unwrap();
    assert!(full.status.success() || String::from_utf8_lossy(&full.stderr).contains("READ_ONLY"), "{full:?}");
    std::fs::remove_file(&other).unwrap();
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    organisation.sql("VACUUM");
    git(repo.path(), &["rm", "-q", "-r", "big"]);
    repo.write("pay.py", "def second(): pass\n");
    commit_all(&repo, "small");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    check_whole(&organisation, &[2]);
}

#[test]
fn wrong_clocks_of_publishers_and_of_the_server_change_nothing() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let found = |text: &str| {
        let search = ["query", text, "--mode", "literal", "--repo", "org:pay"];
        organisation.command(&asking, &team, &search).output().unwrap().status.code() == Some(0)
    };
    // History decides which commit is newer, not its date.
    let commit_at = |date: &str, text: &str| {
        repo.write("pay.py", text);
        let mut commit = std::process::Command::new("git");
        commit.args(["-C", repo.path().to_str().unwrap(), "-c", "user.name=t", "-c", "user.email=t@t"]);
        commit.args(["commit", "-qam", "next"]).env("GIT_COMMITTER_DATE", date).env("GIT_AUTHOR_DATE", date);
        assert!(commit.status().unwrap().success());
    };
    commit_at("2099-01-01T00:00:00Z", "def of_2099(): pass\n");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    assert!(found("of_2099"));
    commit_at("1990-01-01T00:00:00Z", "def of_1990(): pass\n");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    assert!(found("of_1990") && !found("of_2099"));
    // The server's clock was ahead when that was published, and is set back.
    organisation.sql("UPDATE ixmcp.repos SET published_at = now() + interval '10 years'");
    organisation.sql("UPDATE ixmcp.texts SET seen = now() + interval '10 years'");
    assert!(found("of_1990"));
    commit_at("2000-01-01T00:00:00Z", "def of_2000(): pass\n");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    assert!(found("of_2000") && !found("of_1990"));
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    check_whole(&organisation, &[2]);
    // It jumps ahead during a publication: a sweep removes that, and it can be repeated.
    let begin = "SELECT upload FROM ixmcp.begin_publication('pay')";
    let upload = organisation.sql_as(&team, begin).unwrap();
    organisation.sql("UPDATE ixmcp.uploads SET started = now() - interval '2 days'");
    organisation.admin(&["org", "sweep"]);
    let finish = format!("SELECT ixmcp.finish_publication({upload}, repeat('a', 40))");
    let error = organisation.sql_as(&team, &finish).unwrap_err();
    assert_eq!(error.lines().next(), Some("ERROR:  the publication was swept, or is not yours"));
    assert!(found("of_2000"));
    check_whole(&organisation, &[2]);
}
