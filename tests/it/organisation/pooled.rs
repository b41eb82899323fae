//! A pooler between clients and the server: transactions of one client are on several sessions, and sessions have several clients.

use std::process::Stdio;

use serde_json::json;

use crate::organisation::encrypted::openssl;
use crate::organisation::publishing::{PAY, check_whole, commit_all};
use crate::organisation::server::{Organisation, shared};
use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;
use crate::worktrees::committed;

#[test]
fn everything_works_through_a_pooler_and_nothing_stays_on_its_sessions() {
    for mode in ["transaction", "session"] {
        let pooler = shared().pooler(mode);
        let mut organisation = Organisation::without_schema(shared());
        organisation.through(&pooler);
        organisation.admin(&["org", "init"]);
        let team = organisation.role("team", "*", &["--publish"]);
        let repo = committed(PAY);
        organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
        // Several at once, and long-lived clients with their own connections.
        let asking = [(); 3].map(|()| Repo::new("//- /own.md\nnothing\n"));
        let mut clients =
            asking.each_ref().map(|repo| Server::start_mcp(organisation.command(repo, &team, &["mcp", "--no-daemon"])));
        for round in 0..4 {
            for number in 0..60 {
                repo.write(&format!("src/m{number}.py"), format!("def function_{number}(): return {round}\n"));
            }
            commit_all(&repo, "next");
            let publishing: Vec<_> = (0..3)
                .map(|number| {
                    let name = format!("pay-{number}");
                    let mut command = organisation.command(&repo, &team, &["publish", "--as", &name]);
                    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
                })
                .collect();
            for publisher in publishing {
                let output = publisher.wait_with_output().unwrap();
                assert!(output.status.success(), "{mode}: {}", String::from_utf8_lossy(&output.stderr));
            }
            let search =
                json!({ "text": format!("return {round}"), "mode": "literal", "repo": "org:pay-*", "limit": 1 });
            std::thread::scope(|scope| {
                for client in &mut clients {
                    scope.spawn(|| {
                        let mut found = client.tool("query", &search);
                        // A mirror that another client indexes at this moment is read, but not counted.
                        until("every mirror is counted", || {
                            let is_counted = !found["total"].is_null();
                            if !is_counted {
                                found = client.tool("query", &search);
                            }
                            is_counted
                        });
                        assert_eq!((&found["total"], found.get("problems")), (&json!(180), None), "{mode}: {found}");
                    });
                }
            });
        }
        check_whole(&organisation, &[2, 62]);
        organisation.admin(&["org", "sweep", "--older-than", "0"]);
        organisation.admin(&["org", "grant", &team, "*", "--revoke"]);
        assert_eq!(organisation.admin(&["org", "init"]), "the schema is up to date\n");
        let left = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('role'),
            current_setting('idle_session_timeout'), current_setting('client_min_messages'),
            (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database =
                (SELECT oid FROM pg_database WHERE datname = current_database()))";
        for role in [team.as_str(), organisation.administrator()] {
            for _ in 0..4 {
                assert_eq!(organisation.sql_through(role, left).unwrap(), "0|0|none|0|notice|0|0", "{mode} {role}");
            }
        }
    }
}

#[test]
fn a_call_that_is_cancelled_leaves_the_pooler_as_it_was() {
    let folder = &shared().folder;
    openssl(folder, "req -new -x509 -days 365 -nodes -out pooler.crt -keyout pooler.key -subj /CN=localhost");
    let (mut pooler, port) = shared().pooler_over_tcp("transaction", "pooler");
    let mut organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    organisation.ok(&committed(PAY), &team, &["publish", "--as", "pay"]);
    organisation.through(&pooler);
    let certificate = format!("sslrootcert={}", folder.join("pooler.crt").display());
    let over_tcp = |more: &str| format!("postgresql://{team}@localhost:{port}/{}?{more}", organisation.database);
    let ways = [organisation.url(&team), over_tcp("sslmode=disable"), over_tcp(&certificate)];
    let search = |url: &str, timeout: u32| {
        let asking = Repo::new("//- /own.md\nnothing\n");
        let arguments = json!({ "text": "charge_card", "mode": "literal", "repo": "org:*", "timeout_ms": timeout });
        let mut command = asking.command(&["call", "query", "--args", &arguments.to_string()]);
        let output = command.env("IXMCP_ORG_URL", url).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    for url in &ways {
        assert!(search(url, 60_000).contains("pay.py"), "{url}: {}", search(url, 60_000));
    }
    let holder = "SELECT coalesce(max(pid), 0) FROM pg_locks WHERE relation = 'ixmcp.repos'::regclass AND mode = 'AccessExclusiveLock' AND granted";
    std::thread::scope(|scope| {
        // Nothing can be listed while this table is locked.
        scope.spawn(|| {
            let lock = "BEGIN; LOCK TABLE ixmcp.repos IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)";
            organisation.sql_as("postgres", lock)
        });
        until("the table is locked", || organisation.sql(holder) != "0");
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for url in &ways {
                    let search = &search;
                    scope.spawn(move || {
                        let found = search(url, 2000);
                        assert!(found.contains("TIMEOUT"), "{url}: {found}");
                    });
                }
            });
            assert_eq!(pooler.ended(), None);
        }
        organisation.sql(&format!("SELECT pg_terminate_backend(({holder}))"));
    });
    for url in &ways {
        assert!(search(url, 60_000).contains("pay.py"), "{url}: {}", search(url, 60_000));
    }
    assert_eq!(pooler.ended(), None);
}
