//! Searching what is published: the same hits as in a local index of the commit, next to local ones, and nothing that the caller may
//! not read.

use std::fs;
use std::path::Path;

use expect_test::expect;
use serde_json::{Value, json};

use crate::organisation::server::{Organisation, Postgres};
use crate::page::Page;
use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;
use crate::support::wire::{Wire, request};
use crate::worktrees::{committed, git};

const PAY: &str = "//- /pay.py\ndef charge_card(card):\n    \"\"\"Charges a card.\"\"\"\n    return card\n//- /docs/guide.md\n# Paying\n\nCards are charged at night.\n//- /lib/money.rs\npub fn round_cents(cents: i64) -> i64 {\n    cents / 100\n}\n";
const SHOP: &str = "//- /shop.py\nfrom pay import charge_card\n\ndef checkout(cart):\n    return charge_card(cart)\n";

/// A team that published two repositories, and those.
fn published() -> (Organisation, String, Repo, Repo) {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let (pay, shop) = (committed(PAY), committed(SHOP));
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    organisation.ok(&shop, &team, &["publish", "--as", "shop"]);
    (organisation, team, pay, shop)
}

/// The answer of a tool once no vector is missing.
fn call(organisation: &Organisation, repo: &Repo, role: &str, tool: &str, arguments: &Value) -> Value {
    let mut answer = Value::Null;
    until("no vector is missing", || {
        let text = organisation.ok(repo, role, &["call", tool, "--args", &arguments.to_string()]);
        answer = serde_json::from_str(&text).unwrap();
        ["vectors_pending", "indexing"].iter().all(|field| answer.get(*field).is_none_or(|number| *number == 0))
    });
    answer
}

/// Hits without what names their repository.
fn unnamed(answer: &Value, list: &str) -> Vec<Value> {
    let mut items = answer[list].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    for fields in items.iter_mut().filter_map(Value::as_object_mut) {
        ["repo", "commit"].iter().for_each(|name| drop(fields.remove(*name)));
    }
    items
}

fn head(repo: &Repo) -> String {
    let output =
        std::process::Command::new("git").arg("-C").arg(repo.path()).args(["rev-parse", "HEAD"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The texts of all files below a folder.
fn texts_below(folder: &Path) -> String {
    let mut texts = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            texts += &texts_below(&entry.path());
        } else {
            texts += &String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default());
        }
    }
    texts
}

#[test]
fn hits_are_those_of_a_local_index_of_the_commit() {
    let (organisation, team, pay, _) = published();
    let asking = Repo::new("//- /own.md\nnothing\n");
    for (tool, list, arguments) in [
        ("query", "results", json!({ "text": "charge_card", "mode": "literal" })),
        ("query", "results", json!({ "text": "c[a-z]*_c", "mode": "regex" })),
        ("query", "results", json!({ "text": "when are cards charged", "mode": "smart" })),
        ("query", "results", json!({ "text": "round_cents" })),
        ("get_symbol", "symbols", json!({ "name": "charge_card" })),
        ("get_symbol", "symbols", json!({ "name": "round_cents" })),
    ] {
        let local = call(&organisation, &pay, &team, tool, &arguments);
        let mut there = arguments.clone();
        there["repo"] = json!("org:pay-*");
        let found = call(&organisation, &asking, &team, tool, &there);
        assert_eq!(unnamed(&found, list), unnamed(&local, list), "{tool} {arguments}");
        assert!(!unnamed(&found, list).is_empty(), "{tool} {arguments}");
        for item in found[list].as_array().unwrap() {
            assert_eq!((&item["repo"], &item["commit"]), (&json!("org:pay-api"), &json!(head(&pay))), "{item}");
        }
        assert_eq!(found.get("problems"), None, "{found}");
    }
    let slice = json!({ "file_path": "lib/money.rs", "start_line": 1, "end_line": 2, "repo": "org:pay-api" });
    let slice = call(&organisation, &asking, &team, "get_slice", &slice);
    expect![[r#"
        pub fn round_cents(cents: i64) -> i64 {
            cents / 100
    "#]]
    .assert_eq(slice["content"].as_str().unwrap());
    assert_eq!((&slice["repo"], &slice["commit"]), (&json!("org:pay-api"), &json!(head(&pay))), "{slice}");
    let files = call(&organisation, &asking, &team, "list_files", &json!({ "repo": "org:*" }));
    assert_eq!(files["total"], 4, "{files}");
    expect![[r#"
        [
          "org:pay-api/docs/guide.md",
          "org:pay-api/lib/money.rs",
          "org:pay-api/pay.py",
          "org:shop/shop.py"
        ]"#]]
    .assert_eq(&format!("{:#}", files["files"]));
    let stats = call(&organisation, &asking, &team, "stats", &json!({ "repo": "org:pay-api" }));
    assert_eq!(stats["total_files"], 3, "{stats}");
    assert_eq!(stats["repositories"][0]["repo"], "org:pay-api", "{stats}");
    // The list of one's own repositories has none of them.
    let listed = asking.command(&["repos"]).output().unwrap();
    assert_eq!((listed.status.code(), &listed.stdout[..]), (Some(1), &b""[..]), "{listed:?}");
    // What is published later is found by the next call; what is gone is not.
    pay.write("pay.py", "def charge_cheque(cheque):\n    return cheque\n");
    pay.remove("docs/guide.md");
    git(pay.path(), &["add", "-A"]);
    git(pay.path(), &["commit", "-qm", "second"]);
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    let text = organisation.ok(&asking, &team, &["query", "charge_c", "--mode", "literal", "--repo", "org:pay-api"]);
    expect![[r#"
        org:pay-api/pay.py:1  [charge_cheque]
            def charge_cheque(cheque):
    "#]]
    .assert_eq(&text);
    let files = call(&organisation, &asking, &team, "list_files", &json!({ "repo": "org:pay-api" }));
    assert_eq!(files["total"], 2, "{files}");
}

#[test]
fn local_and_published_repositories_are_searched_together() {
    let (organisation, team, pay, _) = published();
    // An edit that is not published.
    pay.write("new.py", "def charge_card_twice(card):\n    return card\n");
    let mut server = Server::start_mcp(organisation.command(&pay, &team, &["mcp"]));
    let own = pay.path().canonicalize().unwrap();
    let scope = json!([own.to_str().unwrap(), "org:shop"]);
    let found = server.tool("query", &json!({ "text": "charge_card", "mode": "literal", "repo": scope }));
    let of = |repo: &str| found["results"].as_array().unwrap().iter().filter(|hit| hit["repo"] == repo).count();
    assert_eq!((of(own.to_str().unwrap()), of("org:shop")), (2, 2), "{found}");
    let symbols = server.tool("get_symbol", &json!({ "name": "charge_card", "repo": scope }));
    let found = symbols["symbols"].as_array().unwrap().iter().map(|one| {
        let text = |field: &str| one[field].as_str().unwrap();
        format!("{} {} {}:{}\n", text("role"), text("repo"), text("file_path"), one["line"])
    });
    expect![[r#"
        definition OWN pay.py:1
        reference org:shop shop.py:1
        reference org:shop shop.py:4
    "#]]
    .assert_eq(&found.collect::<String>().replace(own.to_str().unwrap(), "OWN"));
}

#[test]
fn the_own_repository_answers_for_what_was_published_from_it() {
    let (organisation, team, pay, shop) = published();
    pay.write("pay.py", "def charge_card(card):\n    return check(card)  # charge_card, not committed\n");
    pay.write("new.py", "def charge_card_twice(card):\n    return card\n");
    let own = pay.path().canonicalize().unwrap();
    let own = own.to_str().unwrap();
    let search = |scope: Value| json!({ "text": "charge_card", "mode": "literal", "repo": scope });
    // The files of the hits, each with its repository.
    let hits = |answer: &Value| -> Vec<(String, String, u64)> {
        let hit = |hit: &Value| {
            let text = |field: &str| hit[field].as_str().unwrap().to_owned();
            (text("repo"), text("file_path"), hit["line"].as_u64().unwrap())
        };
        answer["results"].as_array().unwrap_or_else(|| panic!("{answer}")).iter().map(hit).collect()
    };
    let hit = |repo: &str, file: &str, line: u64| (repo.to_owned(), file.to_owned(), line);
    let of_pay = [hit(own, "new.py", 1), hit(own, "pay.py", 1), hit(own, "pay.py", 2)];
    let of_shop = [hit("org:shop", "shop.py", 1), hit("org:shop", "shop.py", 4)];
    let both = [&of_pay[..], &of_shop].concat();
    for daemon in [&["mcp"][..], &["mcp", "--no-daemon"]] {
        let mut client = Server::start_mcp(organisation.command(&pay, &team, daemon));
        for scope in [json!("org:*"), json!(["org:*", own]), json!(["org:shop", "org:pay-api"])] {
            let found = client.tool("query", &search(scope.clone()));
            assert_eq!((hits(&found), &found["total"]), (both.clone(), &json!(5)), "{scope} {found}");
            assert_eq!(found.get("problems"), None, "{found}");
        }
        // Even where it alone is named, hits have its name.
        assert_eq!(hits(&client.tool("query", &search(json!("org:pay-*")))), of_pay);
        let symbols = client.tool("get_symbol", &json!({ "name": "charge_card_twice", "repo": "org:*" }));
        assert_eq!((&symbols["total"], &symbols["symbols"][0]["repo"]), (&json!(1), &json!(own)), "{symbols}");
        let ranked = client.tool("query", &json!({ "text": "charge_card_twice", "repo": "org:*" }));
        assert_eq!(ranked["results"][0]["file_path"], "new.py", "{ranked}");
    }
    assert_eq!(
        hits(&organisation.json(&pay, &team, &["query", "charge_card", "--mode", "literal", "--repo", "org:*"])),
        both
    );
    // In another repository of the same person, it does if it is in the scope.
    let mut elsewhere = organisation.command(&shop, &team, &["mcp", "--no-daemon"]);
    elsewhere.env("HOME", pay.home());
    let mut client = Server::start_mcp(elsewhere);
    assert_eq!(hits(&client.tool("query", &search(json!([own, "org:pay-api"])))), of_pay);
    let found = hits(&client.tool("query", &search(json!("org:pay-api"))));
    assert_eq!(found, [hit("org:pay-api", "pay.py", 1)]);
    // So do its worktrees. A branch that is published by itself is another name.
    let trees = tempfile::tempdir().unwrap();
    let tree = trees.path().canonicalize().unwrap().join("tree");
    git(pay.path(), &["worktree", "add", "-q", "-b", "next", tree.to_str().unwrap()]);
    fs::write(tree.join("tree.py"), "charge_card_of_tree = 1\n").unwrap();
    let in_tree = |arguments: &[&str]| {
        let output = organisation.command(&pay, &team, arguments).current_dir(&tree).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let search = ["query", "charge_card", "--mode", "literal", "--repo", "org:pay-*", "--json"];
    let of_tree = |repos: &[&str]| {
        let found = hits(&serde_json::from_str(&in_tree(&search)).unwrap());
        assert!(found.iter().any(|(_, file, _)| file == "tree.py"), "{found:?}");
        let named: std::collections::BTreeSet<&str> = found.iter().map(|(repo, ..)| repo.as_str()).collect();
        assert_eq!(named.into_iter().collect::<Vec<_>>(), repos);
    };
    of_tree(&[tree.to_str().unwrap()]);
    in_tree(&["publish", "--as", "pay-api", "--branch", "next"]);
    of_tree(&[tree.to_str().unwrap(), "org:pay-api"]);
    // What may not be read any more is not named by a pattern, and what is published no more is not either.
    organisation.ok(&pay, &team, &["unpublish", "--as", "pay-api"]);
    expect![[r#"
        ixmcp: INDEX_NOT_FOUND: no repository of that name is published that you may read. `ixmcp org status` lists those that you may read.
    "#]].assert_eq(&organisation.fails(&pay, &team, &["query", "charge_card", "--repo", "org:pay-api"]));
    organisation.ok(&shop, &team, &["publish", "--as", "pay-api"]);
    let found = organisation.json(&pay, &team, &["query", "charge_card", "--mode", "literal", "--repo", "org:pay-api"]);
    assert_eq!(hits(&found), [hit("org:pay-api", "shop.py", 1), hit("org:pay-api", "shop.py", 4)]);
}

#[test]
fn the_own_repository_answers_for_its_branch_where_references_are_kept_in_tables() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = Repo::new(PAY);
    fs::remove_dir(repo.path().join(".git")).unwrap();
    git(repo.path(), &["init", "-q", "-b", "main", "--ref-format=reftable"]);
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "first"]);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    git(repo.path(), &["checkout", "-qb", "next"]);
    organisation.ok(&repo, &team, &["publish", "--as", "pay", "--branch", "next"]);
    repo.write("pay.py", "def charge_card_here(card): pass\n");
    let own = repo.path().canonicalize().unwrap();
    for (branch, own_name, other_name) in [("next", "org:pay@next", "org:pay"), ("main", "org:pay", "org:pay@next")] {
        git(repo.path(), &["checkout", "-q", branch]);
        let search = |scope| {
            organisation.json(&repo, &team, &["query", "def charge_card", "--mode", "literal", "--repo", scope])
        };
        let found = search(own_name);
        assert_eq!(found["results"][0]["repo"], own.to_str().unwrap(), "{branch}: {found}");
        assert_eq!(search(other_name)["results"][0]["repo"], other_name, "{branch}");
    }
}

#[test]
fn a_name_under_which_another_repository_is_published_since_is_not_the_own_one() {
    let (organisation, team, pay, shop) = published();
    let records = || texts_below(&pay.home().join(".local/state/ixmcp/published"));
    let search = ["query", "charge_card", "--mode", "literal", "--repo", "org:pay-api"];
    let found = |repo: &Repo| organisation.json(repo, &team, &search)["results"][0]["repo"].clone();
    let own = pay.path().canonicalize().unwrap();
    assert_eq!(found(&pay), own.to_str().unwrap());
    // Someone else removes it, and publishes another repository by that name.
    organisation.ok(&shop, &team, &["unpublish", "--as", "pay-api"]);
    organisation.ok(&shop, &team, &["publish", "--as", "pay-api"]);
    assert!(records().contains("pay-api"));
    assert_eq!(found(&pay), "org:pay-api");
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api", "--force"]);
    assert_eq!(found(&pay), own.to_str().unwrap());
    // A removal ends all records of the name, in whichever repository it runs.
    let mut unpublish = organisation.command(&shop, &team, &["unpublish", "--as", "pay-api"]);
    assert!(unpublish.env("HOME", pay.home()).output().unwrap().status.success());
    assert!(!records().contains("pay-api"), "{}", records());
}

#[test]
fn a_clone_cannot_claim_the_name_of_another_repository() {
    let (organisation, team, pay, _) = published();
    let clone = Repo::new("//- /x.py\ncharge_card = 'forged'\n");
    // Its `.git` names the directory of another repository, which does not name it.
    fs::remove_dir_all(clone.path().join(".git")).ok();
    fs::write(clone.path().join(".git"), format!("gitdir: {}\n", pay.path().join(".git").display())).unwrap();
    let mut command = organisation.command(
        &clone,
        &team,
        &["query", "charge_card", "--mode", "literal", "--json", "--repo", "org:pay-api"],
    );
    let output = command.env("HOME", pay.home()).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((&found["results"][0]["repo"], &found["total"]), (&json!("org:pay-api"), &json!(1)), "{found}");
}

#[test]
fn a_revoked_grant_leaves_nothing_of_the_repository() {
    let (organisation, _, pay, _) = published();
    let reader = organisation.role("reader", "pay-*", &[]);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let search = ["query", "charge_card", "--mode", "literal", "--repo", "org:pay-*"];
    expect![[r#"
        org:pay-api/pay.py:1  [charge_card]
            def charge_card(card):
    "#]]
    .assert_eq(&organisation.ok(&asking, &reader, &search));
    assert!(texts_below(asking.home()).contains("charge_card"));
    // What was never granted is not there, whatever is named.
    let ungranted = ["query", "checkout", "--mode", "literal", "--repo", "org:shop"];
    let mut refused = format!("ungranted: {}", organisation.fails(&asking, &reader, &ungranted));
    organisation.admin(&["org", "grant", &reader, "pay-*", "--revoke"]);
    refused += &format!("revoked: {}", organisation.fails(&asking, &reader, &search));
    expect![[r#"
        ungranted: ixmcp: INDEX_NOT_FOUND: no repository of that name is published that you may read. `ixmcp org status` lists those that you may read.
        revoked: ixmcp: INDEX_NOT_FOUND: no repository of that name is published that you may read. `ixmcp org status` lists those that you may read.
    "#]].assert_eq(&refused);
    assert!(!texts_below(asking.home()).contains("charge_card"));
    // Granted again, it is there again.
    organisation.admin(&["org", "grant", &reader, "pay-*"]);
    let hits = organisation.json(&asking, &reader, &search);
    assert_eq!(hits["results"][0]["commit"], head(&pay), "{hits}");
}

#[test]
fn without_the_server_local_repositories_answer() {
    let mut server = Postgres::start();
    let organisation = Organisation::on(&server);
    let team = organisation.role("team", "*", &["--publish"]);
    let pay = committed(PAY);
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    let own = pay.path().canonicalize().unwrap();
    let mut client = Server::start_mcp(organisation.command(&pay, &team, &["mcp"]));
    let both = json!({ "text": "round_cents", "mode": "literal", "repo": [own.to_str().unwrap(), "org:pay-*"] });
    assert_eq!(client.tool("query", &both)["total"], 1);
    let shop = committed(SHOP);
    organisation.ok(&shop, &team, &["publish", "--as", "pay-shop"]);
    let both = json!({ "text": "charge_card", "mode": "literal", "repo": [own.to_str().unwrap(), "org:pay-*"] });
    assert_eq!(client.tool("query", &both)["total"], 3);
    server.kill();
    // A pooler lets its first clients wait for the server.
    let is_why = |said: &str| said.contains("UNREACHABLE") || organisation.is_pooled() && said.contains("TIMEOUT");
    let found = client.tool("query", &both);
    assert_eq!(found["total"], 1, "{found}");
    assert_eq!(found["problems"][0]["repo"], "org:pay-*", "{found}");
    assert!(is_why(found["problems"][0]["reason"].as_str().unwrap()), "{found}");
    let asking = Repo::new("//- /own.md\nnothing\n");
    let error = organisation.fails(&asking, &team, &["query", "round_cents", "--repo", "org:pay-*"]);
    assert!(is_why(&error), "{error}");
    // What was published from here is here.
    let found = client.tool("query", &json!({ "text": "round_cents", "mode": "literal", "repo": "org:pay-*" }));
    assert_eq!((&found["total"], &found["results"][0]["repo"]), (&json!(1), &json!(own.to_str().unwrap())), "{found}");
    assert!(is_why(found["problems"][0]["reason"].as_str().unwrap()), "{found}");
    server.run();
    // It tries the server again a while later.
    let mut total = || client.tool("query", &both)["total"].clone();
    until("the server answers again", || total() == 3 || !organisation.is_pooled());
    assert_eq!(total(), 3);
}

#[test]
fn a_call_that_is_cancelled_or_past_its_deadline_leaves_no_statement_on_the_server() {
    let (organisation, team, pay, _) = published();
    let running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ixmcp' AND state = 'active'";
    let holder = "SELECT coalesce(max(pid), 0) FROM pg_locks WHERE relation = 'ixmcp.repos'::regclass AND mode = 'AccessExclusiveLock' AND granted";
    std::thread::scope(|scope| {
        // Nothing can be listed while this table is locked.
        scope.spawn(|| {
            let lock = "BEGIN; LOCK TABLE ixmcp.repos IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)";
            organisation.sql_as("postgres", lock).unwrap_err()
        });
        until("the table is locked", || organisation.sql(holder) != "0");
        let own = pay.path().canonicalize().unwrap();
        let scope = |repo: Value| json!({ "text": "round_cents", "mode": "literal", "repo": repo, "timeout_ms": 3000 });
        let only = scope(json!("org:*"));
        let mut client = Server::start_mcp(organisation.command(&pay, &team, &["mcp"]));
        let answer = client.response("tools/call", &json!({ "name": "query", "arguments": only }));
        let problems = &answer["result"]["structuredContent"]["problems"];
        let reason = "TIMEOUT: the call ran past its deadline. Narrow the query, or pass a larger timeout_ms.";
        assert_eq!(*problems, json!([{ "repo": "org:*", "reason": reason }]));
        let answer = client.tool("query", &scope(json!([own.to_str().unwrap(), "org:*"])));
        expect!["TIMEOUT: the call ran past its deadline. Narrow the query, or pass a larger timeout_ms."]
            .assert_eq(answer["problems"][0]["reason"].as_str().unwrap());
        let running_become = |count: &str| until("so many statements run", || organisation.sql(running) == count);
        running_become("0");
        // A call that its client cancels.
        organisation.ok(&pay, &team, &["daemon", "start"]);
        let mut wire = Wire::unix(&pay.socket());
        let patient = json!({ "text": "round_cents", "mode": "literal", "repo": "org:*", "timeout_ms": 600_000 });
        wire.send(&request(7, "query", patient));
        running_become("1");
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }));
        let reply = std::iter::repeat_with(|| wire.reply()).find(|line| line["id"] == 7).unwrap();
        assert_eq!(reply["error"]["data"]["code"], "CANCELLED", "{reply}");
        running_become("0");
        organisation.sql(&format!("SELECT pg_terminate_backend(({holder}))"));
    });
}

#[test]
fn repositories_that_are_not_fetched_in_time_are_problems_and_the_others_answer() {
    let (organisation, team, ..) = published();
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = Server::start_mcp(organisation.command(&asking, &team, &["mcp", "--no-daemon"]));
    let search = |repo: &str| json!({ "text": "charge_card", "mode": "literal", "repo": repo, "timeout_ms": 4000 });
    assert_eq!(client.tool("query", &search("org:pay-api"))["total"], 1);
    std::thread::scope(|scope| {
        // No text can be fetched while this table is locked.
        scope.spawn(|| {
            organisation
                .sql_as("postgres", "BEGIN; LOCK TABLE ixmcp.contents IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)")
                .unwrap_err()
        });
        let holder = "SELECT coalesce(max(pid), 0) FROM pg_locks WHERE relation = 'ixmcp.contents'::regclass AND mode = 'AccessExclusiveLock' AND granted";
        until("the table is locked", || organisation.sql(holder) != "0");
        let found = client.tool("query", &search("org:*"));
        assert_eq!((&found["total"], &found["results"][0]["repo"]), (&json!(1), &json!("org:pay-api")), "{found}");
        assert_eq!(
            (found["problems"].as_array().unwrap().len(), &found["problems"][0]["repo"]),
            (1, &json!("org:shop")),
            "{found}"
        );
        expect!["TIMEOUT: the call ran past its deadline. Try again: what was fetched is kept."]
            .assert_eq(found["problems"][0]["reason"].as_str().unwrap());
        organisation.sql(&format!("SELECT pg_terminate_backend(({holder}))"));
    });
    let found = client.tool("query", &search("org:*"));
    assert_eq!((&found["total"], found.get("problems")), (&json!(3), None), "{found}");
}

#[test]
fn mirrors_are_not_watched_and_follow_what_is_published() {
    let (organisation, team, pay, _) = published();
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = Server::start_mcp(organisation.command(&asking, &team, &["mcp", "--no-daemon"]));
    let search = json!({ "text": "charge_", "mode": "literal", "repo": "org:pay-api" });
    assert_eq!(client.tool("query", &search)["total"], 1);
    assert_eq!(client.tool("query", &json!({ "text": "charge_", "mode": "literal", "repo": "org:*" }))["total"], 3);
    let tasks = fs::read_dir(format!("/proc/{}/task", client.pid().as_raw_nonzero())).unwrap().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    let watches = names.filter(|name| name.starts_with("notify-rs inot")).count();
    assert!(watches <= 1, "{watches} watches, one of them of the own repository");
    // Published by others, fetched by another process, and removed with its index: each is noticed without a watch.
    pay.write("pay.py", "def charge_cheque(cheque):\n    return cheque\n\ndef charge_card(card): pass\n");
    git(pay.path(), &["commit", "-qam", "second"]);
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    assert_eq!(client.tool("query", &search)["total"], 2);
    pay.write("pay.py", "def charge_all(): pass\n\ndef charge_card(card): pass\n\ndef charge_none(): pass\n");
    git(pay.path(), &["commit", "-qam", "third"]);
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    let other = ["query", "charge_none", "--mode", "literal", "--repo", "org:pay-api"];
    organisation.ok(&asking, &team, &other);
    assert_eq!(client.tool("query", &search)["total"], 3);
    fs::remove_dir_all(asking.home().join(".cache/ixmcp/organisations")).unwrap();
    assert_eq!(client.tool("query", &search)["total"], 3);
}

#[test]
fn the_page_searches_published_repositories_and_shows_their_files() {
    let (organisation, team, pay, _) = published();
    let asking = Repo::new("//- /own.md\nnothing\n");
    let page = Page::start(organisation.command(&asking, &team, &["ui", "--no-open", "--org"]));
    let (_, state) = page.ask("GET /api/state", "");
    assert_eq!(state["repositories"], json!(["org:pay-api", "org:shop"]));
    let (status, found) = page.ask("POST /api/tool/query", r#"{"text":"charge_card","mode":"literal"}"#);
    assert_eq!(status, 200, "{found}");
    let hit = &found["results"][0];
    assert_eq!((&hit["repo"], &hit["commit"]), (&json!("org:pay-api"), &json!(head(&pay))), "{found}");
    let (status, slice) = page.ask("POST /api/tool/get_slice", &slice_of("pay.py"));
    assert_eq!(status, 200, "{slice}");
    expect![[r#"
        def charge_card(card):
    "#]]
    .assert_eq(slice["content"].as_str().unwrap());
    let (status, chunks) = page.ask("POST /api/view/chunks", r#"{"file":"pay.py","repo":"org:pay-api"}"#);
    assert_eq!((status, &chunks["total"]), (200, &json!(1)), "{chunks}");
    // What may not be read any more is not shown by a page that was opened before.
    organisation.admin(&["org", "grant", &team, "*", "--revoke"]);
    let (_, found) = page.ask("POST /api/tool/query", r#"{"text":"charge_card","mode":"literal"}"#);
    expect![[r#"
        {
          "code": "INDEX_NOT_FOUND",
          "hint": null,
          "message": "none of 2 repositories answers. The first, org:pay-api: no repository of that name is published that you may read"
        }"#]].assert_eq(&format!("{found:#}"));
    let (status, slice) = page.ask("POST /api/tool/get_slice", &slice_of("pay.py"));
    expect![[r#"
        404 {
          "code": "INDEX_NOT_FOUND",
          "hint": null,
          "message": "no repository of that name is published that you may read"
        }"#]]
    .assert_eq(&format!("{status} {slice:#}"));
}

fn slice_of(file: &str) -> String {
    json!({ "file_path": file, "start_line": 1, "end_line": 1, "repo": "org:pay-api" }).to_string()
}
