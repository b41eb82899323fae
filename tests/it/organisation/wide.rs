//! Scopes of more repositories than can be mirrored: the server names the files that may match, and those alone are fetched.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::{Value, json};

use crate::organisation::publishing::commit_all;
use crate::organisation::server::Organisation;
use crate::support::harness::{Repo, Server};
use crate::worktrees::committed;

const PAY: &str = "//- /pay.py\ndef charge_card(card):\n    return card\n//- /docs/guide.md\n# Paying\n\nCards are charged at night.\n//- /lib/money.rs\npub fn round_cents(cents: i64) -> i64 {\n    cents / 100\n}\n";
const SHOP: &str = "//- /shop.py\nfrom pay import charge_card\n\ndef checkout(cart):\n    return charge_card(cart)\n//- /other.py\ndef other(): pass\n";

/// Two published repositories among 600 that have other texts.
fn many() -> (Organisation, String, Repo, Repo) {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let (pay, shop) = (committed(PAY), committed(SHOP));
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    organisation.ok(&shop, &team, &["publish", "--as", "shop"]);
    add_many(&organisation);
    (organisation, team, pay, shop)
}

/// Adds 600 repositories, which those with a grant for all may read.
pub fn add_many(organisation: &Organisation) {
    organisation.sql(
        "CREATE TABLE ixmcp.made AS SELECT n, sha256(convert_to(t, 'UTF8')) AS key, t AS content
            FROM (SELECT n, 'def made_' || n || '(): return everywhere(' || n % 3 || ')' || chr(10) FROM generate_series(1, 600) n) x(n, t);
        INSERT INTO ixmcp.texts (key, bytes) SELECT key, length(content) FROM ixmcp.made;
        INSERT INTO ixmcp.contents SELECT key, content FROM ixmcp.made;
        INSERT INTO ixmcp.repos (name, commit, generation, published_at, files, bytes)
            SELECT 'made-' || n, repeat('a', 40), 1, now(), 1, length(content) FROM ixmcp.made;
        INSERT INTO ixmcp.files SELECT r.id, 'made.py', m.key, 'python', 'x', 1, 'made.py'
            FROM ixmcp.made m JOIN ixmcp.repos r ON r.name = 'made-' || m.n;
        INSERT INTO ixmcp.granted SELECT u.role, r.id FROM ixmcp.rules u, ixmcp.repos r ON CONFLICT DO NOTHING;
        DROP TABLE ixmcp.made",
    );
}

fn client(organisation: &Organisation, asking: &Repo, role: &str) -> Server {
    Server::start_mcp(organisation.command(asking, role, &["mcp", "--no-daemon"]))
}

/// The files in the mirrors of a person.
fn mirrored(asking: &Repo) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut folders = vec![asking.home().join(".cache/ixmcp/organisations")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if !entry.path().is_dir() {
                files.insert(name);
            } else if name != ".git" && name != ".ixmcp" {
                folders.push(entry.path());
            }
        }
    }
    files.retain(|name| [".py", ".rs", ".md"].iter().any(|ending| name.ends_with(ending)));
    files
}

fn error_of(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn hits_in_many_repositories_are_those_in_few_and_only_files_that_may_match_are_fetched() {
    let (organisation, team, pay, shop) = many();
    let (narrow, wide) = (Repo::new("//- /own.md\nnothing\n"), Repo::new("//- /own.md\nnothing\n"));
    let (mut few, mut all) = (client(&organisation, &narrow, &team), client(&organisation, &wide, &team));
    let asked = [
        ("query", "results", json!({ "text": "charge_card", "mode": "literal" }), 3),
        ("query", "results", json!({ "text": "CHARGE_CARD", "mode": "literal", "case_sensitive": false }), 3),
        ("query", "results", json!({ "text": "def (charge|check).*\\(", "mode": "regex" }), 2),
        ("query", "results", json!({ "text": "charge_card", "mode": "literal", "include": ["shop.py"] }), 2),
        ("query", "results", json!({ "text": "charge_car", "mode": "literal", "word": true }), 0),
        ("query", "results", json!({ "text": "in none of them", "mode": "literal" }), 0),
        ("get_symbol", "symbols", json!({ "name": "charge_card" }), 3),
        ("get_symbol", "symbols", json!({ "name": "charge_c", "match": "prefix" }), 1),
        ("get_symbol", "symbols", json!({ "name": "pay.charge_c", "match": "prefix" }), 1),
        ("get_symbol", "symbols", json!({ "name": "in_none_of_them" }), 0),
    ];
    for (tool, list, arguments, total) in &asked {
        let within = |repo: Value| {
            let mut arguments = arguments.clone();
            arguments["repo"] = repo;
            arguments
        };
        let of_few = few.tool(tool, &within(json!(["org:pay-*", "org:shop"])));
        let of_all = all.tool(tool, &within(json!("org:*")));
        assert_eq!(of_all[list], of_few[list], "{tool} {arguments}");
        assert_eq!((&of_all["total"], &of_few["total"]), (&json!(total), &json!(total)), "{tool} {arguments}");
        assert_eq!(of_all.get("problems"), None, "{of_all}");
    }
    assert_eq!(mirrored(&wide).into_iter().collect::<Vec<_>>(), ["pay.py", "shop.py"]);
    // One of many, among them those whose whole mirror is there.
    let one = json!({ "text": "return everywhere(2)", "mode": "literal", "repo": ["org:made-2*", "org:*"], "limit": 1, "timeout_ms": 120_000 });
    let found = few.tool("query", &one);
    assert_eq!((&found["total"], found.get("problems")), (&json!(200), None), "{found}");
    // What is published later is found, and what it replaces is not.
    pay.write("pay.py", "def charge_cheque(cheque):\n    return charge_card\n");
    commit_all(&pay, "second");
    organisation.ok(&pay, &team, &["publish", "--as", "pay-api"]);
    let search = json!({ "text": "charge_", "mode": "literal", "repo": "org:*" });
    for client in [&mut few, &mut all] {
        let found = client.tool("query", &search);
        assert_eq!(found["total"], 4, "{found}");
        assert!(
            found.to_string().contains("charge_cheque") && !found.to_string().contains("def charge_card"),
            "{found}"
        );
    }
    assert_eq!(
        all.tool("get_symbol", &json!({ "name": "other", "repo": "org:*" }))["symbols"][0]["file_path"],
        "other.py"
    );
    // The own repository answers with what is not published.
    shop.write("new.py", "charge_card_unpublished = 1\n");
    let own = shop.path().canonicalize().unwrap();
    let mut at_home = client(&organisation, &shop, &team);
    let found = at_home.tool("query", &json!({ "text": "charge_card", "mode": "literal", "repo": "org:*" }));
    let of = |repo: &str| found["results"].as_array().unwrap().iter().filter(|hit| hit["repo"] == repo).count();
    assert_eq!((of(own.to_str().unwrap()), of("org:pay-api"), of("org:shop")), (3, 1, 0), "{found}");
    // The command line.
    let found = organisation.json(&wide, &team, &["query", "charge_", "--mode", "literal", "--repo", "org:*"]);
    assert_eq!(found["total"], 4, "{found}");
    let found = organisation.ok(&wide, &team, &["symbol", "charge_card", "--repo", "org:*"]);
    expect![[r#"
        org:pay-api/pay.py:2:12  use charge_card
        org:shop/shop.py:1:17  import charge_card
        org:shop/shop.py:4:12  call charge_card
    "#]]
    .assert_eq(&found);
}

#[test]
fn what_many_repositories_cannot_be_asked_for_is_refused_with_what_can() {
    let (organisation, team, ..) = many();
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = client(&organisation, &asking, &team);
    let mut refused = String::new();
    for (tool, mut arguments) in [
        ("query", json!({ "text": "a->b", "mode": "literal" })),
        ("query", json!({ "text": "x.*|every", "mode": "regex" })),
        ("query", json!({ "text": "everywhere", "mode": "literal" })),
        ("query", json!({ "text": "where is it charged" })),
        ("query", json!({ "text": "charge(", "mode": "regex" })),
        ("query", json!({ "text": "", "mode": "literal" })),
        ("query", json!({ "text": " " })),
        ("get_symbol", json!({ "name": "" })),
        ("get_symbol", json!({ "name": "id" })),
        ("get_symbol", json!({ "name": "pay.charge_card" })),
        ("get_symbol", json!({ "name": "charge", "match": "fuzzy" })),
        ("get_symbol", json!({ "name": "charge_card", "relations": true })),
        ("list_files", json!({})),
    ] {
        refused += &format!("{tool} {arguments}\n");
        arguments["repo"] = json!("org:*");
        let answer = client.response("tools/call", &json!({ "name": tool, "arguments": arguments }));
        refused += &format!("{}\n", error_of(&answer));
    }
    expect![[r#"
        query {"mode":"literal","text":"a->b"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text, and the pattern has no run of three ASCII letters or digits. Lengthen the pattern. Narrow it: one call searches at most 512 repositories with 2048 MiB of text.
        query {"mode":"regex","text":"x.*|every"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text, and the pattern has no run of three ASCII letters or digits. Lengthen the pattern. Narrow it: one call searches at most 512 repositories with 2048 MiB of text.
        query {"mode":"literal","text":"everywhere"}
        INVALID_ARGUMENT: files of 600 repositories with 0 MiB of text may match. Lengthen the pattern or the name, or name fewer repositories.
        query {"text":"where is it charged"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text. Narrow it: one call searches at most 512 repositories with 2048 MiB of text. `get_symbol` of a name without a qualifier, and `query` with the mode literal or regex, accept any number of repositories.
        query {"mode":"regex","text":"charge("}
        INVALID_ARGUMENT: argument `text`: the pattern cannot be read: unclosed group. Use mode "literal" to search for the text as it is, or fix the pattern.
        query {"mode":"literal","text":""}
        INVALID_ARGUMENT: argument `text` is empty. Give a query.
        query {"text":" "}
        INVALID_ARGUMENT: argument `text` is empty. Give a query.
        get_symbol {"name":""}
        INVALID_ARGUMENT: argument `symbol_name` is empty. Give a name such as QuerySet.
        get_symbol {"name":"id"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text, and the name has no run of three ASCII letters or digits. Lengthen the name. Narrow it: one call searches at most 512 repositories with 2048 MiB of text.
        get_symbol {"name":"pay.charge_card"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text. Narrow it: one call searches at most 512 repositories with 2048 MiB of text. `get_symbol` of a name without a qualifier, and `query` with the mode literal or regex, accept any number of repositories.
        get_symbol {"match":"fuzzy","name":"charge"}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text. Narrow it: one call searches at most 512 repositories with 2048 MiB of text. `get_symbol` of a name without a qualifier, and `query` with the mode literal or regex, accept any number of repositories.
        get_symbol {"name":"charge_card","relations":true}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text. Narrow it: one call searches at most 512 repositories with 2048 MiB of text. `get_symbol` of a name without a qualifier, and `query` with the mode literal or regex, accept any number of repositories.
        list_files {}
        INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text. Narrow it: one call searches at most 512 repositories with 2048 MiB of text. `get_symbol` of a name without a qualifier, and `query` with the mode literal or regex, accept any number of repositories.
    "#]].assert_eq(&refused);
    // Few can be asked for anything.
    let any = json!({ "text": "->", "mode": "literal", "repo": "org:pay-*" });
    assert_eq!(client.tool("query", &any)["total"], 1);
    // A list with local repositories is answered by those.
    let local = committed(PAY);
    let own = local.path().canonicalize().unwrap();
    let both = json!({ "text": "->", "mode": "literal", "repo": [own.to_str().unwrap(), "org:*"] });
    let found = client.tool("query", &both);
    assert_eq!(found["total"], 1, "{found}");
    expect!["INVALID_ARGUMENT: `org:` names 602 repositories with 0 MiB of text, and the pattern has no run of three ASCII letters or digits. Lengthen the pattern. Narrow it: one call searches at most 511 repositories with 2048 MiB of text."].assert_eq(found["problems"][0]["reason"].as_str().unwrap());
    // Those count, too.
    organisation.sql("DELETE FROM ixmcp.repos WHERE name IN (SELECT 'made-' || n FROM generate_series(513, 600) n)");
    local.write("everywhere.py", "everywhere = 1\n");
    let full = json!({ "text": "everywhere", "mode": "literal", "repo": [own.to_str().unwrap(), "org:made-*"] });
    let found = client.tool("query", &full);
    assert_eq!(found["total"], 1, "{found}");
    expect!["INVALID_ARGUMENT: files of 512 repositories with 0 MiB of text may match. Lengthen the pattern or the name, or name fewer repositories."].assert_eq(found["problems"][0]["reason"].as_str().unwrap());
}

#[test]
fn what_earlier_calls_fetched_of_many_repositories_changes_no_order_and_counts_as_kept() {
    let (organisation, team, ..) = many();
    let (first, second) =
        ("class Alpha:\n    def shared_name(self): pass\n", "class Beta:\n    def shared_name(self): pass\n");
    let shapes = committed(&format!("//- /a.py\n{first}//- /b.py\n{second}"));
    for number in 0..5 {
        shapes.write(&format!("use_{number}.py"), "from b import Beta\n\nBeta()\n");
    }
    commit_all(&shapes, "uses");
    organisation.ok(&shapes, &team, &["publish", "--as", "shapes"]);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = client(&organisation, &asking, &team);
    let symbol = json!({ "name": "shared_name", "repo": "org:*" });
    let before = client.tool("get_symbol", &symbol);
    assert_eq!(before["total"], 2, "{before}");
    let uses = json!({ "text": "Beta()", "mode": "literal", "repo": "org:*" });
    assert_eq!(client.tool("query", &uses)["total"], 5);
    assert_eq!(client.tool("get_symbol", &symbol)["symbols"], before["symbols"]);
    // The order of whole mirrors is another: the class that more files use is first.
    let whole = client.tool("get_symbol", &json!({ "name": "shared_name", "repo": ["org:shapes", "org:pay-*"] }));
    assert_ne!(whole["symbols"][0]["file_path"], before["symbols"][0]["file_path"], "{whole}");
    // It is the same for many even where a whole mirror is there.
    assert_eq!(client.tool("get_symbol", &symbol)["symbols"], before["symbols"]);
    // All that was fetched of a part counts: next to one that is as large as what may be kept, nothing else is kept.
    let search = json!({ "text": "charge_card", "mode": "literal", "repo": "org:*" });
    assert_eq!(client.tool("query", &search)["total"], 3);
    let part = states(&asking).into_iter().find(|(_, state)| state["name"] == "shop" && state["is_part"] == true);
    let (file, mut state) = part.unwrap();
    assert!(states(&asking).iter().any(|(_, state)| state["name"] == "shapes"));
    state["bytes"] = json!(2_u64 << 30);
    fs::write(file, state.to_string()).unwrap();
    assert_eq!(client.tool("query", &search)["total"], 3);
    assert!(!states(&asking).iter().any(|(_, state)| state["name"] == "shapes"), "{:?}", states(&asking));
}

/// States of a person's mirrors, by files.
fn states(asking: &Repo) -> Vec<(PathBuf, Value)> {
    let mut states = Vec::new();
    for folder in fs::read_dir(asking.home().join(".cache/ixmcp/organisations")).unwrap().flatten() {
        for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                states.push((entry.path(), serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap()));
            }
        }
    }
    states
}

#[test]
fn of_many_repositories_a_role_finds_what_it_was_granted_and_keeps_nothing_else() {
    let (organisation, ..) = many();
    let reader = organisation.role("reader", "made-*", &[]);
    organisation.admin(&["org", "grant", &reader, "pay-*"]);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = client(&organisation, &asking, &reader);
    let search = json!({ "text": "charge_card", "mode": "literal", "repo": "org:*" });
    let symbol = json!({ "name": "charge_card", "repo": "org:*" });
    let found = client.tool("query", &search);
    assert_eq!((&found["total"], &found["results"][0]["repo"]), (&json!(1), &json!("org:pay-api")), "{found}");
    assert_eq!(client.tool("get_symbol", &symbol)["total"], 1);
    assert_eq!(mirrored(&asking), BTreeSet::from(["pay.py".to_owned()]));
    organisation.admin(&["org", "grant", &reader, "pay-*", "--revoke"]);
    assert_eq!(client.tool("query", &search)["total"], 0);
    assert_eq!(client.tool("get_symbol", &symbol)["total"], 0);
    assert_eq!(mirrored(&asking), BTreeSet::new());
}
